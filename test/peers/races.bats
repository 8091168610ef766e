#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Several at once: contenders for the last page, and consumers while hugefill resizes.

load helper

# race ROUNDS HOW FILE
race() {
	run -0 "${IN[@]}" "$CROWD" race "$2" "$3" "$1"
	equal "$output" "$1 rounds"
}

@test "the last page of the pool: two threads or processes that touch it at once both have it" {
	# Protects: pools that alloc brought to exactly what a program needs, to the page.
	mount_huge
	"${IN[@]}" truncate -s 2M "$mnt/f"
	hf 0 alloc 2M=1p
	race 200 threads,shared -
	race 200 threads,private -
	race 200 processes,shared -
	race 200 threads,shared "$mnt/f"
	race 200 processes,shared "$mnt/f"
	equal "$(counters)" "1 1 0 0" counters
	"${IN[@]}" rm "$mnt/f"
	hf 0 free 2M
	"${IN[@]}" umount "$mnt"
}
