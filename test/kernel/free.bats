#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# free: files, pools, mounts. Never below what is used or reserved, and no surplus pages.

load helper

surplus() {
	cat "$POOL/surplus_hugepages"
}

@test "a file is removed; its pages go to the pool, which stays" {
	mount_huge
	give 64
	mark
	full_file "$mnt/db" 64
	hf 0 free --json "$mnt/db"
	field '.targets[0] | [.target, .node, .action, .requested, .freed, .pages] | join(" ")' \
		"$mnt/db 0 remove 67108864 67108864 32"
	field .changed true
	pool 32 32
	same
}

@test "--shrink also gives the pages back to the system, and no more" {
	mount_huge
	give 96
	full_file "$mnt/db" 64
	hf 0 free --json --shrink "$mnt/db"
	field '[.targets[] | "\(.action) \(.freed)"] | join(", ")' "remove 67108864, shrink 67108864"
	pool 16 16
	mark
}

@test "a missing PATH is a mistake, a missing SPEC is what was wanted" {
	mount_huge
	give 64
	full_file "$mnt/there" 2
	mark
	hf 1 free "$mnt/missing"
	has "$stderr" "hugefill free: $mnt/missing: cannot free it: No such file or directory"
	hf 1 free missing
	hf 1 free "$mnt/there" "$mnt/missing"
	same
	hf 0 free --json "$mnt/missing=64M"
	field '[.changed, .targets[0].action] | join(" ")' "false absent"
	hf 0 free --size 64M
	hf 0 free --shrink missing=64M
	same
	hf 1 free /dev/hugepages1x/a
	hf 1 free "$tmp/plain"
	same
}

@test "a name that is missing, but is there on a mount of another page size, is named" {
	mount_huge
	mount_huge "$tmp/gigantic" pagesize=1G
	"${IN[@]}" touch "$tmp/gigantic/db"
	mark
	hf 1 free db
	has "$stderr" "hint: there is $tmp/gigantic/db: --page-size=1G"
	hf 0 free --shrink db=1G
	has "$stderr" "hugefill free: $tmp/gigantic/db: is there, and stays: it is of --page-size=1G"
	same
	hf 0 free --page-size=1G db=1G
	hf 0 free --page-size=1G db=1G
	equal "$stderr" "" message
	mark
}

@test "a pool without an amount gives back all that is neither used nor reserved" {
	mount_huge
	give 128
	full_file "$mnt/db" 32
	hold reserve 16
	hf 0 free --json 2M
	field '.targets[0] | [.target, .action, .freed] | join(" ")' "2M shrink 83886080"
	pool 24 8
	equal "$(<"$POOL/resv_hugepages")" 8 reserved
	equal "$(surplus)" 0 surplus
	mark
	hf 0 free --json 2M
	field .changed false
}

@test "a pool with an amount gives back that much" {
	hf 0 alloc 2M=128M@0
	hf 0 free --json 2M=64M
	field '.targets[0].freed' 67108864
	pool 32 32
	hf 0 free 2M=16p@0
	pool 16 16
	hf 0 free --nodes 0 2M=8p
	pool 8 8
	hf 0 free --json 2M=0
	field .changed false
	hf 0 free default=16M
	pool 0
}

@test "more than can be had is refused, and nothing is done" {
	mount_huge
	give 64
	full_file "$mnt/db" 16
	hold reserve 16
	mark
	hf 1 free 2M=34M
	has "$stderr" "hugefill free: 2M: 34M were to be given back, but only 32M are neither used, reserved nor surplus" \
		"hint: hugefill free 2M gives back"
	same
	hf 1 free --json 2M=1G@0
	field '[.changed, .error.object, .error.errno] | join(" ")' "false 2M EBUSY"
	same
	hf 1 free "$mnt/db" 2M=64M
	same
	hf 2 free 2M=+2M
	hf 2 free 2M=3M
	same
}

@test "what a file brings back counts for the amount of the same call" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	hf 0 free "$mnt/db" 2M=64M
	pool 0
	mark
}

@test "surplus pages are nobody's to give back" {
	give 32
	echo 16 >"$POOL/nr_overcommit_hugepages"
	hold take 64
	equal "$(surplus)" 16 surplus
	mark
	hf 0 free --json 2M
	field .changed false
	same
	hf 1 free 2M=2M
	same
}

