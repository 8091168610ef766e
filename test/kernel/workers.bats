#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The workers of the fill: how many, where they may run, what memory they ask for.

load helper

# The program and $1 workers are there, and stand still.
has_workers() {
	equal "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" $((1 + $1)) tasks >"$tmp/why"
}

# CPUs of every worker, one line each
cpus_of_workers() {
	local task

	for task in "/proc/$pid/task"/*; do
		[ "${task##*/}" = "$pid" ] || awk '$1 == "Cpus_allowed_list:" { print $2 }' "$task/status"
	done
}

# expand LIST: 0-2,5 as lines
expand() {
	local part

	for part in ${1//,/ }; do
		seq "${part%-*}" "${part#*-}"
	done
}

# Those of node 0 that this process may use, as lines
node_cpus() {
	comm -12 <(expand "$(cat /sys/devices/system/node/node0/cpulist)" | sort) \
		<(expand "$(awk '$1 == "Cpus_allowed_list:" { print $2 }' /proc/self/status)" | sort) | sort -n
}

let_go() {
	kill -KILL "$pid"
	ended 137
	wait_until nothing_used
}

@test "all workers are there from the start, on the CPUs of their node" {
	local line

	mount_huge
	mark
	start_slow_fill alloc --threads 3 "$mnt/db=192M@0"
	wait_until has_workers 3
	equal "$(cpus_of_workers | wc -l)" 3 workers
	while read -r line; do
		equal "$(expand "$line")" "$(node_cpus)" "a worker's CPUs"
	done < <(cpus_of_workers)
	let_go
}

@test "workers stay within the CPUs the caller may use" {
	local cpu

	mount_huge
	mark
	cpu=$(node_cpus | tail -n 1)
	start taskset -c "$cpu" strace -D -f -q -o "$tmp/trace" "${SLOW_FILL[@]}" "$HUGEFILL" alloc --threads 2 "$mnt/db=64M@0"
	wait_until has_workers 2
	wait_until used_at_least 1
	equal "$(cpus_of_workers | sort -u)" "$cpu" "the workers' CPUs"
	let_go
	# By default as many as there are CPUs.
	start taskset -c "$cpu" strace -D -f -q -o "$tmp/trace" "${SLOW_FILL[@]}" "$HUGEFILL" alloc "$mnt/db=128M@0"
	wait_until used_at_least 1
	has_workers 1
	let_go
}

@test "by default a worker for each CPU of the node, 64 MiB of work each at least" {
	local cpus want

	mount_huge
	cpus=$(node_cpus | wc -l)
	hf 0 alloc --dry-run --json "$mnt/a=512M@0"
	want=$((cpus < 8 ? cpus : 8))
	field '.plan[] | select(.action == "create").threads' $want
	hf 0 alloc --dry-run --json "$mnt/a=126M@0"
	field '.plan[] | select(.action == "create").threads' 1
	hf 0 alloc --dry-run --json "$mnt/a=2M@0"
	field '.plan[] | select(.action == "create").threads' 1
	hf 0 alloc --dry-run --json --threads 7 "$mnt/a=64M@0"
	field '.plan[] | select(.action == "create").threads' 7
	mark
}

# bats test_tags=plain
@test "every worker pins itself, asks for its node's memory, and works without a system call but its own" {
	mount_huge
	mark
	start_strace -e trace=all "$HUGEFILL" alloc --grow=sysfs --threads 2 "$mnt/db=256M@0"
	ended 0
	wait_until grep -qs "exited with 0" "$tmp/trace"
	equal "$(grep -c 'sched_setaffinity(' "$tmp/trace")" 2 "calls of sched_setaffinity"
	equal "$(grep -cE 'set_mempolicy\((MPOL_BIND|0x2)' "$tmp/trace")" 2 "calls of set_mempolicy"
	# Nothing that needs the address space to itself, and no output, between two chunks.
	awk -v main="$pid" '$1 != main && /POPULATE_WRITE/ { if (!first[$1]) first[$1] = NR; last[$1] = NR }
		$1 != main { call[NR] = $2; by[NR] = $1; line[NR] = $0 }
		END { for (n in call) if (n > first[by[n]] && n < last[by[n]] && call[n] ~ /^(mmap|munmap|brk|mprotect|write|openat)/)
			print line[n] }' "$tmp/trace" >"$tmp/other"
	equal "$(<"$tmp/other")" "" "what a worker did besides"
	hf 0 free --shrink "$mnt/db"
}

@test "numactl's policy and CPUs are not inherited as a wish for memory" {
	command -v numactl >/dev/null || skip "numactl is missing"
	mount_huge
	mark
	run -0 --separate-stderr "${IN[@]}" numactl --membind 0 "$HUGEFILL" alloc "$mnt/db=64M"
	run -0 --separate-stderr "${IN[@]}" numactl --interleave all "$HUGEFILL" free --shrink "$mnt/db"
}

# bats test_tags=plain
@test "peak memory is below 8 MiB, whatever the size" {
	local size

	mount_huge
	mark
	for size in 2M 64M 512M 1536M; do
		run -0 --separate-stderr "${IN[@]}" "$HOLD" peak "$tmp/peak" "$HUGEFILL" alloc --json "$mnt/db=$size"
		[ "$(<"$tmp/peak")" -lt 8192 ] || { echo "$size: $(<"$tmp/peak") KiB"; return 1; }
		run -0 --separate-stderr "${IN[@]}" "$HOLD" peak "$tmp/peak" "$HUGEFILL" free --shrink "$mnt/db"
		[ "$(<"$tmp/peak")" -lt 8192 ] || { echo "free of $size: $(<"$tmp/peak") KiB"; return 1; }
	done
}

@test "rows are measured: threads, time, rate" {
	mount_huge
	mark
	hf 0 alloc --json --threads 2 "$mnt/a=256M"
	jq -e '.targets[0] | .time > 0 and .rate > 0 and .threads >= 1 and .threads <= 2 and .speedup > 0
		and .speedup <= .threads + 0.1' <<<"$output"
	jq -e '.phases | .fill > 0 and .grow > 0 and .reserve > 0 and .mount == 0' <<<"$output"
	hf 0 free --shrink "$mnt/a"
}
