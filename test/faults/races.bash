#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# races.bash mixed|sums|last ROUNDS SEED: hugefill side by side.
#
#   mixed  8 processes, allocs and frees of small files and pools, on a pool that fits half of them and
#          that a script makes smaller and larger meanwhile; half of them may not grow it
#   sums   8 processes grow the pool, and 8 shrink it: no count is lost
#   last   two want the last pages: one gets them
#
# Runs in a mount namespace of the test's. Prints what is wrong and "ROUNDS rounds, ...".
set -uo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
PATIENCE=60
PROCESSES=8

[ $# = 3 ] || { echo "usage: races.bash mixed|sums|last ROUNDS SEED" >&2; exit 2; }
how=$1
rounds=$2
RANDOM=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/races.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=test/faults/state.bash
source "$here/state.bash"
cd /

wrong() {
	failed=$((failed + 1))
	look
	printf 'round %s: %s\n  now    %s\n' "$round" "$1" "$STATE"
	sed 's/^/  said   /' "$dir"/err.*
}

# start WHO ARGUMENT...: pids[WHO]
start() {
	local who=$1

	shift
	timeout -k 5 "$PATIENCE" "$HUGEFILL" "$@" >"$dir/out.$who" 2>"$dir/err.$who" &
	pids[who]=$!
	commands[who]=$*
}

# Sets statuses[].
await_all() {
	local who

	for who in "${!pids[@]}"; do
		statuses[who]=0
		wait "${pids[who]}" || statuses[who]=$?
	done
	pids=()
}

# Every visible file is full, at any moment.
no_half_files() {
	local file size blocks

	for file in "$DIR"/*; do
		# It may be gone again.
		read -r size blocks < <(stat -c '%s %b' "$file" 2>>"$dir/gone") || continue
		[ "$size" = $((blocks * 512)) ] || return 1
	done
}

# What is used is what the files have.
is_balanced() {
	local nr free reserved file

	read -r nr <"$POOL/nr_hugepages"
	read -r free <"$POOL/free_hugepages"
	read -r reserved <"$POOL/resv_hugepages"
	for file in "$DIR"/*; do
		[ ! -e "$file" ] || nr=$((nr - $(stat -c %b "$file") / 4096))
	done
	[ "$nr $reserved" = "$free 0" ]
}

# start_mixed WHO: half of them may not grow the pool. Each has files of its own, one for each size.
start_mixed() {
	local who=$1 size=$((RANDOM % 8 * 2 + 2)) grow=() files=("$DIR/f$1."*)

	[ $((who % 2)) = 0 ] || grow=(--no-grow)
	case $((RANDOM % 8)) in
	0) start "$who" alloc "${grow[@]}" "2M=$((size * 2))M" ;;
	1) start "$who" free 2M=2M ;;
	2) start "$who" free --shrink "${files[0]:-f$who.2}=2M" ;;
	3) start "$who" free "${files[0]:-f$who.2}=2M" ;;
	*) start "$who" alloc "${grow[@]}" "f$who.$size=${size}M" ;;
	esac
}

# Up and down, until all are done.
disturb() {
	while [ ! -e "$dir/enough" ]; do
		echo $((RANDOM % 32 + 8)) >"$POOL/nr_hugepages"
		nap 0.003
	done
}

# judge_file WHO: a file is there, and full, after an alloc that succeeded, or was there before; it is not
# after one that failed, or a free that succeeded
judge_file() {
	local who=$1 file=${commands[$1]##* }

	file=${file%%=*}
	file=${file##*/}
	[[ $file = f* ]] || return 0
	case "${commands[who]%% *} ${statuses[who]}" in
	"alloc 0") is_file "$file" "${file#*.}" "${file#*.}" || wrong "${commands[who]}: the file is not as it should be" ;;
	"alloc 1" | "free 0") [ ! -e "$DIR/$file" ] || wrong "${commands[who]}: the file is there" ;;
	esac
}

judge_mixed() {
	local who said

	for who in "${!statuses[@]}"; do
		said=$(<"$dir/err.$who")
		case ${statuses[who]} in
		0) ;;
		1) [[ $said =~ ^hugefill\ (alloc|free):\ .+ ]] || wrong "${commands[who]}: fails and does not say why" ;;
		124 | 137) wrong "${commands[who]}: hangs" ;;
		*) wrong "${commands[who]}: exit status ${statuses[who]}" ;;
		esac
		[[ $said != *"could not be undone"* ]] || undone_not=$((undone_not + 1))
		ended[statuses[who]]=$((${ended[statuses[who]]:-0} + 1))
		judge_file "$who"
	done
}

mixed() {
	local who disturber

	mount_huge
	give 16
	for ((round = 1; round <= rounds; round++)); do
		rm -f "$dir/enough"
		disturb &
		disturber=$!
		for ((who = 1; who <= PROCESSES; who++)); do
			start_mixed "$who"
		done
		while jobs -r | grep -q timeout; do
			no_half_files || wrong "a file that is visible and not full"
		done
		await_all
		: >"$dir/enough"
		wait "$disturber"
		judge_mixed
		no_half_files || wrong "a file that is not full"
		settles is_balanced || wrong "the sums are wrong"
	done
	rm -f "$DIR"/f*
	settles is_balanced || wrong "pages are left"
	look
	[[ $STATE != *surplus=[1-9]* ]] || wrong "surplus pages are left"
	echo "$rounds rounds, ended ${ended[0]:-0} well and ${ended[1]:-0} short, $undone_not not undone for others," \
		"$failed wrong"
}

# Relative growth and shrinking of 8 processes add up.
sums() {
	local who

	for ((round = 1; round <= rounds; round++)); do
		give 8
		for ((who = 1; who <= PROCESSES; who++)); do
			start "$who" alloc "2M=+$((who * 2))M"
		done
		await_all
		[[ ${statuses[*]} =~ ^[0\ ]+$ ]] || wrong "growth failed: ${statuses[*]}"
		is_pool 44 44 || wrong "growth has lost a count"
		for ((who = 1; who <= PROCESSES; who++)); do
			start "$who" free "2M=$((who * 2))M"
		done
		await_all
		[[ ${statuses[*]} =~ ^[0\ ]+$ ]] || wrong "shrinking failed: ${statuses[*]}"
		is_pool 8 8 || wrong "shrinking has lost a count"
	done
	echo "$rounds rounds, $failed wrong"
}

last() {
	local grow won=(0 0 0)

	mount_huge
	give 16
	for ((round = 1; round <= rounds; round++)); do
		start 1 alloc --no-grow a=32M
		start 2 alloc --no-grow b=32M
		await_all
		won[statuses[1] == 0 ? 1 : 2]=$((won[statuses[1] == 0 ? 1 : 2] + 1))
		[[ "${statuses[1]} ${statuses[2]}" = "0 1" || "${statuses[1]} ${statuses[2]}" = "1 0" ]] ||
			wrong "not one has won: ${statuses[1]} ${statuses[2]}"
		grep -qE 'the pool lacks|were to be reserved|cannot reserve|ran out of' "$dir"/err.* || wrong "no shortage is named"
		is_pool 16 0 || wrong "not all pages are used"
		no_half_files || wrong "a file that is not full"
		rm -f "$DIR/a" "$DIR/b"
		settles is_balanced || wrong "pages are left"
	done
	echo "$rounds rounds, won ${won[1]} and ${won[2]}, $failed wrong"
}

declare -a pids statuses commands ended
failed=0 undone_not=0 round=0
shopt -s nullglob
begin
result=$("$how"; take_back; exit $((failed != 0)))
status=$?
echo "$result"
exit $status
