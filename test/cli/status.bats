#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# status on captured trees.

load helper

# shows WANTED ARGUMENT...: text, and nothing on standard error
shows() {
	local wanted=$1

	shift
	hf 0 status "$@"
	assert_equal "$(unpadded)" "$wanted"
	assert_equal "$stderr" ""
}

# put PATH: standard input, in the copied tree
put() {
	mkdir -p "$(dirname "$tree/$1")"
	cat >"$tree/$1"
}

copy() {
	tree=$BATS_TEST_TMPDIR/tree
	cp -R "$1" "$tree"
}

# process PID COMMAND UID KIB: without mappings
process() {
	printf 'Name:\t%s\nState:\tS (sleeping)\nUid:\t9\t%d\t9\t9\nHugetlbPages:\t%8d kB\n' "$2" "$3" "$4" |
		put "proc/$1/status"
	echo "$2" | put "proc/$1/comm"
}

# mapping ADDRESS FLAGS DEVICE INODE SIZE SHARED PRIVATE NAME: lines of smaps, sizes in KiB
mapping() {
	printf '%s %s 00000000 %s %s          %s\n' "$1" "$2" "$3" "$4" "$8"
	printf '%-16s%8d kB\n' Size: 9999 KernelPageSize: "$5" Shared_Hugetlb: "$6" Private_Hugetlb: "$7"
	echo "VmFlags: rd wr mr mw me de ht"
}

# A tree with a database, a guest and a process that has none
with_processes() {
	copy two-nodes
	process 1200 "db writer" 64055 6144
	{
		mapping 7f0000000000-7f0000400000 rw-s 00:27 11 2048 4096 0 "/dev/hugepages/db"
		mapping 7f0000400000-7f0000600000 rw-p 00:11 12 2048 0 2048 "/anon_hugepage (deleted)"
		mapping 7f0000600000-7f0000800000 rw-p 00:11 13 2048 0 2048 "/anon_hugepage (deleted)"
		printf '7f0000800000-7f0000801000 rw-p 00000000 00:00 0\nKernelPageSize: 4 kB\nVmFlags: rd wr\n'
	} | put proc/1200/smaps
	put proc/1200/numa_maps <<'END'
7f0000000000 default file=/dev/hugepages/db huge dirty=2 N0=1 N1=1 kernelpagesize_kB=2048
7f0000400000 default file=/anon_hugepage\040(deleted) huge anon=1 dirty=1 N0=1 kernelpagesize_kB=2048
7f0000600000 default file=/anon_hugepage\040(deleted) huge anon=1 dirty=1 N0=1 kernelpagesize_kB=2048
7f0000800000 default anon=1 dirty=1 N1=1 kernelpagesize_kB=4
END
	process 80 qemu 107 3145728
	{
		mapping 7e0000000000-7e0040000000 rw-s 00:12 21 1048576 0 1048576 "/memfd:guest ram (deleted)"
		mapping 7e0040000000-7e0080000000 rw-s 00:28 22 1048576 1048576 0 "/mnt/huge1G/gone (deleted)"
		mapping 7e0080000000-7e00c0000000 rw-s 00:12 3 1048576 0 1048576 "/SYSV0000abcd (deleted)"
	} | put proc/80/smaps
	put proc/80/numa_maps <<'END'
7e0000000000 bind:1 file=/memfd:guest\040ram\040(deleted) huge dirty=1 N1=1 kernelpagesize_kB=1048576
7e0040000000 bind:1 file=/mnt/huge1G/gone\040(deleted) huge dirty=1 mapmax=2 N0=1 kernelpagesize_kB=1048576
END
	process 81 small 0 0
	mapping 7e0000000000-7e0040000000 rw-s 00:27 11 2048 0 2048 "/dev/hugepages/db" | put proc/81/smaps
}

# wrong MESSAGE ARGUMENT...: a usage error; argp breaks its long second line
wrong() {
	local message=$1

	shift
	hf 2 status "$@"
	assert_equal "${stderr//$'\n'/ }" "hugefill status: $message Try \`hugefill status --help' or \`hugefill status --usage' for more information."
	assert_equal "$output" ""
}

