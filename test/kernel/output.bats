#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What programs read: keys and columns of real runs. A change here is a decision, to be told in NEWS.

load helper

# keys FILTER: in the document's order
keys() {
	jq -r "$1 | keys_unsorted | join(\" \")" <<<"$output"
}

@test "alloc --json: the keys" {
	hf 0 alloc --json 2M=128M vm0=64M
	equal "$(keys .)" "hugefill command changed partly targets findings growth method phases"
	equal "$(keys '.targets[1]')" \
		"target node pagesize requested filled threads time rate speedup stdev pages action"
	equal "$(keys .phases)" "lock grow mount reserve fill verify publish"
	field .command alloc
	field '[.targets[1] | .target, .node, .pagesize, .requested, .filled, .pages | type] | join(" ")' \
		"string number number number number number"
	hf 0 free --shrink --umount vm0
	hf 0 free 2M
}

@test "alloc --dry-run --json: the keys" {
	hf 1 alloc --dry-run --json --headroom 100% vm0=64M
	equal "$(keys .)" "hugefill command changed dry_run would_change plan findings"
	equal "$(keys '.plan[0]')" "action target node pagesize from to pages threads"
	equal "$(keys '.findings[0]')" "id fatal object node wanted got text hint"
}

@test "a failed alloc --json: the keys" {
	hf 1 alloc --json --headroom 100% vm0=64M
	equal "$(keys .)" "hugefill command changed error findings not_undone phases"
	field .error null
	hf 1 alloc --json "$tmp/vm0=64M"
	equal "$(keys .error)" "object message errno hint"
	field '[.error.object, .error.errno, .not_undone] | join(" ")' "$tmp/vm0 EINVAL 0"
	# A usage error touches nothing and prints no document.
	hf 2 alloc --json vm0=3
	equal "$output" "" "standard output"
}

@test "free --json: the keys" {
	hf 0 alloc vm0=64M
	hf 0 free --json --shrink --umount vm0
	equal "$(keys .)" "hugefill command changed targets"
	equal "$(keys '.targets[0]')" "target node pagesize action requested freed time pages"
	hf 1 free --json "$tmp/vm0"
	equal "$(keys .)" "hugefill command changed error targets"
	hf 0 free --dry-run --json 2M
	equal "$(keys .)" "hugefill command changed dry_run targets"
}

@test "--raw: a line a target and node, as many words in each" {
	hf 0 alloc --raw 2M=128M@0 vm0=64M@0
	equal "${lines[0]}" "TARGET NODE PAGESIZE REQUESTED FILLED THREADS TIME RATE SPEEDUP STDEV"
	equal "$(awk '{ print NF }' <<<"$output" | sort -u)" 10 "words in a line"
	matches "${lines[1]}" '^2M 0 2M 128M 128M - '
	matches "${lines[2]}" '^/dev/hugepages/vm0 0 2M 64M 64M [1-9] [0-9.]+ '
	hf 0 alloc --raw --bytes --noheadings -o TARGET,FILLED,PAGES,ACTION vm0=64M@0
	equal "$output" "/dev/hugepages/vm0 67108864 32 keep"
	hf 0 free --raw --noheadings --umount --shrink -o ACTION,FREED vm0
	equal "$output" $'remove 64M\nshrink 64M\numount -'
	hf 0 free 2M
}

@test "the table for people, and --quiet" {
	hf 0 alloc 2M=64M@0
	matches "${lines[0]}" '^TARGET +NODE +PAGESIZE +REQUESTED +FILLED +THREADS +TIME +RATE +SPEEDUP +STDEV'
	matches "${lines[1]}" '^2M +0 +2M +64M +64M'
	equal "$stderr" "" "standard error"
	hf 0 alloc --quiet 2M=64M
	equal "$output$stderr" "" output
	hf 0 alloc --verbose 2M=66M@0
	has "$stderr" "hugefill alloc: grow"
	hf 0 free --quiet 2M
	equal "$output$stderr" "" output
}

@test "progress goes to standard error, on request also where it is no terminal" {
	mount_huge
	mark
	hf 0 alloc --progress never "$mnt/a=512M"
	equal "$stderr" "" "standard error"
	hf 0 free "$mnt/a" 2M
	hf 0 alloc --json --progress always "$mnt/a=512M"
	has "$stderr" fill %
	field .changed true
	hf 0 free "$mnt/a" 2M
}

@test "progress and phases in the journal are information, a shortage is an error" {
	local journal=$tmp/journal

	# in_journal STATUS ARGUMENT...: standard error is what JOURNAL_STREAM names
	in_journal() {
		local status=$1

		shift
		: >"$journal"
		# shellcheck disable=SC2016 # for the inner shell
		JOURNAL_STREAM=$(stat -c %d:%i "$journal") run "-$status" "${IN[@]}" bash -c \
			'to=$1; shift; exec "$@" 2>"$to"' - "$journal" "$HUGEFILL" "$@"
	}
	in_journal 0 alloc --verbose --progress=always vm0=64M
	grep -q '^<6>hugefill alloc: fill  64M of 64M  100%' "$journal"
	grep -q '^<6>hugefill alloc: publish$' "$journal"
	run -1 grep -v '^<6>hugefill alloc: ' "$journal"
	in_journal 0 alloc vm0=64M
	equal "$(<"$journal")" "<6>hugefill alloc: nothing to do: all is as asked for" journal
	in_journal 1 alloc --no-grow vm1=128M
	grep -q '^<3>hugefill alloc: 2M: ' "$journal"
	run -1 grep -v '^<3>' "$journal"
	hf 0 free --shrink --umount vm0
}
