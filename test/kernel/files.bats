#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# alloc of file specs: new files, and files that are there.

load helper

@test "a file is there at its full size, every page filled" {
	mount_huge
	mark
	hf 0 alloc --json "$mnt/db=64M"
	field .changed true
	field '.targets[0] | [.target, .node, .requested, .filled, .action] | join(" ")' \
		"$mnt/db 0 67108864 67108864 create"
	equal "$("${IN[@]}" stat -c '%s %a %u:%g %F' "$mnt/db")" "67108864 600 0:0 regular file"
	equal "$(pages "$mnt/db")" 32 pages
	pool 32 0
	hf 0 free --shrink "$mnt/db"
}

@test "what is there in full is left alone" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	mark
	hf 0 alloc --json "$mnt/db=64M"
	field .changed false
	field '.targets[0] | [.action, .filled] | join(" ")' "keep 67108864"
	equal "$(stamps "$mnt/db")" "$(seq -s ' ' 32)" stamps
}

@test "the short form, and every way to name a file" {
	local spec

	hf 0 alloc --size 64M
	equal "$(pages /dev/hugepages/hugefill)" 32 pages
	hf 0 alloc --json --size 64M --file hugefill
	field .changed false
	hf 0 alloc --size 64M@0 --file vm0
	hf 0 alloc --size 16p --file vm1 --nodes 0
	pool 80 0
	for spec in /dev/hugepages/db=32M db=32M "/dev/hugepages/a b=32M" "/dev/hugepages/2M=32M" .db=32M /dev/../dev/hugepages/db=16p@0; do
		hf 0 alloc --json "$spec"
		field .changed true
		pool 96 0
		hf 0 free --shrink "$spec"
		pool 80 0
	done
	run -0 --separate-stderr "${IN[@]}" bash -c 'cd /dev/hugepages && "$@"' - "$HUGEFILL" alloc --json ./2M=32M
	equal "$(pages /dev/hugepages/2M)" 16 pages
	hf 0 free --shrink --umount hugefill vm0 vm1 /dev/hugepages/2M
}

@test "several files are one transaction" {
	mount_huge
	give 32
	full_file "$mnt/small" 32
	mark
	hf 1 alloc --json 2M=256M "$mnt/a=64M" "$mnt/small=64M" b=64M
	has "$stderr" "$mnt/small: exists with 32M, but 64M is wanted" "hint: --resize"
	field '.findings[0] | [.id, .wanted, .got] | join(" ")' "other-size 67108864 33554432"
	same
	hf 0 alloc --json "$mnt/a=64M" "$mnt/small=32M" "$mnt/b=32M@0"
	field '[.targets[].action] | join(" ")' "create keep create"
	pool 64 0
	hf 0 free --shrink "$mnt/a" "$mnt/b"
}

@test "only missing pages are added, by every method; what the others hold survives" {
	local method

	mount_huge
	give 64
	for method in auto populate touch fallocate; do
		full_file "$mnt/db" 64
		punch "$mnt/db" 0 1
		punch "$mnt/db" 5 9
		punch "$mnt/db" 20 1
		punch "$mnt/db" 31 1
		equal "$(pages "$mnt/db")" 20 "pages that are left"
		hf 0 alloc --dry-run --json "$mnt/db=64M"
		field '.plan[0] | [.action, .from, .to, .pages] | join(" ")' "fill 41943040 67108864 12"
		equal "$(pages "$mnt/db")" 20 "pages after --dry-run"
		hf 0 alloc --json --method "$method" "$mnt/db=64M"
		field .changed true
		[ "$method" = auto ] || field .method "$method"
		field '.targets[0] | [.action, .filled] | join(" ")' "fill 67108864"
		equal "$(pages "$mnt/db")" 32 pages
		equal "$(stamps "$mnt/db")" \
			"0 2 3 4 5 0 0 0 0 0 0 0 0 0 15 16 17 18 19 20 0 22 23 24 25 26 27 28 29 30 31 0" stamps
		pool 32 0
		"${IN[@]}" rm "$mnt/db"
	done
	mark
}

@test "the pool grows by just what a file with holes lacks" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	punch "$mnt/db" 8 8
	give 48
	mark
	hf 0 alloc "$mnt/db=64M"
	pool 32 0
	punch "$mnt/db" 8 8
	hf 0 free 2M
}

@test "a file of the right size without any page is filled" {
	mount_huge
	"${IN[@]}" truncate -s 64M "$mnt/db"
	mark
	hf 0 alloc --json "$mnt/db=64M"
	field '.targets[0] | [.action, .filled] | join(" ")' "fill 67108864"
	equal "$(pages "$mnt/db")" 32 pages
	punch "$mnt/db" 0 32
	hf 0 free 2M
}

@test "--resize grows a file and keeps what it holds" {
	mount_huge
	give 32
	full_file "$mnt/db" 32
	hf 1 alloc --no-grow --resize "$mnt/db=64M"
	hf 0 alloc --json --resize "$mnt/db=64M"
	field '.targets[0] | [.action, .requested, .filled] | join(" ")' "extend 67108864 67108864"
	equal "$(stamps "$mnt/db")" "$(seq -s ' ' 16)$(printf ' 0%.0s' {1..16})" stamps
	equal "$(pages "$mnt/db")" 32 pages
	pool 32 0
	mark
}

@test "--resize cuts a file, and its pages go back to the pool" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	hf 0 alloc --json --resize "$mnt/db=32M"
	equal "$(stamps "$mnt/db")" "$(seq -s ' ' 16)" stamps
	field '.targets[0] | [.action, .requested, .filled] | join(" ")' "cut 33554432 33554432"
	field .changed true
	pool 32 16
	mark
}

