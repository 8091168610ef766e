#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# What free --dry-run would do, and what it refuses.

load helper

# frees TREE ARGUMENT... <<rows: TARGET NODE PAGESIZE ACTION REQUESTED
frees() {
	local tree=$1

	shift
	hf 0 free --dry-run --raw --noheadings -o target,node,pagesize,action,requested --sysroot="$tree" "$@"
	assert_equal "$output" "$(cat)"
	assert_equal "$stderr" ""
}

# fails MESSAGE ARGUMENT...
fails() {
	local message=$1

	shift
	hf 1 free --dry-run "$@"
	assert_equal "$stderr" "$message"
	assert_equal "$output" ""
}

@test "text, with headings" {
	hf 0 free -n --sysroot=two-nodes 2M=2G
	assert_equal "$stderr" ""
	assert_equal "$(unpadded)" "\
TARGET NODE PAGESIZE ACTION REQUESTED FREED TIME
2M        0       2M shrink        1G
2M        1       2M shrink        1G"
}

@test "pools: an amount" {
	frees two-nodes 2M=2G@0 <<<'2M 0 2M shrink 2G'
	frees two-nodes default=1p@1 <<<'2M 1 2M shrink 2M'
	frees two-nodes -N 1 2M=1G <<<'2M 1 2M shrink 1G'
	frees two-nodes 2M=1G@0,2M@1 <<'EOF'
2M 0 2M shrink 1G
2M 1 2M shrink 2M
EOF
	frees memless 2M=2G <<<'2M 0 2M shrink 2G'
	frees arm64 64K=1M 32M=64M <<'EOF'
64K 0 64K shrink 1M
32M 0 32M shrink 64M
EOF
}

@test "pools: no amount is all that is neither used nor reserved" {
	local spec

	for spec in 2M 1G default; do
		hf 0 free -n --sysroot=two-nodes --raw --noheadings -o target,action "$spec"
		assert_line --index 0 "${spec/default/2M} shrink"
	done
}

@test "pools: a node takes no more than it has, others make up" {
	hf 0 free -n --sysroot=eight-nodes --json 2M=8G
	json '[.targets[].requested] | add' $((8 << 30))
	json '[.targets[] | select(.node == 0 or .node == 4)]' '[]'
	json '[.targets[] | select(.node == 7) | .requested / 2097152 <= 7]' '[true]'
}

@test "pools: more than can be had" {
	fails 'hugefill free: 2M: 20G were to be given back, but only 7000M are neither used, reserved nor surplus
hint: hugefill free 2M gives back all that can be had' --sysroot=two-nodes 2M=20G
	hf 1 free -n --sysroot=two-nodes 2M=3000p@1
	assert_equal "$output" ""
	assert_regex "$stderr" '^hugefill free: 2M: '
	fails 'hugefill free: 2M: 2M were to be given back, but only 0 are neither used, reserved nor surplus
hint: hugefill free 2M gives back all that can be had' --sysroot=one-node 2M=1p
}

@test "files that a spec names and that are not there: nothing to do" {
	frees two-nodes vm0=4G <<<'/dev/hugepages/vm0 - 2M absent -'
	frees two-nodes -s 4G --shrink <<<'/dev/hugepages/hugefill - 2M absent -'
	frees two-nodes -s 4G -f db <<<'/dev/hugepages/db - 2M absent -'
	frees two-nodes --umount vm0=4G <<'EOF'
/dev/hugepages/vm0 - 2M absent -
/dev/hugepages - 2M umount -
EOF
}

@test "a PATH that is not there is a failure" {
	fails 'hugefill free: /dev/hugepages/vm0: cannot free it: No such file or directory' --sysroot=two-nodes vm0
	fails 'hugefill free: /dev/hugepages/a=b: cannot free it: No such file or directory' --sysroot=two-nodes a=b
	fails 'hugefill free: /dev/hugepages/vm0: cannot free it: No such file or directory' --sysroot=two-nodes \
		--punch=0:1G /dev/hugepages/vm0
	hf 1 free -n --sysroot=two-nodes /tmp/x
	assert_equal "$output" ""
	assert_regex "$stderr" '^hugefill free: /tmp/x: its directory /tmp is not on a hugetlbfs'
}

@test "usage" {
	usage free 'nothing is named: give a SPEC, a PATH, --size or --from'
	usage free '--file needs --size' -f x 2M
	usage free '--json and --raw exclude each other' --json --raw 2M
	usage free "unrecognized option '--threads=1'" --threads=1 2M
	refuses free 'hugefill free: --punch: "x" is no OFFSET:LENGTH; write 0:1G or 512M:64M' -n --sysroot=two-nodes --punch=x vm0
	refuses free 'hugefill free: --punch: needs exactly one PATH' -n --sysroot=two-nodes --punch=0:1G vm0 vm1
	refuses free 'hugefill free: --punch: needs exactly one PATH' -n --sysroot=two-nodes --punch=0:1G 2M
	refuses free 'hugefill free: 2M=+1G: + has no meaning when pages are given back; write the amount alone' \
		-n --sysroot=two-nodes 2M=+1G
	refuses free 'hugefill free: 5: node 5 does not exist: the nodes with memory are 0-1' -n --sysroot=two-nodes 2M=1G@5
	refuses free 'hugefill free: 2M=3M: 3M is no multiple of the page size 2M: the nearest are 2M (1p) and 4M (2p)' \
		-n --sysroot=two-nodes 2M=3M
	refuses free 'hugefill free: foo: no such column; the columns are TARGET, NODE, PAGESIZE, ACTION, REQUESTED, FREED, TIME, PAGES' \
		-n --sysroot=two-nodes -o foo 2M
}

@test "--json: the keys are frozen" {
	hf 0 free -n --sysroot=two-nodes --json 2M=2G
	keys "\
changed
command
dry_run
hugefill
targets
targets.[]
targets.[].action
targets.[].freed
targets.[].node
targets.[].pages
targets.[].pagesize
targets.[].requested
targets.[].target
targets.[].time"
	json '.targets[0]' '{"target":"2M","node":0,"pagesize":2097152,"action":"shrink","requested":1073741824,"freed":null,"time":null,"pages":null}'
	hf 1 free -n --sysroot=two-nodes --json 2M=20G
	json '[.command, .changed, .error.object, .error.errno, .targets]' '["free",false,"2M","EBUSY",[]]'
}

@test "columns, headings, bytes" {
	hf 0 free -n --sysroot=two-nodes --raw --bytes --output-all 2M=2G@0
	assert_equal "$output" "\
TARGET NODE PAGESIZE ACTION REQUESTED FREED TIME PAGES
2M 0 2097152 shrink 2147483648 - - -"
	hf 0 free -n --sysroot=two-nodes --raw --noheadings -o +pages 2M=2G@0
	assert_equal "$output" "2M 0 2M shrink 2G - - -"
	hf 0 free -n --sysroot=two-nodes -q 2M=2G
	assert_equal "$output$stderr" ""
}

@test "no huge pages, a broken tree" {
	fails 'hugefill free: huge pages: this kernel has none (hugetlb is not built in, or the CPU has no huge pages)' \
		--sysroot=no-hugetlb 2M
	fails 'hugefill free: broken/proc/meminfo: has no valid line "MemFree:" with a number of kB' --sysroot=broken 2M
}
