#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls of other tools, and what README says stands for them: both end in the same state.

load helper

# hugeadm leaves another limit behind when it makes a pool smaller.
size_of_pools() {
	print_pools | sed 's/ overcommit .*//'
}

# both START CALL COUNTERPART: from START pages
both() {
	local theirs words

	echo "$1" >"$POOL/nr_hugepages"
	bash -ec "$2" >"$tmp/said" 2>&1 || { cat "$tmp/said"; return 1; }
	theirs=$(size_of_pools)
	echo 0 >"$POOL/nr_overcommit_hugepages"
	[[ $theirs != *"hugepages-2048kB: nr $1 "* ]] || { echo "$2: changed nothing"; return 1; }
	echo "$1" >"$POOL/nr_hugepages"
	read -ra words <<<"$3"
	hf 0 "${words[@]}"
	equal "$(size_of_pools)" "$theirs" "$2: $3"
	echo 0 >"$POOL/nr_hugepages"
}

@test "hugeadm sets pools" {
	both 0 'hugeadm --pool-pages-min 2M:32' 'alloc 2M=32p'
	both 0 'hugeadm --pool-pages-min 2M:64M' 'alloc 2M=64M'
	both 16 'hugeadm --pool-pages-min DEFAULT:+16' 'alloc default=+16p'
	both 48 'hugeadm --pool-pages-min DEFAULT:-16' 'free default=16p'
	both 48 'hugeadm --pool-pages-min 2M:0' 'free 2M'
	both 8 'numactl -m 0 hugeadm --obey-mempolicy --pool-pages-min 2M:32' 'alloc 2M=32p@0'
}

@test "sysctl and echo set pools" {
	both 0 'sysctl vm.nr_hugepages=32' 'alloc default=32p'
	both 32 'sysctl vm.nr_hugepages=0' 'free default'
	both 0 'numactl -m 0 sysctl vm.nr_hugepages_mempolicy=32' 'alloc default=32p@0'
	both 0 "echo 32 >$POOL/nr_hugepages" 'alloc 2M=32p'
	both 0 'echo 32 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages' 'alloc 2M=32p@0'
}

@test "mount makes the mount, with nosuid and nodev besides" {
	mkdir "$tmp/theirs"
	mount_huge "$tmp/theirs" pagesize=2M,size=64M,nr_inodes=100,mode=0070,gid=1
	hf 0 mount --page-size=2M --size=64M --nr-inodes=100 --mode=0070 --owner=:daemon "$mnt"
	run -0 "${IN[@]}" bash -c 'for dir; do
		findmnt -nro OPTIONS "$dir" | tr , "\n" | grep -vxE "nosuid|nodev" | sort
		stat -c "%a %u:%g" "$dir"; stat -f -c "%s %b %c" "$dir"
	done' - "$mnt"
	ours=$output
	run -0 "${IN[@]}" bash -c 'for dir; do
		findmnt -nro OPTIONS "$dir" | tr , "\n" | sort
		stat -c "%a %u:%g" "$dir"; stat -f -c "%s %b %c" "$dir"
	done' - "$tmp/theirs"
	equal "$ours" "$output" "options, owner and limits"
	"${IN[@]}" umount "$mnt" "$tmp/theirs"
}