@test "pools: a row per size and node, and all" {
	shows "\
SIZE NODE TOTAL FREE RSVD SURPLUS OVERCOMMIT USED AVAIL
  2M 0     4096 3000            0            1096
  2M 1     2112 1000           64            1112
  2M all   6208 4000  500      64       1024 2208  3500
  1G 0        4    4            0               0
  1G 1        2    1            0               1
  1G all      6    5    1       0          0    1     4" --sysroot=two-nodes
}

@test "pools: all columns, in pages and bytes" {
	hf 0 status --sysroot=two-nodes --page-size=2M --output-all --raw --bytes
	assert_equal "$output" "\
SIZE NODE TOTAL FREE RSVD SURPLUS OVERCOMMIT USED AVAIL PERSISTENT TOTAL_BYTES FREE_BYTES RSVD_BYTES SURPLUS_BYTES OVERCOMMIT_BYTES USED_BYTES AVAIL_BYTES PERSISTENT_BYTES
2097152 0 4096 3000 - 0 - 1096 - 4096 8589934592 6291456000 - 0 - 2298478592 - 8589934592
2097152 1 2112 1000 - 64 - 1112 - 2048 4429185024 2097152000 - 134217728 - 2332033024 - 4294967296
2097152 all 6208 4000 500 64 1024 2208 3500 6144 13019119616 8388608000 1048576000 134217728 2147483648 4630511616 7340032000 12884901888"
}

@test "pools: JSON, null where the kernel has no such number per node" {
	hf 0 status --sysroot=two-nodes --json --page-size=1G
	json '.command, .changed, (.pools | length), (.notes | length)' $'status\nfalse\n3\n0'
	json '.pools[1] | [.size, .node, .total, .free, .rsvd, .surplus, .overcommit, .used, .avail]' \
		'[1073741824,"1",2,1,null,0,null,1,null]'
	json '.pools[2] | [.node, .rsvd, .overcommit, .avail, .rsvd_bytes, .avail_bytes]' '["all",1,0,4,1073741824,4294967296]'
	keys "\
changed
command
hugefill
notes
pools
pools.[]
pools.[].avail
pools.[].avail_bytes
pools.[].free
pools.[].free_bytes
pools.[].node
pools.[].overcommit
pools.[].overcommit_bytes
pools.[].persistent
pools.[].persistent_bytes
pools.[].rsvd
pools.[].rsvd_bytes
pools.[].size
pools.[].surplus
pools.[].surplus_bytes
pools.[].total
pools.[].total_bytes
pools.[].used
pools.[].used_bytes"
}

@test "pools: one node, a node without memory, one without CPUs, a kernel without huge pages" {
	hf 0 status --sysroot=one-node --raw --noheadings -o SIZE,NODE,TOTAL,RSVD
	assert_equal "$output" $'2M 0 0 -\n2M all 0 0\n1G 0 0 -\n1G all 0 0'
	hf 0 status --sysroot=memless --raw --noheadings -o NODE --page-size=2M
	assert_equal "$output" $'0\nall'
	hf 0 status --sysroot=cpuless --raw --noheadings -o NODE,TOTAL --page-size=1G
	assert_equal "$output" $'0 0\n1 0\n2 4\nall 4'
	hf 0 status --sysroot=no-hugetlb
	assert_equal "$output" ""
	assert_equal "$stderr" "hugefill status: pools: this kernel has no huge pages"
	hf 0 status --sysroot=no-hugetlb --json
	json '.pools, .notes[0].text' $'[]\nthis kernel has no huge pages'
}

@test "--nodes shows these nodes' pools only" {
	shows "\
SIZE NODE TOTAL FREE RSVD SURPLUS OVERCOMMIT USED AVAIL
  2M 2     1024   24            0            1000
  2M 6      100    0            0             100
  2M 7        7    7            0               0" --sysroot=eight-nodes --page-size=2M --nodes=6-7+2
}

