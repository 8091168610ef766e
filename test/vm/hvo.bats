#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# hugetlb_free_vmemmap=on: the kernel gives back the page structures of huge pages.

load helper

@test "it is on" {
	equal "$(</proc/sys/vm/hugetlb_optimize_vmemmap)" 1 hugetlb_optimize_vmemmap
}

@test "pools and files as ever" {
	mount_huge
	mark
	hf 0 alloc 2M=64M@0,32M@2
	pools 32 0 16 0
	hf 0 free 2M
	hf 0 alloc --json "$mnt/db=64M"
	rows "db 0 8 8; db 1 8 8; db 2 8 8; db 3 8 8"
	lies "$mnt/db" "$(in_turn 32 0 1 2 3)"
	hf 0 free --shrink "$mnt/db"
}

@test "never grown in parallel" {
	hf 0 alloc --json --grow parallel 2M=64M
	equal "$(jq -r '.growth[0].engine' <<<"$output")" sysfs engine
	has "$output" hugetlb_optimize_vmemmap
	pools 8 8 8 8
	hf 0 free 2M
	hf 0 alloc --json --threads 4 2M=64M
	equal "$(jq -r '.growth[0].engine' <<<"$output")" sysfs "engine of auto"
	hf 0 free 2M
}
