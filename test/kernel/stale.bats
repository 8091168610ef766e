#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, out, pid
#
# free --stale: files that nobody holds, and how it is told that somebody does.

load helper

# open_file FILE: somebody has it open, until the end of the test or `kill'
open_file() {
	# shellcheck disable=SC2016 # for the inner shell
	start bash -c 'exec 3<"$1"; echo ready; exec sleep 600' - "$1"
	wait_until grep -q ready "$out"
}

# rows WANTED: action and name of each row, sorted
rows() {
	field '[.targets[] | .action + " " + (.target | sub(".*/"; ""))] | sort | join(", ")' "$1"
}

leased() {
	grep -q LEASE /proc/locks
}

not_leased() {
	! leased
}

@test "files that nobody holds go, with their pages" {
	mount_huge
	"${IN[@]}" mkdir -p "$mnt/a/b"
	give 20
	mark
	full_file "$mnt/one" 4
	full_file "$mnt/a/b/two words" 8
	"${IN[@]}" fallocate -l 2M "$mnt/locked away"
	"${IN[@]}" chmod 0 "$mnt/locked away"
	"${IN[@]}" mkfifo "$mnt/pipe"
	hf 0 free --stale --dry-run --json
	rows "remove locked away, remove one, remove two words"
	field '[.targets[].requested] | add' $((14 << 20))
	pool 10 3
	hf 0 free --stale --json
	rows "remove locked away, remove one, remove two words"
	field '[.targets[].freed] | add' $((14 << 20))
	field .changed true
	pool 10 10
	# What is no regular file stays.
	"${IN[@]}" rm "$mnt/pipe"
	hf 0 free --stale --json
	rows ""
	field .changed false
}

# From Linux 7.0 on hugetlbfs gives none.
gives_leases() {
	"${IN[@]}" "$HOLD" lease "$1"
}

# In a PID namespace others' processes are not listed; and what one may look at may be less than all.
sees_all() {
	[ "$(stat -L -c %i /proc/self/ns/pid)" = $((0xeffffffc)) ] &&
		! stat -L /proc/[0-9]*/fd/0 2>&1 >/dev/null | grep -q "Permission denied"
}

# hint_of_held FILE: what is said of one file that is held
hint_of_held() {
	echo "hugefill free: 1 file is held and stays
hint: hugefill status --files tells which, and by whom"
	gives_leases "$1" ||
		echo "hugefill free: no leases could be had: a process that opened a file at this very moment was not seen"
}

@test "files that are open stay, to be read or to be written" {
	mount_huge
	give 8
	full_file "$mnt/read" 2
	full_file "$mnt/gone" 2
	open_file "$mnt/read"
	full_file "$mnt/other" 2
	hint_of_held "$mnt/other" >"$tmp/hint"
	"${IN[@]}" rm "$mnt/other"
	hf 0 free --stale --json
	rows "remove gone"
	equal "$stderr" "$(<"$tmp/hint")" message
	"${IN[@]}" test -e "$mnt/read"
	kill "$pid"
	wait "$pid" || true
	hf 0 free --stale --json
	rows "remove read"
	mark
}

@test "files that are mapped stay, though no descriptor is open" {
	mount_huge
	give 8
	full_file "$mnt/mapped" 2
	full_file "$mnt/gone" 2
	hold map "$mnt/mapped"
	equal "$(find "/proc/$pid/fd" -lname "$mnt/mapped")" "" "its descriptors"
	hf 0 free --stale --json
	rows "remove gone"
	"${IN[@]}" test -e "$mnt/mapped"
	mark
}

@test "only a page size" {
	give 8
	mount_huge
	mount_huge "$tmp/giant" pagesize=1G
	mark
	full_file "$mnt/small" 2
	"${IN[@]}" truncate -s 1G "$tmp/giant/empty"
	hf 0 free --stale --json --page-size=1G
	rows "remove empty"
	hf 0 free --stale --json --page-size=2M
	rows "remove small"
}

@test "--shrink and --umount go along" {
	give 4
	mount_huge
	full_file "$mnt/one" 4
	hf 0 free --stale --shrink --umount --json
	rows "remove one, shrink 2M, umount huge"
	pool 0
	"${IN[@]}" grep -q " $mnt " /proc/self/mounts && return 1
	mark
}

