#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# Nodes of 512 MiB, 1, 2 and 4 GiB.

load helper

@test "an amount that the smallest node cannot hold its part of: others make up, the table shows where" {
	local filled

	hf 0 alloc --json 2M=2800M
	equal "$(jq '[.targets[].filled] | add / 1048576' <<<"$output")" 2800 "MiB in all"
	filled=$(jq -r '[.targets[].filled / 2097152] | join(" ")' <<<"$output")
	equal "$filled" "$(of_nodes nr_hugepages)" "FILLED of the nodes"
	read -r a b c d <<<"$filled"
	[ "$a" -lt 256 ] && [ "$b" -ge 350 ] && [ "$c" -ge 350 ] && [ "$d" -ge 350 ]
	hf 0 free 2M
}

@test "the same with @ fails, names the node and its amounts, and undoes all" {
	hf 1 alloc --json 2M=2800M@all
	field '[.findings[] | select(.fatal and .node == 0)] | length > 0' true
	has "$stderr" "2M: node 0: requested 700M, obtained " "hint: "
	same
	hf 1 alloc --json vm0=64M@3,600M@0
	has "$stderr" "node 0"
	same
	hf 64 alloc --json --best-effort 2M=2800M@all
	field '[.targets[1:][].filled] | unique | join(" ")' 734003200
	hf 0 free 2M
	same
}

@test "a file that the smallest node cannot hold its part of" {
	local told counts

	mount_huge
	mark
	hf 0 alloc --json "$mnt/db=2600M"
	told=$("${IN[@]}" "$WHERE" "$mnt/db")
	counts=$(tail -n 1 <<<"$told" | tr ' ' '\n' | sort)
	equal "$(jq -r '.targets[] | "N\(.node)=\(.filled / 2097152)"' <<<"$output")" "$counts" "FILLED"
	equal "$(head -n 1 <<<"$told" | wc -w)" 1300 pages
	hf 0 free --shrink "$mnt/db"
}

@test "% is of the nodes' own memory" {
	local node total

	for node in 0 1 2 3; do
		total=$(awk '/MemTotal/ { print int($4 / 10 / 2048) }' "$NODES/node$node/meminfo")
		hf 0 alloc "2M=10%@$node"
		equal "$(cat "$NODES/node$node/hugepages/hugepages-2048kB/nr_hugepages")" "$total" "pages of node $node"
	done
	hf 0 free 2M
}

@test "threads by pages" {
	hf 0 alloc --dry-run --json --threads 8 vm0=64M@0,64M@1,128M@2,256M@3
	field '[.plan[] | select(.action == "create") | .threads] | join(" ")' "1 1 2 4"
}
