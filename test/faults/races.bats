#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Side by side: several hugefills at once, and others that change the pool.

load helper

@test "eight processes, and a script that changes the pool" {
	draw_seed
	script races.bash mixed 100 "$seed"
}

@test "growth and shrinking of eight processes add up" {
	draw_seed
	script races.bash sums 30 "$seed"
}

@test "of two that want the last pages one gets them" {
	draw_seed
	script races.bash last 100 "$seed"
}
