#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The pool's counters while programs use what hugefill gave: alloc and free reckon with them, so that
# each step's are written down. Columns: total, free, reserved, surplus.

load helper

@test "a shared mapping: reserved, used, given back; free takes what is left over, and no more" {
	# Protects: free's count of what is neither used nor reserved.
	play <<-'EOF'
		hf 0 alloc 2M=16p       | 16 16 0 0
		map m - 0 8 shared      | 16 16 8 0
		hf 1 free 2M=9p         | 16 16 8 0
		write m 0 2             | 16 14 6 0
		hf 0 free 2M=8p         | 8 6 6 0
		hf 1 free 2M=1p         | 8 6 6 0
		hf 0 free 2M            | 8 6 6 0
		write m 2 6             | 8 0 0 0
		check m 0 8             | 8 0 0 0
		unmap m                 | 8 8 0 0
		hf 0 free 2M            | 0 0 0 0
	EOF
}

@test "a private mapping: its reservation goes with it, used or not" {
	# Protects: alloc --available, which counts free less reserved pages.
	play <<-'EOF'
		hf 0 alloc 2M=16p             | 16 16 0 0
		map m - 0 8 private           | 16 16 8 0
		write m 0 3                   | 16 13 5 0
		hf 0 alloc --available 2M=8p  | 16 13 5 0
		hf 0 alloc --available 2M=10p | 18 15 5 0
		unmap m                       | 18 18 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
}

@test "a mapping without reservation: only what it touches is taken" {
	# Protects: free, which may take pages that such a program counted on, but never those it has.
	play <<-'EOF'
		hf 0 alloc 2M=4p                 | 4 4 0 0
		map m - 0 16 shared,noreserve    | 4 4 0 0
		write m 0 2                      | 4 2 0 0
		hf 0 free 2M                     | 2 0 0 0
		write m 2 1 => SIGBUS at 2       | 2 0 0 0
		check m 0 2                      | 2 0 0 0
		hf 0 alloc 2M=+1p                | 3 1 0 0
		write m 2 1                      | 3 0 0 0
		unmap m                          | 3 3 0 0
		hf 0 free 2M                     | 0 0 0 0
	EOF
}

