#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# alloc of pool specs.

load helper

@test "a pool spec brings the pool up to its amount, once" {
	hf 0 alloc --json 2M=64M
	field .changed true
	field '.targets | length' 1
	field '.targets[0] | [.target, .node, .pagesize, .requested, .filled, .pages, .action] | join(" ")' \
		"2M 0 2097152 67108864 67108864 32 pool"
	pool 32 32
	hf 0 alloc --json 2M=64M
	field .changed false
	field '.targets[0].filled' 67108864
	pool 32 32
	hf 0 free 2M
}

@test "a pool is never shrunk" {
	give 64
	mark
	hf 0 alloc --json 2M=32M 2M=0
	field .changed false
	field '.targets[0] | [.requested, .filled] | join(" ")' "33554432 67108864"
	field '.targets[1].requested' 0
}

@test "+ is relative to what is there" {
	hf 0 alloc 2M=+32M
	pool 16
	hf 0 alloc --json 2M=+32M
	field .changed true
	pool 32
	hf 0 alloc --json 2M=+0
	field .changed false
	pool 32
	hf 0 free 2M
}

@test "every way to write an amount" {
	local spec

	for spec in 2M=64M 2048K=65536K 2M=32p 2MiB=64MiB 2M=0.0625G 2M=64M@0 2M=64M@all default=64M; do
		hf 0 alloc "$spec"
		pool 32
		hf 0 free 2M
	done
	hf 0 alloc --nodes 0 2M=64M
	pool 32
	hf 0 free 2M
}

@test "pool specs state the end: the file finds its pages in them" {
	hf 0 alloc 2M=128M vm0=64M
	pool 64 32
	hf 0 alloc --json 2M=128M vm0=64M
	field .changed false
	hf 0 free --shrink --umount vm0
	hf 0 free 2M
}

@test "with --available the pool's amount is beside the file" {
	hf 0 alloc --available 2M=128M vm0=64M
	pool 96 64
	hf 0 alloc --json --available 2M=128M vm0=64M
	field .changed false
	field '.targets[0].filled' 134217728
	hf 0 free --umount vm0
	hf 0 free 2M
}

@test "reserved pages are not available" {
	give 32
	hold reserve 32
	mark
	hf 0 alloc --available 2M=64M
	pool 48 48
	hf 0 free 2M=64M
}

@test "surplus pages become persistent, without new ones" {
	echo 16 >"$POOL/nr_overcommit_hugepages"
	hold take 32
	equal "$(<"$POOL/surplus_hugepages")" 16 surplus
	hf 0 alloc --json 2M=32M
	field .changed true
	pool 16
	equal "$(<"$POOL/surplus_hugepages")" 0 surplus
	mark
}

@test "surplus pages that a failed call made persistent are surplus again" {
	echo 16 >"$POOL/nr_overcommit_hugepages"
	hold take 32
	mark
	run -1 "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc 2M=32M
}

@test "--headroom refuses to grow into the memory that must stay" {
	hf 1 alloc --json --headroom 100% 2M=64M
	field '.findings[0] | [.id, .fatal, .object, .wanted] | join(" ")' "headroom true memory 67108864"
	field .changed false
	has "$stderr" "hugefill alloc: memory: the pools would grow by 64M" "hint: " --headroom
	same
	hf 1 alloc --headroom 100% --size 64M
	same
	# What is there already is nobody else's memory.
	give 64
	mark
	hf 0 alloc --headroom 100% 2M=64M
}

@test "--no-grow fails rather than grow a pool" {
	give 32
	mark
	hf 1 alloc --json --no-grow 2M=64M
	field '.findings[0] | [.id, .object, .wanted] | join(" ")' "no-grow 2M 33554432"
	has "$stderr" "lacks 16 pages" "hint: "
	same
	hf 1 alloc --no-grow --size 64M
	same
	hf 0 alloc --no-grow 2M=32M
	same
	hf 0 alloc --no-grow --size 32M
	pool 16 0
	hf 0 free --umount --size 32M
}

