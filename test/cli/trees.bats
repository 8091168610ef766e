#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets output and stderr
#
# Architectures and control groups as captured trees show them, and machines larger than any test has.

load helper

# shows COMMAND ARGUMENT... <<rows: raw, without a heading
shows() {
	hf 0 "$@" --raw --noheadings
	assert_equal "$output" "$(cat)"
}

# about ID: the findings of the last check with this id, as OBJECT WANTED GOT
about() {
	jq -r --arg id "$1" '.findings[] | select(.id == $id) | "\(.object) \(.wanted) \(.got)"' <<<"$output"
}

@test "arm64 with a base page of 64K: 2M, 512M, 16G" {
	shows status --sysroot=arm64-64k <<-'ROWS'
	2M 0 1024 1000 - 0 - 24 -
	2M 1 0 0 - 0 - 0 -
	2M all 1024 1000 8 0 0 24 992
	512M 0 8 2 - 0 - 6 -
	512M 1 4 4 - 0 - 0 -
	512M all 12 6 0 0 4 6 6
	16G 0 1 1 - 0 - 0 -
	16G 1 0 0 - 0 - 0 -
	16G all 1 1 0 0 0 0 1
	ROWS
	plans arm64-64k 2M=4G 512M=8G vm0=2G 16G=32G@1 <<-'ROWS'
	grow 2M 1 2M 0B 2G 1024 -
	grow 512M 1 512M 2G 4G 4 -
	grow 16G 1 16G 0B 32G 2 -
	create /dev/hugepages/vm0 0 512M 0B 1G 2 2
	create /dev/hugepages/vm0 1 512M 0B 1G 2 2
	ROWS
	refuses alloc "hugefill alloc: 4M: the kernel has no huge pages of this size, it has 2M, 512M, 16G
hint: for a file of this name write ./4M" -n --sysroot=arm64-64k 4M=4M
}

@test "ppc64: 16M and 16G, nodes 0 and 8" {
	shows status --sysroot=ppc64 <<-'ROWS'
	16M 0 512 480 - 0 - 32 -
	16M 8 0 0 - 0 - 0 -
	16M all 512 480 32 0 0 32 448
	16G 0 1 1 - 0 - 0 -
	16G 8 1 1 - 0 - 0 -
	16G all 2 2 0 0 0 0 2
	ROWS
	plans ppc64 16M=16G@0+8 16G=48G <<-'ROWS'
	grow 16M 8 16M 0B 8G 512 -
	grow 16G 0 16G 16G 32G 1 -
	ROWS
	hf 2 alloc -n --sysroot=ppc64 16M=1G@1
	assert_equal "${stderr_lines[0]}" "hugefill alloc: 1: node 1 does not exist: the nodes with memory are 0+8"
}

@test "s390: 1M" {
	shows status --sysroot=s390 <<-'ROWS'
	1M 0 2048 2040 - 0 - 8 -
	1M all 2048 2040 0 0 0 8 2040
	ROWS
	plans s390 --size=3G <<-'ROWS'
	grow 1M 0 1M 2G 3G 1032 -
	mount /dev/hugepages - 1M - - - -
	create /dev/hugepages/hugefill 0 1M 0B 3G 3072 4
	ROWS
}

@test "cgroup v1: no limit is a number, and none of it is shown" {
	shows status --cgroups --sysroot=cgroup-v1 <<-'ROWS'
	/batch 2M 4G - 3G 3G 7
	/batch 1G 0B - 0B 0B 2
	/batch/job 2M - 2G 0B 1G 0
	ROWS
	hf 0 check --json --sysroot=cgroup-v1
	assert_equal "$(about cgroup)" $'1G null null\n2M 4294967296 1073741824'
	assert_equal "$(about cgroup-reserved)" "2M 2147483648 1073741824"
	hf 1 check --json --sysroot=cgroup-v1 --size=2G
	assert_equal "$(about cgroup)" "2M 2147483648 1073741824"
	assert_equal "$(about cgroup-reserved)" "2M 2147483648 1073741824"
	hf 0 check --sysroot=cgroup-v1 --size=1G
	hf 1 check --json --sysroot=cgroup-v1 -p 1G --size=1G
	assert_equal "$(about cgroup)" "1G 1073741824 0"
}

