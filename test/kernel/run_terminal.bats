#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hugefill run and its command as one job of a shell, and at a terminal: what is typed there, stopping and
# continuing, a hang-up.

load helper

UNTIL_END='until_end() { while [ ! -e "$1" ] && [ -d "${1%/*}" ]; do sleep 0.03; done; }'

# at_terminal COMMAND: in the background, as the leader of a session that has a terminal; sets terminal.
# Descriptor 8 is the keys. The namespace has no terminals; this one comes by descriptor.
at_terminal() {
	mkfifo "$tmp/keys"
	exec 8<>"$tmp/keys"
	env --default-signal=INT,HUP SHELL=/bin/bash script -qefc "exec ${IN[*]} $1" /dev/null <&8 >"$out" 2>"$err" 3>&- &
	terminal=$!
	started+=("$terminal")
}

# start_job: sets run and command. A process group of its own, which is not orphaned. (bash as its parent may
# wait for ever, and busily, when a stopped job ends as soon as it is continued.)
start_job() {
	# shellcheck disable=SC2016 # for perl and the shell
	start perl -e 'my $job = fork // die; if (!$job) { setpgrp; exec @ARGV or die } waitpid $job, 0; exit $? >> 8' \
		"$HUGEFILL" run vm0=32M -- bash -c "$UNTIL_END"'; echo $PPID $$; until_end "$0"; exit 4' "$tmp/end"
	wait_until grep -qs . "$out"
	read -r run command <"$out"
}

let_end() {
	: >"$tmp/end"
}

# has_state PID LETTER
has_state() {
	[ "$(awk '{ print $3 }' "/proc/$1/stat")" = "$2" ]
}

no_signal_pending() {
	grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$pid/status"
}

# ^C comes to both from the terminal; what is sent to hugefill afterwards is forwarded after it.
@test "^C at a terminal comes to the command once" {
	# shellcheck disable=SC2016 # for the command
	printf '%s\n' "$UNTIL_END" 'trap "echo INT >>$2" INT; trap "echo USR1 >>$2" USR1' \
		'echo $PPID >$2; until_end $1; exit 6' >"$tmp/command"
	at_terminal "$HUGEFILL run vm0=32M -- bash $tmp/command $tmp/end $tmp/log"
	wait_until grep -qs . "$tmp/log"
	pid=$(head -n 1 "$tmp/log")
	printf '\003' >&8
	wait_until grep -qs INT "$tmp/log"
	wait_until no_signal_pending
	kill -USR1 "$pid"
	wait_until grep -qs USR1 "$tmp/log"
	let_end
	pid=$terminal
	ended 6
	equal "$(paste -sd ' ' "$tmp/log" | cut -d' ' -f2-)" "INT USR1" "signals that the command got"
}

@test "SIGTSTP stops the command and hugefill, SIGCONT continues both" {
	start_job
	kill -TSTP "$run"
	wait_until has_state "$command" T
	wait_until has_state "$run" T
	let_end
	kill -CONT "$run"
	ended 4
}

@test "a command that stops by itself: hugefill stops, too" {
	local signal

	start_job
	for signal in TSTP TTIN TTOU; do
		kill -$signal "$command"
		wait_until has_state "$command" T
		wait_until has_state "$run" T
		kill -CONT "$run"
		wait_until has_state "$command" S
		wait_until has_state "$run" S
	done
	let_end
	ended 4
	same
}

# Then hugefill learns of its command's stop after it has been continued.
@test "both stopped by the same signal: SIGCONT to hugefill alone continues both" {
	start_job
	kill -TTIN "$run"
	wait_until has_state "$run" T
	kill -TTIN "$command"
	wait_until has_state "$command" T
	kill -CONT "$run"
	wait_until has_state "$command" S
	wait_until has_state "$run" S
	let_end
	ended 4
	same
}

@test "^Z at a terminal: the shell has a stopped job, fg continues it" {
	# shellcheck disable=SC2016 # for the shells
	{
		printf '%s\n' 'set -m' "$HUGEFILL run vm0=32M -- bash $tmp/command $tmp/end $tmp/log"
		printf '%s\n' "echo stopped \$? >>$tmp/log; fg; echo ended \$? >>$tmp/log"
	} >"$tmp/shell"
	# shellcheck disable=SC2016 # for the command
	printf '%s\n' "$UNTIL_END" 'echo running >$2; until_end $1; exit 6' >"$tmp/command"
	at_terminal "bash $tmp/shell"
	wait_until grep -qs running "$tmp/log"
	printf '\032' >&8
	wait_until grep -qs stopped "$tmp/log"
	let_end
	wait_until grep -qs ended "$tmp/log"
	equal "$(paste -sd ' ' "$tmp/log")" "running stopped 148 ended 6" "what the shell saw"
	pid=$terminal
	ended 0
	same
}

@test "a terminal that hangs up, hugefill leads the session: the command has SIGHUP and SIGCONT" {
	local run

	# shellcheck disable=SC2016 # for the command
	printf '%s\n' "$UNTIL_END" 'for s in HUP CONT; do trap "echo $s >>$2" $s; done' 'echo $PPID >$2; until_end $1' >"$tmp/command"
	at_terminal "$HUGEFILL run vm0=32M -- bash $tmp/command $tmp/end $tmp/log"
	wait_until grep -qs . "$tmp/log"
	run=$(head -n 1 "$tmp/log")
	equal "$(ps -o sid= -p "$run" | tr -d ' ')" "$run" "the session"
	# It has the other end of it.
	kill -KILL "$terminal"
	wait_until grep -qsx HUP "$tmp/log"
	wait_until grep -qsx CONT "$tmp/log"
	let_end
	wait_until [ ! -e "/proc/$run" ]
	same
}
