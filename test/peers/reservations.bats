#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What could leave a reservation behind, or lose one. A leak would make free keep pages that are nobody's;
# a loss would let free take pages that are promised. Columns: total, free, reserved, surplus.

load helper

@test "fork: a shared mapping is one, whoever touches it; the last to leave gives it back" {
	# Protects: free beside databases, whose workers are forks.
	play <<-'EOF'
		hf 0 alloc 2M=8p         | 8 8 0 0
		map m - 0 6 shared       | 8 8 6 0
		fork                     | 8 8 6 0
		child write m 0 3        | 8 5 3 0
		check m 0 3              | 8 5 3 0
		write m 3 1              | 8 4 2 0
		child check m 3 1
		unmap m                  | 8 4 2 0
		hf 0 free 2M             | 6 2 2 0
		child write m 4 2        | 6 0 0 0
		child exit               | 6 6 0 0
		hf 0 free 2M             | 0 0 0 0
	EOF
}

@test "fork of a private mapping: the parent's reservation serves the parent alone" {
	# Protects: pools sized to the page for a program that forks (copy on write needs pages of its own).
	play <<-'EOF'
		hf 0 alloc 2M=6p              | 6 6 0 0
		map m - 0 4 private           | 6 6 4 0
		write m 0 2                   | 6 4 2 0
		fork                          | 6 4 2 0
		child check m 0 2             | 6 4 2 0
		child write m 0 1 child       | 6 3 2 0
		check m 0 1                   | 6 3 2 0
		child check m 0 1 child
		child write m 1 1 child       | 6 2 2 0
		child write m 2 1 => SIGBUS at 2 | 6 2 2 0
		hf 1 free 2M=1p               | 6 2 2 0
		write m 2 2                   | 6 0 0 0
		child exit                    | 6 2 0 0
		check m 0 4
		unmap m                       | 6 6 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
}

@test "copy on write without a page left: the parent keeps its data, the child loses the page" {
	# Protects: free --shrink, which may leave a pool without a page to copy to.
	play <<-'EOF'
		hf 0 alloc 2M=2p              | 2 2 0 0
		map m - 0 2 private           | 2 2 2 0
		write m 0 2                   | 2 0 0 0
		fork
		write m 0 1 mine              | 2 0 0 0
		check m 0 1 mine
		child check m 0 1 => SIGBUS at 0
		child check m 1 1
		child exit
		check m 1 1                   | 2 0 0 0
		unmap m                       | 2 2 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
}