@test "a file of the consumer's own: pages stay with the file, not with the mapping" {
	# Protects: alloc beside files that others made on the same mount.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=16p         | 16 16 0 0
		open f $mnt/own create    | 16 16 0 0
		truncate f 8              | 16 16 0 0
		map m f 0 8 shared        | 16 16 8 0
		write m 0 4               | 16 12 4 0
		hf 0 alloc $mnt/vm0=8p    | 16 4 4 0
		unmap m                   | 16 4 4 0
		hf 1 free 2M=1p           | 16 4 4 0
		truncate f 2              | 16 6 0 0
		close f                   | 16 6 0 0
		hf 0 free 2M=6p           | 10 0 0 0
		rm $mnt/own               | 10 2 0 0
		hf 0 free --shrink $mnt/vm0 | 2 2 0 0
		hf 0 free 2M              | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "hugefill's file: mapping it reserves nothing and takes nothing more" {
	# Protects: the promise that a program which maps a filled file needs no page of the pool.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/vm0=8p        | 8 0 0 0
		open f $mnt/vm0               | 8 0 0 0
		map m f 0 8 shared            | 8 0 0 0
		zero m 0 8                    | 8 0 0 0
		write m 0 8                   | 8 0 0 0
		map n f 4 2 shared,populate   | 8 0 0 0
		check m 0 8
		unmap m                       | 8 0 0 0
		unmap n                       | 8 0 0 0
		close f                       | 8 0 0 0
		hf 0 free --shrink $mnt/vm0   | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "a private mapping of hugefill's file: copies come out of the pool, reserved beforehand" {
	# Protects: README's advice to share=on; without it a guest needs as many pages again.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/vm0=4p             | 4 0 0 0
		open f $mnt/vm0                    | 4 0 0 0
		map m f 0 4 private => ENOMEM      | 4 0 0 0
		hf 0 alloc 2M=+4p                  | 8 4 0 0
		map m f 0 4 private                | 8 4 4 0
		zero m 0 4                         | 8 4 4 0
		write m 0 2                        | 8 2 2 0
		hf 1 free 2M=1p                    | 8 2 2 0
		unmap m                            | 8 4 0 0
		map m f 0 4 shared                 | 8 4 0 0
		zero m 0 4                         | 8 4 0 0
		unmap m
		close f
		hf 0 free --shrink 2M=8p $mnt/vm0  | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "memfd and System V segments are counted alike" {
	# Protects: free while databases hold anonymous shared memory that has no name.
	play <<-'EOF'
		hf 0 alloc 2M=16p        | 16 16 0 0
		memfd f 4                | 16 16 0 0
		map m f 0 4 shared       | 16 16 4 0
		write m 0 4              | 16 12 0 0
		shm s 4                  | 16 12 4 0
		write s 0 1              | 16 11 3 0
		hf 0 free 2M             | 8 3 3 0
		unmap m                  | 8 3 3 0
		close f                  | 8 7 3 0
		check s 0 1
		unmap s                  | 8 8 0 0
		hf 0 free 2M             | 0 0 0 0
	EOF
}

@test "populate, fallocate, punch and truncate move one page for one" {
	# Protects: free --punch and alloc's filling of holes, which count pages by st_blocks.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=8p               | 8 8 0 0
		open f $mnt/f create
		truncate f 8                   | 8 8 0 0
		allocate f 0 3                 | 8 5 0 0
		pages f => 3
		punch f 1 1                    | 8 6 0 0
		pages f => 2
		hf 0 alloc $mnt/f=8p           | 8 0 0 0
		pages f => 8
		close f
		hf 0 free --punch 4M:8M $mnt/f | 8 4 0 0
		open f $mnt/f
		pages f => 4
		truncate f 1                   | 8 7 0 0
		truncate f 0                   | 8 8 0 0
		close f
		rm $mnt/f
		hf 0 free 2M                   | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "overcommit: surplus comes and goes with its user; alloc makes it persistent" {
	# Protects: persistent = total less surplus, on which every write to the pool rests.
	play <<-'EOF'
		hf 0 alloc 2M=4p         | 4 4 0 0
		overcommit 8
		map m - 0 10 shared      | 10 10 10 6
		write m 0 10             | 10 0 0 6
		hf 0 free 2M             | 10 0 0 6
		unmap m                  | 4 4 0 0
		map m - 0 10 shared      | 10 10 10 6
		hf 0 alloc 2M=10p        | 10 10 10 0
		unmap m                  | 10 10 0 0
		map m - 0 12 shared      | 12 12 12 2
		hf 0 alloc 2M=+2p        | 14 14 12 0
		hf 0 free 2M=2p          | 12 12 12 0
		unmap m                  | 12 12 0 0
		overcommit 0
		hf 0 free 2M             | 0 0 0 0
	EOF
}

@test "a pool that the administrator shrank below what is used" {
	# Protects: free and alloc on surplus that a write to nr_hugepages made.
	play <<-'EOF'
		hf 0 alloc 2M=16p        | 16 16 0 0
		map m - 0 8 shared       | 16 16 8 0
		write m 0 4              | 16 12 4 0
		pool 2                   | 8 4 4 6
		hf 1 free 2M=1p          | 8 4 4 6
		hf 0 free 2M             | 8 4 4 6
		write m 4 4              | 8 0 0 6
		hf 0 alloc 2M=4p         | 8 0 0 4
		check m 0 8
		unmap m                  | 4 4 0 0
		hf 0 free 2M             | 0 0 0 0
	EOF
}

@test "shrinking keeps the reserved pages, whose owner touches them afterwards" {
	# Protects: promise 3: never below what is used or reserved.
	play <<-'EOF'
		hf 0 alloc 2M=32p        | 32 32 0 0
		map a - 0 4 shared       | 32 32 4 0
		map b - 0 6 private      | 32 32 10 0
		memfd f 2
		map c f 0 2 shared       | 32 32 12 0
		hf 0 free 2M             | 12 12 12 0
		write a 0 4              | 12 8 8 0
		write b 0 6              | 12 2 2 0
		write c 0 2              | 12 0 0 0
		hf 0 free 2M             | 12 0 0 0
		unmap b                  | 12 6 0 0
		hf 0 free 2M=6p          | 6 0 0 0
		check a 0 4
		check c 0 2
		unmap a                  | 6 4 0 0
		unmap c
		close f                  | 6 6 0 0
		hf 0 free 2M             | 0 0 0 0
	EOF
}

@test "/proc/meminfo, status and the pool's files tell the same" {
	# Protects: status, which administrators compare with /proc/meminfo.
	local want

	equal "$(awk '$1 == "Hugepagesize:" { print $2 }' /proc/meminfo)" 2048 "the default size in KiB"
	hf 0 alloc 2M=16p
	start_peer
	ask map m - 0 8 shared
	ask write m 0 3
	want="16 13 5 0"
	equal "$(counters)" "$want" counters
	equal "$(awk '/^HugePages_/ { printf "%s%s", n++ ? " " : "", $2 }' /proc/meminfo)" "$want" meminfo
	hf 0 status --raw --noheadings --output TOTAL,FREE,RSVD,SURPLUS --page-size 2M
	has "$output" "$want"
	end_peer
	hf 0 free 2M
}