@test "cgroup v2: the nearest limit on the way up is not the only one" {
	shows status --cgroups --sysroot=cgroup-v2 <<-'ROWS'
	/machine.slice 2M 6G - 4G 4G 11
	/machine.slice/box.scope 2M - 3G 1G 2G 0
	/machine.slice/box.scope 1G - 1G 0B 0B 0
	ROWS
	hf 1 check --json --sysroot=cgroup-v2 --size=3G
	assert_equal "$(about cgroup)" "2M 3221225472 2147483648"
	assert_equal "$(about cgroup-reserved)" "2M 3221225472 1073741824"
	hf 0 check --sysroot=cgroup-v2 --size=1G
}

@test "cgroup v1 and v2 at once: huge pages in one, memory that counts them in the other" {
	shows status --cgroups --sysroot=cgroup-both <<-'ROWS'
	/ 2M - - 1G 1G 0
	/vm 2M - 5G 1G 1G 0
	ROWS
	hf 1 check --json --sysroot=cgroup-both --size=3G
	assert_equal "$(about cgroup-memory)" "2M 3221225472 2147483648"
	assert_equal "$(about cgroup-reserved)" ""
	hf 1 check --json --sysroot=cgroup-both --size=5G
	assert_equal "$(about cgroup-reserved)" "2M 5368709120 4294967296"
	hf 0 check --sysroot=cgroup-both --size=2G
}

# --- 64 nodes, 16 TiB, 10,000 files ---

large() {
	sh ./make-trees.sh "$BATS_TEST_TMPDIR" sixty_four_nodes
	cd "$BATS_TEST_TMPDIR" || return
}

# files NODES: f0 to f9999, of 130M to 910M; each on the next of so many nodes, or, without, on all
files() {
	awk -v nodes="$1" 'BEGIN {
		for (i = 0; i < 10000; i++)
			printf "f%d=%dM%s\n", i, (i % 7 + 1) * 130, nodes ? "@" i % nodes : ""
	}'
}

@test "10,000 files over 64 nodes: every page is planned once, spread by the largest remainder" {
	large
	files "" >specs
	hf 0 alloc -n --raw --noheadings --bytes --sysroot=sixty-four-nodes --from=specs
	# 65 to 455 pages of a file: a node has a 64th, and the lowest have one more.
	awk '
	$1 == "create" {
		name = substr($2, 17); pages = (name % 7 + 1) * 65
		want = int(pages / 64) + ($3 < pages % 64)
		if ($7 != want || $6 != want * 2097152) { print "not " want ": " $0; exit 1 }
		rows++; all += $7
	}
	$1 == "grow" { grown += $7 }
	END {
		if (rows != 640000) { print rows " rows"; exit 1 }
		if (all != 2599610) { print all " pages"; exit 1 }
		if (grown != all - 2097152) { print grown " of " all " pages grown"; exit 1 }
	}' <<<"$output"
}

@test "10,000 files with a node each, and amounts of terabytes" {
	large
	files 64 >specs
	hf 0 alloc -n --raw --noheadings --bytes --sysroot=sixty-four-nodes --from=specs 2M=10T
	awk '
	$1 == "create" && ($3 != substr($2, 17) % 64 || $7 != (substr($2, 17) % 7 + 1) * 65) { print; exit 1 }
	$1 == "create" { rows++ }
	$1 == "grow" { total += $6 }
	END { exit !(rows == 10000 && total == 10 * 2 ^ 40) }' <<<"$output"
	hf 0 alloc -n --raw --noheadings --sysroot=sixty-four-nodes 2M=12T@all
	awk '$6 != "192G" || $7 != 65536 { print; exit 1 } END { exit NR != 64 }' <<<"$output"
	hf 1 alloc -n --sysroot=sixty-four-nodes 2M=4096T
	assert_equal "${stderr_lines[0]}" "hugefill alloc: memory: the pools would grow by 4P, but only 11.9T is available and 491.5G of it must stay so"
}

# A sanitizer takes terabytes of address space.
# bats test_tags=plain
@test "what a plan takes of memory goes by its rows, not by its pages" {
	large
	files 64 >specs
	# shellcheck disable=SC2016 # for the inner shell
	run -0 bash -c 'ulimit -v 100000; exec "$0" alloc -n -r --sysroot=sixty-four-nodes --from=specs' "$HUGEFILL"
	# shellcheck disable=SC2016 # for the inner shell
	run -0 bash -c 'ulimit -v 20000; exec "$0" alloc -n -r --sysroot=sixty-four-nodes vm=15T' "$HUGEFILL"
}
