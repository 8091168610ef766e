# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel tests' helper, and what the fault tests run in its namespace.
# shellcheck disable=SC2154 # bats sets output, status, lines

# shellcheck source=test/kernel/helper.bash
source "$BATS_TEST_DIRNAME/../kernel/helper.bash"
export HUGEFILL HOLD

# script SCRIPT ARGUMENT...: in the namespace; its last line becomes a comment of the test
script() {
	local script=$1

	shift
	run "${IN[@]}" env TMPDIR="$tmp" "$BASH" "$BATS_TEST_DIRNAME/$script" "$@"
	echo "# ${lines[-1]:-nothing}" >&3
	[ "$status" = 0 ] || { echo "$output" | tail -n 200; return 1; }
}

# inject LEAST SCENARIO MODE: so many faults at least must have been reached
inject() {
	script inject.bash "$2" "$3"
	[[ ${lines[-1]} =~ ,\ ([0-9]+)\ hit, ]]
	[ "${BASH_REMATCH[1]}" -ge "$1" ] || { echo "only ${BASH_REMATCH[1]} faults, not $1"; return 1; }
}

# HF_SEED draws the same moments and orders again.
draw_seed() {
	seed=${HF_SEED:-$((RANDOM % 32768))}
	echo "# HF_SEED=$seed" >&3
}
