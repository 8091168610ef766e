#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats and the helper set output and tmp
#
# bench's histograms of kernel functions, in guests whose kernel has a tracer.

load helper

TRACING=/sys/kernel/tracing

# What is defined in tracefs, by anybody.
defined() {
	"${IN[@]}" cat "$TRACING/kprobe_events" "$TRACING/synthetic_events"
}

@test "kernel functions are traced while runs count, and nothing of it stays" {
	"${IN[@]}" mount -t tracefs tracefs "$TRACING"
	"${IN[@]}" bash -c "echo 'p:mine do_sys_openat2' >>$TRACING/kprobe_events"
	defined >"$tmp/before"
	hf 0 bench --size=64M --runs=2 --warmup=1 --threads=1,2 --method=populate \
		--kernel=hugetlb_fault,no_such_function
	has "$output" "@hugetlb_fault:" "no_such_function: the kernel has no function of this name"
	# Two runs by one thread and by two, 32 pages each, of which a probe may miss some. Others on the machine
	# have no huge pages.
	calls=$(sed -n '/^@hugetlb_fault:/,/^$/p' <<<"$output" | awk '/^\[/ { sum += $3 } END { print sum }')
	[ "$calls" -gt 64 ] && [ "$calls" -le 128 ]
	defined | diff "$tmp/before" -
	hf 0 bench --size=64M --runs=1 --threads=1 --kernel
	defined | diff "$tmp/before" -
	"${IN[@]}" bash -c "echo '-:mine' >>$TRACING/kprobe_events"
}

@test "a signal: what was made in tracefs is gone" {
	"${IN[@]}" mount -t tracefs tracefs "$TRACING"
	defined >"$tmp/before"
	start "$HUGEFILL" bench --size=64M --runs=1000 --warmup=0 --threads=1 --kernel=hugetlb_fault
	wait_until "${IN[@]}" grep -q hugefill "$TRACING/synthetic_events"
	sleep 1
	kill -TERM "$pid"
	ended 143
	defined | diff "$tmp/before" -
	same
}