@test "unmapping a part: what was reserved for it comes back, of private mappings at once" {
	# Protects: AVAIL of status, and alloc --available.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=16p             | 16 16 0 0
		map p - 0 8 private           | 16 16 8 0
		write p 0 2                   | 16 14 6 0
		unmap p 0 4                   | 16 16 4 0
		write p 4 4                   | 16 12 0 0
		unmap p 4 4                   | 16 16 0 0
		open f $mnt/f create
		map s f 0 8 shared            | 16 16 8 0
		write s 0 2                   | 16 14 6 0
		unmap s 4 4                   | 16 14 6 0
		hf 0 free 2M=8p               | 8 6 6 0
		hf 1 free 2M=1p               | 8 6 6 0
		unmap s 0 4                   | 8 6 6 0
		truncate f 0                  | 8 8 0 0
		close f
		rm $mnt/f
		hf 0 free 2M                  | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "a file that is cut under its mapping: pages and reservations beyond the end are free" {
	# Protects: alloc --resize, which cuts, and free --punch.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=8p              | 8 8 0 0
		open f $mnt/f create
		map m f 0 8 shared            | 8 8 8 0
		write m 0 6                   | 8 2 2 0
		truncate f 2                  | 8 6 0 0
		check m 0 2
		check m 2 1 => SIGBUS at 2    | 8 6 0 0
		hf 0 free 2M                  | 2 0 0 0
		truncate f 8                  | 2 0 0 0
		write m 2 1 => SIGBUS at 2    | 2 0 0 0
		hf 0 alloc 2M=8p              | 8 6 0 0
		write m 2 6                   | 8 0 0 0
		unmap m
		close f
		rm $mnt/f                     | 8 8 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "touching without reservation never takes what is reserved for another" {
	# Protects: AVAIL: reserved pages are free, but not to be had.
	play <<-'EOF'
		hf 0 alloc 2M=4p                   | 4 4 0 0
		map r - 0 3 private                | 4 4 3 0
		map n - 0 4 private,noreserve      | 4 4 3 0
		write n 0 1                        | 4 3 3 0
		write n 1 1 => SIGBUS at 1         | 4 3 3 0
		unmap n                            | 4 4 3 0
		write r 0 3                        | 4 1 0 0
		hf 0 free 2M=1p                    | 3 0 0 0
		unmap r                            | 3 3 0 0
		hf 0 free 2M                       | 0 0 0 0
	EOF
}

@test "a page that was touched without reservation counts when it is reserved later" {
	# Protects: alloc on a file with holes that a program has mapped: too many pages rather than too few.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=4p                   | 4 4 0 0
		open f $mnt/f create
		truncate f 4
		map n f 0 4 shared,noreserve       | 4 4 0 0
		write n 0 1                        | 4 3 0 0
		map r f 0 4 shared                 | 4 3 3 0
		write n 1 1                        | 4 2 2 0
		unmap n                            | 4 2 2 0
		hf 1 alloc --no-grow $mnt/f=4p     | 4 2 2 0
		hf 0 alloc $mnt/f=4p               | 6 2 0 0 # whose reservations they are cannot be seen
		hf 0 free 2M                       | 4 0 0 0
		check r 0 2
		unmap r
		close f
		rm $mnt/f                          | 4 4 0 0
		hf 0 free 2M                       | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "readahead and fadvise change no counter and bring no page" {
	# Protects: files with holes, which a backup program may read.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=8p              | 8 8 0 0
		open f $mnt/f create
		truncate f 8                  | 8 8 0 0
		ahead f 0 8                   | 8 8 0 0
		map m f 0 8 shared            | 8 8 8 0
		ahead f 0 8                   | 8 8 8 0
		advise m 0 8 willneed         | 8 8 8 0
		write m 0 2                   | 8 6 6 0
		ahead f 0 8                   | 8 6 6 0
		check m 0 2
		unmap m
		close f
		rm $mnt/f                     | 8 8 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "madvise: DONTNEED keeps a file's pages and gives a private copy back; REMOVE punches" {
	# Protects: memory ballooning in a guest's file: what it gives back is seen by free.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=4p $mnt/vm0=4p  | 4 0 0 0
		open f $mnt/vm0
		map m f 0 4 shared
		write m 0 4                   | 4 0 0 0
		advise m 0 4 dontneed         | 4 0 0 0
		check m 0 4
		advise m 1 2 remove           | 4 2 0 0
		check m 0 1
		hf 0 free 2M=1p               | 3 1 0 0
		advise m 1 1 populate         | 3 0 0 0
		zero m 1 1
		advise m 2 1 populate => EFAULT | 3 0 0 0
		check m 3 1
		unmap m
		close f
		hf 0 free --shrink $mnt/vm0   | 0 0 0 0
		hf 0 alloc 2M=4p
		map p - 0 4 private           | 4 4 4 0
		write p 0 4                   | 4 0 0 0
		advise p 0 2 dontneed         | 4 2 2 0
		zero p 0 2                    | 4 0 0 0
		check p 2 2
		unmap p                       | 4 4 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}

@test "mprotect: rights come and go, pages and reservations stay" {
	# Protects: free beside language runtimes, which reserve their heap and open it piece by piece.
	play <<-'EOF'
		hf 0 alloc 2M=8p              | 8 8 0 0
		map m - 0 8 private           | 8 8 8 0
		write m 0 2                   | 8 6 6 0
		protect m 0 8 none            | 8 6 6 0
		check m 0 1 => SIGSEGV at 0
		hf 0 free 2M                  | 8 6 6 0
		protect m 0 4 read
		check m 0 2                   | 8 6 6 0
		write m 3 1 => SIGSEGV at 3   | 8 6 6 0
		protect m 0 8 write
		write m 2 6                   | 8 0 0 0
		check m 0 8
		protect m 0 8 read
		unmap m                       | 8 8 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
}

@test "mremap: data and reservation move along; growing in place is refused" {
	# Protects: reserved pages of a program that moves its mappings.
	play <<-'EOF'
		hf 0 alloc 2M=8p              | 8 8 0 0
		map m - 0 4 private           | 8 8 4 0
		write m 0 2                   | 8 6 2 0
		remap m 4 move                | 8 6 2 0
		check m 0 2
		hf 0 free 2M=4p               | 4 2 2 0
		write m 2 2                   | 4 0 0 0
		remap m 5 => EINVAL           | 4 0 0 0
		check m 0 4
		unmap m                       | 4 4 0 0
		hf 0 free 2M                  | 0 0 0 0
	EOF
}

@test "a program that is killed leaves neither page nor reservation" {
	# Protects: the counters that alloc's plan starts from.
	local round

	hf 0 alloc 2M=16p
	for round in 1 2 3; do
		start_peer
		ask map a - 0 4 shared
		ask map b - 0 4 private
		ask memfd f 4
		ask map c f 0 4 shared
		ask shm s 4
		ask write a 0 2
		ask write b 0 2
		ask write c 0 2
		ask write s 0 2
		equal "$(counters)" "16 8 8 0" "with the program in round $round"
		kill -KILL "$peer"
		wait "$peer" || true
		exec 7>&- 8<&-
		rm "$tmp/to" "$tmp/from"
		wait_until settled_at "16 16 0 0"
	done
	hf 0 free 2M
}

settled_at() {
	[ "$(counters)" = "$1" ]
}

@test "reserved, unmapped and reserved again, many times: nothing adds up" {
	# Protects: pools that live for months.
	local round

	mount_huge
	hf 0 alloc 2M=8p "$mnt/vm0=2p"
	start_peer
	for round in {1..50}; do
		ask map a - 0 4 shared
		ask map b - 0 2 private
		ask write a 0 2
		ask write b 1 1
		ask unmap a
		ask unmap b
	done
	equal "$(counters)" "8 6 0 0" "after 50 rounds"
	end_peer
	hf 0 free --shrink 2M=8p "$mnt/vm0"
	"${IN[@]}" umount "$mnt"
}

@test "more than there is, or can be, is refused, and a refusal costs nothing" {
	# Protects: that a program which is refused leaves no reservation from its try.
	play <<-EOF
		mount $mnt
		hf 0 alloc 2M=4p                       | 4 4 0 0
		map a - 0 5 shared => ENOMEM           | 4 4 0 0
		map a - 0 5 private => ENOMEM          | 4 4 0 0
		shm s 5 => ENOMEM                      | 4 4 0 0
		open f $mnt/f create
		map a f 0 5 shared => ENOMEM           | 4 4 0 0
		allocate f 0 5 => ENOSPC               | 4 0 0 0
		punch f 0 5                            | 4 4 0 0
		map b - 0 3 shared                     | 4 4 3 0
		allocate f 0 2 => ENOSPC               | 4 3 3 0
		truncate f 0                           | 4 4 3 0
		hf 1 alloc --no-grow $mnt/vm0=2p       | 4 4 3 0
		hf 0 alloc --no-grow $mnt/vm0=1p       | 4 3 3 0
		unmap b
		close f
		rm $mnt/f
		hf 0 free --shrink 2M=4p $mnt/vm0      | 0 0 0 0
	EOF
	"${IN[@]}" umount "$mnt"
}
