#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# alloc that fails, at every stage: pools, mounts, files and directories are as before.

load helper

# holey_file: two of 32 pages lack; the rest are numbered
holey_file() {
	full_file "$1" 64
	punch "$1" 2 1
	punch "$1" 30 1
}

HOLEY="1 2 0 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 0 32"

@test "a pool that others use up, and may not grow" {
	give 64
	hold take 32
	mark
	hf 1 alloc --json --no-grow vm0=64M
	field '.findings[0] | [.id, .object, .wanted] | join(" ")' "no-grow 2M 33554432"
	same
	hf 0 alloc --no-grow vm0=32M
	hf 0 free --umount vm0
}

@test "reserved pages are others', too" {
	give 64
	hold reserve 32
	mark
	hf 1 alloc --json --no-grow vm0=64M
	field '.findings[0].id' no-grow
	same
	# They stay so: the pool grows beside them.
	hf 0 alloc vm0=64M
	pool 48
	equal "$(<"$POOL/resv_hugepages")" 16 reserved
	hf 0 free --umount --shrink vm0
	pool 16
	give 64
}

# start_short_growth WHEN ARGUMENT...: these writes of the pool's size (2..3, 2+) do nothing, and the
# kernel calls them a success, as it does where memory is short
start_short_growth() {
	local when=$1

	shift
	start_strace -e trace=write "${AT_THE_POOL[@]}" -e inject="write:retval=3:when=$when" \
		"$HUGEFILL" "$@" --grow=sysfs
}

@test "a pool that gets fewer pages than asked: requested, obtained, reason" {
	start_short_growth 2..3 alloc 2M=1G@0
	ended 1
	matches "$(<"$err")" "hugefill alloc: 2M: node 0: requested 1G, obtained [1-9][0-9]*M: [a-z].*hint: "
	matches "$(<"$err")" "2M: the pool is short: 512 pages were wanted in all, [1-9][0-9]* could be had"
	same
}

@test "the same for a file: neither mount nor file stays" {
	start_short_growth 2..3 alloc --json vm0=1G@0
	ended 1
	equal "$(jq -r '.findings[0] | [.fatal, .object, .node, .wanted, .got > 0] | join(" ")' "$out")" \
		"true 2M 0 1073741824 true"
	equal "$(jq -r '[.changed, .not_undone, .error.errno] | join(" ")' "$out")" "false 0 ENOMEM"
	same
}

@test "what cannot be undone is listed, with the command that mends it" {
	local pages

	start_short_growth 2+ alloc --json 2M=1G@0
	ended 1
	pages=$(<"$POOL/nr_hugepages")
	has "$(<"$err")" "hugefill alloc: could not be undone:" "$pages pages that were added on node 0 stay" \
		"hint: later: hugefill free 2M=${pages}p@0"
	equal "$(jq -r '[.changed, .not_undone] | join(" ")' "$out")" "true 1"
	hf 0 free "2M=${pages}p@0"
}

@test "--deadline passes while the file is filled: exit 1, nothing left" {
	start_strace "${SLOW_FILL[@]}" "$HUGEFILL" alloc --deadline 2 --threads 1 vm0=96M
	ended 1
	has "$(<"$err")" "given up" "hint: --deadline has passed"
	same
}

@test "--deadline passes while a pool grows" {
	start_strace "${SLOW_GROWTH[@]}" "$HUGEFILL" alloc --deadline 1500ms --grow sysfs 2M=512M
	ended 1
	has "$(<"$err")" "given up" "hint: --deadline has passed"
	same
}

@test "--deadline passes before anything is done" {
	exec 8>>/run/hugefill.lock
	flock 8
	hf 1 alloc --deadline 100ms vm0=64M
	has "$stderr" "waiting for another hugefill" "--deadline has passed"
	exec 8>&-
	same
	hf 0 alloc --deadline 1h vm0=64M
	hf 0 free --shrink --umount vm0
}

@test "a file with holes has the same holes again" {
	mount_huge
	give 64
	holey_file "$mnt/db"
	mark
	run -1 "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc "$mnt/db=64M"
	equal "$(stamps "$mnt/db")" "$HOLEY" stamps
	same
	run -1 "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc --resize "$mnt/db=96M"
	equal "$(stamps "$mnt/db")" "$HOLEY" stamps
	same
	start_strace "${SLOW_FILL[@]}" "$HUGEFILL" alloc --deadline 2 --threads 1 --resize "$mnt/db=160M"
	ended 1
	has "$(<"$err")" "given up"
	equal "$(stamps "$mnt/db")" "$HOLEY" stamps
}