@test "the surplus of others does not grow" {
	give 64
	echo 16 >"$POOL/nr_overcommit_hugepages"
	hold take 80
	equal "$(surplus)" 8 surplus
	hf 0 free 2M
	equal "$(surplus)" 8 surplus
	pool 40 0
	mark
}

@test "--punch frees a range and keeps the file" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	hf 0 free --json --punch 4M:8M "$mnt/db"
	field '.targets[0] | [.action, .requested, .freed] | join(" ")' "punch 8388608 8388608"
	equal "$(stamps "$mnt/db")" "1 2 0 0 0 0 $(seq -s ' ' 7 32)" stamps
	pool 32 4
	# Again: nothing is left to free there.
	hf 0 free --json --punch 4M:8M "$mnt/db"
	field .changed false
	hf 0 free --punch 0:8M --shrink "$mnt/db"
	equal "$(pages "$mnt/db")" 26 pages
	pool 30 4
	mark
	hf 0 free --dry-run --punch 62M:2M "$mnt/db"
}

@test "--punch: ranges that are refused" {
	local range want

	mount_huge
	give 64
	full_file "$mnt/db" 64
	mark
	while read -r range want; do
		hf 2 free --punch "$range" "$mnt/db"
		has "$stderr" "hugefill free: --punch: $want"
		same
	done <<-EOF
		1M:2M offset and length must be multiples of the page size of $mnt/db, 2M
		0:1M offset and length must be multiples of the page size of $mnt/db, 2M
		0:0 a length of 0 frees nothing
		0:66M the range ends beyond the end of $mnt/db
		64M:2M the range ends beyond the end of $mnt/db
		8E:8E
		4M "4M" is no OFFSET:LENGTH
	EOF
	hf 2 free --punch 0:2M "$mnt/db" "$mnt/db"
	has "$stderr" "--punch: needs exactly one PATH"
	hf 2 free --punch 0:2M 2M
	hf 1 free --punch 0:2M "$mnt/missing"
}

@test "--umount takes the mount away when it is empty, with its directory" {
	hf 0 alloc vm0=2M vm1=2M
	hf 0 free --json --umount vm0
	field '.targets[] | select(.target == "/dev/hugepages").action' keep
	"${IN[@]}" test -e /dev/hugepages/vm1
	hf 0 free --json --umount --shrink vm1
	field '[.targets[].action] | join(" ")' "remove shrink umount"
	hf 0 free 2M
	same
}

@test "--umount of a mount that is no default place keeps the directory" {
	mount_huge "$mnt"
	hf 0 alloc "$mnt/vm0=2M"
	hf 0 free --umount --shrink "$mnt/vm0"
	"${IN[@]}" test -d "$mnt"
	equal "$("${IN[@]}" awk '$3 == "hugetlbfs"' /proc/self/mounts)" "" "mounts that are left"
}

@test "--from: the spec file of alloc serves free" {
	cat >"$tmp/specs" <<-'EOF'
		# a guest
		vm0=32M
		vm1=32M@0
		2M=80M
	EOF
	hf 0 alloc --from "$tmp/specs"
	pool 40 8
	hf 0 free --dry-run --from "$tmp/specs" --shrink
	pool 40 8
	hf 0 free --from "$tmp/specs" --shrink --umount
	pool 0
	same
	run -0 --separate-stderr "${IN[@]}" bash -c 'echo vm0=2M | "$@"' - "$HUGEFILL" alloc --from -
	run -0 --separate-stderr "${IN[@]}" bash -c 'echo vm0=2M | "$@"' - "$HUGEFILL" free --umount --shrink --from -
}

@test "the short form is the mirror of alloc's" {
	hf 0 alloc --size 64M --threads 2
	hf 0 free --size 64M --shrink --umount
	same
	hf 0 alloc --size 64M --file vm0
	hf 0 free --size 64M --file vm0 --shrink --umount
}

