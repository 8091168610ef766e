#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats stderr
#
# Four nodes of 2 GiB with a CPU each.

load helper

@test "pools: each way to write nodes" {
	local spec want

	while IFS='|' read -r spec want; do
		# shellcheck disable=SC2086 # words
		hf 0 alloc $spec
		# shellcheck disable=SC2086
		pools $want
		hf 0 free 2M
		pools 0 0 0 0
	done <<-EOF
		2M=64M|8 8 8 8
		2M=64M@all|8 8 8 8
		2M=64M@0|32 0 0 0
		2M=64M@3|0 0 0 32
		2M=64M@1-2|0 16 16 0
		2M=60M@0-1+3|10 10 0 10
		2M=64M@0+2|16 0 16 0
		2M=32M@0,96M@2|16 0 48 0
		2M=8M@3,4M@2,6M@0-1|2 1 2 4
		--nodes 2-3 2M=64M|0 0 16 16
		--nodes 1 2M=64M@0 2M=32M|32 16 0 0
		2M=+16M@1 2M=+8M@3|0 8 0 4
	EOF
}

@test "the remainder lies on the lowest nodes" {
	hf 0 alloc 2M=12M
	pools 2 2 1 1
	hf 0 alloc 2M=14M@all
	pools 2 2 2 1
	hf 0 free 2M
	hf 0 alloc 2M=10M@1-3
	pools 0 2 2 1
	hf 0 free 2M
	hf 0 alloc 2M=2M
	pools 1 0 0 0
	hf 0 free 2M
}

@test "pools: the table has a row per node, and they are true" {
	hf 0 alloc --json 2M=32M@0,96M@2
	rows "2M 0 16 16; 2M 2 48 48"
	hf 0 alloc --json 2M=64M@0-3
	rows "2M 0 8 16; 2M 1 8 8; 2M 2 8 48; 2M 3 8 8"
	pools 16 8 48 8
	hf 0 free 2M=64M@2
	pools 16 8 16 8
	hf 0 free 2M
}

@test "what the nodes have counts: an amount evens them out, + adds to each" {
	give_nodes 12 0 4 0
	hf 0 alloc --dry-run --json 2M=64M
	planned "grow 1 0 7; grow 2 4 7; grow 3 0 6"
	hf 0 alloc 2M=64M
	pools 12 7 7 6
	give_nodes 12 0 4 0
	hf 0 alloc 2M=+16M
	pools 14 2 6 2
	hf 0 alloc 2M=+16M@1,4M@3
	pools 14 10 6 2
	hf 0 free 2M
	mark
}

@test "every engine grows each node by what it lacks" {
	local engine

	for engine in sysfs parallel auto; do
		give_nodes 0 4 0 0
		hf 0 alloc --json --grow $engine 2M=64M
		pools 8 8 8 8
		hf 0 alloc --json --grow $engine 2M=32M@0,64M@2
		rows "2M 0 16 16; 2M 2 32 32"
		pools 16 8 32 8
		hf 0 free 2M
	done
	mark
}

@test "fewer workers than nodes: in parallel they go from node to node" {
	start_strace -e trace=openat -e status=successful "$HUGEFILL" alloc --json --grow parallel --threads 2 2M=256M
	ended 0
	pools 32 32 32 32
	# What came up in a round is kept by one write for all; a node's own is the ladder's.
	equal "$(grep -c 'node/node.*nr_hugepages.*O_WRONLY' "$tmp/trace")" 0 "writes to a node's pool"
	equal "$(grep -c '/mm/hugepages/.*nr_hugepages.*O_WRONLY' "$tmp/trace")" 2 "writes to the pool"
	hf 0 free 2M
}

# Linux 6.1: a write to one node's pool then allocates as many more as other nodes have surplus.
@test "surplus pages of another node do not disturb a node's pool" {
	echo 16 >"$POOL/nr_overcommit_hugepages"
	# It also allocates for the reservation where the process runs, whatever its policy says.
	start numactl --membind=3 --cpunodebind=3 "$HOLD" take 32
	wait_until used_at_least 16
	equal "$(of_nodes surplus_hugepages)" "0 0 0 16" "surplus pages"
	hf 0 alloc --json 2M=16M@1
	rows "2M 1 8 8"
	pools 0 8 0 16
	equal "$(of_nodes surplus_hugepages)" "0 0 0 16" "surplus pages"
	kill "$pid"
	wait "$pid" || true
	echo 0 >"$POOL/nr_overcommit_hugepages"
	hf 0 free 2M
}