@test "a broken tree is an error that names the file" {
	hf 1 status --sysroot=broken
	assert_equal "$output" ""
	assert_equal "${stderr%%: has*}" "hugefill status: broken/proc/meminfo"
	hf 1 status --sysroot=broken --json
	json '.error.object, .error.errno' $'broken/proc/meminfo\nEBADMSG'
}

@test "mounts" {
	hf 0 status --sysroot=eight-nodes --mounts --raw
	assert_equal "$output" "\
TARGET PAGESIZE SIZE MIN_SIZE USED INODES MODE OWNER OPTIONS
/dev/hugepages 2M - - - - 0755 0:0 rw,nosuid,nodev,relatime,pagesize=2M
/mnt/huge1G 1G 8G 1G - 64 1770 0:107 rw,nosuid,nodev,relatime,gid=107,mode=1770,nr_inodes=64,pagesize=1024M,size=8589934592,min_size=1073741824
/mnt/read\\x20only 2M - - - - 0755 64055:0 ro,relatime,uid=64055,pagesize=2M
/mnt/covered 2M - - - - 0755 0:0 rw,relatime,pagesize=2M"
	hf 0 status --sysroot=eight-nodes --mounts --json
	json '[.mounts[].covered]' '[false,false,false,true]'
	json '.mounts[1].size, .mounts[0].size, .mounts[1].used' $'8589934592\nnull\nnull'
	hf 0 status --sysroot=eight-nodes --mounts --raw --noheadings --page-size=1G -o TARGET
	assert_equal "$output" /mnt/huge1G
}

@test "cgroups, v2" {
	shows "\
CGROUP         PAGESIZE LIMIT RSVD_LIMIT USAGE RSVD_USAGE FAILURES
/machine.slice       2M  100G        50G    1G         1G        0
/machine.slice       1G                     8G        16G        0" --sysroot=eight-nodes --cgroups
}

@test "cgroups, v1" {
	shows "\
CGROUP   PAGESIZE LIMIT RSVD_LIMIT USAGE RSVD_USAGE FAILURES
/machine       2M    1G             512M         0B        0" --sysroot=arm64 --cgroups
	hf 0 status --sysroot=arm64 --cgroups --json
	json '.cgroups[0] | [.hierarchy, .limit, .rsvd_limit, .rsvd_failures]' '["v1",1073741824,null,null]'
}

@test "processes: each kind, merged by object" {
	with_processes
	hf 0 status --sysroot="$tree" --processes --raw
	assert_equal "$output" "\
PID COMMAND USER PAGESIZE KIND OBJECT SHARED PRIVATE FILLED NODES
80 qemu 107 1G unlinked /mnt/huge1G/gone 1 0 - 0=1
80 qemu 107 1G memfd guest\\x20ram 0 1 - 1=1
80 qemu 107 1G sysv shmid=3,key=0x0000abcd 0 1 - -
1200 db\\x20writer 64055 2M file /dev/hugepages/db 2 0 - 0=1,1=1
1200 db\\x20writer 64055 2M anonymous - 0 2 - 0=2"
	assert_equal "$stderr" ""
}

@test "processes: filters" {
	with_processes
	hf 0 status --sysroot="$tree" --processes --raw --noheadings -o PID,KIND --nodes=1
	# What is not known may be there.
	assert_equal "$output" $'80 memfd\n80 sysv\n1200 file'
	hf 0 status --sysroot="$tree" --processes --raw --noheadings -o PID,KIND --page-size=2M
	assert_equal "$output" $'1200 file\n1200 anonymous'
	hf 0 status --sysroot="$tree" --processes --raw --noheadings -o PID,KIND --pid=80,81,7
	assert_equal "$output" $'80 unlinked\n80 memfd\n80 sysv'
	assert_equal "$stderr" "hugefill status: --pid: 1 of 3 processes is not there"
}

@test "processes: JSON" {
	with_processes
	hf 0 status --sysroot="$tree" --processes --json
	json '.processes[4] | [.pid, .object, .private, .private_bytes, .filled, .inode, .device, .held]' \
		'[1200,null,2,4194304,null,null,null,"mapped"]'
	json '.processes[0] | [.shared, .shared_bytes, .inode, .device, .nodes]' '[1,1073741824,22,"0:40","0=1"]'
}