@test "what somebody opens while the lease is taken stays" {
	mount_huge
	give 4
	full_file "$mnt/one" 4
	mark
	if ! gives_leases "$mnt/one"; then
		hf 0 free --stale --dry-run --json
		rows "remove one"
		has "$stderr" "no leases could be had"
		same
		return 0
	fi
	start strace -D -qq -o "$tmp/trace" -e trace=fcntl -e inject=fcntl:delay_exit=600000 \
		"$HUGEFILL" free --stale --json
	# The first lease is only a look.
	wait_until leased
	wait_until not_leased
	wait_until leased
	run -0 "${IN[@]}" timeout 20 "$HOLD" show "$mnt/one"
	ended 0
	output=$(<"$out")
	rows "keep one"
	equal "$(stamps "$mnt/one")" "1 2" stamps
}

@test "without leases the processes are looked through" {
	mount_huge
	give 8
	full_file "$mnt/mapped" 2
	full_file "$mnt/open" 2
	full_file "$mnt/gone" 2
	"${IN[@]}" chown -R 65534 "$mnt"
	hold map "$mnt/mapped"
	open_file "$mnt/open"
	run -0 --separate-stderr "${IN[@]}" setpriv --bounding-set=-lease "$HUGEFILL" free --stale --json
	if sees_all; then
		rows "remove gone"
		has "$stderr" "no leases could be had" "2 files are held and stay"
	else
		rows ""
		has "$stderr" "no leases could be had" "3 files are held, or may be, and stay"
		hf 0 free "$mnt/gone"
	fi
	mark
}

# blind ARGUMENT...: root who gets no lease on what is another's, in a PID namespace
blind() {
	run "-$1" --separate-stderr "${IN[@]}" unshare -p -f --mount-proc setpriv --bounding-set=-lease "$HUGEFILL" free "${@:2}"
}

@test "without leases, and where not all processes are seen: nothing is stale, what is named goes" {
	mount_huge
	give 4
	full_file "$mnt/open" 2
	full_file "$mnt/nobodys" 2
	"${IN[@]}" chown -R 65534 "$mnt"
	open_file "$mnt/open"
	mark
	blind 0 --stale --json
	rows ""
	has "$stderr" "2 files are held, or may be, and stay" "no leases could be had" "not every process can be looked into from here"
	same
	blind 0 --json "$mnt/nobodys"
	rows "remove nobodys"
	has "$stderr" "not every process can be looked into from here, and no lease could be had"
	kill "$pid"
	"${IN[@]}" rm "$mnt/open"
	mark
}

@test "freed by one who does not see all: surplus pages too, and not what somebody holds" {
	mount_huge
	echo 4 >"$POOL/nr_overcommit_hugepages"
	full_file "$mnt/surplus" 4
	"${IN[@]}" chown 65534 "$mnt/surplus"
	pool 2 0
	blind 0 --json "$mnt/surplus"
	field '[.targets[].freed] | add' $((4 << 20))
	pool 0
	give 4
	full_file "$mnt/held" 4
	"${IN[@]}" chown 65534 "$mnt/held"
	open_file "$mnt/held"
	blind 0 --json "$mnt/held"
	field '[.targets[].freed] | add' 0
	kill "$pid"
	wait_until pool 2 2
	mark
}

@test "a read-only mount is left alone" {
	mount_huge
	give 4
	full_file "$mnt/one" 2
	"${IN[@]}" mount -o remount,bind,ro "$mnt"
	mark
	hf 0 free --stale --json
	rows ""
	has "$stderr" "could not be looked at, or are read only"
}

@test "only root, and by itself" {
	mount_huge
	mark
	run -1 --separate-stderr "${IN[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups "$HUGEFILL" free --stale
	has "$stderr" "hugefill free: --stale: only root may remove what others have left"
	hf 2 free --stale "$mnt/x"
	hf 2 free --stale --force
	hf 2 free --stale --size 2M
	has "$stderr" "--stale goes by itself"
}
