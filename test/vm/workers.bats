#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats output, status, stderr
#
# Four nodes of 2 GiB with a CPU each: where workers run, and callers that are confined.

load helper

@test "workers run on their node's CPUs only" {
	mount_huge
	mark
	start_slow_fill alloc --threads 4 "$mnt/db=128M"
	wait_until has_workers 4
	equal "$(worker_cpus)" "0 1 2 3" "CPUs of the workers"
	kill -TERM "$pid"
	ended 143
	same
	start_slow_fill alloc --threads 4 "$mnt/db=96M@1,48M@3"
	wait_until has_workers 4
	equal "$(worker_cpus)" "1 1 1 3" "CPUs of the workers"
	kill -TERM "$pid"
	ended 143
	same
	# Nodes in turn.
	start_slow_fill alloc --threads 2 --layout block "$mnt/db=128M"
	wait_until has_workers 2
	equal "$(worker_cpus)" "0 1" "CPUs of the workers"
	ended 0
	lies "$mnt/db" "$(blocks 0:16 1:16 2:16 3:16)"
	hf 0 free --shrink "$mnt/db"
}

@test "--threads: shared by pages, at least one for each node that has work" {
	hf 0 alloc --dry-run --json --threads 8 vm0=64M@0,192M@1,128M@2,128M@3
	field '[.plan[] | select(.action == "create") | .threads] | join(" ")' "1 3 2 2"
	hf 0 alloc --dry-run --json --threads 8 vm0=2M@0,254M@1
	field '[.plan[] | select(.action == "create") | .threads] | join(" ")' "1 7"
	hf 0 alloc --dry-run --json --threads 8 vm0=2M@0,4M@1,2M@2,120M@3
	field '[.plan[] | select(.action == "create") | .threads] | join(" ")' "1 1 1 5"
	hf 0 alloc --dry-run --json vm0=64M
	field '[.plan[] | select(.action == "create") | .threads] | join(" ")' "1 1 1 1"
	# Fewer than nodes: whose first node it is; these serve the others after it.
	hf 0 alloc --dry-run --json --threads 2 vm0=64M
	field '[.plan[] | select(.action == "create") | .threads // "-"] | join(" ")' "1 1 - -"
	hf 0 alloc --dry-run --json --threads 1 vm0=2M@0,60M@2,2M@3
	field '[.plan[] | select(.action == "create") | .threads // "-"] | join(" ")' "- 1 -"
	same
}

@test "taskset: the workers stay within it, the pages lie as planned" {
	mount_huge
	mark
	run -0 --separate-stderr "${IN[@]}" taskset -c 1-2 "$HUGEFILL" alloc --json "$mnt/db=64M"
	rows "db 0 8 8; db 1 8 8; db 2 8 8; db 3 8 8"
	lies "$mnt/db" "$(in_turn 32 0 1 2 3)"
	hf 0 free --shrink "$mnt/db"
	start strace -D -f -qq -o "$tmp/trace" -e trace=madvise -e signal=none -e inject=madvise:delay_exit=1000000 \
		taskset -c 1-2 "$HUGEFILL" alloc --threads 4 "$mnt/db=24M"
	wait_until has_workers 4
	wait_until used_at_least 1
	equal "$(worker_cpus)" "1 1 1 2" "CPUs of the workers"
	ended 0
	lies "$mnt/db" "$(in_turn 12 0 1 2 3)"
	hf 0 free --shrink "$mnt/db"
}

@test "numactl: a memory policy of the caller's changes nothing" {
	mount_huge
	mark
	run -0 --separate-stderr "${IN[@]}" numactl --membind=1 "$HUGEFILL" alloc --json "$mnt/db=64M"
	rows "db 0 8 8; db 1 8 8; db 2 8 8; db 3 8 8"
	lies "$mnt/db" "$(in_turn 32 0 1 2 3)"
	hf 0 free --shrink "$mnt/db"
	run -0 --separate-stderr "${IN[@]}" numactl --cpunodebind=3 --preferred=2 "$HUGEFILL" alloc --json "$mnt/db=32M@0-1"
	lies "$mnt/db" "$(in_turn 16 0 1)"
	hf 0 free --shrink "$mnt/db"
	run -0 --separate-stderr "${IN[@]}" numactl --interleave=1-2 "$HUGEFILL" alloc 2M=64M
	pools 8 8 8 8
	hf 0 free 2M
}

# in_cpuset MEMS ARGUMENT...: hugefill in a cpuset with this memory
in_cpuset() {
	local mems=$1 group=/sys/fs/cgroup/hugefill-test

	shift
	mkdir "$group"
	echo "$mems" >"$group/cpuset.mems"
	# shellcheck disable=SC2016 # for the inner shell
	run --separate-stderr "${IN[@]}" bash -c 'echo $$ >"$1" && shift && exec "$@"' - "$group/cgroup.procs" \
		"$HUGEFILL" "$@"
	wait_until rmdir "$group"
}

@test "cpuset: nodes outside are refused by name, without @ those inside serve" {
	mount_huge
	mark
	in_cpuset 0-1 alloc --json "$mnt/db=64M@2"
	equal "$status" 1 status
	field '.findings[0] | [.id, .fatal, .node] | join(" ")' "cpuset true 2"
	has "$stderr" "node 2 is outside of what this process may use (0-1)" "hint: "
	same
	in_cpuset 0-1 alloc --json "$mnt/db=64M@all"
	equal "$status" 1 status
	same
	in_cpuset 0-1 alloc --json "$mnt/db=64M@0-1"
	equal "$status" 0 status
	lies "$mnt/db" "$(in_turn 32 0 1)"
	hf 0 free --shrink "$mnt/db"
	in_cpuset 0-1 alloc 2M=64M
	equal "$status" 0 status
	pools 16 16 0 0
	hf 0 free 2M
	in_cpuset 0-1 alloc --json 2M=64M@2
	equal "$status" 1 status
	field '.findings[0] | [.id, .fatal, .node] | join(" ")' "cpuset true 2"
	same
	in_cpuset 0-1 alloc --json "$mnt/db=64M"
	equal "$status" 0 status
	lies "$mnt/db" "$(in_turn 32 0 1)"
	pools 16 16 0 0
	hf 0 free --shrink "$mnt/db"
}
