#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What can stand against an alloc: each cause is named, with its numbers and the next step; and with
# --best-effort what could be had is kept.

load helper
load ../kernel/groups

teardown() {
	leave_groups || true
	[ -z "${fragmenter:-}" ] || kill "$fragmenter"
	kernel_teardown
}

# finding ID TEXT...: the first finding of the document, and what is said of it
finding() {
	field '.findings[0].id' "$1"
	shift
	has "$stderr" "$@" "hint: "
}

# partly FILE MIB: --best-effort has made the file, as large as this
partly() {
	equal "$("${IN[@]}" stat -c '%s %b' "$1")" "$(($2 << 20)) $(($2 << 11))" "size and blocks of $1"
	"${IN[@]}" rm "$1"
}

# --- control groups ---

# in_group STATUS ARGUMENT...: hf in the group
in_group() {
	local want=$1

	shift
	run "-$want" --separate-stderr "${IN[@]}" bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - \
		"$group" "$HUGEFILL" "$@" || { printf '%s\n' "$output" "$stderr"; return 1; }
}

@test "control group: the limit of pages" {
	new_group hugetlb
	limit hugetlb.2MB.max 32M
	in_group 1 alloc --json vm0=64M
	finding cgroup "the cgroup's limit leaves 32M, but 64M is needed ($group/hugetlb.2MB.max)"
	same
	in_group 64 alloc --json --best-effort vm0=64M
	finding cgroup "$group/hugetlb.2MB.max"
	field '[.partly, .targets[0].filled] | join(" ")' "true 33554432"
	partly /dev/hugepages/vm0 32
	in_group 0 alloc vm0=32M
	hf 0 free --umount --shrink vm0
	hf 0 free 2M
}

@test "control group: the limit of reservations" {
	new_group hugetlb
	limit hugetlb.2MB.rsvd.max 32M
	in_group 1 alloc --json vm0=64M
	finding cgroup-reserved "leaves 32M, but 64M is needed ($group/hugetlb.2MB.rsvd.max)"
	same
	in_group 64 alloc --json --best-effort vm0=64M
	finding cgroup-reserved "$group/hugetlb.2MB.rsvd.max"
	partly /dev/hugepages/vm0 32
	in_group 0 alloc vm0=32M
	hf 0 free --umount --shrink vm0
	hf 0 free 2M
}

@test "control group: the limit of a group above, and what others in it use" {
	new_group hugetlb
	limit cgroup.subtree_control +hugetlb
	limit hugetlb.2MB.max 64M
	"${IN[@]}" mkdir "$group/inner"
	start bash -c 'echo $$ >"$1/cgroup.procs"; exec "$2" take 48' - "$group/inner" "$HOLD"
	give 64
	wait_until grep -qs ready "$out"
	mark
	group+=/inner
	in_group 1 alloc --json vm0=32M
	finding cgroup "leaves 16M, but 32M is needed (${group%/inner}/hugetlb.2MB.max)"
	kill "$pid"
	wait_until "${IN[@]}" rmdir "$group"
	group=${group%/inner}
	give 0
	mark
}

@test "control group of version 1" {
	mkdir "$tmp/v1"
	# Where version 2 has the controller in use this cannot be had.
	"${IN[@]}" mount -t cgroup -o hugetlb none "$tmp/v1" || {
		[ "$(hierarchy hugetlb | cut -c1-2)" = v2 ]
		return 0
	}
	new_group hugetlb
	equal "$version" v1
	limit hugetlb.2MB.limit_in_bytes 32M
	in_group 1 alloc --json vm0=64M
	finding cgroup "leaves 32M, but 64M is needed ($group/hugetlb.2MB.limit_in_bytes)"
	same
	limit hugetlb.2MB.limit_in_bytes -1
	limit hugetlb.2MB.rsvd.limit_in_bytes 32M
	in_group 1 alloc --json vm0=64M
	finding cgroup-reserved "($group/hugetlb.2MB.rsvd.limit_in_bytes)"
	same
	in_group 64 alloc --json --best-effort vm0=64M
	partly /dev/hugepages/vm0 32
	hf 0 free --umount 2M
	leave_groups
	"${IN[@]}" umount "$tmp/v1"
	set_free hugetlb
}

