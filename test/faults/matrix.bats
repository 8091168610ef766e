#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every system call fails, with every error it can give: all is as before, and it is said why. The
# cases come from a trace, see inject.bash.

load helper

@test "alloc that grows a pool, mounts, and makes a file" {
	inject 400 new errors
}

@test "alloc with workers on a pool that has the pages" {
	inject 120 ready errors
}

@test "alloc that fills the holes of a file, and extends it" {
	inject 300 holes errors
}

@test "alloc that grows a pool in parallel" {
	inject 200 parallel errors
}

@test "free of a file, its pages, its pool and its mount" {
	inject 400 free errors
}

@test "free of a range of a file" {
	inject 200 punch errors
}

@test "run that grows a pool, makes a file, extends another, and gives everything back" {
	inject 150 run errors
}

@test "the undo of a growth, a mount and a file fails: what is left is listed" {
	inject 100 new undo
}

@test "the undo of a file fails" {
	inject 30 ready undo
}

@test "a signal at every system call" {
	inject 150 new TERM
	inject 80 holes HUP
	inject 150 free INT
	inject 10 run TERM
}
