#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# Node 2 has memory and no CPU, as CXL memory appears; node 1 is nearer to it than node 0.

load helper

@test "the nearest node's CPUs work for it" {
	mount_huge
	mark
	start_slow_fill alloc --threads 1 "$mnt/db=32M@2"
	wait_until has_workers 1
	equal "$(worker_cpus)" "2-3" "CPUs of the worker"
	ended 0
	lies "$mnt/db" "$(in_turn 16 2)"
	hf 0 free --shrink "$mnt/db"
	start_slow_fill alloc --threads 3 "$mnt/db=18M"
	wait_until has_workers 3
	equal "$(worker_cpus)" "0-1 2-3 2-3" "CPUs of the workers"
	ended 0
	lies "$mnt/db" "$(in_turn 9 0 1 2)"
	hf 0 free --shrink "$mnt/db"
}

@test "where the nearest may not be used, the next" {
	mount_huge
	mark
	run -0 --separate-stderr "${IN[@]}" taskset -c 0 "$HUGEFILL" alloc --json "$mnt/db=32M@2"
	rows "db 2 16 16"
	lies "$mnt/db" "$(in_turn 16 2)"
	hf 0 free --shrink "$mnt/db"
}

@test "every method and engine reaches it" {
	local how

	mount_huge
	mark
	for how in --method={populate,touch,fallocate} --grow={sysfs,parallel}; do
		hf 0 alloc "$how" "$mnt/db=16M@0,32M@2"
		lies "$mnt/db" "$(blocks 0:8 2:16)"
		hf 0 free --shrink "$mnt/db"
		same
	done
}

@test "threads by itself: those of the nearest" {
	hf 0 alloc --dry-run --json vm0=256M@2
	field '[.plan[] | select(.action == "create") | .threads] | join(" ")' 2
}
