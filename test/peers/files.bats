#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files on hugetlbfs as consumers use them: offsets, alignment, reading, and the rarer ways into their
# pages. Columns: total, free, reserved, surplus.

load helper

@test "fallocate and punch at odd offsets: whole pages inside are punched, edges are zeroed" {
	# Protects: free --punch, which asks for whole pages, and what others do with the same file.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=6p 2M=8p        | 8 2 0 0
		open f $mnt/f
		map m f 0 6 shared
		write m 0 6
		punch f 1b 4194303b               | 8 3 0 0
		pages f => 5
		zero m 0 1
		check m 2 4
		punch f 4194305b 100b             | 8 3 0 0
		allocate f 12582913b 1b           | 8 2 0 0
		pages f => 6
		size f => 6
		hf 2 free --punch 1:2097152 $mnt/f
		unmap m
		close f
		hf 0 free --shrink 2M=8p $mnt/f   | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "mapping at a misaligned offset, or with a misaligned cut, is refused and changes nothing" {
	# Protects: a file of hugefill whose consumer computes a wrong offset.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=2p              | 2 0 0 0
		open f $mnt/f
		map m f 4096b 1 shared => EINVAL
		map m f 0 2 shared
		write m 0 2
		unmap m 4096b 4096b => EINVAL
		protect m 4096b 4096b none => EINVAL
		truncate f 1048576b => EINVAL
		size f => 2
		check m 0 2                       | 2 0 0 0
		unmap m
		close f
		hf 0 free --shrink $mnt/f         | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "offsets above 4 GiB: pages lie where they were put, and are freed from there" {
	# Protects: --resize, --punch and status on files larger than 32 bits count.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=8p                  | 8 8 0 0
		open f $mnt/f create
		truncate f 5G                     | 8 8 0 0
		map m f 4G 4 shared               | 8 8 4 0
		write m 0 4 above                 | 8 4 0 0
		map l f 0 2 shared                | 8 4 2 0
		write l 0 2 below                 | 8 2 0 0
		pages f => 6
		hf 0 free --force --punch 4G:4M $mnt/f | 8 4 0 0
		check m 2 2 above
		check l 0 2 below
		unmap m
		map m f 4G 4 shared               | 8 4 2 0
		zero m 0 1                        | 8 3 1 0
		hf 0 free 2M=2p                   | 6 1 1 0
		truncate f 4G                     | 6 4 0 0
		check l 0 2 below
		check m 0 1 => SIGBUS at 0
		hf 0 status --files
		close f
		unmap l
		unmap m
		rm $mnt/f                         | 6 6 0 0
		hf 0 free 2M                      | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "a cut far above the pages that are there wraps nowhere" {
	# Protects: counters after a consumer cut its own file at an offset that no 32 bits hold.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=2p                  | 2 2 0 0
		open f $mnt/f create
		map m f 0 1 shared                | 2 2 1 0
		write m 0 1                       | 2 1 0 0
		truncate f 4096G                  | 2 1 0 0
		truncate f 2049G                  | 2 1 0 0
		check m 0 1
		truncate f 0                      | 2 2 0 0
		check m 0 1 => SIGBUS at 0
		unmap m
		close f
		rm $mnt/f                         | 2 2 0 0
		hf 0 free 2M                      | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "consumers open hugefill's file at offsets of their own, and see each other's pages" {
	# Protects: one file for several guests or processes (DPDK's primary and secondary).
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=8p              | 8 0 0 0
		open f $mnt/f
		map a f 0 4 shared
		map b f 4 4 shared
		map c f 2 4 shared,read
		write a 0 4 a
		write b 0 4 b
		check c 2 1 => page 2 has "b0", not "page2"
		fork
		child write a 3 1 c
		check a 3 1 c                     | 8 0 0 0
		child exit
		write c 0 1 => SIGSEGV at 0
		unmap a
		unmap b
		unmap c
		close f
		hf 0 free --shrink $mnt/f         | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "read(2) gives data and zeroes and brings no page; write(2) is refused" {
	# Protects: copying a guest's file: holes stay holes.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=4p                  | 4 4 0 0
		open f $mnt/f create
		truncate f 4
		map m f 0 1 shared
		write m 0 1                       | 4 3 0 0
		pread f 0 4 => 8388608            | 4 3 0 0
		pread f 8388000b 4096b => 608
		pread f 4 1 => 0
		pread f 1234567b 3b => 3
		pwrite f 0 1 => EINVAL            | 4 3 0 0
		pages f => 1
		unmap m
		close f
		rm $mnt/f                         | 4 4 0 0
		hf 0 free 2M                      | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "mlock on hugefill's file and on a reservation: the latter's pages come at once" {
	# Protects: real-time programs that lock their memory.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=4p 2M=8p        | 8 4 0 0
		open f $mnt/f
		map m f 0 4 shared
		lock m                            | 8 4 0 0
		map p - 0 4 private               | 8 4 4 0
		lock p                            | 8 0 0 0
		zero p 0 4
		unmap p                           | 8 4 0 0
		unmap m
		close f
		hf 0 free --shrink 2M=8p $mnt/f   | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "userfaultfd: pages punched out of hugefill's file are filled by a handler" {
	# Protects: live migration into a file that alloc made and that the hypervisor punched.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=6p              | 6 0 0 0
		open f $mnt/f
		punch f 0 4                       | 6 4 0 0
		map m f 0 6 shared                | 6 4 4 0
		userfault m moved
		check m 0 2 moved                 | 6 2 2 0
		zero m 4 2                        | 6 2 2 0
		hf 0 free 2M                      | 6 2 2 0
		check m 2 2 moved                 | 6 0 0 0
		unmap m
		close f
		hf 0 free --shrink $mnt/f         | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "direct I/O from and into its pages" {
	# Protects: databases, whose buffers in huge pages are read and written past the page cache.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=2p 2M=4p        | 4 2 0 0
		open f $mnt/f
		map m f 0 2 shared
		write m 0 2
		send m 1 $BATS_TEST_DIRNAME/../../out/peers.$BATS_ROOT_PID
		check m 0 2                       | 4 2 0 0
		map p f 0 2 private               | 4 2 2 0
		send p 0 $BATS_TEST_DIRNAME/../../out/peers.$BATS_ROOT_PID
		check p 0 2                       | 4 1 1 0
		unmap p                           | 4 2 0 0
		check m 0 2
		unmap m
		close f
		hf 0 free --shrink 2M=4p $mnt/f   | 0 0 0 0
	EOF
	rm "$BATS_TEST_DIRNAME/../../out/peers.$BATS_ROOT_PID"
	"${IN[@]}" umount "$mnt"
}

@test "written from outside, as debuggers do: shared pages are shared, private ones copied" {
	# Protects: status --processes of a process that is debugged: no page is counted twice.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=2p 2M=6p        | 6 4 0 0
		open f $mnt/f
		map s f 0 2 shared
		map p - 0 2 private               | 6 4 2 0
		write s 0 2
		write p 0 2                       | 6 2 0 0
		fork
		poke s 0 poked                    | 6 2 0 0
		check s 0 1 poked
		child check s 0 1 poked
		poke p 1 poked                    | 6 1 0 0
		check p 0 2
		child check p 1 1 poked
		child exit                        | 6 2 0 0
		unmap s
		unmap p                           | 6 4 0 0
		close f
		hf 0 free --shrink 2M=6p $mnt/f   | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "a file that was removed under its user keeps its pages; free leaves them alone" {
	# Protects: free --force, and free of the pool afterwards.
	play <<-EOF
		mount $mnt
		hf 0 alloc $mnt/f=4p 2M=8p        | 8 4 0 0
		open f $mnt/f
		map m f 0 4 shared
		write m 0 4
		hf 1 free $mnt/f                  | 8 4 0 0
		hf 0 free --force $mnt/f          | 8 4 0 0
		hf 0 free 2M                      | 4 0 0 0
		check m 0 4
		close f
		check m 0 4                       | 4 0 0 0
		unmap m                           | 4 4 0 0
		hf 0 free 2M                      | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}
