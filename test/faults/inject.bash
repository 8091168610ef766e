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
POOL=/sys/kernel/mm/hugepages/hugepages-2048kB
DIR=/dev/hugepages
PATIENCE=15

if [ $# = 3 ]; then
	dir=$3
else
	[ $# = 2 ] || { echo "usage: inject.bash SCENARIO errors|undo|SIGNAL" >&2; exit 2; }
	dir=$(mktemp -d "${TMPDIR:-/tmp}/inject.XXXXXX") || exit 1
	trap 'rm -rf "$dir"' EXIT
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc "$BASH" "$here/inject.bash" "$1" "$2" "$dir"
	exit $?
fi
scenario=$1
mode=$2
cd /

# --- the scenarios: what is there before, the command, what is there after it ---

mounted_file() {
	mkdir $DIR
	mount -t hugetlbfs -o pagesize=2M hugetlbfs $DIR
	echo "$1" >$POOL/nr_hugepages
	fallocate -l "$2" "$DIR/$3"
	"$HOLD" stamp "$DIR/$3"
}

prepare_new() { :; }
command_new=(alloc --threads 2 2M=80M vm0=64M)
after_new() {
	is_pool 40 8 && is_file vm0 67108864 131072
}

prepare_ready() {
	mkdir $DIR
	mount -t hugetlbfs -o pagesize=2M hugetlbfs $DIR
	echo 40 >$POOL/nr_hugepages
}
command_ready=(alloc --json --no-grow --threads 2 --method populate vm0=64M)
after_ready() {
	after_new
}

# 32 pages, of which 16 are holes; grows by 8 pages, and is extended to 40.
prepare_holes() {
	mounted_file 32 64M old
	fallocate -p -o 8M -l 16M $DIR/old
	fallocate -p -o 40M -l 16M $DIR/old
}
command_holes=(alloc --json --resize --threads 2 old=80M)
after_holes() {
	is_pool 40 0 && is_file old 83886080 163840 && [[ $(stamps old) == "1 2 3 4 0 0"*" 13 14 "*" 32 0 "* ]]
}

prepare_free() {
	mounted_file 40 64M vm0
}
command_free=(free --json --shrink --umount vm0 2M)
# A directory that could not be removed may stay when that is said.
after_free() {
	is_pool 0 0 && [[ $STATE != *hugetlbfs* ]] && [[ ! -e $DIR || ${err[*]} == *"$DIR: "* ]]
}
# What it may leave when it fails: the steps up to there.
partly_free() {
	{ is_pool 40 40 || is_pool 8 8 || is_pool 0 0; } && [ ! -e $DIR/vm0 ]
}

prepare_punch() {
	mounted_file 32 64M vm0
}
command_punch=(free --json --shrink --punch 16M:16M vm0)
after_punch() {
	is_pool 24 0 && is_file vm0 67108864 98304 && [[ $(stamps vm0) == *" 8 0 "*" 0 17 "* ]]
}
partly_punch() {
	{ is_pool 32 8 || is_pool 24 0; } && is_file vm0 67108864 98304
}

# --- the state ---

is_pool() {
	local nr free

	read -r nr <$POOL/nr_hugepages
	read -r free <$POOL/free_hugepages
	[ "$nr $free" = "$1 $2" ]
}

is_file() {
	[ "$(stat -c '%s %b' "$DIR/$1" 2>&1)" = "$2 $3" ]
}

stamps() {
	"$HOLD" show "$DIR/$1"
}

# Sets STATE; starts no process when there are no files.
look() {
	local pool file value line

	STATE=
	for pool in /sys/kernel/mm/hugepages/*; do
		for file in nr free resv surplus nr_overcommit; do
			read -r value <"$pool/${file}_hugepages"
			STATE+="$file=$value "
		done
	done
	while read -r line; do
		[[ $line != *" hugetlbfs "* ]] || STATE+="[$line] "
	done </proc/self/mounts
	for file in $DIR*; do
		[ ! -e "$file" ] || STATE+="$file "
	done
	for file in $DIR/* $DIR/.h*; do
		[ ! -e "$file" ] || STATE+="[$(stat -c '%n %F %i %s %b %a %u:%g' "$file") $("$HOLD" show "$file")] "
	done
}

# settles COMMAND...: within a second; pages are on their way back for a moment after a process that was
# killed
settles() {
	local i

	for ((i = 0; i < 50; i++)); do
		look
		"$@" && return 0
		read -r -t 0.02 _ <>"$dir/never"
	done
	return 1
}

is_before() {
	[ "$STATE" = "$before" ]
}

is_empty() {
	[ "$STATE" = "$empty" ]
}

is_before_or_partly() {
	is_before || is_partly
}

take_back() {
	local target

	while read -r _ target _; do
		umount -l "$target"
	done < <(grep ' hugetlbfs ' /proc/self/mounts)
	[ ! -e $DIR ] || rmdir $DIR
	echo 0 >$POOL/nr_hugepages
	echo 0 >$POOL/nr_overcommit_hugepages
	settles is_empty || die "cannot clean up: $STATE"
}

die() {
	echo "inject.bash: $*" >&2
	exit 1
}

# --- running ---

is_done() {
	"after_$scenario"
}

is_partly() {
	declare -F "partly_$scenario" >/dev/null && "partly_$scenario"
}

# trace FILE [STRACE-OPTION...]: an undisturbed run
trace() {
	local file=$1

	shift
	timeout -k 5 $PATIENCE strace -f -qq -o "$file" "$@" "$HUGEFILL" "${command[@]}" >"$dir/out" 2>"$dir/err"
}

# strike CALL OPTION...: one run with something put in
strike() {
	local call=$1

	shift
	status=0
	# What the shell says of a killed command is of no use.
	{
		timeout -k 5 $PATIENCE strace -f -qq --seccomp-bpf -o "$dir/trace" -e "trace=$call" "$@" \
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
	sed 's/^/  stdout /' "$dir/out" | head -n 20
}

# A message of hugefill's own that says something.
says_why() {
	local line

	for line in "${err[@]}"; do
		[[ ! $line =~ ^hugefill\ (alloc|free):\ .{12,} ]] || return 0
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

# Whether what is left after a failure is right.
judge_failure() {
	says_why || wrong "stderr says nothing"
	if settles is_before_or_partly; then
		is_before || tells_change || wrong "it does not say what it has done"
		[[ ${err[*]} != *"could not be undone"* || $mode = undo ]] || wrong "nothing remains, yet it says so"
	elif ! tells_remainder; then
		wrong "it has left something"
	elif [ "$mode" != undo ]; then
		wrong "it could not undo"
	fi
}

judge() {
	local signal

	case $status in
	0)
		look
		is_done || wrong "success, but not everything is done"
		[ -s "$dir/out" ] || wrong "success, but no result"
		;;
	1)
		judge_failure
		;;
	*)
		signal=$(kill -l "$status" 2>/dev/null) || signal=
		if [ "$signal" = "$mode" ]; then
			settles is_before_or_partly || wrong "died of $signal and has left something"
		elif [ "$signal" = PIPE ] && [[ $what == write:*:EPIPE ]]; then
			settles is_before_or_partly || wrong "died of SIGPIPE and has left something"
		else
			look
			wrong "neither done nor failed"
		fi
		;;
	esac
	if grep -qE 'Sanitizer|runtime error:|core dumped|\(null\)' "$dir/err"; then
		wrong "stderr shows a crash"
	fi
}

# again: everything as before the command
again() {
	[ "$STATE" != "$before" ] || return 0
	take_back
	"prepare_$scenario"
	look
	before=$STATE
}

# run_case CALL NUMBER INJECTION [STRACE-OPTION...]
run_case() {
	local call=$1 number=$2 injection=$3

	shift 3
	what="$call:$number:$injection"
	[[ $what =~ ${CASES:-.} ]] || return 0
	case $injection in
	E*) injection=error=$injection ;;
	=*) injection=retval$injection ;;
	*) injection=signal=$injection ;;
	esac
	[ -z "${PROGRESS:-}" ] || echo "$EPOCHREALTIME $what"
	strike "$call${publish:+,$publish}" "$@" -e "inject=$call:$injection:when=$number"
	is_hit && hit=$((hit + 1))
	judge
	again
}

run_cases() {
	local call number who error
	local -n options=$1

	while read -r call number who; do
		[ -n "${errors[$call]:-}" ] || { echo "errnos says nothing of $call"; failed=$((failed + 1)); continue; }
		if [[ $mode != errors && $mode != undo ]]; then
			case $call in exit | exit_group) continue ;; esac
			run_case "$call" "$number" "$mode"
			continue
		fi
		for error in ${errors[$call]#never}; do
			run_case "$call" "$number" "$error" "${options[@]}"
		done
	done <"$dir/positions"
}

declare -n command=command_$scenario
declare -A errors
while read -r call list; do
	[[ -z $call || $call = '#'* ]] || errors[$call]=$list
done <"$here/errnos"
cases=0 hit=0 failed=0 status=0
publish=
err=()
nothing=()
mkfifo "$dir/never"
look
empty=$STATE
"prepare_$scenario"
look
before=$STATE

if [ "$mode" = undo ]; then
	publish=linkat
	fail_publish=(-e inject=linkat:error=EEXIST)
	trace "$dir/whole" "${fail_publish[@]}"
	awk -v after=linkat -f "$here/positions.awk" "$dir/whole" >"$dir/positions"
	again
	run_cases fail_publish
else
	trace "$dir/whole" || die "hugefill fails undisturbed: $(<"$dir/err")"
	awk -f "$here/positions.awk" "$dir/whole" >"$dir/positions"
	look
	again
	run_cases nothing
fi
take_back
echo "$scenario $mode: $cases cases, $hit hit, $failed wrong"
[ $failed = 0 ]
