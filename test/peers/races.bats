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

@test "consumers take and give back while the pool grows and shrinks: nobody loses a page or its content" {
	# Protects: alloc and free on a machine at work.
	local round

	hf 0 alloc 2M=64p
	crowd private 4
	crowd shared 4
	crowd memfd 4
	for round in {1..10}; do
		hf 0 alloc 2M=+32p
		equal "$(<"$POOL/surplus_hugepages")" 0 "surplus after growth $round"
		hf 0 free 2M=32p
		equal "$(<"$POOL/surplus_hugepages")" 0 "surplus after shrinking $round"
		equal "$(<"$POOL/nr_hugepages")" 64 "the pool after round $round"
	done
	disperse
	equal "$(counters)" "64 64 0 0" counters
	hf 0 free 2M
}

@test "free of everything, again and again, under consumers: it takes what is left over, they keep theirs" {
	# Protects: promise 3 in a race: what is taken between the reading and the writing is not taken away.
	local round

	hf 0 alloc 2M=64p
	crowd private 3
	crowd shared 5
	crowd memfd 7
	for round in {1..12}; do
		hf 0 alloc 2M=64p
		hf 0 free 2M
		equal "$(<"$POOL/surplus_hugepages")" 0 "surplus after round $round"
	done
	hf 0 alloc 2M=64p
	disperse
	equal "$(counters)" "64 64 0 0" counters
	hf 0 free 2M
}

@test "pages that are always held are never taken, whatever else is" {
	# Protects: a guest that runs while others come and go: its file and its reservation.
	local round

	mount_huge
	hf 0 alloc 2M=48p "$mnt/vm0=16p"
	crowd "$mnt/vm0" 16
	crowd shared 8
	hold reserve 16
	for round in {1..12}; do
		hf 0 free 2M
		equal "$(pages "$mnt/vm0")" 16 "the file's pages in round $round"
		[ "$(<"$POOL/nr_hugepages")" -ge 24 ] || { echo "the pool has $(counters)"; return 1; }
		hf 0 alloc 2M=48p
	done
	kill "$pid"
	wait "$pid" || true
	disperse
	hf 0 free --shrink 2M=48p "$mnt/vm0"
	"${IN[@]}" umount "$mnt"
}

@test "files come and go with --shrink beside consumers: the pool is the consumers' again each time" {
	# Protects: the pair ExecStart= and ExecStop= of one guest, beside the others.
	local round

	mount_huge
	hf 0 alloc 2M=32p
	crowd private 8
	crowd memfd 8
	for round in {1..10}; do
		hf 0 alloc 2M=32p
		hf 0 alloc "$mnt/vm$round=16p"
		equal "$(pages "$mnt/vm$round")" 16 "the file's pages in round $round"
		hf 0 free "$mnt/vm$round"
		hf 0 free 2M
	done
	hf 0 alloc 2M=24p
	disperse
	equal "$(<"$POOL/surplus_hugepages")" 0 surplus
	hf 0 free 2M
	"${IN[@]}" umount "$mnt"
}

@test "growth by both engines under consumers that need more than there is" {
	# Protects: the overcommit limit that --grow=parallel raises for a moment: consumers may take surplus
	# pages in it, and nothing of it may stay.
	local round

	crowd_hungry
	for round in {1..8}; do
		hf 0 alloc --grow=parallel 2M=+16p
		hf 0 alloc --grow=sysfs 2M=+16p
		equal "$(<"$POOL/nr_overcommit_hugepages")" 0 "the overcommit limit in round $round"
	done
	disperse
	# What they took of it in time went with them, or had become persistent.
	equal "$(<"$POOL/surplus_hugepages")" 0 surplus
	hf 0 free 2M
	equal "$(counters)" "0 0 0 0" counters
}

# Consumers that have had a page each, and then nothing to live on.
crowd_hungry() {
	hf 0 alloc 2M=16p
	crowd private 8
	crowd shared 8
	hf 0 free 2M
}

@test "two hugefills and consumers at once: the total is what they were told" {
	# Protects: the lock, under which pools are read and written.
	local round one two

	hf 0 alloc 2M=32p
	crowd private 4
	crowd shared 4
	for round in {1..10}; do
		"${IN[@]}" "$HUGEFILL" alloc 2M=+8p >/dev/null 2>"$tmp/one" 3>&- &
		one=$!
		"${IN[@]}" "$HUGEFILL" alloc 2M=+4p >/dev/null 2>"$tmp/two" 3>&- &
		two=$!
		wait $one || { cat "$tmp/one"; return 1; }
		wait $two || { cat "$tmp/two"; return 1; }
		equal "$(<"$POOL/nr_hugepages")" 44 "the pool in round $round"
		hf 0 free 2M=12p
	done
	disperse
	equal "$(counters)" "32 32 0 0" counters
	hf 0 free 2M
}

@test "alloc and free --shrink while others take the same pages: done or undone, and nothing of theirs taken" {
	# Protects: ExecStart= and ExecStop= of one guest while others start.
	local round refused=0 late=0

	mount_huge
	hf 0 alloc 2M=24p
	crowd private 8
	crowd shared 8
	crowd memfd 8
	for round in {1..10}; do
		"${IN[@]}" "$HUGEFILL" free -q 2M >/dev/null
		try alloc "$mnt/vm=8p" || {
			refused=$((refused + 1))
			has "$stderr" "hint: something else took pages meanwhile: try again"
			"${IN[@]}" test ! -e "$mnt/vm"
			continue
		}
		equal "$(pages "$mnt/vm")" 8 "the file's pages in round $round"
		try free --shrink "$mnt/vm" || {
			late=$((late + 1))
			has "$stderr" "were to be given back, but only" "hint: hugefill free 2M"
		}
		"${IN[@]}" test ! -e "$mnt/vm"
		equal "$(<"$POOL/surplus_hugepages")" 0 "surplus after round $round"
	done
	echo "# $refused of 10 refused, $late shrunk by less" >&3
	disperse
	hf 0 free 2M
	"${IN[@]}" umount "$mnt"
}

# try ARGUMENT...: hugefill; exit 1 is an answer, too
try() {
	run --separate-stderr "${IN[@]}" "$HUGEFILL" "$@"
	[ "$status" -le 1 ] || echo "exit $status: $stderr"
	return "$status"
}
