#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Signals at moments drawn at random, over growth, fill and publishing.

load helper

@test "200 times INT, TERM or HUP: all is undone, or all is done" {
	draw_seed
	script signals.bash end 200 "$seed"
}

@test "200 times kill -9: no file, no used page, and the next one succeeds" {
	draw_seed
	script signals.bash kill 200 "$seed"
}

@test "two signals in a row, whichever: death by the first, all is undone" {
	local first second delay

	draw_seed
	RANDOM=$seed
	for first in INT TERM HUP; do
		for second in INT TERM HUP; do
			start "$HUGEFILL" alloc --threads 1 2M=1G vm0=1000M
			wait_until used_at_least 1
			kill "-$first" "$pid"
			printf -v delay '0.%04d' $((RANDOM % 100))
			sleep "$delay"
			kill "-$second" "$pid" || true
			ended $((128 + $(kill -l "$first")))
			wait_until settled
			has "$(<"$err")" "given up"
		done
	done
}

@test "two signals at once: death by one of them, the other is noted" {
	local status=0

	start "$HUGEFILL" alloc --threads 1 2M=1G vm0=1000M
	wait_until used_at_least 1
	kill -STOP "$pid"
	kill -HUP "$pid"
	kill -TERM "$pid"
	kill -CONT "$pid"
	wait "$pid" || status=$?
	[ $status = 129 ] || equal $status 143 "exit status"
	has "$(<"$err")" "given up" "1 more signals came"
}

@test "stopped and continued, in every phase: no harm" {
	local delay

	draw_seed
	RANDOM=$seed
	for _ in {1..20}; do
		start "$HUGEFILL" alloc 2M=512M vm0=448M
		for _ in 1 2 3; do
			printf -v delay '0.%04d' $((RANDOM % 400))
			sleep "$delay"
			kill -STOP "$pid" || break
			sleep 0.02
			kill -CONT "$pid" || break
		done
		ended 0
		pool 256 32
		hf 0 free --shrink --umount vm0 2M
		same
	done
}
