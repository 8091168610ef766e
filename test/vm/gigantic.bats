#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# 1 GiB pages of two nodes, made at boot. What is there differs by kernel: one or none on node 0.

load helper
# shellcheck disable=SC2034 # of_nodes wants it
SIZE_KB=1048576

# Pages that were made at boot are not made again.
nothing_used() {
	echo 0 >"$POOL/nr_hugepages"
	[ "$(<"$POOL/nr_hugepages")" = 0 ]
}

mount_1g() {
	mount_huge "$mnt" pagesize=1G
}

@test "the pages of the boot are found and used" {
	local free

	free=$(of_nodes free_hugepages)
	[ "$(<"$POOL_1G/nr_hugepages")" = 3 ]
	mount_1g
	mark
	hf 0 alloc --json --no-grow -p 1G "$mnt/vm=2G"
	field '[.targets[].filled] | add' $((2 << 30))
	equal "$("${IN[@]}" "$WHERE" "$mnt/vm" | tail -n 1 | tr ' ' '\n' | sort)" \
		"$(jq -r '.targets[] | select(.filled > 0) | "N\(.node)=\(.filled / 1073741824)"' <<<"$output")" "numa_maps"
	hf 0 free "$mnt/vm"
	equal "$(of_nodes free_hugepages)" "$free" "free pages"
}

@test "on a node by name" {
	mount_1g
	mark
	hf 0 alloc --json --no-grow -p 1G "$mnt/vm=1G@1"
	field '.targets[0] | [.node, .filled] | join(" ")' "1 1073741824"
	lies "$mnt/vm" 1
	hf 0 free "$mnt/vm"
	hf 1 alloc --no-grow "$mnt/vm=4G"
	same
}

@test "more than there can be: all is undone, the boot's pages stay" {
	hf 1 alloc --headroom 0 1G=4G@1
	has "$stderr" "1G: " "node 1"
	same
	hf 1 alloc --headroom 0 2M=64M 1G=8G
	same
}