@test "--resize fills holes, too" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	punch "$mnt/db" 3 2
	hf 0 alloc --resize "$mnt/db=32M"
	equal "$(stamps "$mnt/db")" "1 2 3 0 0 6 7 8 9 10 11 12 13 14 15 16" stamps
	equal "$(pages "$mnt/db")" 16 pages
	mark
}

@test "what is no regular file on hugetlbfs is refused" {
	local path want

	mount_huge
	give 2
	"${IN[@]}" fallocate -l 2M "$mnt/there"
	"${IN[@]}" mkdir "$mnt/dir"
	"${IN[@]}" mkfifo "$mnt/fifo"
	"${IN[@]}" mknod "$mnt/device" c 1 5
	"${IN[@]}" touch "$mnt/bound"
	touch "$tmp/plain"
	"${IN[@]}" mount --bind "$tmp/plain" "$mnt/bound"
	# hugetlbfs itself can hold no symbolic link.
	ln -s "$mnt/there" "$tmp/link"
	mark
	while read -r path want; do
		hf 1 alloc "$path=2M"
		has "$stderr" "hugefill alloc: $path: $want"
		same
	done <<-EOF
		$mnt/bound lies on another filesystem than its directory
		$mnt/dir is a directory, not a file
		$mnt/fifo is no regular file
		$mnt/device is no regular file
		$tmp/plain its directory $tmp is not on a hugetlbfs
		$tmp/new its directory $tmp is not on a hugetlbfs
		$tmp/link its directory $tmp is not on a hugetlbfs
		$mnt/none/new its directory $mnt/none cannot be used: No such file or directory
	EOF
	hf 1 alloc "$tmp/new=2M"
	has "$stderr" "hint: hugetlbfs is mounted on $mnt with 2M pages"
	"${IN[@]}" umount "$mnt/bound"
	mark
}

@test "directories on hugetlbfs, and links to them, serve" {
	mount_huge
	"${IN[@]}" mkdir "$mnt/dir"
	ln -s "$mnt/dir" "$tmp/link"
	mark
	hf 0 alloc "$mnt/dir/a=2M" "$tmp/link/b=2M"
	equal "$(pages "$mnt/dir/b")" 1 pages
	hf 0 free --shrink "$mnt/dir/a" "$tmp/link/b"
}

@test "--mode and --owner, whatever the umask" {
	mount_huge
	umask 0077
	hf 0 alloc --mode 0664 --owner 1234:5678 "$mnt/a=2M"
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/a")" "664 1234:5678"
	hf 0 alloc --owner nobody "$mnt/b=2M"
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/b")" "600 $(id -u nobody):0"
	hf 0 alloc --owner nobody: --mode 0 "$mnt/c=2M"
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/c")" "0 $(id -u nobody):$(id -g nobody)"
	hf 0 alloc --owner :5678 --mode 777 "$mnt/d=2M"
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/d")" "777 0:5678"
	# Of a file that is there, too; what is not asked for is left alone.
	hf 0 alloc --json --owner 1:1 --mode 0640 "$mnt/a=2M"
	field '[.changed, .targets[0].filled] | join(" ")' "true 2097152"
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/a")" "640 1:1"
	hf 0 alloc --json --owner 1 --mode 0640 "$mnt/a=2M"
	field .changed false
	hf 0 alloc --mode 0600 "$mnt/a=2M"
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/a")" "600 1:1"
	hf 0 alloc --json "$mnt/d=2M"
	field .changed false
	equal "$("${IN[@]}" stat -c '%a %u:%g' "$mnt/d")" "777 0:5678"
	hf 0 free "$mnt/a" "$mnt/b" "$mnt/c" "$mnt/d" 2M
	mark
}

@test "all methods and layouts fill a new file" {
	local how

	mount_huge
	mark
	for how in --method={auto,populate,touch,fallocate} --layout={interleave,block}; do
		hf 0 alloc --json "$how" "$mnt/db=64M"
		equal "$(pages "$mnt/db")" 32 pages
		field '.targets[0].filled' 67108864
		case $how in
		--method=auto | --layout=*) [[ $(jq -r .method <<<"$output") == @(populate|touch) ]] ;;
		*) field .method "${how#*=}" ;;
		esac
		hf 0 free --shrink "$mnt/db"
	done
}

@test "threads: never more than pages, and never none" {
	mount_huge
	mark
	hf 0 alloc --json --threads 64 "$mnt/a=8M"
	jq -e '.targets[0].threads | . >= 1 and . <= 4' <<<"$output"
	equal "$(pages "$mnt/a")" 4 pages
	hf 0 alloc --json --threads 1 "$mnt/b=64M"
	field '.targets[0].threads' 1
	hf 0 alloc --json --threads 3 "$mnt/c=2M" "$mnt/d=62M"
	equal "$(pages "$mnt/c")" 1 pages
	equal "$(pages "$mnt/d")" 31 pages
	hf 0 free --shrink "$mnt/a" "$mnt/b" "$mnt/c" "$mnt/d"
}

@test "a file that others hold is filled up under them" {
	mount_huge
	give 64
	full_file "$mnt/db" 64
	punch "$mnt/db" 4 4
	hold map "$mnt/db"
	hf 0 alloc "$mnt/db=64M"
	equal "$(pages "$mnt/db")" 32 pages
	equal "$(stamps "$mnt/db")" "$(seq -s ' ' 4) 0 0 0 0 $(seq -s ' ' 9 32)" stamps
	mark
}

@test "a hundred files in one call" {
	local specs=() i

	mount_huge
	mark
	for ((i = 0; i < 100; i++)); do
		specs+=("$mnt/f$i=2M")
	done
	hf 0 alloc --json "${specs[@]}"
	field '[.targets[].filled] | add' $((100 << 21))
	pool 100 0
	hf 0 free --shrink "${specs[@]}"
	pool 0
}
