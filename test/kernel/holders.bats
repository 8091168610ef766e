#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Who holds a file or a directory, seen from here or not; names of one file; and what a caller hands
# down: limits, blocked signals, closed descriptors.

load helper

# In a mount namespace of its own, with the same directories
other_namespace() {
	"${IN[@]}" unshare -m bash -c 'umount /dev/hugepages || true; "$0" alloc q=4M -q && "$0" free q --shrink --umount' \
		"$HUGEFILL"
}

@test "a directory that another mount namespace has mounted on stays, and the files there" {
	hf 0 alloc vm0=8M
	mark
	run -0 --separate-stderr other_namespace
	has "$stderr" "/dev/hugepages: the empty directory stays"
	same
	equal "$(pages /dev/hugepages/vm0)" 4 pages
	hf 0 free vm0 --shrink --umount
	run -1 "${IN[@]}" test -e /dev/hugepages
	mark
}

@test "the undo takes no mount away from another namespace" {
	"${IN[@]}" mkdir /dev/hugepages
	mark
	hf 0 alloc vm0=8M
	run -1 --separate-stderr "${IN[@]}" unshare -m bash -c \
		'umount /dev/hugepages; exec "$0" alloc q=64M --deadline=0.1ms' "$HUGEFILL"
	equal "$(pages /dev/hugepages/vm0)" 4 pages
	hf 0 free vm0 --shrink --umount
	"${IN[@]}" mkdir -p /dev/hugepages
	same
}

@test "a holder that no list of processes shows is noticed all the same" {
	mount_huge
	give 6
	full_file "$mnt/a" 4
	mark
	# shellcheck disable=SC2016 # for the inner shell
	start bash -c 'exec 3<"$1"; echo ready; exec sleep 600' - "$mnt/a"
	wait_until grep -q ready "$out"
	# From Linux 7.0 on hugetlbfs gives no leases: test/kernel/stale.bats.
	full_file "$mnt/lease" 2
	if "${IN[@]}" "$HOLD" lease "$mnt/lease"; then
		"${IN[@]}" rm "$mnt/lease"
		run -1 --separate-stderr "${IN[@]}" unshare -p -f --mount-proc "$HUGEFILL" free "$mnt/a"
		has "$stderr" "held by something that cannot be seen"
		same
	fi
	"${IN[@]}" rm -f "$mnt/lease"
	hf 0 free --json --force "$mnt/a"
	field '.targets[0].freed' 0
	kill "$pid"
	mark
}

@test "one file under two names in one call is refused" {
	mount_huge
	give 8
	full_file "$mnt/a" 4
	"${IN[@]}" ln "$mnt/a" "$mnt/b"
	"${IN[@]}" mkdir "$tmp/again"
	"${IN[@]}" mount --bind "$mnt" "$tmp/again"
	mark
	hf 2 alloc --resize "$mnt/a=2M" "$mnt/b=4M"
	has "$stderr" "two specs name this file"
	hf 2 alloc "$mnt/new=2M" "$tmp/again/new=2M"
	has "$stderr" "two specs name this file"
	hf 2 free "$mnt/a" "$tmp/again/a"
	has "$stderr" "two arguments name this file"
	same
	"${IN[@]}" umount "$tmp/again"
	mark
}

@test "a limit on the size of files is an error like others" {
	mark
	# shellcheck disable=SC2016 # for the inner shell
	run -1 --separate-stderr "${IN[@]}" bash -c 'ulimit -f 1024; exec "$0" alloc vm0=64M' "$HUGEFILL"
	has "$stderr" "File too large"
	same
}

# A sanitizer takes terabytes of it.
# bats test_tags=plain
@test "a limit on the address space is named" {
	mark
	# shellcheck disable=SC2016 # for the inner shell
	run -1 --separate-stderr "${IN[@]}" bash -c 'ulimit -v 40000; exec "$0" alloc vm0=64M' "$HUGEFILL"
	has "$stderr" "ulimit -v"
	same
}

@test "SIGXCPU and SIGUSR1 are undone first, too" {
	local signal

	mark
	for signal in XCPU USR1; do
		start_stopped_fill alloc --threads 2 vm0=128M
		kill -$signal "$pid"
		go_on
		ended $((128 + $(kill -l $signal)))
		same
	done
}

@test "a deadline counts although SIGALRM came blocked" {
	mark
	start flock -x -o /run/hugefill.lock sleep 20
	wait_until eval '! "${IN[@]}" flock -n /run/hugefill.lock true'
	run -1 --separate-stderr "${IN[@]}" env --block-signal=ALRM "$HUGEFILL" alloc --deadline=200ms 2M=4M
	has "$stderr" "--deadline has passed"
	kill "$pid"
	same
}

@test "mount: no directory, and a mount that is not safe" {
	mark
	hf 2 mount ''
	"${IN[@]}" mkdir "$tmp/ro"
	"${IN[@]}" mount -t hugetlbfs -o ro none "$tmp/ro"
	hf 1 mount "$tmp/ro"
	has "$stderr" "it is read-only" "it lacks nosuid,nodev"
	"${IN[@]}" umount "$tmp/ro"
	"${IN[@]}" ln -s "$tmp/ro" /dev/hugepages
	hf 1 alloc --dry-run vm0=4M
	has "$stderr" "/dev/hugepages: is no directory"
	hf 1 mount --dry-run
	"${IN[@]}" rm /dev/hugepages
	"${IN[@]}" rmdir "$tmp/ro"
	same
}

@test "standard output that is closed is a failure where there was something to say" {
	# shellcheck disable=SC2016 # for the inner shell
	run -1 --separate-stderr bash -c '"$0" --version >&-' "$HUGEFILL"
	has "$stderr" "standard output"
}

@test "available pages are counted once the files have theirs" {
	mount_huge
	mark
	hf 0 alloc --json --available 2M=20M "$mnt/a=10M"
	field '.targets[] | select(.target == "2M").filled' $((20 << 20))
	hf 0 free "$mnt/a" 2M
	same
}
