#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Signals: undone first, then the process dies of the signal. And two calls at once.

load helper

# died_of NAME NUMBER: what was started last, under strace
died_of() {
	ended $((128 + $2))
	wait_until grep -qs "killed by SIG$1" "$tmp/trace"
}

@test "a signal while a file is filled: pool, mount and file are undone" {
	local name number

	while read -r name number; do
		start_stopped_fill alloc --json --threads 2 2M=256M vm0=128M
		kill "-$name" "$pid"
		go_on
		died_of "$name" "$number"
		has "$(<"$err")" "hugefill alloc: /dev/hugepages/vm0: given up while it was being filled"
		equal "$(jq -r '[.changed, .not_undone, .error.errno] | join(" ")' "$out")" "false 0 ECANCELED"
		same
	done <<-EOF
		INT 2
		TERM 15
		HUP 1
	EOF
}

@test "a signal while a pool grows: the pages go back" {
	local name number

	while read -r name number; do
		start_stopped_growth alloc 2M=256M
		kill "-$name" "$pid"
		go_on
		died_of "$name" "$number"
		has "$(<"$err")" "hugefill alloc: given up while a pool was growing"
		same
	done <<-EOF
		INT 2
		TERM 15
		HUP 1
	EOF
}

@test "a pool that had pages has as many again" {
	give 64
	mark
	start_stopped_growth alloc 2M=+256M
	kill -TERM "$pid"
	go_on
	died_of TERM 15
}

@test "more signals do not disturb the undoing" {
	start_strace "${SLOW_FILL[@]}" -e trace=madvise,rt_sigreturn "$HUGEFILL" alloc --threads 1 2M=256M vm0=128M
	wait_until used_at_least 1
	kill -INT "$pid"
	# Another thread's handler might else be the first to run.
	wait_until grep -qs rt_sigreturn "$tmp/trace"
	kill -TERM "$pid"
	kill -HUP "$pid"
	died_of INT 2
}

@test "a file that was there has its holes again" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	punch "$mnt/db" 1 3
	"${IN[@]}" truncate -s 128M "$mnt/db"
	mark
	start_stopped_fill alloc --threads 1 "$mnt/db=128M"
	used_at_least 30
	kill -TERM "$pid"
	go_on
	died_of TERM 15
	equal "$(stamps "$mnt/db")" "1 0 0 0 $(seq -s ' ' 5 32)$(printf ' 0%.0s' {1..32})" stamps
}

# Each hole is a call of its own, a second long; the first four are one chunk's.
@test "a signal stops a worker at its next call, not at the end of its chunk" {
	local hole

	mount_huge
	give 32
	full_file "$mnt/db" 32
	for hole in 0 2 4 6 8 10 12 14; do
		punch "$mnt/db" $hole 1
	done
	mark
	start_strace "${SLOW_FILL[@]}" "$HUGEFILL" alloc --threads 1 "$mnt/db=32M"
	# Not what asks whether the kernel knows it, with no address.
	wait_until grep -qs '2097152, MADV_POPULATE_WRITE' "$tmp/trace"
	kill -TERM "$pid"
	died_of TERM 15
	# One more may just have begun.
	[ "$(grep -c '2097152, MADV_POPULATE_WRITE' "$tmp/trace")" -le 2 ]
	equal "$(stamps "$mnt/db")" "0 2 0 4 0 6 0 8 0 10 0 12 0 14 0 16" stamps
}

@test "nohup: an ignored SIGHUP stays ignored" {
	start_strace -e trace=madvise -e inject=madvise:signal=STOP:when=1 \
		env --ignore-signal=HUP,INT "$HUGEFILL" alloc --threads 1 vm0=48M
	wait_until grep -qs "stopped by SIGSTOP" "$tmp/trace"
	kill -HUP "$pid"
	kill -INT "$pid"
	go_on
	ended 0
	equal "$(pages /dev/hugepages/vm0)" 24 pages
	hf 0 free --umount --shrink vm0
}

@test "kill -9 leaves no file and no used page" {
	mount_huge
	give 32
	full_file "$mnt/other" 32
	mark
	start_stopped_fill alloc --threads 2 "$mnt/db=128M"
	used_at_least 17
	kill -KILL "$pid"
	ended 137
	wait_until equal_used 16
	equal "$("${IN[@]}" ls -A "$mnt")" other files
	# The pool has grown, and stays so until somebody shrinks it.
	pool 80 64
	hf 0 free 2M
}

equal_used() {
	[ "$(used_pages)" = "$1" ] && [ "$(<"$POOL/resv_hugepages")" = 0 ]
}

@test "a signal while another hugefill has the lock" {
	exec 8>>/run/hugefill.lock
	flock 8
	start "$HUGEFILL" alloc vm0=64M 8>&-
	wait_until grep -qs "hugefill alloc: waiting for another hugefill that changes pools" "$err"
	kill -TERM "$pid"
	ended 143
	has "$(<"$err")" "gave up while another hugefill held the lock"
	exec 8>&-
}

@test "two at once take turns" {
	local first second

	start_stopped_growth alloc 2M=+256M
	first=$pid
	out=$tmp/out2 err=$tmp/err2
	start "$HUGEFILL" alloc 2M=+64M vm0=64M
	second=$pid
	wait_until grep -qs "hugefill alloc: waiting for another hugefill that changes pools" "$err"
	pid=$first
	go_on
	ended 0
	pid=$second
	ended 0
	pool 160 128
	hf 0 free --umount --shrink vm0
	hf 0 free 2M
}

@test "the one that waited sees what the first has done" {
	local first second

	start_stopped_growth alloc 2M=256M
	first=$pid
	out=$tmp/out2 err=$tmp/err2
	start "$HUGEFILL" alloc --json 2M=256M
	second=$pid
	wait_until grep -qs waiting "$err"
	pid=$first
	go_on
	ended 0
	pid=$second
	ended 0
	equal "$(jq -r .changed "$out")" false
	pool 128 128
	hf 0 free 2M
}

@test "of two that want the same file one gets it" {
	local pids=() results=() i

	mount_huge
	for i in 1 2 3; do
		out=$tmp/out$i err=$tmp/err$i
		start "$HUGEFILL" alloc --threads 1 "$mnt/db=64M"
		pids+=("$pid")
	done
	for pid in "${pids[@]}"; do
		wait "$pid" && results+=(0) || results+=($?)
	done
	# Whoever comes late finds the file there, or loses the race for its name.
	has " ${results[*]} " " 0 "
	[[ ${results[*]} != *[2-9]* ]]
	equal "$(pages "$mnt/db")" 32 pages
	"${IN[@]}" rm "$mnt/db"
	hf 0 free 2M
	"${IN[@]}" umount "$mnt"
}

@test "the lock file is root's alone" {
	local lock=/run/hugefill.lock

	hf 0 alloc 2M=2M
	equal "$(stat -c '%a %u %F' $lock)" "600 0 regular empty file"
	hf 0 free 2M
	[ ! -L $lock ] && flock -n $lock true
}
