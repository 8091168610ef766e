# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets output and stderr
#
# What the cli tests share. They run in test/fixtures, so that messages name short paths.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
HUGEFILL=${HUGEFILL:-$ROOT/hugefill}

setup() {
	[ "$EUID" != 0 ] || fail "these tests are for an unprivileged user: test/run cli"
	cd "$ROOT/test/fixtures" || fail "no fixtures"
}

# hf STATUS ARGUMENT...: sets output (standard output) and stderr
hf() {
	local status=$1

	shift
	run "-$status" --separate-stderr "$HUGEFILL" "$@"
}

# to_full STATUS ARGUMENT...: hf with standard output on a full device
to_full() {
	local status=$1

	shift
	# shellcheck disable=SC2016 # for the inner shell
	run "-$status" --separate-stderr bash -c '"$@" >/dev/full' - "$HUGEFILL" "$@"
}

# plans TREE ARGUMENT... <<rows: a dry run that succeeds, its rows without a heading and raw
plans() {
	local tree=$1

	shift
	hf 0 alloc --dry-run --raw --noheadings --sysroot="$tree" "$@"
	assert_equal "$output" "$(cat)"
	assert_equal "$stderr" ""
}

# refuses COMMAND MESSAGE ARGUMENT...: exit 2, just this message, nothing on standard output
refuses() {
	local command=$1 message=$2

	shift 2
	hf 2 "$command" "$@"
	assert_equal "$stderr" "$message"
	assert_equal "$output" ""
}

# usage COMMAND MESSAGE ARGUMENT...: the same, where argp adds how to get help
usage() {
	local command=$1 message=$2

	shift 2
	refuses "$command" "hugefill $command: $message
Try \`hugefill $command --help' or \`hugefill $command --usage' for more information." "$@"
}

# unpadded: output without the blanks that end its lines
unpadded() {
	printf '%s\n' "$output" | sed 's/ *$//'
}

# json FILTER WANTED: what jq makes of output, which must be one document
json() {
	local got

	got=$(jq -cr "$1" <<<"$output") || fail "no JSON: $output"
	assert_equal "$(jq -s length <<<"$output")" 1
	assert_equal "$got" "$2"
}

# keys WANTED: the paths of all values in the document, sorted, array indexes as []
keys() {
	json '[paths | map(if type == "number" then "[]" else . end) | join(".")] | unique | .[]' "$1"
}

# clean STATUS ARGUMENT...: no control byte but newline comes out
clean() {
	hf "$@"
	! LC_ALL=C grep -q '[[:cntrl:]]' <<<"$output$stderr" || fail "not escaped: $*: $(cat -v <<<"$stderr")"
}
