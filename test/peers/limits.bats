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

@test "min_size=: reserved with the mount, taken by its files first, set aside again when they go" {
	# Protects: the plan and --shrink on a mount whose pages are kept for it: nothing is grown twice, and
	# what goes back to the mount is no failure of --shrink.
	play <<-EOF
		hf 0 alloc 2M=8p                            | 8 8 0 0
		mount $mnt pagesize=2M,size=32M,min_size=16M | 8 8 8 0
		hf 0 free 2M                                | 8 8 8 0
		map m - 0 1 shared => ENOMEM                | 8 8 8 0
		hf 0 alloc $mnt/a=6p                        | 8 2 2 0
		hf 0 alloc $mnt/b=4p                        | 10 0 0 0
		hf 0 free --shrink $mnt/b                   | 8 2 2 0
		hf 0 free --shrink --dry-run $mnt/a         | 8 2 2 0
		hf 0 free --shrink $mnt/a                   | 8 8 8 0
		hf 0 alloc $mnt/c=12p                       | 12 0 0 0
		hf 0 free --shrink $mnt/c                   | 8 8 8 0
		umount $mnt                                 | 8 8 0 0
		hf 0 free 2M                                | 0 0 0 0
	EOF
}

@test "min_size= without size=, whose use the kernel does not count" {
	# Protects: the plan's own count of such a mount, by its files.
	play <<-EOF
		hf 0 alloc 2M=8p                            | 8 8 0 0
		mount $mnt pagesize=2M,min_size=16M         | 8 8 8 0
		hf 0 alloc $mnt/a=6p                        | 8 2 2 0
		hf 0 alloc $mnt/b=4p                        | 10 0 0 0
		hf 0 alloc $mnt/c=2p                        | 12 0 0 0
		hf 0 free --shrink $mnt/a                   | 12 6 6 0
		hf 0 alloc --no-grow $mnt/a=2p              | 12 4 4 0
		hf 0 free --shrink $mnt/a $mnt/b $mnt/c     | 8 8 8 0
		umount $mnt                                 | 8 8 0 0
		hf 0 free 2M                                | 0 0 0 0
	EOF
}

@test "min_size=: with private mappings and others' reservations beside it" {
	# Protects: that the pages of the mount are told from those that others have reserved.
	play <<-EOF
		hf 0 alloc 2M=12p                           | 12 12 0 0
		mount $mnt pagesize=2M,size=32M,min_size=8M | 12 12 4 0
		map o - 0 4 shared                          | 12 12 8 0
		open f $mnt/f create
		truncate f 2
		map p f 0 2 private                         | 12 12 8 0
		write p 0 1                                 | 12 11 7 0
		hf 0 alloc --no-grow $mnt/a=6p              | 12 5 5 0
		hf 1 alloc --no-grow $mnt/b=1p              | 12 5 5 0
		hf 0 alloc $mnt/b=1p                        | 13 5 5 0
		write o 0 4                                 | 13 1 1 0
		write p 1 1                                 | 13 0 0 0
		unmap p                                     | 13 2 0 0
		close f
		rm $mnt/f
		hf 0 free --shrink 2M=3p $mnt/b             | 10 0 0 0
		check o 0 4
		unmap o                                     | 10 4 0 0
		hf 0 free --shrink $mnt/a                   | 8 8 4 0
		hf 0 free 2M=4p                             | 4 4 4 0
		hf 1 free 2M=1p                             | 4 4 4 0
		umount $mnt
		hf 0 free 2M                                | 0 0 0 0
	EOF
}

@test "min_size=: --best-effort, --available and a punch" {
	# Protects: the same arithmetic where less is kept, where pools are filled by what is available, and
	# where a part of a file goes.
	play <<-EOF
		hf 0 alloc 2M=8p                            | 8 8 0 0
		mount $mnt pagesize=2M,size=32M,min_size=8M | 8 8 4 0
		hf 64 alloc --best-effort --no-grow $mnt/a=10p | 8 0 0 0
		hf 0 free --punch 0:4M $mnt/a               | 8 2 0 0
		hf 0 free --punch 4M:8M --shrink $mnt/a     | 6 4 2 0
		hf 0 alloc --available 2M=4p                | 8 6 2 0
		hf 0 free --shrink $mnt/a                   | 8 8 4 0
		umount $mnt                                 | 8 8 0 0
		hf 0 free 2M                                | 0 0 0 0
	EOF
}
