#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memcheck: no bad access, nothing uninitialised, nothing lost, no descriptor left (the program is built
# with HF_DEBUG_FDS, which aborts). Of real pages 64 MiB: valgrind shares the machine with others.

load ../kernel/helper

FIXTURES=$BATS_TEST_DIRNAME/../fixtures
MEMCHECK=(valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite
	--errors-for-leak-kinds=definite --track-origins=yes --num-callers=30)

# vg STATUS ARGUMENT...: hugefill ends with this status, and memcheck has nothing to say
vg() {
	local want=$1 log

	shift
	run --separate-stderr "${IN[@]}" "${MEMCHECK[@]}" --log-file="$tmp/memcheck.%p" "$HUGEFILL" "$@"
	for log in "$tmp"/memcheck.*; do
		! said_something "$log" || { echo "hugefill $*:"; cat "$log"; return 1; }
	done
	[ "$status" = "$want" ] || {
		printf '%s\n' "hugefill $*: exit status $status instead of $want" "$output" "$stderr"
		return 1
	}
}

# System calls that are newer than valgrind get ENOSYS there; hugefill does without them.
said_something() {
	grep -vE -e '-- WARNING: unhandled amd64-linux syscall' -e 'You may be able to write your own handler' \
		-e 'Read the file README_MISSING_SYSCALL_OR_IOCTL' -e 'Nevertheless we consider this a bug' \
		-e 'it at http' -e '^[=-]+[0-9]+[=-]+ *$' "$1" | grep -q .
}

@test "help, version and usage errors" {
	vg 0 --help
	vg 0 --version
	vg 0 alloc --help
	vg 2
	vg 2 frobnicate
	vg 2 alloc
	vg 2 alloc --threads=0 2M=4G
	vg 2 alloc 2M=3x@0
}

@test "dry runs of alloc on captured trees" {
	local tree

	for tree in one-node two-nodes eight-nodes memless cpuless arm64; do
		vg 0 alloc --dry-run --sysroot="$FIXTURES/$tree" 2M=+64M vm0=64M@0
	done
	vg 1 alloc --dry-run --sysroot="$FIXTURES/no-hugetlb" 2M=64M
	vg 1 alloc --dry-run --sysroot="$FIXTURES/broken" 2M=64M
	vg 1 alloc --dry-run --sysroot="$FIXTURES/two-nodes" --json 2M=100%@0 vm0=1T
	vg 1 alloc --dry-run --sysroot="$tmp/nowhere" 2M=64M
}

@test "dry runs with many specs, from a file, and of free" {
	printf '%s\n' '# specs' 'vm0=64M@0' 'vm1=32M@0,64M@1' '/dev/hugepages/db=128M' >"$tmp/specs"
	vg 0 alloc --dry-run --sysroot="$FIXTURES/two-nodes" --from="$tmp/specs" --layout=block --raw --output-all
	vg 2 alloc --dry-run --sysroot="$FIXTURES/two-nodes" --from="$tmp/specs" vm2=3
	vg 0 free --dry-run --sysroot="$FIXTURES/two-nodes" 2M=64M@0 1G
	vg 0 free --dry-run --sysroot="$FIXTURES/two-nodes" --size=64M --json
	vg 1 free --dry-run --sysroot="$FIXTURES/two-nodes" /dev/hugepages/a
}

@test "a file by each method, and back" {
	local method

	for method in populate touch fallocate; do
		vg 0 alloc --size=64M --threads=2 --method=$method
		vg 0 alloc --size=64M
		vg 0 free --size=64M --shrink --umount
		pool 0
	done
}

@test "a pool up and down" {
	vg 0 alloc 2M=64M
	pool 32 32
	vg 0 alloc 2M=64M --json
	vg 0 free 2M=32M@0
	vg 0 free 2M
	pool 0
}

# Holes are filled in the kernel tier: older versions of valgrind know no userfaultfd.
@test "a file made longer, cut, punched" {
	mount_huge
	give 64
	full_file "$mnt/a" 32
	vg 0 alloc "$mnt/a=64M" --resize
	vg 0 alloc "$mnt/a=48M" --resize
	vg 0 free --punch=32M:16M "$mnt/a"
	"${IN[@]}" rm "$mnt/a"
	give 0
	mark
}

@test "failures are undone without loss" {
	mount_huge "$mnt" pagesize=2M,size=32M
	mark
	vg 1 alloc "$mnt/a=64M"
	vg 1 alloc "$mnt/nowhere/a=32M"
	vg 1 alloc --no-grow "$mnt/a=32M"
	vg 1 alloc --deadline=1ms 2M=64M
	vg 1 free "$mnt/a"
}
