#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# Node 1 has a CPU and no memory; nodes 0 and 2 have 2 GiB each.

load helper

@test "everything goes to the nodes with memory" {
	hf 0 alloc 2M=64M
	pools 16 0 16
	hf 0 free 2M
	hf 0 alloc 2M=64M@all
	pools 16 0 16
	hf 0 free 2M
	mount_huge
	mark
	hf 0 alloc --json "$mnt/db=30M"
	rows "db 0 8 8; db 2 7 7"
	lies "$mnt/db" "$(in_turn 15 0 2)"
	hf 0 free --shrink "$mnt/db"
}

@test "the node without memory is refused by name, with those that there are" {
	local spec

	for spec in 2M=64M@1 2M=64M@0-2 vm0=32M@0,32M@1; do
		hf 2 alloc "$spec"
		has "$stderr" "node 1 has no memory" "the nodes with memory are 0+2"
		same
	done
}

@test "its CPU is nobody's: the others' workers are their own" {
	mount_huge
	mark
	start_slow_fill alloc --threads 2 "$mnt/db=8M"
	wait_until has_workers 2
	equal "$(worker_cpus)" "0 2-3" "CPUs of the workers"
	ended 0
	hf 0 free --shrink "$mnt/db"
}

@test "started on the node without memory" {
	mount_huge
	mark
	run -0 --separate-stderr "${IN[@]}" taskset -c 1 "$HUGEFILL" alloc --json "$mnt/db=32M"
	lies "$mnt/db" "$(in_turn 16 0 2)"
	hf 0 free --shrink "$mnt/db"
	run -0 --separate-stderr "${IN[@]}" taskset -c 1 "$HUGEFILL" alloc --grow parallel 2M=64M
	pools 16 0 16
	hf 0 free 2M
}