@test "mode and owner of a file that was there are the old ones again" {
	mount_huge
	give 4
	full_file "$mnt/db" 2
	"${IN[@]}" chmod 0604 "$mnt/db"
	"${IN[@]}" chown 12:34 "$mnt/db"
	mark
	run -1 "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc --mode 0660 --owner 56:78 "$mnt/db=2M"
	same
	run -1 "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc --resize --mode 0660 --owner 56:78 "$mnt/db=4M"
}

@test "the result cannot be written: everything is undone" {
	mount_huge "$tmp/other"
	mark
	run -1 --separate-stderr "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc 2M=128M vm0=64M "$tmp/other/vm1=64M"
	has "$stderr" "standard output: cannot write the result: No space left on device"
	same
	run -1 --separate-stderr "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc --json 2M=64M
	same
	run -1 --separate-stderr "${IN[@]}" bash -c '"$@" >&-' - "$HUGEFILL" alloc 2M=64M
	same
}

@test "nobody reads the result: everything is undone, and death by SIGPIPE" {
	local both write

	mkfifo "$tmp/pipe"
	exec {both}<>"$tmp/pipe"
	exec {write}>"$tmp/pipe"
	exec {both}>&-
	run -141 --separate-stderr "${IN[@]}" env --default-signal=PIPE bash -c '"$@" >&'"$write" - \
		"$HUGEFILL" alloc 2M=128M vm0=64M
	exec {write}>&-
	same
}

# bats test_tags=plain
@test "somebody else creates the file meanwhile: theirs stays" {
	local inode

	mount_huge
	mark
	start_stopped madvise alloc --threads 1 "$mnt/db=64M"
	"${IN[@]}" bash -c 'echo -n >"$1"' - "$mnt/db"
	inode=$("${IN[@]}" stat -c %i "$mnt/db")
	go_on
	ended 1
	has "$(<"$err")" "hugefill alloc: $mnt/db: somebody else created it meanwhile"
	equal "$("${IN[@]}" stat -c '%i %s' "$mnt/db")" "$inode 0" "the other's file"
	"${IN[@]}" rm "$mnt/db"
}

# bats test_tags=plain
@test "the second of two files fails: the first, already published, is gone again" {
	mount_huge
	mark
	start_stopped madvise alloc --threads 1 "$mnt/a=32M" "$mnt/b=32M"
	"${IN[@]}" mkdir "$mnt/b"
	go_on
	ended 1
	has "$(<"$err")" "hugefill alloc: $mnt/b: somebody else created it meanwhile"
	"${IN[@]}" test ! -e "$mnt/a"
	"${IN[@]}" rmdir "$mnt/b"
}

@test "the pages are taken between the plan and the reservation" {
	mount_huge
	give 64
	mark
	start_stopped ftruncate alloc --no-grow "$mnt/a=64M"
	full_file "$mnt/other" 32
	go_on
	ended 1
	has "$(<"$err")" "--no-grow"
	"${IN[@]}" rm "$mnt/other"
	same
	# Where the pool may grow, it does.
	start_stopped ftruncate alloc "$mnt/a=64M"
	full_file "$mnt/other" 32
	go_on
	ended 0
	pool 48 0
	"${IN[@]}" rm "$mnt/other"
	hf 0 free "$mnt/a"
	hf 0 free 2M=32M
}

@test "the file of the plan is replaced before it is opened" {
	mount_huge
	give 64
	full_file "$mnt/db" 32
	punch "$mnt/db" 3 4
	# What alloc looks at first is the old one.
	start_stopped ioctl alloc "$mnt/db=32M"
	"${IN[@]}" rm "$mnt/db"
	full_file "$mnt/db" 16
	go_on
	ended 1
	has "$(<"$err")" "hugefill alloc: $mnt/db: changed since the plan was made"
	equal "$(stamps "$mnt/db")" "1 2 3 4 5 6 7 8" stamps
	pool 32 24
	mark
}