# Two where memory allows; where it is too fragmented for one, that is what must be said.
@test "gigantic pages" {
	local pages size

	[ -d "$POOL_1G" ] || skip "this kernel has no 1 GiB pages"
	pages=$(gigantic 2)
	[ "$pages" -gt 0 ] || {
		hf 1 alloc --json 1G=1p
		field '.findings[0] | [.object, .node, .wanted] | join(" ")' "1G 0 1073741824"
		return
	}
	size=${pages}G
	hf 0 alloc --json --page-size 1G --size "$size"
	field '.targets[0] | [.target, .pagesize, .filled, .pages] | join(" ")' \
		"/dev/hugepages1G/hugefill 1073741824 $((pages << 30)) $pages"
	equal "$(<"$POOL_1G/nr_hugepages")" "$pages" "the 1 GiB pool"
	equal "$(<"$POOL_1G/free_hugepages")" 0 "of it, free"
	hf 0 alloc --json --page-size 1G --size "$size"
	field .changed false
	hf 0 free --json --page-size 1G --size "$size" --shrink --umount
	field '[.targets[].action] | join(" ")' "remove shrink umount"
}

@test "--from: comments, blank lines, standard input" {
	cat >"$tmp/specs" <<-'EOF'
		# what this host gives its guests

		2M=128M
		  vm0=32M
		vm1=32M
	EOF
	hf 0 alloc --json --from "$tmp/specs"
	field '[.targets[].target] | join(" ")' "2M /dev/hugepages/vm0 /dev/hugepages/vm1"
	pool 64 32
	run -0 --separate-stderr "${IN[@]}" bash -c '"$@" </dev/fd/9' - "$HUGEFILL" alloc --json --from - 9<"$tmp/specs"
	field .changed false
	hf 0 free --from "$tmp/specs" --umount
	pool 0
	hf 2 alloc --from "$tmp/none"
	has "$stderr" "$tmp/none: cannot open the spec file: No such file"
}

@test "one bad spec of several: nothing is done" {
	hf 2 alloc 2M=64M vm0=3M
	has "$stderr" "vm0=3M"
	same
	hf 2 alloc vm0=64M vm0=64M
	has "$stderr" "two specs name this file"
	same
	hf 2 alloc 2M=64M "2M=64M@63"
	same
	hf 1 alloc 2M=64M /proc/x=64M
	has "$stderr" "/proc/x: its directory /proc is not on a hugetlbfs"
	same
}

@test "--dry-run says what is then done, and changes nothing" {
	hf 0 alloc --dry-run --json 2M=96M vm0=64M
	field '[.dry_run, .would_change, .changed] | join(" ")' "true true false"
	field '[.plan[] | "\(.action) \(.target) \(.from) \(.to) \(.pages)"] | join(", ")' \
		"grow 2M 0 100663296 48, mount /dev/hugepages null null null, create /dev/hugepages/vm0 0 67108864 32"
	same
	hf 0 alloc 2M=96M vm0=64M
	pool 48 16
	mark
	hf 0 alloc --dry-run --json 2M=96M vm0=64M
	field .would_change false
	field '[.plan[].action] | join(" ")' keep
	same
	hf 0 alloc --dry-run 2M=96M
	has "$stderr" "nothing to do"
	hf 1 alloc --dry-run --json --no-grow vm1=64M
	field '.findings[0].id' no-grow
	same
	hf 0 free --umount vm0 2M
	mark
}

@test "what min_size= of a mount reserves is its files': no page is grown twice" {
	give 32
	mount_huge "$mnt" pagesize=2M,size=64M,min_size=32M
	mark
	hf 0 alloc --dry-run --json "$mnt/vm0=16M"
	field '[.plan[] | select(.action == "grow")] | length' 0
	hf 0 alloc "$mnt/vm0=16M"
	pool 16 8
	hf 0 alloc --json "$mnt/vm1=32M"
	pool 24 0
	# Its pages are the mount's again as far as those of vm0 leave room for them.
	hf 0 free --json --shrink "$mnt/vm1"
	field '[.targets[] | "\(.action) \(.freed)"] | join(", ")' "remove 33554432, shrink 16777216"
	has "$stderr" "$mnt/vm1: 16M stays in the pool: min_size= of $mnt keeps it"
	pool 16 8
	hf 0 free --quiet --shrink "$mnt/vm0"
	equal "$stderr" ""
	same
	hf 1 free 2M=2M
	same
}