@test "a node that is not there, or an amount that is none" {
	hf 2 alloc 2M=64M@4
	has "$stderr" "node 4 does not exist" "0-3"
	hf 2 alloc vm0=64M@0-4
	has "$stderr" "node 4 does not exist" "0-3"
	hf 2 alloc --nodes 7 vm0=64M
	hf 2 alloc vm0=3M@0-1
	same
}

@test "files: evenly and in turn, without and with nodes" {
	local spec want

	mount_huge
	mark
	while IFS='|' read -r spec want; do
		# shellcheck disable=SC2086 # words
		hf 0 alloc --json ${spec/db/$mnt/db}
		lies "$mnt/db" "$(eval "$want")"
		equal "$(jq '[.targets[] | .filled] | add' <<<"$output")" "$("${IN[@]}" stat -c %s "$mnt/db")" filled
		hf 0 free --shrink "$mnt/db"
		same
	done <<-EOF
		db=64M|in_turn 32 0 1 2 3
		db=12M|in_turn 6 0 1 2 3
		db=14M@all|in_turn 7 0 1 2 3
		db=64M@2|in_turn 32 2
		db=60M@0-1+3|in_turn 30 0 1 3
		db=10M@1-3|in_turn 5 1 2 3
		--nodes 1-2 db=32M|in_turn 16 1 2
		--layout interleave db=32M@3|in_turn 16 3
		--layout block db=64M|blocks 0:8 1:8 2:8 3:8
		--layout block db=12M|blocks 0:2 1:2 2:1 3:1
		--layout block db=60M@0-1+3|blocks 0:10 1:10 3:10
	EOF
}

@test "files: uneven amounts lie in blocks, in the order written" {
	local spec want how

	mount_huge
	mark
	while IFS='|' read -r spec want; do
		for how in --layout=interleave --method=touch --method=fallocate; do
			hf 0 alloc --json $how "$mnt/$spec"
			# shellcheck disable=SC2086 # words
			lies "$mnt/db" "$(blocks $want)"
			hf 0 free --shrink "$mnt/db"
			same
		done
	done <<-EOF
		db=16M@0,48M@2|0:8 2:24
		db=8M@3,4M@1,20M@2,2M@0|3:4 1:2 2:10 0:1
		db=6M@0-1,8M@3|0:2 1:1 3:4
	EOF
}

@test "files: every method puts every page where it belongs" {
	local method threads

	mount_huge
	mark
	for method in populate touch fallocate; do
		for threads in 1 3 8; do
			hf 0 alloc --method $method --threads $threads "$mnt/db=64M"
			lies "$mnt/db" "$(in_turn 32 0 1 2 3)"
			hf 0 free --shrink "$mnt/db"
		done
	done
}

@test "FILLED is where the pages lie, node by node" {
	mount_huge
	mark
	hf 0 alloc --json "$mnt/a=62M" "$mnt/b=16M@1,48M@3"
	rows "a 0 8 8; a 1 8 8; a 2 8 8; a 3 7 7; b 1 8 8; b 3 24 24"
	lies "$mnt/a" "$(in_turn 31 0 1 2 3)"
	lies "$mnt/b" "$(blocks 1:8 3:24)"
	pools 8 16 8 31
	hf 0 free --shrink "$mnt/a" "$mnt/b"
}

@test "what a dry run says is then true" {
	mount_huge
	mark
	hf 0 alloc --dry-run --json --layout block "$mnt/db=30M@1-3"
	planned "grow 1 0 5; grow 2 0 5; grow 3 0 5; create 1 0 5; create 2 0 5; create 3 0 5"
	same
	hf 0 alloc --layout block "$mnt/db=30M@1-3"
	lies "$mnt/db" "$(blocks 1:5 2:5 3:5)"
	hf 0 free --shrink "$mnt/db"
}

# freed "NODE PAGES; ...": rows of the JSON document that freed some
freed() {
	field '[.targets[] | select(.freed > 0) | "\(.node) \(.freed / 2097152)"] | join("; ")' "$1"
}

@test "what is freed counts on the nodes where it lay, holes or not" {
	mount_huge
	mark
	hf 0 alloc "$mnt/db=16M"
	hf 0 free --json --punch 2M:4M "$mnt/db"
	freed "1 1; 2 1"
	hf 0 free --json --shrink --punch 0:8M "$mnt/db"
	freed "0 1; 3 1; 0 1; 3 1"
	pools 1 2 2 1
	hf 0 free --json --shrink "$mnt/db"
	freed "0 1; 1 1; 2 1; 3 1; 0 1; 1 1; 2 1; 3 1"
	pools 0 1 1 0
	hf 0 free 2M
}

