#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# inject.bash SCENARIO errors|undo|SIGNAL: runs one hugefill command again and again, with one of its
# system calls made to fail (or with a signal sent when it is made), and looks what is left each time.
#
#   errors  every call of positions.awk, with every error of errnos
#   undo    publishing fails always, and besides each call of the undo that follows, once
#   SIGNAL  this signal at every call of positions.awk
#
# Runs in a mount namespace of the test's and makes a process namespace below it, so that the trace
# does not depend on what else runs. Prints what is wrong and "CASES cases, HIT hit"; exit status 1 if
# anything was wrong. CASES=REGEX runs only the matching ones, "CALL:N:ERROR".
set -uo pipefail
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
PATIENCE=15

if [ $# = 3 ]; then
	dir=$3
else
	[ $# = 2 ] || { echo "usage: inject.bash SCENARIO errors|undo|SIGNAL" >&2; exit 2; }
	dir=$(mktemp -d "${TMPDIR:-/tmp}/inject.XXXXXX") || exit 1
	trap 'rm -rf "$dir"' EXIT
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
		"$BASH" "$here/inject.bash" "$1" "$2" "$dir"
	exit $?
fi
scenario=$1
mode=$2
# shellcheck source=test/faults/state.bash
source "$here/state.bash"
cd /

# --- the scenarios: what is there before, the command, what is there after it ---

prepare_new() { :; }
command_new=(alloc --threads 2 2M=80M vm0=64M)
after_new() {
	is_pool 40 8 && is_file vm0 64 64
}

# Nothing has to grow, so that the first calls of a kind are a worker's.
prepare_ready() {
	mount_huge
	give 40
}
command_ready=(alloc --json --no-grow --threads 2 --method populate vm0=64M)
after_ready() {
	after_new
}

# Half of 32 pages are holes. The pool grows by 8 pages, and the file to 40.
prepare_holes() {
	mount_huge
	give 32
	full_file old 64
	fallocate -p -o 8M -l 16M "$DIR/old"
	fallocate -p -o 40M -l 16M "$DIR/old"
}
command_holes=(alloc --json --resize --threads 2 old=80M)
after_holes() {
	is_pool 40 0 && is_file old 80 80 && [[ $(stamps old) == "1 2 3 4 0 0"*" 13 14 "*" 32 0 "* ]]
}

# The pool grows by reserving processes.
prepare_parallel() { :; }
command_parallel=(alloc --json --grow parallel --threads 2 2M=80M)
after_parallel() {
	is_pool 40 40
}

prepare_free() {
	mount_huge
	give 40
	full_file vm0 64
}
command_free=(free --json --shrink --umount vm0 2M)
# A mount or directory that could not be removed may stay when that is said.
after_free() {
	is_pool 0 0 && [[ ! -e $DIR/vm0 ]] && [[ ! -e "$DIR" || ${err[*]} == *"$DIR: "* ]]
}
# What it may leave when it fails: the steps up to there.
partly_free() {
	{ is_pool 40 40 || is_pool 8 8 || is_pool 0 0; } && [ ! -e $DIR/vm0 ]
}

prepare_punch() {
	mount_huge
	give 32
	full_file vm0 64
}
command_punch=(free --json --shrink --punch 16M:16M vm0)
after_punch() {
	is_pool 24 0 && is_file vm0 64 48 && [[ $(stamps vm0) == *" 8 0 "*" 0 17 "* ]]
}
partly_punch() {
	{ is_pool 32 8 || is_pool 24 0; } && is_file vm0 64 48
}

# Everything is given back; the command itself is not traced.
prepare_run() {
	mount_huge
	give 8
	full_file old 16
	fallocate -p -o 4M -l 4M "$DIR/old"
}
command_run=(run --resize --threads 2 2M=80M new=32M old=32M -- echo all)
after_run() {
	is_before && has_run
}

is_done() {
	"after_$scenario"
}

is_before() {
	[ "$STATE" = "$before" ]
}

is_before_or_partly() {
	is_before || { declare -F "partly_$scenario" >"$dir/null" && "partly_$scenario"; }
}

# --- running ---

# trace FILE [STRACE-OPTION...]: an undisturbed run
trace() {
	local file=$1

	shift
	timeout -k 5 "$PATIENCE" strace -f -qq "${alone[@]}" -o "$file" "$@" "$HUGEFILL" "${command[@]}" >"$dir/out" 2>"$dir/err"
}

# strike CALL OPTION...: one run with something put in
strike() {
	local call=$1

	shift
	status=0
	# What the shell says of a killed command is of no use.
	{
		timeout -k 5 "$PATIENCE" strace -f -qq "${alone[@]}" "${fast[@]}" -o "$dir/trace" -e "trace=$call" "$@" \
			"$HUGEFILL" "${command[@]}" >"$dir/out" 2>"$dir/err" || status=$?
	} 2>>"$dir/shell"
	mapfile -t err <"$dir/err"
	cases=$((cases + 1))
}

# Whether what was put in was reached.
is_hit() {
	local text

	text=$(<"$dir/trace")
	case $mode in
	errors) [[ $text == *INJECTED* ]] ;;
	undo) [[ $text == *INJECTED*INJECTED* ]] ;;
	*) [[ $text == *"--- SIG$mode"* ]] ;;
	esac
}

