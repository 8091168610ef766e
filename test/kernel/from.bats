#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A file of specs over its life: options on lines, a second call, a changed file, what has left it.

load helper

setup() {
	kernel_setup
	specs=$tmp/hugefill.conf
	record=/run/hugefill/$(sed 's,^/,,; s,-,\\x2d,g; s,/,-,g' <<<"$(realpath "$tmp")/hugefill.conf")
}

@test "options on lines: mount, mode, owner" {
	printf '%s\n' "vm0=16M mount=$tmp/big,mode=0640,owner=nobody" '/dev/hugepages/vm\0401=8M mode=0600' >"$specs"
	hf 0 alloc --json --from "$specs"
	field .changed true
	field '.left | length' 0
	equal "$("${IN[@]}" stat -c '%s %a %U' "$tmp/big/vm0")" "16777216 640 nobody" vm0
	equal "$("${IN[@]}" stat -c '%s %a %U' "/dev/hugepages/vm 1")" "8388608 600 root" "vm 1"
	equal "$("${IN[@]}" stat -c '%a %U' "$tmp/big")" "750 nobody" "the mount"
	hf 0 alloc --json --from "$specs"
	field .changed false
	sed -i 's/0640/0660/' "$specs"
	hf 0 alloc --json --from "$specs"
	field .changed true
	equal "$("${IN[@]}" stat -c %a "$tmp/big/vm0")" 660 "the mode"
	hf 0 free --shrink --umount --from "$specs"
	"${IN[@]}" rmdir "$tmp/big"
	[ ! -e "$record.applied" ]
	same
}

@test "a changed file is applied as a difference; what left it is named and freed by --from" {
	printf '%s\n' vm0=16M vm1=16M >"$specs"
	hf 0 alloc --from "$specs"
	equal "$(stat -c '%a %U' "$record.applied" /run/hugefill | paste -sd ' ')" "600 root 755 root" "the record"
	printf '%s\n' vm1=16M vm2=8M >"$specs"
	hf 0 alloc --json --dry-run --from "$specs"
	has "$stderr" "hugefill alloc: /dev/hugepages/vm0: is no longer in $specs, and stays"
	field '.left[0].target' /dev/hugepages/vm0
	[ ! -e "$record.left" ]
	hf 0 alloc --json --from "$specs"
	has "$stderr" "hugefill alloc: /dev/hugepages/vm0: is no longer in $specs, and stays" \
		"hint: to free what the file does not want any more: hugefill free --from='$record.left'"
	field '.left | map(.target) | join(" ")' /dev/hugepages/vm0
	field '.left[0].free' "$record.left"
	equal "$("${IN[@]}" ls /dev/hugepages | paste -sd ' ')" "vm0 vm1 vm2" files
	# It is named until it is gone, also when the next call changes nothing.
	hf 0 alloc --json --from "$specs"
	field .changed false
	field '.left | length' 1
	hf 0 free --shrink --from="$record.left"
	[ ! -e "$record.left" ]
	equal "$("${IN[@]}" ls /dev/hugepages | paste -sd ' ')" "vm1 vm2" files
	pool 12 0
	hf 0 alloc --json --from "$specs"
	field '.left | length' 0
	hf 0 free --shrink --umount --from "$specs"
	[ ! -e "$record.applied" ]
}

@test "what left the file and comes back, or was freed otherwise, is not named" {
	printf '%s\n' 2M=32M vm0=16M vm1=8M >"$specs"
	hf 0 alloc --from "$specs"
	echo vm1=8M >"$specs"
	hf 0 alloc --json --from "$specs"
	field '.left | map(.target) | sort | join(" ")' "/dev/hugepages/vm0 2M"
	printf '%s\n' 2M=32M vm1=8M >"$specs"
	hf 0 free vm0
	hf 0 alloc --json --from "$specs"
	field '.left | length' 0
	[ ! -e "$record.left" ]
	hf 0 free --umount --from "$specs"
}

