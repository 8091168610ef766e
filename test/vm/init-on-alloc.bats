#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# The kernel zeroes pages when a pool grows: a page of it costs as much as a page of a file.

load helper

@test "every engine ends in the same pools" {
	local engine

	for engine in sysfs parallel auto; do
		hf 0 alloc --grow $engine 2M=128M
		pools 16 16 16 16
		hf 0 alloc --grow $engine 2M=64M@1,96M@3
		pools 16 32 16 48
		hf 0 free 2M
		same
	done
}

@test "auto chooses to grow in parallel, and files are right" {
	mount_huge
	mark
	hf 0 alloc --json "$mnt/db=1G"
	field '.targets[0].filled' 268435456
	lies "$mnt/db" "$(in_turn 512 0 1 2 3)"
	equal "$(jq -r '.growth[0].engine' <<<"$output")" parallel engine
	hf 0 free --shrink "$mnt/db"
}

@test "a signal while it grows: all nodes are as before" {
	start "$HUGEFILL" alloc --grow parallel 2M=2G
	wait_until has_pages 1
	kill -TERM "$pid"
	ended 143
	same
	start "$HUGEFILL" alloc --grow sysfs 2M=2G
	wait_until has_pages 1
	kill -TERM "$pid"
	ended 143
}