wrong() {
	failed=$((failed + 1))
	printf '%s: %s (exit status %s)\n' "$what" "$1" "$status"
	printf '  before %s\n  now    %s\n' "$before" "$STATE"
	printf '  stderr %s\n' "${err[@]}"
	head -n 20 "$dir/out" | sed 's/^/  stdout /'
}

# A message of hugefill's own that says something.
says_why() {
	local line

	# One that could not be written cannot.
	[[ $what != write:* || ${err[*]} != *[a-z]* ]] || return 0
	for line in "${err[@]}"; do
		[[ ! $line =~ ^hugefill\ (alloc|free|run):\ .{12,} ]] || return 0
	done
	return 1
}

# Unless it is the telling itself that failed.
tells_change() {
	grep -q '"changed": *true' "$dir/out" || [[ ${err[*]} == *"standard output: "* ]]
}

tells_remainder() {
	[[ ${err[*]} == *"could not be undone:"*"hint: "* ]]
}

# The command of run has run: what fails from then on is the giving back.
has_run() {
	[ "$scenario" = run ] && [ "$(<"$dir/out")" = all ]
}

# Whether what is left after a failure is right.
judge_failure() {
	says_why || wrong "stderr says nothing"
	look
	# What it says itself needs no second look.
	{ [ "$mode" = undo ] || has_run; } && ! is_before && tells_remainder && return
	if settles is_before_or_partly; then
		is_before || tells_change || wrong "it does not say what it has done"
		[[ ${err[*]} != *"could not be undone"* || $mode = undo ]] || has_run || wrong "nothing remains, yet it says so"
	elif tells_remainder; then
		wrong "it could not undo"
	else
		wrong "it has left something"
	fi
}

judge_death() {
	local signal

	# A close that is made to fail does not close, as it would in any kernel: who waits for the end of a pipe
	# waits until timeout ends it, by a signal.
	# run hears no signal until its command has begun.
	if [[ $status = 124 && $what == close:* ]]; then
		settles is_before_or_partly || wrong "given up and has left something"
		return
	elif [[ $scenario = run && $status = 137 && $what == close:* ]]; then
		look
		return
	fi
	signal=$(kill -l "$status" 2>/dev/null) || signal=
	if [ "$signal" != "$mode" ] && [[ $signal != PIPE || $what != write:*:EPIPE ]]; then
		look
		wrong "neither done nor failed"
	elif ! settles is_before_or_partly; then
		wrong "died of $signal and has left something"
	fi
}

judge() {
	case $status in
	0)
		look
		is_done || wrong "success, but not everything is done"
		[ -s "$dir/out" ] || wrong "success, but no result"
		;;
	1) judge_failure ;;
	126 | 127)
		[ "$scenario" = run ] || wrong "an exit status of run only"
		judge_failure
		;;
	*) judge_death ;;
	esac
	! grep -qE 'Sanitizer|runtime error:|core dumped|\(null\)' "$dir/err" || wrong "stderr shows a crash"
}

# Everything as before the command.
again() {
	[ "$STATE" != "$before" ] || return 0
	take_back
	"prepare_$scenario"
	look
	before=$STATE
}

# run_case CALL NUMBER INJECTION
run_case() {
	local call=$1 number=$2 injection=$3

	what="$call:$number:$injection"
	[[ $what =~ ${CASES:-.} ]] || return 0
	case $injection in
	E*) injection=error=$injection ;;
	=*) injection=retval$injection ;;
	*) injection=signal=$injection ;;
	esac
	strike "$call${always:+,linkat}" "${always[@]}" -e "inject=$call:$injection:when=$number"
	is_hit && hit=$((hit + 1))
	judge
	again
}

run_cases() {
	local call number who error

	while read -r call number who; do
		if [ -z "${errors[$call]:-}" ]; then
			echo "errnos says nothing of $call"
			failed=$((failed + 1))
		elif [ "$mode" = errors ] || [ "$mode" = undo ]; then
			for error in ${errors[$call]#never}; do
				run_case "$call" "$number" "$error"
			done
		elif [[ $call != exit* ]]; then
			run_case "$call" "$number" "$mode"
		fi
	done <"$dir/positions"
}

declare -n command=command_$scenario
declare -A errors
while read -r call list; do
	[[ -z $call || $call = '#'* ]] || errors[$call]=$list
done <"$here/errnos"
cases=0 hit=0 failed=0 status=0
err=() always=() fast=() alone=() after=
[ "$scenario" != run ] || alone=(-b execve)
case $mode in
errors) fast=(--seccomp-bpf) ;;
undo)
	fast=(--seccomp-bpf)
	always=(-e inject=linkat:error=EEXIST)
	after=linkat
	;;
esac
# Until its files are published run does what alloc does. strace cannot both look away and use the filter.
if [ "$scenario" = run ]; then
	fast=()
	after=linkat
fi
begin
"prepare_$scenario"
look
before=$STATE
trace "$dir/whole" "${always[@]}" || [ "$mode" = undo ] || die "hugefill fails undisturbed: $(<"$dir/err")"
awk -v after=$after -f "$here/positions.awk" "$dir/whole" >"$dir/positions" || die "nothing to undo"
look
again
run_cases
take_back
echo "$scenario $mode: $cases cases, $hit hit, $failed wrong"
[ $failed = 0 ]
