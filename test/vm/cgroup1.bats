#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# The hugetlb controller of cgroup v1.

load helper
CONTROLLER=/sys/fs/cgroup/hugetlb

# limited FILE MIB ARGUMENT...: hugefill in a group with this limit
limited() {
	local file=$1 mib=$2 group=$CONTROLLER/hugefill-test

	shift 2
	mkdir "$group"
	echo "${mib}M" >"$group/hugetlb.2MB.$file"
	# shellcheck disable=SC2016 # for the inner shell
	run --separate-stderr "${IN[@]}" bash -c 'echo $$ >"$1" && shift && exec "$@"' - "$group/cgroup.procs" \
		"$HUGEFILL" "$@"
	wait_until rmdir "$group"
}

@test "below the limit" {
	mount_huge
	mark
	limited limit_in_bytes 64 alloc "$mnt/db=64M"
	equal "$status" 0 status
	hf 0 free --shrink "$mnt/db"
	limited rsvd.limit_in_bytes 64 alloc "$mnt/db=64M"
	equal "$status" 0 status
	hf 0 free --shrink "$mnt/db"
}

@test "a limit of pages and one of reservations: the error names it, all is undone" {
	local file

	mount_huge
	mark
	for file in limit_in_bytes rsvd.limit_in_bytes; do
		limited $file 32 alloc --json "$mnt/db=64M"
		equal "$status" 1 status
		has "$stderr" cgroup "hint: "
		same
	done
}

@test "--best-effort fills what the limit allows" {
	mount_huge
	mark
	limited limit_in_bytes 32 alloc --best-effort "$mnt/db=64M"
	equal "$status" 64 status
	equal "$(pages "$mnt/db")" 16 pages
	hf 0 free "$mnt/db"
	hf 0 free 2M
}
