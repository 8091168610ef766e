#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs of others, as distributions package them, on pools and mounts that hugefill made. A suite that
# no package brings is told by its test, which passes.

load helper

# Where libhugetlbfs-tests puts its programs (Fedora); HF_LIBHUGETLBFS names another directory.
suite_of_libhugetlbfs() {
	local dir

	for dir in "${HF_LIBHUGETLBFS:-}" /usr/lib*/libhugetlbfs/tests/obj64 /usr/lib/*/libhugetlbfs/tests/obj64; do
		[ -z "$dir" ] || [ ! -x "$dir/readback" ] || { echo "$dir"; return 0; }
	done
	return 1
}

tell() {
	echo "# $*" >&3
}

# listed FIRST-WORD: what test/peers/libhugetlbfs says so about
listed() {
	awk -v what="$1" '$1 == what { sub(/^[a-z]+ /, ""); print }' "$BATS_TEST_DIRNAME/libhugetlbfs"
}

@test "libhugetlbfs' suite: every program is listed, as one to run or one that cannot apply" {
	# Protects: the next test from passing because it runs less than there is.
	local dir known

	known=$({ listed run; listed not; } | awk '{ print $1 }' | sort -u)
	equal "$(comm -12 <(listed run | awk '{ print $1 }' | sort -u) <(listed not | awk '{ print $1 }' | sort -u))" "" \
		"listed as both"
	equal "$(listed not | awk 'NF < 3')" "" "without a reason"
	dir=$(suite_of_libhugetlbfs) || { tell "libhugetlbfs-tests: no such package here"; return 0; }
	equal "$(comm -13 <(echo "$known") <(find "$dir" -maxdepth 1 -type f -executable ! -name '*.so' ! -name '*.sh' \
		-printf '%f\n' | sort))" "" "programs that are not listed"
}

@test "libhugetlbfs' suite passes on a pool and a mount of hugefill's, and leaves them as they were" {
	# Protects: what the oldest users of hugetlbfs expect of it.
	local dir line words failed=0 ran=0

	dir=$(suite_of_libhugetlbfs) || { tell "libhugetlbfs-tests: no such package here"; return 0; }
	hf 0 alloc 2M=64p
	hf 0 mount --page-size 2M
	while read -r line; do
		read -ra words <<<"$line"
		[ -x "$dir/${words[0]}" ] || continue
		ran=$((ran + 1))
		run timeout 60 "${IN[@]}" env -C "$dir" HUGETLB_DEFAULT_PAGE_SIZE=2097152 \
			LD_LIBRARY_PATH="$dir:${dir%/tests/obj64}/obj64" "./${words[0]}" "${words[@]:1}" </dev/null
		[ "$status" = 0 ] || { failed=1; echo "$line: exit $status:"; echo "$output" | tail -n 5; }
		[ "$(counters)" = "64 64 0 0" ] || { failed=1; echo "$line: the pool is $(counters)"; }
	done < <(listed run)
	tell "$ran programs run"
	[ $failed = 0 ]
	[ $ran -ge 20 ]
	hf 0 umount --page-size 2M
	hf 0 free 2M
}

@test "hugeadm sees pools and mounts as hugefill made them" {
	# Protects: machines on which other tools ask libhugetlbfs for pools.
	local total

	total=$("${IN[@]}" hugeadm --pool-list | awk '$1 == 2097152 { print $2, $3, $4 }')
	equal "$total" "0 0 0" "hugeadm's minimum, current and maximum before"
	hf 0 alloc 2M=24p
	hf 0 mount --page-size 2M
	total=$("${IN[@]}" hugeadm --pool-list | awk '$1 == 2097152 { print $2, $3, $4 }')
	equal "$total" "24 24 24" "hugeadm's minimum, current and maximum"
	has "$("${IN[@]}" hugeadm --list-all-mounts)" /dev/hugepages
	equal "$("${IN[@]}" pagesize --huge-only --all | sort -n | head -n 1)" 2097152 "pagesize's smallest huge page"
	hf 0 umount --page-size 2M
	hf 0 free 2M
}

@test "hugeadm and hugefill take turns at one pool" {
	# Protects: the move from hugeadm: both count the same pages.
	"${IN[@]}" hugeadm --pool-pages-min 2MB:8
	hf 0 alloc --json 2M=8p
	field .changed false
	hf 0 alloc 2M=16p
	"${IN[@]}" hugeadm --pool-pages-min 2MB:-4
	equal "$(counters)" "12 12 0 0" "after hugeadm took four"
	"${IN[@]}" hugeadm --pool-pages-max 2MB:20
	equal "$(<"$POOL/nr_overcommit_hugepages")" 8 "the overcommit limit that hugeadm set"
	hf 0 alloc --grow=parallel 2M=24p
	equal "$(<"$POOL/nr_overcommit_hugepages")" 8 "the overcommit limit afterwards"
	hf 0 free 2M
	"${IN[@]}" hugeadm --pool-pages-max 2MB:0
	equal "$(counters)" "0 0 0 0" counters
}

@test "stress-ng's mmaphuge, verified, while hugefill resizes the pool under it" {
	# Protects: alloc and free beside a program that maps and unmaps all it can get.
	local round

	hf 0 alloc 2M=64p
	start stress-ng --mmaphuge 2 --mmaphuge-mmaps 32 --mmaphuge-ops 400 --verify --no-rand-seed --temp-path "$tmp"
	for round in {1..10}; do
		hf 0 alloc 2M=96p
		hf 0 free 2M
		equal "$(<"$POOL/surplus_hugepages")" 0 "surplus after round $round"
	done
	ended 0
	hf 0 alloc 2M=64p
	equal "$(counters)" "64 64 0 0" counters
	hf 0 free 2M
}
