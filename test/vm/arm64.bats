#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, pid, ..., bats output, stderr
#
# arm64 with base pages of 4K has huge pages of 64K, 2M, 32M and 1G; one of 1G is made at boot, on node 3.

load helper

# Each size: KiB of a page, how it is written, pages for each node
SIZES=("64 64K 16" "2048 2M 8" "32768 32M 1")

# What was made at boot is not made again.
nothing_used() {
	local dir

	for dir in /sys/kernel/mm/hugepages/*; do
		[[ $dir == *-1048576kB ]] || echo 0 >"$dir/nr_hugepages"
		[[ $dir == *-1048576kB || $(<"$dir/nr_hugepages") = 0 ]] || return 1
	done
}

@test "all page sizes are found" {
	hf 0 status --json
	field '[.pools[].size] | unique | map(. / 1024) | join(" ")' "64 2048 32768 1048576"
	hf 2 alloc --page-size=16K vm0=1M
	has "$stderr" "64K" "2M" "32M" "1G"
}

@test "pools of each size, on each node, by every engine" {
	local kb size pages engine

	for one in "${SIZES[@]}"; do
		read -r kb size pages <<<"$one"
		for engine in sysfs parallel auto; do
			SIZE_KB=$kb
			hf 0 alloc --json --grow "$engine" "$size=$((4 * pages))p"
			equal "$(of_nodes nr_hugepages)" "$pages $pages $pages $pages" "pages of $size"
			hf 0 alloc "$size=+${pages}p@1"
			equal "$(of_nodes nr_hugepages)" "$pages $((2 * pages)) $pages $pages" "pages of $size"
			hf 0 free "$size"
			equal "$(of_nodes nr_hugepages)" "0 0 0 0" "pages of $size"
		done
	done
}

@test "files of each size, by every method: every page lies where it belongs" {
	local kb size pages method

	for one in "${SIZES[@]}"; do
		read -r kb size pages <<<"$one"
		mount_huge "$mnt" "pagesize=$size"
		mark
		for method in populate touch fallocate; do
			hf 0 alloc --json --method "$method" "$mnt/db=$((4 * pages))p"
			field '[.targets[] | select(.target | endswith("/db")) | .filled] | unique | join(" ")' $((pages * kb * 1024))
			lies "$mnt/db" "$(in_turn $((4 * pages)) 0 1 2 3)"
			hf 0 free --shrink "$mnt/db"
			same
			hf 0 alloc --method "$method" "$mnt/db=${pages}p@3,${pages}p@1"
			lies "$mnt/db" "$(blocks "3:$pages" "1:$pages")"
			hf 0 free --shrink "$mnt/db"
			same
		done
		"${IN[@]}" umount "$mnt"
		mark
	done
}

@test "a page of 1G" {
	mount_huge "$mnt" pagesize=1G
	mark
	hf 0 alloc --no-grow "$mnt/vm=1G@3"
	lies "$mnt/vm" 3
	hf 0 free "$mnt/vm"
	hf 1 alloc --no-grow "$mnt/vm=1G@1"
	same
}

@test "without a mount one is made for the size that was asked for" {
	hf 0 alloc --page-size=64K vm0=1M
	has "$("${IN[@]}" cat /proc/self/mounts)" "pagesize=64K"
	hf 0 free --shrink --umount --page-size=64K vm0
}