@test "an amount without @ is given back once, whatever of it the files of the call free" {
	mount_huge
	mark
	hf 0 alloc 2M=80M "$mnt/a=32M" "$mnt/b=32M@0"
	pools 16 8 8 8
	hf 0 free --shrink 2M=80M "$mnt/a" "$mnt/b"
	pools 0 0 0 0
}

@test "holes are filled where the plan wants them, what is there stays" {
	mount_huge
	give_nodes 8 8 8 8
	"${IN[@]}" numactl --membind=3 fallocate -l 16M "$mnt/db"
	punch "$mnt/db" 0 4
	punch "$mnt/db" 6 1
	mark
	hf 0 alloc --json "$mnt/db=16M"
	lies "$mnt/db" 0 1 2 3 3 3 2 3
	"${IN[@]}" rm "$mnt/db"
	mark
}

@test "without @ other nodes make up, and the table shows where" {
	mount_huge
	give_nodes 8 2 8 8
	mark
	hf 0 alloc --json --no-grow "$mnt/db=32M"
	rows "db 0 4 5; db 1 4 2; db 2 4 5; db 3 4 4"
	lies "$mnt/db" 0 1 2 3 0 1 2 3 0 2 3 0 2 3 0 2
	hf 0 free "$mnt/db"
	hf 0 alloc --json --no-grow "$mnt/db=52M"
	rows "db 0 7 8; db 1 7 2; db 2 6 8; db 3 6 8"
	hf 0 free "$mnt/db"
}

@test "with @ they do not: the error names the node" {
	mount_huge
	give_nodes 8 2 8 8
	mark
	hf 1 alloc --json --no-grow "$mnt/db=32M@all"
	field '.findings | map([.id, .object, .node, .wanted] | join(" ")) | join(", ")' "no-grow 2M 1 4194304"
	has "$stderr" "2M: node 1: requested 4M, obtained 0: the node's pool lacks 2 pages (4M)" "hint: "
	same
	hf 1 alloc --no-grow "$mnt/db=32M@1"
	same
	hf 1 alloc --no-grow 2M=8M@1
	same
	# What may grow does so there only.
	hf 0 alloc "$mnt/db=32M@all"
	pools 8 4 8 8
	lies "$mnt/db" "$(in_turn 16 0 1 2 3)"
	hf 0 free --shrink "$mnt/db"
	give_nodes 8 2 8 8
}

@test "a node that falls short while pools grow: everything is undone on all nodes" {
	mount_huge
	mark
	hf 1 alloc --json --headroom 0 2M=64M@0,3G@1,64M@2
	field '[.changed, .not_undone] | join(" ")' "false 0"
	field '[.findings[] | select(.fatal and .node == 1)] | length > 0' true
	has "$stderr" "2M: node 1: requested 3G, obtained 1" "hint: "
	same
	hf 1 alloc --headroom 0 vm0=64M@0,3G@1
	has "$stderr" "node 1"
	same
}

@test "--best-effort keeps what a short node could give" {
	mount_huge
	give_nodes 8 2 8 8
	mark
	hf 64 alloc --json --no-grow --best-effort "$mnt/db=32M@all"
	rows "db 0 4 4; db 1 4 2; db 2 4 4; db 3 4 4"
	lies "$mnt/db" 0 1 2 3 0 1 2 3 0 2 3 0 2 3
	hf 0 free "$mnt/db"
}

# fail_on_short_node METHOD: between reservation and fill somebody takes node 2's pages. Each worker stops
# where it is on its node, and has no memory yet.
fail_on_short_node() {
	stop_at sched_setaffinity -- alloc --no-grow --method "$1" "$mnt/db=32M@all"
	equal "$(<"$POOL/resv_hugepages") $(used_pages)" "16 0" "reserved and used pages"
	"${IN[@]}" numactl --membind=2 fallocate -l 6M "$mnt/other"
	go_on
	ended 1
	has "$(<"$err")" "2M: node 2: requested 4M, obtained 0: the node's pool lacks 2 pages (4M)" "another program changed the machine meanwhile" "hint: "
	"${IN[@]}" rm "$mnt/other"
	same
}

@test "a bound node's pages are taken before the fill: it is an error, all is undone" {
	local method

	mount_huge
	give_nodes 8 8 5 8
	mark
	for method in populate touch fallocate; do
		fail_on_short_node $method
	done
}
