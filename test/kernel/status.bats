#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# status on real pages: what holds them, told apart, each page on its node.

load helper

KEY=0x48460001

setup_file() {
	cc -O2 -Wall -Wextra -D_GNU_SOURCE -o "$BATS_FILE_TMPDIR/kinds" "$BATS_TEST_DIRNAME/kinds.c"
}

# All on node 0, also where there are others
give() {
	local file=/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages

	echo $(($1 / 2)) >$file
	equal "$(<$file)" $(($1 / 2)) "pages given to the pool"
}

# kinds VERB PAGES [NAME]: in the background, with node 0's pages while it has some, until the end of the
# test; sets pid
kinds() {
	start numactl --preferred=0 "$BATS_FILE_TMPDIR/kinds" "$@"
	wait_until grep -q ready "$out"
}

# look STATUS ARGUMENT...: hf status; it must change nothing
look() {
	local status=$1

	shift
	mark
	hf "$status" status "$@"
}

# As another user
look_as_nobody() {
	mark
	run -0 --separate-stderr "${IN[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups "$HUGEFILL" \
		status "$@"
}

# A segment outlives its processes.
remove_segment() {
	ipcrm -M $KEY 2>"$tmp/ipcrm" || true
}

# row PID: kind, object, shared, private, filled, nodes, held
row() {
	jq -r --argjson pid "$1" '.processes[] | select(.pid == $pid) |
		[.kind, .object, .shared, .private, .filled, .nodes, .held] | map(. // "-" | tostring) | join("|")' \
		<<<"$output"
}

# held PID ROW: what --processes tells of it
held() {
	look 0 --processes --json
	equal "$(row "$1")" "$2" "process $1"
}

@test "a mapped file" {
	give 20
	mount_huge
	kinds file 3 "$mnt/guest"
	held "$pid" "file|$mnt/guest|0|3|3|0=3|mapped"
	look 0 --processes --raw --noheadings --pid="$pid"
	equal "$output" "$pid kinds root 2M file $mnt/guest 0 3 3 0=3"
	equal "$stderr" "" stderr
}

@test "an unlinked file, mapped, and only open" {
	local mapped

	give 20
	mount_huge
	kinds unlinked 2 "$mnt/gone away"
	mapped=$pid
	kinds unlinked-open 4 "$mnt/hidden"
	held "$mapped" "unlinked|$mnt/gone away|0|2|2|0=2|mapped"
	equal "$(row "$pid")" "unlinked|$mnt/hidden|0|0|4|-|open"
	equal "$(jq -r '.notes | length' <<<"$output")" 0 "number of notes"
}

@test "a memfd, mapped, and only open" {
	local mapped

	give 20
	kinds memfd 5 "guest ram"
	mapped=$pid
	kinds memfd-open 2 buffer
	held "$mapped" "memfd|guest ram|0|5|5|0=5|mapped"
	equal "$(row "$pid")" "memfd|buffer|0|0|2|-|open"
}

@test "a SysV segment, attached" {
	local shmid

	give 20
	kinds sysv 3
	shmid=$(awk '$1 == "shmid" { print $2 }' "$out")
	held "$pid" "sysv|shmid=$shmid,key=$KEY|0|3|3|0=3|mapped"
	remove_segment
	mark
}

@test "a SysV segment that nobody has attached is named where the pool is used up" {
	local shmid

	give 8
	"${IN[@]}" "$BATS_FILE_TMPDIR/kinds" detached 4 >"$out"
	shmid=$(awk '$1 == "shmid" { print $2 }' "$out")
	look 0
	remove_segment
	mark
	has "$stderr" "hugefill status: 2M: 4 of 4 used pages are held by no file and no process that can be seen" \
		"shmid $shmid (8M)" "ipcrm -m"
}

@test "anonymous mappings: private, shared, and of a fork" {
	local private shared

	give 40
	kinds anonymous 4
	private=$pid
	kinds shared 1
	shared=$pid
	kinds forked 3
	held "$private" "anonymous|-|0|4|-|0=4|mapped"
	equal "$(row "$shared")" "anonymous|-|0|1|-|0=1|mapped"
	equal "$(row "$pid")" "anonymous|-|2|1|-|0=3|mapped"
	equal "$(jq -r '[.processes[] | select(.shared == 2)] | length' <<<"$output")" 2 "parent and child"
	# All 9 used pages are explained, those of the fork once.
	equal "$(jq -r '.notes | length' <<<"$output")" 0 "number of notes"
}

@test "private copies of a file count besides its pages" {
	give 20
	mount_huge
	kinds copies 2 "$mnt/copied"
	held "$pid" "file|$mnt/copied|0|2|2|0=2|mapped"
	equal "$(used_pages)" 4 "used pages"
	equal "$(jq -r '.notes | length' <<<"$output")" 0 "number of notes"
}

@test "files: size, pages, nodes, links, holders; nothing is allocated" {
	local free

	give 40
	mount_huge
	"${IN[@]}" mkdir "$mnt/sub"
	kinds file 3 "$mnt/sub/guest"
	"${IN[@]}" truncate -s 16M "$mnt/sparse"
	"${IN[@]}" fallocate -o 4M -l 2M "$mnt/sparse"
	"${IN[@]}" fallocate -o 8M -l 4M -n "$mnt/sparse"
	"${IN[@]}" ln "$mnt/sparse" "$mnt/sub/other name"
	"${IN[@]}" mkfifo "$mnt/fifo"
	free=$(free_pages)
	look 0 --files --raw
	equal "$output" "PATH PAGESIZE SIZE FILLED NODES LINKS HOLDERS
$mnt/sparse 2M 16M 3 0=3 2 -
$mnt/sub/guest 2M 6M 3 0=3 1 $pid"
	equal "$(free_pages)" "$free" "free pages"
	equal "$(<"$POOL/resv_hugepages")" 0 "reserved pages"
}

@test "files that are mapped and not touched, or open, have holders too; --pid chooses" {
	local toucher

	give 40
	mount_huge
	kinds untouched 2 "$mnt/a"
	toucher=$pid
	full_file "$mnt/b" 4
	start bash -c 'exec 5<"$0"; echo ready; exec sleep 100' "$mnt/b"
	wait_until grep -q ready "$out"
	look 0 --files --json
	field '.files[] | select(.path | endswith("/a")) | .holders' "$toucher"
	field '.files[] | select(.path | endswith("/b")) | .holders' "$pid"
	look 0 --files --json --pid="$toucher"
	field '[.files[].path] | join(" ")' "$mnt/a"
	field '.files[0].nodes' null
}

@test "one filesystem at two places is listed once, another page size not at all" {
	give 20
	mount_huge
	"${IN[@]}" mkdir "$tmp/again"
	"${IN[@]}" mount --bind "$mnt" "$tmp/again"
	full_file "$mnt/vm0" 4
	look 0 --files --json
	field '.files | length' 1
	look 0 --files --page-size=1G --json
	field '.files | length' 0
}

@test "mounts: what is used of a limit" {
	give 20
	mount_huge "$mnt" pagesize=2M,size=12M,nr_inodes=7,mode=1770
	kinds file 2 "$mnt/vm0"
	look 0 --mounts --json
	field '.mounts[0] | [.target, .pagesize, .size, .used, .inodes, .inodes_used, .mode, .owner] | map(tostring) | join(" ")' \
		"$mnt 2097152 12582912 4194304 7 2 1770 root:root"
	mount_huge "$tmp/free" pagesize=2M
	look 0 --mounts --json
	field '.mounts[1] | [.used, .size, .inodes_used] | map(tostring) | join(" ")' "null null null"
}

@test "a used-up pool: what the numbers show" {
	give 12
	mount_huge
	kinds reserved 2
	kinds unlinked-open 4 "$mnt/hidden"
	look 0
	equal "$stderr" "hugefill status: 2M: no page is available: all 2 free pages are reserved, for mappings that have not touched them yet
hugefill status: 2M: 4 pages are in unlinked files, which processes still hold: \`hugefill status --processes' names them"
	look 0 --quiet
	equal "$stderr$output" ""
}

@test "another user sees that not all can be seen" {
	give 8
	mount_huge
	chmod go+rx "$tmp" "$BATS_FILE_TMPDIR"
	kinds memfd 4
	look_as_nobody
	has "$stderr" "2M: 4 of 4 used pages are held by no file and no process that can be seen" "root sees more"
	look_as_nobody --processes --pid="$pid"
	equal "$output" ""
	has "$stderr" "1 could not be looked into and is missing here: root sees all"
}

@test "files are seen by another user, their nodes where they may be opened" {
	give 8
	mount_huge "$mnt" pagesize=2M,mode=0777
	chmod go+rx "$tmp"
	full_file "$mnt/vm0" 4
	look_as_nobody --files --raw --noheadings
	equal "$output" "$mnt/vm0 2M 4M 2 - 1 -"
}

@test "processes that end meanwhile are no error" {
	local short

	give 40
	# shellcheck disable=SC2016 # for the inner shell
	start bash -c 'while :; do "$0" short 3; done' "$BATS_FILE_TMPDIR/kinds"
	short=$pid
	wait_until used_at_least 1
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		hf 0 status --processes --files
	done
	kill -9 "$short"
	wait "$short" || true
	mark
}

@test "--watch ends on SIGINT, and has printed a table each time" {
	local first

	give 4
	mark
	start "$HUGEFILL" status --watch=100ms --page-size=2M --noheadings --raw
	wait_until eval '[ "$(grep -c ^$ "$out")" -ge 2 ]'
	kill -INT "$pid"
	ended 0
	first=$(sed '/^$/q' "$out")
	has "$first" "2M 0 2 2 - 0 - 0 -" "2M all 2 2 0 0 0 0 2"
	equal "$(sed '1,/^$/d' "$out" | sed '/^$/q')" "$first" "the second table"
	equal "$(<"$err")" "" stderr
}

@test "--watch redraws a terminal" {
	give 4
	mark
	# The terminal is not in the namespace's small /dev.
	run -0 script -qec "timeout --foreground --preserve-status -s INT 1 $HUGEFILL status --watch=0.2" \
		"$tmp/screen" </dev/null
	has "$(<"$tmp/screen")" $'\e[2J' $'\e[H' $'SIZE NODE' $'\e[K' $'\e[J'
}

@test "--watch ends when nobody reads" {
	give 4
	mark
	run -141 bash -c 'set -o pipefail; timeout 20 "$0" status --watch=0.1 | head -n 1' "$HUGEFILL"
}