@test "a file that a process has mapped or open is not removed" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	hold map "$mnt/db"
	mark
	hf 1 free --shrink "$mnt/db"
	has "$stderr" "hugefill free: $mnt/db: 1 process holds it" "hint: process $pid (hold) has it mapped" "hint: --force"
	same
	hf 1 free --punch 0:2M "$mnt/db"
	same
	kill "$pid"
	wait "$pid" || true
	start sleep 1000
	kill "$pid"
	start bash -c 'exec 7<"$1"; echo ready; exec sleep 1000' - "$mnt/db"
	wait_until grep -qs ready "$out"
	hf 1 free --json "$mnt/db"
	has "$stderr" "hint: process $pid (sleep) has it open"
	field '[.changed, .error.errno] | join(" ")' "false EBUSY"
	same
	# All or nothing, for several.
	full_file "$mnt/other" 0 2>/dev/null || "${IN[@]}" truncate -s 2M "$mnt/other"
	mark
	hf 1 free "$mnt/other" "$mnt/db"
	same
}

@test "--force removes it under them; the pages come back when they end" {
	mount_huge
	give 64
	mark
	full_file "$mnt/db" 64
	hold map "$mnt/db"
	hf 0 free --json --force "$mnt/db"
	field '.targets[0] | [.action, .requested, .freed] | join(" ")' "remove 67108864 0"
	"${IN[@]}" test ! -e "$mnt/db"
	pool 32 0
	kill "$pid"
	wait "$pid" || true
	wait_until has_free 32
}

has_free() {
	[ "$(free_pages)" = "$1" ]
}

@test "--force --shrink gives back no page that they still hold" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	hold map "$mnt/db"
	run --separate-stderr "${IN[@]}" "$HUGEFILL" free --force --shrink "$mnt/db"
	pool 32 0
	equal "$(surplus)" 0 surplus
	kill "$pid"
	wait "$pid" || true
	wait_until has_free 32
	mark
}

@test "what is no file is not removed" {
	mount_huge
	"${IN[@]}" mkdir "$mnt/dir"
	"${IN[@]}" mkfifo "$mnt/fifo"
	touch "$tmp/plain"
	mark
	hf 1 free "$mnt/dir"
	has "$stderr" "$mnt/dir: is a directory"
	hf 1 free "$mnt/fifo"
	has "$stderr" "$mnt/fifo: is no regular file"
	hf 1 free "$tmp/plain"
	has "$stderr" "not on a hugetlbfs"
	[ -e "$tmp/plain" ]
}

@test "--dry-run says what would be done, and changes nothing" {
	mount_huge /dev/hugepages
	give 64
	full_file /dev/hugepages/db 32
	mark
	hf 0 free --dry-run --json --shrink --umount db 2M
	field .dry_run true
	field .changed false
	field '[.targets[] | "\(.action) \(.freed)"] | join(", ")' "remove null, shrink null, umount null"
	same
	full_file /dev/hugepages/other 2
	mark
	hf 0 free --dry-run --json --shrink --umount db 2M
	field '.targets[-1].action' keep
	same
	hf 1 free --dry-run 2M=64M
}

@test "free waits for the lock only where it changes a pool" {
	mount_huge
	give 64
	full_file "$mnt/db" 32
	exec 8>>/run/hugefill.lock
	flock 8
	hf 0 free "$mnt/db"
	start "$HUGEFILL" free 2M 8>&-
	wait_until grep -qs "hugefill free: waiting for another hugefill that changes pools" "$err"
	pool 32 32
	exec 8>&-
	ended 0
	pool 0
	mark
}

@test "a signal while free waits for the lock" {
	give 64
	mark
	exec 8>>/run/hugefill.lock
	flock 8
	start "$HUGEFILL" free 2M 8>&-
	wait_until grep -qs waiting "$err"
	kill -INT "$pid"
	ended 130
	exec 8>&-
	same
}

@test "the result cannot be written: exit 1" {
	give 4
	run -1 --separate-stderr "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" free 2M
	has "$stderr" "standard output: cannot write the result: No space left on device"
}

@test "gigantic pages are given back" {
	[ -d "$POOL_1G" ] || skip "this kernel has no 1 GiB pages"
	[ "$(gigantic 1)" = 1 ] || return 0
	hf 0 alloc 1G=1G
	equal "$(<"$POOL_1G/nr_hugepages")" 1 "the 1 GiB pool"
	hf 0 free --json 1G=1p
	field '.targets[0] | [.target, .freed] | join(" ")' "1G 1073741824"
}
