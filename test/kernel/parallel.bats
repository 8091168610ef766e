#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats output, stderr
#
# Pools grown in parallel, and what others may do to them meanwhile.

load helper

LIMIT_FILE=$POOL/nr_overcommit_hugepages
# With two workers on any machine that the tests run on.
PARALLEL=(alloc --json --grow parallel --threads 2)

# grown ENGINE WHY: an extended regular expression
grown() {
	equal "$(jq -r '.growth[0].engine' <<<"$output")" "$1" engine
	matches "$(jq -r '.growth[0].why' <<<"$output")" "$2"
}

# limit PAGES [SURPLUS]: the overcommit limit, and the surplus pages
limit() {
	equal "$(<"$LIMIT_FILE")" "$1" "the overcommit limit"
	equal "$(<"$POOL/surplus_hugepages")" "${2:-0}" "surplus pages"
}

# first_round PAGES: those that are allocated first of as many: two workers begin with two nodes
first_round() {
	local nodes

	nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
	echo $(($1 * (nodes < 2 ? nodes : 2) / nodes))
}

limit_is() {
	[ "$(<"$LIMIT_FILE")" = "$1" ]
}

has_free() {
	[ "$(free_pages)" = "$1" ]
}

not_running() {
	! kill -0 "$1" 2>/dev/null
}

# stop_raised ARGUMENT...: it stops when it has raised the limit, its guard being there, and its
# children not yet
stop_raised() {
	stop_at write -P "$LIMIT_FILE" -- "${PARALLEL[@]}" "$@"
	output=
}

# go_on_to STATUS: and its document is output
go_on_to() {
	go_on
	ended "$1"
	output=$(<"$out")
}

@test "a pool: its pages, the limit, the engine" {
	hf 0 "${PARALLEL[@]}" 2M=128M
	grown parallel "^as asked for$"
	pool 64 64
	limit 0
	hf 0 "${PARALLEL[@]}" 2M=+64M
	grown parallel "^as asked for$"
	pool 96 96
	hf 0 free 2M
}

@test "a file: the pool has just what it needs" {
	mount_huge
	give 32
	mark
	hf 0 "${PARALLEL[@]}" "$mnt/db=128M"
	grown parallel "^as asked for$"
	pool 64 0
	equal "$(pages "$mnt/db")" 64 "pages of the file"
	limit 0
	hf 0 free "$mnt/db"
	pool 64 64
	hf 0 free 2M=96M
}

@test "the program's own limit serves, and stays" {
	echo 1000 >"$LIMIT_FILE"
	mark
	hf 0 "${PARALLEL[@]}" 2M=128M
	grown parallel "^as asked for$"
	pool 64 64
	limit 1000
	hf 0 free 2M
}

@test "the limit is raised by no more than what lacks" {
	give 32
	echo 3 >"$LIMIT_FILE"
	stop_raised 2M=128M
	# 16 pages are there.
	limit "$(first_round 48)"
	go_on_to 0
	pool 64 64
	limit 3
	hf 0 free 2M
	echo 0 >"$LIMIT_FILE"
}

@test "surplus pages that are there: not in parallel" {
	echo 16 >"$LIMIT_FILE"
	hold take 32
	limit 16 16
	hf 0 "${PARALLEL[@]}" 2M=+32M
	grown sysfs "surplus pages, which would be lost"
	pool 32
	limit 16
	mark
}

@test "the limit cannot be written: not in parallel" {
	echo 0 >"$tmp/limit"
	"${IN[@]}" mount --bind "$tmp/limit" "$LIMIT_FILE"
	"${IN[@]}" mount -o remount,bind,ro "$LIMIT_FILE"
	hf 0 "${PARALLEL[@]}" 2M=128M
	grown sysfs "nr_overcommit_hugepages: .*Read-only file system"
	pool 64 64
	hf 0 free 2M
}

