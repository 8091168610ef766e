#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Workers and signals under ThreadSanitizer (the program is built with SAN=thread; test/run fails when it
# reports anything).

load ../kernel/helper

@test "four workers fill 256 MiB by each method" {
	local method

	for method in populate touch fallocate; do
		hf 0 alloc --size=256M --threads=4 --method=$method --progress=always
		hf 0 free --size=256M --shrink --umount
		pool 0
	done
}

@test "workers of a fill that falls short" {
	mount_huge "$mnt" pagesize=2M
	give 256
	mark
	hold reserve 64
	hf 1 alloc --no-grow --threads=4 "$mnt/a=256M"
	end_started
	give 0
	mark
}

# Somewhere: sometimes the signal comes before the start, or after the end.
@test "SIGTERM somewhere in a run" {
	local method n got stopped=0

	for method in populate touch; do
		for n in {1..12}; do
			start "$HUGEFILL" alloc --size=256M --threads=4 --method=$method
			sleep "0.$(printf %03d $((n * 15)))"
			kill -TERM "$pid" 2>/dev/null || true
			got=0
			wait "$pid" || got=$?
			case $got in
			0) hf 0 free --size=256M --shrink --umount ;;
			143) stopped=$((stopped + 1)) ;;
			*) echo "exit status $got:"; cat "$out" "$err"; return 1 ;;
			esac
			same
		done
	done
	echo "# stopped $stopped of 24" >&3
	[ $stopped -gt 0 ]
}

@test "SIGTERM and SIGINT while a worker stands still" {
	local got=0

	mount_huge
	give 256
	mark
	# Not madvise, which ThreadSanitizer calls, too.
	start strace -D -f -qq -o "$tmp/trace" -e trace=fallocate -e signal=none \
		-e inject=fallocate:delay_exit=1000000 "$HUGEFILL" alloc --threads=4 --method=fallocate "$mnt/a=256M"
	wait_until used_at_least 1
	kill -TERM "$pid"
	kill -INT "$pid"
	# Which of the two is seen first is the kernel's choice.
	wait "$pid" || got=$?
	[[ $got =~ ^(130|143)$ ]]
	same
	give 0
	mark
}