@test "a captured tree without processes says so" {
	hf 0 status --sysroot=two-nodes --processes
	assert_equal "$output" ""
	assert_equal "$stderr" "hugefill status: processes: the captured tree holds none"
}

@test "several sections: a blank line between tables, arrays in one document" {
	shows "\
SIZE NODE TOTAL FREE RSVD SURPLUS OVERCOMMIT USED AVAIL
 64K 0     1600 1600            0               0
 64K all   1600 1600    0       0          0    0  1600

TARGET       PAGESIZE SIZE MIN_SIZE USED INODES MODE OWNER OPTIONS
/mnt/huge64K      64K                           0755 0:0   rw,nosuid,nodev,relatime,pagesize=64K" \
		--sysroot=arm64 --cgroups --mounts --pools --page-size=64K
	hf 0 status --sysroot=arm64 --cgroups --mounts --pools --processes --json
	json 'keys_unsorted | join(" ")' "hugefill command changed pools mounts processes cgroups notes"
	json '[.pools, .mounts, .processes, .cgroups | type] | unique' '["array"]'
}

@test "a used-up pool: what the numbers of a captured tree show" {
	copy one-node
	for name in nr free resv surplus nr_overcommit; do
		echo 5 | put "sys/kernel/mm/hugepages/hugepages-2048kB/${name}_hugepages"
	done
	echo 12 | put sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
	hf 0 status --sysroot="$tree" --page-size=2M
	assert_equal "$stderr" "\
hugefill status: 2M: no page is available: all 5 free pages are reserved, for mappings that have not touched them yet
hugefill status: 2M: no page is available; who holds the 7 used ones cannot be seen in a captured tree"
	hf 0 status --sysroot="$tree" --page-size=2M --quiet
	assert_equal "$stderr$output" ""
	hf 0 status --sysroot="$tree" --page-size=1G
	assert_equal "$stderr" ""
}

@test "what is refused" {
	wrong "--files needs the running machine: a captured tree holds no files" --sysroot=two-nodes --files
	wrong "--pid needs --processes or --files" --sysroot=two-nodes --pid=3
	wrong '--pid: "3x" is no number from 1 to 2147483647' --sysroot=two-nodes --processes --pid=3x
	wrong '--pid: "" is no number from 1 to 2147483647' --sysroot=two-nodes --processes --pid=1,
	wrong '"2M": no arguments are expected' --sysroot=two-nodes 2M
	wrong '--watch: "0" is no time; write 90, 90s, 500ms, 1.5m or 2h' --watch=0
	wrong "--output needs one table: give one of --pools, --mounts, --files, --processes and --cgroups" \
		--sysroot=two-nodes --pools --mounts -o NODE
	refuses status "hugefill status: 9: node 9 does not exist: the nodes with memory are 0-1" \
		--sysroot=two-nodes --nodes=9
	hf 2 status --sysroot=two-nodes --page-size=3M
	hf 2 status --sysroot=two-nodes --mounts -o NODE
}

@test "a full device is an error, hostile names are escaped" {
	to_full 1 status --sysroot=two-nodes
	assert_equal "$stderr" "hugefill status: standard output: cannot write the result: No space left on device"
	to_full 1 status --sysroot=two-nodes --json
	to_full 1 status --sysroot=two-nodes --watch
	copy two-nodes
	process 5 $'\e[2J\x9b' 0 2048
	mapping 1000-2000 rw-s 00:27 1 2048 0 2048 $'/h/\e]0;x\a\\012\x9b \xff' | put proc/5/smaps
	clean 0 status --sysroot="$tree" --processes
	clean 0 status --sysroot="$tree" --processes --raw
	clean 0 status --sysroot="$tree" --processes --json
}

@test "--help lists the options and the columns of each table" {
	hf 0 status --help
	for word in --pools --mounts --files --processes --cgroups --watch OVERCOMMIT MIN_SIZE HOLDERS RSVD_USAGE KIND; do
		assert_regex "$output" "$word"
	done
}
