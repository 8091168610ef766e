#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Mounts with size= and min_size=: what they count, and what alloc and free make of it.
# Columns: total, free, reserved, surplus.

load helper

@test "size=: shared mappings count when they reserve, and their pages stay counted" {
	# Protects: the plan's room on a mount, which it asks of statfs.
	play <<-EOF
		mount $mnt pagesize=2M,size=8M
		hf 0 alloc 2M=8p                  | 8 8 0 0
		open f $mnt/f create
		map m f 0 5 shared => ENOMEM      | 8 8 0 0
		map m f 0 3 shared                | 8 8 3 0
		hf 1 alloc $mnt/vm0=2p            | 8 8 3 0
		hf 0 alloc $mnt/vm0=1p            | 8 7 3 0
		write m 0 3                       | 8 4 0 0
		unmap m                           | 8 4 0 0
		hf 1 alloc $mnt/vm1=1p            | 8 4 0 0
		truncate f 2                      | 8 5 0 0
		hf 0 alloc $mnt/vm1=1p            | 8 4 0 0
		close f
		rm $mnt/f
		hf 0 free --shrink 2M=8p $mnt/vm0 $mnt/vm1 | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "size=: private mappings and untouched files count too, and give back at once" {
	# Protects: the room that alloc finds after a program with private mappings has ended.
	play <<-EOF
		mount $mnt pagesize=2M,size=8M
		hf 0 alloc 2M=8p                  | 8 8 0 0
		open f $mnt/f create
		truncate f 4
		map p f 0 3 private               | 8 8 3 0
		map q f 0 2 private => ENOMEM     | 8 8 3 0
		hf 1 alloc $mnt/vm0=2p            | 8 8 3 0
		write p 0 2                       | 8 6 1 0
		unmap p                           | 8 8 0 0
		map q f 0 2 private,noreserve     | 8 8 0 0
		write q 0 1                       | 8 7 0 0
		unmap q                           | 8 8 0 0
		hf 0 alloc $mnt/vm0=4p            | 8 4 0 0
		allocate f 0 1 => ENOSPC          | 8 4 0 0
		close f
		rm $mnt/f
		hf 0 free --shrink 2M=8p $mnt/vm0 | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "size=: a refused mapping or a failed fill leaves no room behind" {
	# Protects: a mount that is used for months: its room does not shrink by itself.
	local round

	mount_huge "$mnt" pagesize=2M,size=8M
	hf 0 alloc 2M=2p
	for round in 1 2 3; do
		hf 1 alloc --no-grow "$mnt/vm0=4p"
		equal "$(counters)" "2 2 0 0" "after try $round"
		equal "$("${IN[@]}" stat -f -c %a "$mnt")" 4 "the mount's room after try $round"
	done
	hf 0 free 2M
	"${IN[@]}" umount "$mnt"
}

@test "nr_inodes=: a file that is only open counts until it is closed" {
	# Protects: the plan's count of files on such a mount.
	play <<-EOF
		mount $mnt pagesize=2M,size=8M,nr_inodes=2
		hf 0 alloc 2M=2p
		open f $mnt/f create
		hf 1 alloc $mnt/vm0=1p            | 2 2 0 0
		rm $mnt/f
		hf 1 alloc $mnt/vm0=1p            | 2 2 0 0
		close f
		hf 0 alloc $mnt/vm0=1p            | 2 1 0 0
		hf 0 free --shrink 2M=2p $mnt/vm0 | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}