@test "a record that cannot be written is a note, standard input has none" {
	local records

	echo vm0=8M >"$specs"
	"${IN[@]}" mount -t tmpfs -o ro run /run
	hf 1 alloc --from "$specs"
	"${IN[@]}" umount /run
	give 8
	mark
	"${IN[@]}" mount -t tmpfs -o ro run /run
	hf 0 alloc --from "$specs"
	has "$stderr" "hugefill alloc: $record.applied: cannot write: Read-only file system"
	"${IN[@]}" umount /run
	hf 0 free --umount --from "$specs"
	records=$(ls -A /run/hugefill 2>/dev/null || true)
	hf 0 alloc --from - <"$specs"
	equal "$(ls -A /run/hugefill 2>/dev/null || true)" "$records" records
	hf 0 free --umount vm0
}

@test "of a pool that left the file, what files still use stays" {
	printf '%s\n' 2M=64M vm0=32M >"$specs"
	hf 0 alloc --from "$specs"
	echo vm0=32M >"$specs"
	hf 0 alloc --json --from "$specs"
	field '.left | map(.target) | join(" ")' 2M
	hf 0 free --from="$record.left"
	pool 16 0
	# All is in use: there is nothing to name, until it is free.
	printf '%s\n' 2M=32M vm0=32M >"$specs"
	hf 0 alloc --from "$specs"
	echo vm0=32M >"$specs"
	hf 0 alloc --json --from "$specs"
	field '.left | length' 0
	[[ $stderr != *hint:* ]]
	echo vm1=8M >"$specs"
	hf 0 alloc --json --from "$specs"
	field '.left | map(.target) | sort | join(" ")' "/dev/hugepages/vm0 2M"
	hf 0 free --from="$record.left"
	pool 4 0
	hf 0 free --shrink --umount --from "$specs"
}

@test "a pool's amounts for nodes, too, are given back as far as they can be had; others still fail" {
	printf '%s\n' 2M=64M@0 vm0=32M@0 >"$specs"
	hf 0 alloc --from "$specs"
	echo vm0=32M@0 >"$specs"
	hf 0 alloc --from "$specs"
	hf 1 free 2M=64M@0
	hf 1 free --from="$record.left" 2M=2M@0
	hf 0 free --from="$record.left"
	pool 16 0
	hf 0 free --shrink --umount --from "$specs"
}

@test "bad lines of a record are passed over, those after them are not" {
	printf '%s\n' vm0=8M vm1=8M >"$specs"
	hf 0 alloc --from "$specs"
	sed -i '1i 3M=3M' "$record.applied"
	echo vm1=8M >"$specs"
	hf 0 alloc --json --from "$specs"
	field '.left | map(.target) | join(" ")' /dev/hugepages/vm0
	hf 0 free --shrink --from="$record.left"
	hf 0 free --shrink --umount --from "$specs"
}

@test "standard input is not recorded where a file is called -" {
	local named records

	echo vm0=8M >"$specs"
	IN+=(env -C "$tmp")
	echo vm0=8M >"$tmp/-"
	named=/run/hugefill/$(sed 's,^/,,; s,-,\\x2d,g; s,/,-,g' <<<"$(realpath "$tmp")/-")
	records=$(ls -A /run/hugefill 2>/dev/null || true)
	hf 0 alloc --from - <"$specs"
	equal "$(ls -A /run/hugefill 2>/dev/null || true)" "$records" records
	hf 0 alloc --from ./-
	[ -e "$named.applied" ]
	hf 0 free --from - <"$specs"
	[ -e "$named.applied" ]
	hf 0 free --shrink --umount --from ./-
	[ ! -e "$named.applied" ]
	pool 4 4
	hf 0 free 2M
}

@test "in the journal the hint has the level of its warning" {
	local journal=$tmp/journal

	printf '%s\n' vm0=8M vm1=8M >"$specs"
	hf 0 alloc --from "$specs"
	echo vm1=8M >"$specs"
	: >"$journal"
	# shellcheck disable=SC2016 # for the inner shell
	JOURNAL_STREAM=$(stat -c %d:%i "$journal") "${IN[@]}" bash -c '"$1" alloc --from="$2" >/dev/null 2>"$3"' - \
		"$HUGEFILL" "$specs" "$journal"
	equal "$(cut -c 1-9 "$journal" | head -n 2)" "<4>hugefi
<4>hint: " levels
	hf 0 free --shrink --from="$record.left"
	hf 0 free --shrink --umount --from "$specs"
}