@test "without rights: exit 1, what is missing is said, nothing changes" {
	local as=(setpriv --reuid 65534 --regid 65534 --clear-groups)

	cp "$HUGEFILL" "$BATS_SUITE_TMPDIR/hugefill"
	mount_huge "$mnt" pagesize=2M,mode=0755
	chmod go+x "$tmp" "$BATS_RUN_TMPDIR/test"
	mark
	run -1 --separate-stderr "${IN[@]}" "${as[@]}" "$BATS_SUITE_TMPDIR/hugefill" alloc 2M=64M
	has "$stderr" "hugefill alloc: /run/hugefill.lock: " "Permission denied" "hint: changing a pool needs root"
	same
	give 64
	mark
	run -1 --separate-stderr "${IN[@]}" "${as[@]}" "$BATS_SUITE_TMPDIR/hugefill" alloc "$mnt/a=64M"
	has "$stderr" "hugefill alloc: $mnt/a: cannot create a file in $mnt: Permission denied"
	same
	run -1 --separate-stderr "${IN[@]}" "${as[@]}" "$BATS_SUITE_TMPDIR/hugefill" alloc /dev/hugepages/a=64M
	has "$stderr" "hugefill alloc: /dev/hugepages: cannot make the directory" "Permission denied"
	same
	# A directory of one's own and pages that are there: no rights are needed.
	"${IN[@]}" install -d -o 65534 "$mnt/own"
	mark
	run -0 --separate-stderr "${IN[@]}" "${as[@]}" "$BATS_SUITE_TMPDIR/hugefill" alloc "$mnt/own/a=64M"
	equal "$("${IN[@]}" stat -c %u "$mnt/own/a")" 65534 owner
	run -0 --separate-stderr "${IN[@]}" "${as[@]}" "$BATS_SUITE_TMPDIR/hugefill" free "$mnt/own/a"
	# So run gives it back, also where hugetlbfs gives no leases (Linux 7.0) and others cannot be looked into.
	run -0 --separate-stderr "${IN[@]}" "${as[@]}" "$BATS_SUITE_TMPDIR/hugefill" run "$mnt/own/a=64M" -- true
}

teardown() {
	[ -z "${group:-}" ] || unlimited
	kernel_teardown
}

# --- limits of the control group, where this machine has the controller for us ---

cgroup_root() {
	local root

	set_free hugetlb
	root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	[ -n "$root" ] && grep -qw hugetlb "$root/cgroup.controllers" && echo "$root"
}

# limited FILE MIB: a group for the test, whose hugetlb.2MB.FILE is MIB. The controller is on in the
# root for the length of the test only, unless it was before.
limited() {
	group=$(cgroup_root)/hugefill-test
	grep -qw hugetlb "${group%/*}/cgroup.subtree_control" || {
		controllers_were_off=yes
		echo +hugetlb >"${group%/*}/cgroup.subtree_control"
	}
	mkdir "$group"
	echo "$2M" >"$group/hugetlb.2MB.$1"
}

unlimited() {
	wait_until rmdir "$group"
	[ -z "${controllers_were_off:-}" ] || echo -hugetlb >"${group%/*}/cgroup.subtree_control"
}

# fails_in_group ARGUMENT...: as if the limit had been reached between the plan and the reservation
fails_in_group() {
	start_stopped ftruncate "$@"
	echo "$pid" >"$group/cgroup.procs"
	go_on
	ended 1
}

@test "a limit of the control group is reached in the fill, by every method" {
	local method

	cgroup_root >"$tmp/cgroup" || skip "no control group can limit huge pages here"
	mount_huge
	give 64
	holey_file "$mnt/db"
	punch "$mnt/db" 0 32
	give 128
	mark
	limited max 16
	for method in populate touch fallocate; do
		fails_in_group alloc --method $method "$mnt/a=64M"
		has "$(<"$err")" "the cgroup's limit leaves 16M, but 64M is needed ($group/hugetlb.2MB.max)"
		same
	done
	fails_in_group alloc --resize "$mnt/db=256M"
	same
	fails_in_group alloc vm0=64M 2M=256M
	has "$(<"$err")" "$group/hugetlb.2MB.max"
	same
}

@test "a limit of the control group is reached in the reservation" {
	cgroup_root >"$tmp/cgroup" || skip "no control group can limit huge pages here"
	mount_huge
	give 64
	mark
	limited rsvd.max 16
	fails_in_group alloc "$mnt/a=64M"
	has "$(<"$err")" "the cgroup's limit leaves 16M, but 64M is needed ($group/hugetlb.2MB.rsvd.max)"
	same
	fails_in_group alloc 2M=512M "$mnt/a=64M"
	has "$(<"$err")" "$mnt/a: cannot reserve 32 pages: Cannot allocate memory" "hint: " "$group/hugetlb.2MB.rsvd.max"
	same
}