# The first steps take 0.1 ms a page more than by themselves, a round of children, 1024 pages, two seconds.
@test "auto finds that it was wrong, and says so" {
	start_strace -e trace=write,mmap -e inject=write:delay_exit=3000:when=1..2 \
		-e inject=mmap:delay_exit=2000000:when=1 "$HUGEFILL" alloc --json --threads 2 2M=3G
	ended 0
	output=$(<"$out")
	grown parallel "^a page takes [0-9.]+ microseconds, by 2 workers [0-9.]+: the rest is written$"
	pool 1536 1536
	limit 0
	hf 0 free 2M
}

@test "gigantic pages: not in parallel" {
	hf 0 "${PARALLEL[@]}" --drop-caches 1G=0
	field '.growth | length' 0
	# What fails says nothing of engines.
	[ "$(gigantic 1)" = 1 ] || { hf 1 "${PARALLEL[@]}" 1G=1G; return 0; }
	hf 0 "${PARALLEL[@]}" 1G=1G
	grown sysfs "^pages of this size are no surplus pages$"
	"$HUGEFILL" free -q 1G
}

@test "one worker: not in parallel" {
	hf 0 alloc --json --grow parallel --threads 1 2M=64M
	grown sysfs "^there is one worker only$"
	hf 0 free 2M
}

@test "killed while the limit is raised: it is as before at once" {
	local guard

	echo 5 >"$LIMIT_FILE"
	stop_raised 2M=128M
	limit "$(first_round 64)"
	guard=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
	kill -KILL "$pid"
	wait_until limit_is 5
	# It makes the same call, and is stopped there by strace.
	kill -CONT "$guard"
	wait_until not_running "$guard"
	pool 0
	echo 0 >"$LIMIT_FILE"
	mark
}

@test "a signal while the limit is raised: all is as before" {
	local signal

	for signal in INT TERM HUP; do
		stop_raised 2M=128M
		limit "$(first_round 64)"
		kill -$signal "$pid"
		go_on_to $((128 + $(kill -l $signal)))
		same
	done
}

@test "others change the limit meanwhile: theirs stays" {
	stop_raised 2M=128M
	echo 500 >"$LIMIT_FILE"
	go_on_to 0
	grown parallel "others have changed nr_overcommit_hugepages meanwhile"
	pool 64 64
	limit 500
	hf 0 free 2M
	echo 0 >"$LIMIT_FILE"
}

@test "others forbid surplus pages meanwhile: the rest grows by sysfs" {
	stop_raised 2M=128M
	echo 0 >"$LIMIT_FILE"
	go_on_to 0
	grown sysfs "others have changed nr_overcommit_hugepages meanwhile"
	pool 64 64
	limit 0
	hf 0 free 2M
}

@test "others take surplus pages meanwhile: the sum is right, theirs are left" {
	local stopped

	stop_raised 2M=128M
	stopped=$pid
	hold take 16
	pid=$stopped
	go_on_to 0
	equal "$(<"$POOL/nr_hugepages") $(<"$POOL/surplus_hugepages")" "64 0" "total and surplus"
	equal "$(used_pages)" 8 "pages of the other"
	limit 0
	end_started
	wait_until has_free 64
	hf 0 free 2M
}

@test "others empty the pool meanwhile: it is filled again, or said to be short" {
	stop_at write -P "$POOL/nr_hugepages" -- "${PARALLEL[@]}" 2M=128M
	echo 0 >"$POOL/nr_hugepages"
	go_on_to 0
	pool 64 64
	limit 0
	hf 0 free 2M
}

@test "a child is killed meanwhile: the sum is right" {
	local child

	# The first is the guard, the second a child; the others are made when it goes on.
	start_strace -e trace=clone -e inject=clone:signal=STOP:when=2 "$HUGEFILL" "${PARALLEL[@]}" 2M=128M
	wait_until grep -qs "stopped by SIGSTOP" "$tmp/trace"
	child=$(tail -n 1 "/proc/$pid/task/$pid/children" | awk '{ print $NF }')
	kill -KILL "$child"
	go_on_to 0
	pool 64 64
	limit 0
	hf 0 free 2M
}