@test "a control group with too little memory for hugefill: it fails clean, or is killed clean" {
	local file mib status

	new_group memory
	file=memory.max
	[ "$version" = v2 ] || file=memory.limit_in_bytes
	for kib in 64 256 512 1024 2048 4096; do
		limit $file $((kib << 10))
		status=0
		"${IN[@]}" bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$group" \
			"$HUGEFILL" alloc --threads 2 2M=128M vm0=64M >"$out" 2>"$err" || status=$?
		case $status in
		0) hf 0 free --umount --shrink vm0 2M ;;
		1) same ;;
		137)
			# Nobody undoes then: the pool and the mount stay, but no file and no used page.
			wait_until eval 'equal "$(used_pages)" 0 >"$tmp/used"'
			"${IN[@]}" test ! -e /dev/hugepages/vm0
			hf 0 alloc 2M=128M vm0=64M
			hf 0 free --umount --shrink vm0 2M
			;;
		*) echo "exit status $status with $kib KiB"; cat "$err"; return 1 ;;
		esac
		same
	done
	equal "$status" 0 "exit status with 4 MiB"
}

# --- mounts ---

@test "mount: size=" {
	mount_huge "$mnt" pagesize=2M,size=32M
	mark
	hf 1 alloc --json "$mnt/a=64M"
	finding mount-size "hugefill alloc: $mnt: the mount's size= limit leaves 32M, but 64M is needed"
	same
	hf 64 alloc --json --best-effort "$mnt/a=64M"
	finding mount-size "size="
	partly "$mnt/a" 32
	hf 0 free 2M
	hf 1 alloc --json "$mnt/a=20M" "$mnt/b=20M"
	finding mount-size "leaves 32M, but 40M is needed"
}

@test "mount: nr_inodes=" {
	# The root counts.
	mount_huge "$mnt" pagesize=2M,nr_inodes=2
	mark
	hf 1 alloc --json "$mnt/a=4M" "$mnt/b=4M"
	finding mount-inodes "hugefill alloc: $mnt: the mount's nr_inodes= limit leaves 1 files, but 2 are needed"
	same
	hf 1 alloc --json --best-effort "$mnt/a=4M" "$mnt/b=4M"
	finding mount-inodes nr_inodes=
	same
	hf 0 alloc "$mnt/a=4M"
	hf 0 free --shrink "$mnt/a"
}

@test "no mount, and none may be made" {
	hf 1 alloc --json --no-mount vm0=4M
	finding no-mount "hugefill alloc: /dev/hugepages: no hugetlbfs with 2M pages is mounted" \
		"hint: mount -t hugetlbfs"
}

@test "a file that is there with another size" {
	mount_huge
	give 8
	full_file "$mnt/a" 4
	mark
	hf 1 alloc --json "$mnt/a=8M"
	finding other-size "hugefill alloc: $mnt/a: exists with 4M, but 8M is wanted" "--resize"
}

# --- memory ---

available_mib() {
	awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo
}

@test "headroom" {
	local filled

	hf 1 alloc --json --headroom $(($(available_mib) - 256))M vm0=1G
	finding headroom "hugefill alloc: memory: the pools would grow by 1G, but only" "--headroom"
	same
	hf 64 alloc --json --best-effort --headroom $(($(available_mib) - 256))M vm0=1G
	finding headroom "the pools would grow by 1G"
	filled=$(jq '[.targets[] | select(.target == "/dev/hugepages/vm0") | .filled] | add' <<<"$output")
	[ "$filled" -gt 0 ] && [ "$filled" -lt $((512 << 20)) ] || { echo "filled: $filled"; return 1; }
	partly /dev/hugepages/vm0 $((filled >> 20))
	hf 0 free --umount 2M
}

