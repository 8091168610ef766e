#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# Node 1 is memory that can be unplugged, and goes offline while hugefill waits or works. The last test
# ejects it: then the node itself is gone.

load helper

OFFLINE="node 1, or its memory, went offline meanwhile"

# memory STATE: of node 1's blocks
memory() {
	local block

	for block in "$NODES"/node1/memory[0-9]*; do
		[[ $(<"$block/state") == "${1%%_*}" ]] || echo "$1" >"$block/state"
	done
}

bring_back() {
	memory online_movable
	equal "$(<"$NODES/has_memory")" 0-1 "nodes with memory"
}

# meanwhile STATUS COMMAND ARGUMENT...: COMMAND is run while hugefill, which has made its plan, waits for the lock
meanwhile() {
	local want=$1 command=$2

	shift 2
	exec 8>>/run/hugefill.lock
	flock 8
	start "$HUGEFILL" "$@" 8>&-
	wait_until grep -qs "waiting for another hugefill" "$err"
	$command 8>&-
	exec 8>&-
	ended "$want"
}

offline() {
	memory offline
	equal "$(<"$NODES/has_memory")" 0 "nodes with memory"
}

@test "it serves as any other" {
	mount_huge
	mark
	hf 0 alloc --json "$mnt/db=64M@0,64M@1"
	lies "$mnt/db" "$(blocks 0:32 1:32)"
	hf 0 free --shrink "$mnt/db"
}

@test "its memory goes offline between plan and apply: the error names the node, nothing is done" {
	local spec

	mount_huge
	mark
	for spec in 2M=64M@1 2M=64M@0-1 2M=16M@0,16M@1 "$mnt/db=64M@1" "$mnt/db=32M@0,32M@1" "2M=10%@1"; do
		meanwhile 1 offline alloc "$spec"
		has "$(<"$err")" "$spec: $OFFLINE" "hint: the nodes with memory are 0"
		bring_back
		same
	done
	hf 0 alloc 2M=16M@1
	mark
	meanwhile 1 offline free 2M=8M@1
	has "$(<"$err")" "$OFFLINE"
	bring_back
	hf 0 free 2M
	mark
}

@test "without @ the others make up" {
	mount_huge
	mark
	meanwhile 0 offline alloc 2M=64M
	equal "$(of_nodes nr_hugepages 2>/dev/null | awk '{ print $1 }')" 32 "pages of node 0"
	bring_back
	hf 0 free 2M
	meanwhile 0 offline alloc "$mnt/db=64M"
	bring_back
	lies "$mnt/db" "$(in_turn 32 0)"
	hf 0 free --shrink "$mnt/db"
}

@test "while pools grow: an error, and what other nodes got is undone" {
	start_stopped_growth alloc 2M=128M@0,64M@1
	offline
	go_on
	ended 1
	has "$(<"$err")" "2M: node 1: requested 64M, obtained 0: the node, or its memory, went offline meanwhile"
	equal "$(<"$NODES/node0/hugepages/hugepages-2048kB/nr_hugepages")" 0 "pages of node 0"
	bring_back
	same
}

eject() {
	local device

	for device in /sys/bus/acpi/devices/PNP0C80:*; do
		echo 1 >"$device/eject" || true
	done 2>/dev/null
	wait_until test ! -e "$NODES/node1"
}

@test "the node itself goes between plan and apply" {
	meanwhile 1 eject alloc 2M=64M@1
	has "$(<"$err")" "2M=64M@1: $OFFLINE" "hint: the nodes with memory are 0"
	mark
	hf 2 alloc 2M=64M@1
	has "$stderr" "node 1 does not exist"
	same
	hf 0 alloc 2M=64M@all
	pools 32
	hf 0 free 2M
}
