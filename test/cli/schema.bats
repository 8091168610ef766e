#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # filters of jq; bats sets output
#
# Every document on the captured trees is what the schema says. With -o a row has the columns that were
# asked for only, which the schema is not about.

load helper
load ../schema

trees() {
	local tree

	for tree in */; do
		[ "$tree" = broken/ ] || echo "${tree%/}"
	done
}

# plan_of KIND ARGUMENT...: whatever the tree makes of it
plan_of() {
	local kind=$1

	shift
	run --separate-stderr "$HUGEFILL" "$@" --json
	[ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 64 ] || fail "exit $status: $*: $stderr"
	jq -e 'has("error") | not' <<<"$output" >/dev/null || kind=${kind%_dry_run}_failure
	keep "$kind" <<<"$output"
}

@test "alloc --dry-run" {
	local tree

	for tree in $(trees); do
		plan_of alloc_dry_run alloc -n --sysroot="$tree" --size 1G
		plan_of alloc_dry_run alloc -n --sysroot="$tree" --size 100T
		plan_of alloc_dry_run alloc -n --sysroot="$tree" --best-effort --size 1T
	done
	document alloc_dry_run 0 alloc -n --sysroot=two-nodes 2M=+1G vm0=1G@0,2G@1 /dev/hugepages/b=2M 1G=6G
	document alloc_dry_run 1 alloc -n --sysroot=one-node --no-mount --no-grow vm0=1G
	document alloc_dry_run 1 alloc -n --sysroot=eight-nodes vm0=50G
	agree
}

@test "alloc that fails" {
	document alloc_failure 1 alloc -n --sysroot=broken --size 1G
	document alloc_failure 1 alloc -n --sysroot=one-node /tmp/x=2M
	document alloc_failure 1 alloc -n --sysroot=eight-nodes '/mnt/read only/x=2M'
	agree
}

@test "free" {
	document free_dry_run 0 free -n --sysroot=two-nodes 2M 1G=1G@0
	document free_dry_run 0 free -n --sysroot=two-nodes 2M=0
	document free_failure 1 free -n --sysroot=two-nodes /tmp/x
	document free_failure 1 free -n --sysroot=broken 2M
	agree
}

@test "mount and umount" {
	local tree

	for tree in two-nodes one-node ppc64 s390; do
		document mount_dry_run 0 mount -n --sysroot="$tree"
		document mount_dry_run 0 mount -n --sysroot="$tree" --size=16M --min-size=16M --nr-inodes=9 --mode=700 \
			--owner=5:6 /mnt/new
		document umount_dry_run 0 umount -n --sysroot="$tree" /mnt/new
	done
	document mount_failure 1 mount -n --sysroot=two-nodes --size=2M /dev/hugepages
	document mount_failure 1 mount -n --sysroot=broken
	document umount_failure 1 umount -n --sysroot=two-nodes /dev/shm
	agree
}

@test "status: every section" {
	local tree

	for tree in $(trees); do
		document status 0 status --sysroot="$tree"
		document status 0 status --sysroot="$tree" --pools --mounts --cgroups --processes
	done
	document status_failure 1 status --sysroot=broken
	agree
}

@test "status: processes of a captured tree" {
	cp -R two-nodes "$BATS_TEST_TMPDIR/tree"
	mkdir "$BATS_TEST_TMPDIR/tree/proc/80"
	cd "$BATS_TEST_TMPDIR/tree/proc/80"
	printf 'Name:\tx\nUid:\t9\t9\t9\t9\nHugetlbPages:\t    6144 kB\n' >status
	echo x >./comm
	{
		printf '7f0000000000-7f0000400000 rw-s 00000000 00:27 11          /dev/hugepages/db\n'
		printf 'Size: 9 kB\nKernelPageSize:     2048 kB\nShared_Hugetlb:     4096 kB\nVmFlags: rd ht\n'
		printf '7f0000400000-7f0000600000 rw-p 00000000 00:11 12          /anon_hugepage (deleted)\n'
		printf 'Size: 9 kB\nKernelPageSize:     2048 kB\nPrivate_Hugetlb:    2048 kB\nVmFlags: rd ht\n'
	} >smaps
	echo '7f0000000000 default file=/dev/hugepages/db huge dirty=2 N0=1 N1=1 kernelpagesize_kB=2048' >numa_maps
	cd "$BATS_TEST_TMPDIR"
	document status 0 status --sysroot=tree --processes
	json '.processes | length' 2
	agree
}

@test "status of this machine: files, too" {
	# Without any right to look: all that matters is the form.
	document status 0 status --pools --mounts --files --processes --cgroups
	agree
}

@test "check" {
	local tree

	for tree in $(trees); do
		[ "$tree" != no-hugetlb ] || continue
		document check 0 check --sysroot="$tree"
		document check 0 check --sysroot="$tree" --persist
		document check 1 check --sysroot="$tree" --size=900T
		document check 1 check --sysroot="$tree" --size=900T --persist
	done
	document check 1 check --sysroot=no-hugetlb
	document check 0 check --sysroot=two-nodes --best-effort 2M=100G@1 1G=200G
	document check_failure 1 check --sysroot=broken
	document check_failure 1 check --sysroot=one-node /tmp/x=2M
	agree
}

@test "bench --dry-run" {
	local workload

	for workload in fill fault forkfault pool free; do
		document bench_dry_run 0 bench "$workload" --dry-run --sysroot=two-nodes --size=64M
	done
	document bench_dry_run 0 bench --dry-run --histogram --threads=1,2,4 --size=64M,128M --sysroot=arm64
	agree
}

@test "a document that is broken is refused, and it is said why" {
	local whole

	document status 0 status --sysroot=two-nodes --pools --mounts
	whole=$output
	differs status '.pools[0].total = "many"' "pools.0.total: 'many' is not of type"
	output=$whole
	differs status '.pools[1].free = -1' "pools.1.free: -1 is less than the minimum"
	output=$whole
	differs status 'del(.mounts[0].owner)' "'owner' is a required property"
	output=$whole
	differs status '.pools[0].extra = 1' "('extra' was unexpected)"
	output=$whole
	differs status '.more = 1' "('more' was unexpected)"
	output=$whole
	differs status '.changed = true' "changed: False was expected"
	output=$whole
	differs status '.pools[0].total = null' "None is not of type 'integer'"
	output=$whole
	differs check . "'ok' is a required property"
	hf 0 status --sysroot=two-nodes --json --pools -o NODE
	differs status . "'total' is a required property"
	hf 0 check --sysroot=two-nodes --json
	differs check '.findings[0].id = "news"' "'news' is not one of"
}
