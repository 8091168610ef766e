#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets output and stderr
#
# Lines for the journal: JOURNAL_STREAM names the file that standard error goes to, as systemd does with
# the unit's socket.

load helper

# journal STATUS ARGUMENT...: sets lines, what came on standard error
journal() {
	local status=$1 to=$BATS_TEST_TMPDIR/journal

	shift
	: >"$to"
	# shellcheck disable=SC2016 # for the inner shell
	JOURNAL_STREAM=$(stat -c %d:%i "$to") run "-$status" bash -c 'to=$1; shift; exec "$@" 2>"$to"' - "$to" \
		"$HUGEFILL" "$@"
	mapfile -t lines <"$to"
}

# levels LEVEL...: of each line, which has a text as it has elsewhere
levels() {
	assert_equal "$(printf '%s\n' "${lines[@]}" | sed -nE 's/^<([0-7])>(hugefill( [a-z]+)?|hint|Try `hugefill.*): .*/\1/p; s/^<([0-7])>Try .*/\1/p' |
		paste -sd ' ')" "$*"
	assert_equal "${#lines[@]}" $#
}

@test "errors, with their hints" {
	journal 1 alloc --dry-run --sysroot=two-nodes 2M=400G
	levels 3 3
	assert_equal "${lines[0]}" "<3>hugefill alloc: memory: the pools would grow by 387.9G, but only 106G is \
available and 3.8G of it must stay so"
	assert_equal "${lines[1]}" "<3>hint: ask for at most 102.2G more, or allow less room with --headroom"
	journal 2 alloc --from=/nowhere
	levels 3
	journal 2 frob
	levels 3 3
	assert_equal "${lines[0]}" "<3>hugefill: frob: there is no such command"
}

@test "errors that argp, and getopt behind it, print" {
	journal 2 alloc --bogus
	levels 3 3
	assert_equal "${lines[0]}" "<3>hugefill alloc: unrecognized option '--bogus'"
	journal 2 alloc
	levels 3 3
	journal 2 --json --raw status
	levels 3 3
	journal 2
	levels 3 3
}

@test "warnings and notes" {
	journal 64 alloc --dry-run --best-effort --sysroot=two-nodes 2M=400G
	levels 4 4
	journal 0 check --persist --sysroot=two-nodes 2M=20G
	levels 4 4
}

@test "information" {
	journal 0 alloc --dry-run --sysroot=two-nodes 2M=1G
	levels 6
	assert_equal "${lines[0]}" "<6>hugefill alloc: nothing to do"
	journal 0 check --sysroot=memless 2M=1G
	assert_equal "${lines[-1]}" "<6>hugefill check: it would succeed"
}

@test "check: each hint has the level of its finding, the verdict that of the whole" {
	journal 1 check --sysroot=two-nodes 2M=400G
	levels 3 4 4 3
	assert_equal "${lines[3]}" "<3>hugefill check: it would not succeed"
}

@test "standard error that is not the journal's is plain" {
	local file=$BATS_TEST_TMPDIR/file named device inode

	: >"$file"
	device=$(stat -c %d "$file")
	inode=$(stat -c %i "$file")
	for named in "" "$device" "$device:" ":$inode" "$device:$((inode + 1))" "$((device + 1)):$inode" \
		"$device:${inode}x" "$device:$inode " "$inode:$device" "x"; do
		JOURNAL_STREAM=$named run -2 bash -c '"$1" frob 2>"$2"' - "$HUGEFILL" "$file"
		assert_equal "$(head -n 1 "$file")" "hugefill: frob: there is no such command"
	done
	JOURNAL_STREAM=$device:$inode run -2 bash -c '"$1" frob 2>"$2"' - "$HUGEFILL" "$file"
	assert_equal "$(head -n 1 "$file")" "<3>hugefill: frob: there is no such command"
}

@test "a long line has one level, in front; standard output has none" {
	# Longer than any buffer: getopt prints it as it is.
	journal 2 alloc "--$(printf 'x%.0s' {1..20000})"
	levels 3 3
	[[ ${lines[0]} == "<3>hugefill alloc: unrecognized option '--x"*"x'" && ${#lines[0]} -gt 20000 ]]
	[[ ${lines[0]} != *x\<* ]]
	journal 0 alloc --dry-run --sysroot=two-nodes 2M=20G
	[[ $output == ACTION* ]] && [[ $output != *\<[0-9]\>* ]]
}