@test "the pool lacks pages, and may not grow" {
	give 32
	mark
	hf 1 alloc --json --no-grow vm0=64M
	finding no-grow "hugefill alloc: 2M: the pool lacks 16 pages (32M), and --no-grow forbids to grow it"
	same
	hf 64 alloc --json --best-effort --no-grow vm0=64M
	finding no-grow "the pool lacks 16 pages"
	partly /dev/hugepages/vm0 32
	hf 0 free --umount 2M
	mark
}

# start_short ARGUMENT...: the kernel gives no page, and takes half a second to say so
start_short() {
	start_strace -e trace=write "${AT_THE_POOL[@]}" \
		-e inject=write:retval=3:delay_exit=500000:when=1+ "$HUGEFILL" "$@" --grow=sysfs
	wait_until grep -qs 'write(' "$tmp/trace"
}

@test "not enough memory" {
	# Others take it after the plan was made.
	cp /proc/meminfo "$tmp/meminfo"
	"${IN[@]}" mount --bind "$tmp/meminfo" /proc/meminfo
	start_short alloc --json 2M=256M
	sed 's/^MemAvailable: .*/MemAvailable:   65536 kB/' /proc/meminfo >"$tmp/meminfo"
	ended 1
	output=$(<"$out")
	stderr=$(<"$err")
	finding memory "hugefill alloc: 2M: node 0: requested 256M, obtained 0" \
		"not enough memory: 256M more is needed, 64M is available" "--drop-caches"
	"${IN[@]}" umount /proc/meminfo
}

@test "pages that are reserved by others after the pool has grown" {
	start_stopped ftruncate alloc --json vm0=64M
	local alloc=$pid alloc_out=$out alloc_err=$err

	out=$tmp/out.hold
	err=$tmp/err.hold
	hold reserve 32
	local holder=$pid

	pid=$alloc
	out=$alloc_out
	err=$alloc_err
	go_on
	ended 1
	output=$(<"$out")
	stderr=$(<"$err")
	finding reserved "hugefill alloc: /dev/hugepages/vm0: 32 pages were to be reserved, but 32 are free and 16 of these are reserved by others"
	kill "$holder"
	wait_until nothing_reserved
	# What the other had was not taken from it.
	hf 0 free 2M
	"${IN[@]}" bash -c '! grep -q hugetlbfs /proc/self/mounts'
}

nothing_reserved() {
	[ "$(<"$POOL/resv_hugepages")" = 0 ]
}

@test "a node that gives no page although it was reserved" {
	give 32
	mark
	start_strace -e trace=madvise -e inject=madvise:error=EFAULT:when=1 "$HUGEFILL" alloc --json \
		--method populate --threads 1 vm0=64M@0
	ended 1
	output=$(<"$out")
	stderr=$(<"$err")
	finding node-empty "hugefill alloc: /dev/hugepages/vm0: node 0: " "ran out of huge pages while it was being filled"
	give 0
	mark
}

@test "fragmented memory" {
	local available

	available=$(available_mib)
	"$BATS_SUITE_TMPDIR/fragment" $((available * 45 / 100)) >"$tmp/fragmented" 2>&1 3>&- &
	fragmenter=$!
	LIMIT=90 wait_until grep -q ready "$tmp/fragmented"
	hf 1 alloc --json "2M=$((available * 39 / 100))p"
	finding fragmented "memory is fragmented: " "in blocks of 2M or more, after compaction" "--drop-caches" "the pool is short"
	field '.findings[0] | .got > 0 and .got < .wanted' true
	same
	hf 64 alloc --json --best-effort "2M=$((available * 39 / 100))p"
	finding fragmented "memory is fragmented: "
	field '[.partly, .targets[0].filled == .findings[0].got, .targets[0].filled > 0] | join(" ")' "true true true"
	kill "$fragmenter"
	fragmenter=
	hf 0 free 2M
}
