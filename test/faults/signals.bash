#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# signals.bash end|kill COUNT SEED: COUNT runs of alloc, each of which gets a signal at a moment drawn
# from the time an undisturbed run takes.
#
#   end   INT, TERM or HUP: afterwards everything is as before and the process has died of it; or all is
#         done, where the signal came too late
#   kill  KILL: no file but a complete one and no used page besides; the pool is what growth had reached,
#         and the next alloc succeeds
#
# Runs in a mount namespace of the test's. Prints what is wrong and "RUNS runs, DIED died (in PHASES)".
set -uo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
PATIENCE=30

[ $# = 3 ] || { echo "usage: signals.bash end|kill COUNT SEED" >&2; exit 2; }
how=$1
count=$2
RANDOM=$3
dir=$(mktemp -d "${TMPDIR:-/tmp}/signals.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
# shellcheck source=test/faults/state.bash
source "$here/state.bash"
cd /

# Growth, fill and publishing each have a request in which they take most of the time.
requests=(pool parallel file files run)
[ "$how" = end ] || requests=(pool parallel file files)
request_run=(2M=300M vm0=256M -- sleep 0.1)
request_pool=(2M=512M)
request_parallel=(--grow parallel 2M=512M)
request_file=(2M=300M vm0=256M)
request_files=()
for ((i = 0; i < 64; i++)); do
	request_files+=("f$i=4M")
done

done_run() {
	is_empty
}
done_pool() {
	is_pool 256 256
}
done_parallel() {
	is_pool 256 256
}
done_file() {
	is_pool 150 22 && is_file vm0 256 256
}
done_files() {
	local files=("$DIR"/f*)

	is_pool 128 0 && [ "${#files[@]}" = 64 ] && is_file f0 4 4 && is_file f63 4 4
}

# start REQUEST: not as bash starts it, with SIGINT ignored
start() {
	local -n arguments=request_$1
	local command=alloc

	[ "$1" != run ] || command=run
	env --default-signal=INT,HUP,PIPE "$HUGEFILL" $command --verbose --progress never "${arguments[@]}" \
		>"$dir/out" 2>"$dir/err" &
	pid=$!
}

# Sets status; a run that does not end is killed.
await() {
	local i

	for ((i = 0; i < PATIENCE * 50; i++)); do
		kill -0 "$pid" 2>/dev/null || break
		nap 0.02
	done
	[ "$i" -lt $((PATIENCE * 50)) ] || { kill -9 "$pid"; wrong "it hangs"; }
	status=0
	wait "$pid" 2>/dev/null || status=$?
}

wrong() {
	failed=$((failed + 1))
	printf '%s: %s (exit status %s)\n  now    %s\n' "$what" "$1" "$status" "$STATE"
	sed 's/^/  stderr /' "$dir/err"
}

# measure REQUEST: microseconds, the shortest of some runs
measure() {
	local begin end i

	shortest=
	for i in 1 2 3; do
		begin=${EPOCHREALTIME/./}
		start "$1"
		wait "$pid" || die "$1 fails undisturbed: $(<"$dir/err")"
		end=${EPOCHREALTIME/./}
		look
		"done_$1" || die "$1 does not do its job: $STATE"
		take_back
		[ -n "$shortest" ] && [ $((end - begin)) -ge "$shortest" ] || shortest=$((end - begin))
	done
}

# The last phase that was begun.
count_phase() {
	local line phase=start

	while read -r line; do
		[[ ! $line =~ ^hugefill\ [a-z]+:\ (lock|grow|mount|reserve|fill|verify|publish)$ ]] || phase=${BASH_REMATCH[1]}
	done <"$dir/err"
	phases[$phase]=$((${phases[$phase]:-0} + 1))
}

# Files that are there are complete, whatever their request.
no_half_files() {
	local file size blocks

	for file in "$DIR"/* "$DIR"/.h*; do
		[ -e "$file" ] || continue
		read -r size blocks < <(stat -c '%s %b' "$file")
		[ "$size" = $((blocks * 512)) ] && [[ $file != */.h* ]] || return 1
	done
}

only_pool_left() {
	local nr free reserved file

	read -r nr <"$POOL/nr_hugepages"
	read -r free <"$POOL/free_hugepages"
	read -r reserved <"$POOL/resv_hugepages"
	for file in "$DIR"/*; do
		[ ! -e "$file" ] || nr=$((nr - $(stat -c %b "$file") / 4096))
	done
	[ "$nr $reserved" = "$free 0" ]
}

judge_kill() {
	settles only_pool_left || wrong "pages are used or reserved by nobody"
	no_half_files || wrong "a file that is not complete"
	# The next one goes on from there; files that were published already are kept.
	what+=", the next"
	start "$request"
	await
	look
	[ "$status" = 0 ] || wrong "it fails"
	"done_$request" || wrong "it does not do its job"
}

judge_end() {
	if [ "$status" = 0 ]; then
		look
		"done_$request" || wrong "success, but not everything is done"
	elif [ "$status" != $((128 + $(kill -l "$signal"))) ]; then
		look
		wrong "neither done nor died of the signal"
	elif ! settles is_empty; then
		wrong "it has left something"
	fi
}

run_one() {
	local delay

	request=${requests[RANDOM % ${#requests[@]}]}
	delay=$(((RANDOM * 32768 + RANDOM) % (duration[$request] * 21 / 20)))
	signal=KILL
	[ "$how" = kill ] || signal=${signals[RANDOM % 3]}
	what="$request, $signal after $delay us"
	start "$request"
	nap "$(printf '%d.%06d' $((delay / 1000000)) $((delay % 1000000)))"
	kill -"$signal" "$pid" 2>/dev/null
	await
	if [ "$status" != 0 ]; then
		died=$((died + 1))
		count_phase
	fi
	"judge_$how"
	take_back
}

declare -A duration phases
signals=(INT TERM HUP)
failed=0 died=0 status=0
begin
for request in "${requests[@]}"; do
	measure "$request"
	duration[$request]=$shortest
done
for ((i = 0; i < count; i++)); do
	run_one
done
echo "$count runs, $died died ($(for phase in "${!phases[@]}"; do echo "$phase ${phases[$phase]}"; done | sort | paste -sd, | sed 's/,/, /g')), $failed wrong"
[ $failed = 0 ] && [ $((died * 3)) -ge "$count" ]
