#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# What is wrong with a spec, and what stands against a plan: the whole message.

load helper

UNITS='there are K M G T P and KiB MiB GiB TiB PiB (powers of 1024), KB MB GB TB PB (powers of 1000), B (bytes), p (pages) and %'
PLACED='of several amounts each needs its nodes: write AMOUNT@NODES,AMOUNT@NODES'

# specs SPEC MESSAGE...: pairs; each is refused, on two-nodes
specs() {
	while [ $# -gt 0 ]; do
		refuses alloc "hugefill alloc: $2" -n --sysroot=two-nodes -- "$1"
		shift 2
	done
}

# fails MESSAGE ARGUMENT...: exit 1 and this message
fails() {
	local message=$1

	shift
	hf 1 alloc --dry-run "$@"
	assert_equal "$stderr" "$message"
}

@test "no spec at all" {
	specs '' 'a spec is missing: write TARGET=AMOUNT, as in 2M=4G or vm0=4G' \
		-2 '-2: no amount: write -2=AMOUNT, as in 2M=4G or vm0=4G' \
		10x '10x: no amount: write 10x=AMOUNT, as in 2M=4G or vm0=4G' \
		2M '2M: no amount: write 2M=AMOUNT, as in 2M=4G or vm0=4G' \
		512 '512: no amount: write 512=AMOUNT, as in 2M=4G or vm0=4G' \
		17179870208G '17179870208G: no amount: write 17179870208G=AMOUNT, as in 2M=4G or vm0=4G' \
		2M:3M '2M:3M: no = between target and amount: write 2M=3M' \
		2M= '2M=: nothing after the =: write 2M=AMOUNT' \
		=1G '=1G: nothing before the =: write TARGET=1G'
}

@test "amounts without a unit, or with another" {
	specs 2M=512 '512: no unit: write 512p for pages or 512M for MiB' \
		2M=+512 '+512: no unit: write +512p for pages or +512M for MiB' \
		2M=1.5 '1.5: no unit: write 1.5M for MiB or 1.5G for GiB' \
		2M=10x "10x: unknown unit \"x\": $UNITS" \
		2M=1Gi "1Gi: unknown unit \"Gi\": $UNITS" \
		2M=1e3M "1e3M: unknown unit \"e3M\": $UNITS" \
		2M=0x10M "0x10M: unknown unit \"x10M\": $UNITS" \
		2M=1pb "1pb: unknown unit \"pb\": $UNITS
hint: write P as a capital letter: p means pages" \
		2M=1b "1b: unknown unit \"b\": $UNITS
hint: write B as a capital letter for bytes"
}

@test "amounts that are no numbers" {
	specs 2M=-2 '-2: an amount cannot be negative' \
		2M=-1G '-1G: an amount cannot be negative' \
		2M=x 'x: does not begin with a digit: write a number and a unit, as in 512M or 0.5G' \
		2M=.5G '.5G: does not begin with a digit: write a number and a unit, as in 512M or 0.5G' \
		2M=5.G '5.G: no digit after the decimal point' \
		2M=++1G '++1G: one + is enough' \
		'2M= 1G' ' 1G: a blank before the number: leave it out' \
		'2M=1 G' '1 G: a blank in or after the amount: leave it out' \
		'2M=1G ' '1G : a blank in or after the amount: leave it out' \
		2M=0.5p '0.5p: pages come whole: write it without a fraction, or in bytes'
}

@test "amounts too large: nothing wraps" {
	local bytes='too large: at most 9223372036854775807B, which is less than 8192P'

	specs 2M=17179870208G "17179870208G: $bytes" \
		2M=8192P "8192P: $bytes" \
		2M=9223372036854775808B "9223372036854775808B: $bytes" \
		2M=99999999999999999999999999P "99999999999999999999999999P: $bytes" \
		vm0=18446744073711648768B "18446744073711648768B: $bytes" \
		2M=4398046511104p '2M=4398046511104p: 4398046511104p is too large: at most 4398046511103p of 2M each' \
		2M=101% '101%: more than 100% of the memory' \
		2M=100.000001% '100.000001%: more than 100% of the memory' \
		2M=1.0000001% '1.0000001%: a percentage has at most six decimals'
}

@test "amounts that are no multiple of the page size: the two nearest" {
	specs 2M=3M '2M=3M: 3M is no multiple of the page size 2M: the nearest are 2M (1p) and 4M (2p)' \
		2M=1.3G '2M=1.3G: 1.3G is no multiple of the page size 2M: the nearest are 1330M (665p) and 1332M (666p)' \
		1G=1.5G '1G=1.5G: 1.5G is no multiple of the page size 1G: the nearest are 1G (1p) and 2G (2p)' \
		2M=1GB '2M=1GB: 1GB is no multiple of the page size 2M: the nearest are 952M (476p) and 954M (477p)' \
		2M=+3M@0 '2M=+3M@0: +3M is no multiple of the page size 2M: the nearest are +2M (+1p) and +4M (+2p)' \
		vm0=1B 'vm0=1B: 1B is no multiple of the page size 2M: the nearest is 2M (1p)' \
		vm0=2097151B 'vm0=2097151B: 2097151B is no multiple of the page size 2M: the nearest is 2M (1p)'
}

@test "targets" {
	local none='the kernel has no huge pages of this size, it has 2M, 1G' name

	name=$(printf 'n%.0s' {1..256})
	specs 3M=3M "3M: $none
hint: for a file of this name write ./3M" \
		4G=1G "4G: $none
hint: for a file of this name write ./4G" \
		'2M =1G' '2M : a blank beside the page size: write 2M' \
		+2M=1G '+2M: the + belongs to the amount: write 2M=+AMOUNT' \
		vm0/=1G 'vm0/: ends in a slash, as a directory does: add the name of the file' \
		/=1G '/: ends in a slash, as a directory does: add the name of the file' \
		..=1G '..: is a directory: write the name of a file' \
		/dev/hugepages/.=1G '/dev/hugepages/.: is a directory: write the name of a file' \
		'2M=1G vm0=4G' '2M=1G vm0: reads as a spec of its own: each spec is one argument, or one line of a file, and has one amount
hint: for a file of this name write ./2M=1G vm0' \
		2M=1G=2G '2M=1G: reads as a spec of its own: each spec is one argument, or one line of a file, and has one amount
hint: for a file of this name write ./2M=1G' \
		"$name=1G" "$name: a name in a path has at most 255 bytes, this one has 256: shorten it"
}

@test "files: no increase, not empty" {
	specs vm0=+1G '+1G: a file has a size, not an increase: leave out the + (it is for pools)' \
		vm0=0 '0: a file of no pages cannot be filled: write an amount above 0' \
		vm0=0p@1 '0p@1: a file of no pages cannot be filled: write an amount above 0'
	refuses alloc 'hugefill alloc: vm0=0.00001%: a file needs one page at least' -n --sysroot=one-node vm0=0.00001%
}

@test "nodes" {
	specs 2M=@0 '@0: no amount before the @: write AMOUNT@0' \
		2M=1G@ '1G@: no nodes after the @: write 1G@0 or 1G@all' \
		2M=1G@5 '5: node 5 does not exist: the nodes with memory are 0-1' \
		vm0=1G@0+7 '0+7: node 7 does not exist: the nodes with memory are 0-1' \
		2M=1G@1+ '1+: a number is missing: write a list as in 0, 0-3 or 0-3+6' \
		2M=1G@+1 '+1: a number is missing: write a list as in 0, 0-3 or 0-3+6' \
		2M=1p@1-0 '1-0: the range runs backwards: write 0-1' \
		2M=1p@0+0 '0: node 0 is named twice: name it once' \
		2M=1p@x 'x: is neither a number nor a range: write a list as in 0, 0-3 or 0-3+6' \
		2M=1p@-1 '-1: is neither a number nor a range: write a list as in 0, 0-3 or 0-3+6' \
		2M=1G@0,1G@0 '2M=1G@0,1G@0: node 0 is named twice: give it one amount' \
		2M=1G@0-1,1G@1 '2M=1G@0-1,1G@1: node 1 is named twice: give it one amount' \
		2M=1G,2G@1 "1G: $PLACED" \
		2M=1G@1,2G "2G: $PLACED" \
		2M=,1G@0 '2M=,1G@0: a comma without an amount beside it: write AMOUNT@NODES,AMOUNT@NODES' \
		2M=1,5G "1: $PLACED
hint: a fraction is written with a point, as in 1.5G" \
		2M=1G@0,1 "1: $PLACED
hint: nodes are joined with +, as in AMOUNT@0+1"
}

@test "a node without memory is not one" {
	refuses alloc 'hugefill alloc: 1: node 1 has no memory: the nodes with memory are 0' -n --sysroot=memless 2M=1G@1
	refuses alloc 'hugefill alloc: 0-1: node 1 has no memory: the nodes with memory are 0' -n --sysroot=memless vm0=1G@0-1
	refuses alloc 'hugefill alloc: --nodes: "1": node 1 does not exist: the nodes with memory are 0' -n --sysroot=one-node -N 1 2M=1G
}

@test "two specs for one file" {
	refuses alloc 'hugefill alloc: /dev/hugepages/a: two specs name this file; write one' -n --sysroot=two-nodes \
		a=2M b=2M a=4M
	refuses alloc 'hugefill alloc: /dev/hugepages/a: two specs name this file; write one' -n --sysroot=two-nodes \
		a=2M /dev/hugepages/a=2M
}

@test "sums that do not fit" {
	hf 2 alloc -n --sysroot=arm64 a=8000P b=8000P
	assert_equal "$output" ""
	assert_regex "$stderr" '^hugefill alloc: 2M: .*2\^63-1 bytes$'
	hf 1 alloc -n --sysroot=arm64 64K=8000P 2M=8000P 32M=385P
	assert_regex "$stderr" 'the pools would grow by 16384P'
}

@test "a line of a spec file is named" {
	local file=$BATS_TEST_TMPDIR/specs

	printf '# first\n\nvm0=2M\n 2M=20M # twenty\n' >"$file"
	refuses alloc "hugefill alloc: $file:4: #: is no option of a line: there are page-size=, mode=, owner=, layout=, mount=, separated by commas
hint: a comment needs a line of its own" -n --sysroot=two-nodes --from="$file"
	hf 2 alloc -n --sysroot=two-nodes --from=- <<<'2M=1G@5'
	assert_equal "$stderr" "hugefill alloc: standard input:1: 5: node 5 does not exist: the nodes with memory are 0-1"
	refuses alloc 'hugefill alloc: /dev/null: holds no spec' -n --sysroot=two-nodes --from=/dev/null
	refuses alloc 'hugefill alloc: /nowhere: cannot open the spec file: No such file or directory' -n \
		--sysroot=two-nodes --from=/nowhere
	refuses alloc 'hugefill alloc: /: cannot read specs: Is a directory' -n --sysroot=two-nodes --from=/
	printf 'vm0=2M\0\n' >"$file"
	refuses alloc "hugefill alloc: $file:1: a NUL byte: specs are plain text, one a line" -n --sysroot=two-nodes \
		--from="$file"
}

@test "all bad lines of a spec file are told" {
	local file=$BATS_TEST_TMPDIR/specs options='there are page-size=, mode=, owner=, layout=, mount=, separated by commas'

	cat >"$file" <<-'EOF'
		vm0=2X
		vm1=2M mode=0999
		vm2=2M colour=red
		vm3=2M mode=0600,mode=0640
		2M=4M mode=0600
		/dev/hugepages/x=2M page-size=2M
		vm4=2M owner=no_such_user
		vm5=2M page-size=3M
		vm6=2M mount=relative
		vm7=2M layout=round more
		good=2M layout=block
		a b=2M
	EOF
	hf 2 check --sysroot=two-nodes --from="$file"
	assert_equal "$output" ""
	assert_equal "$(grep -c "^hugefill check: $file:" <<<"$stderr")" 11
	assert_equal "$(grep -v '^hint: \|unknown unit' <<<"$stderr" | sed "s,^hugefill check: $file:,,")" \
		"2: 0999: is no octal mode from 0 to 0777
3: colour=red: is no option of a line: $options
4: mode=0640: mode is said twice
5: 2M=4M: a pool has no mode: it is for files
6: /dev/hugepages/x=2M: page-size is for bare names: a path says where it lies
7: owner: \"no_such_user\": there is no user \"no_such_user\"; write USER[:GROUP] or :GROUP
8: 3M: is no page size of this kernel
9: relative: is no absolute path of a directory
10: more: after the spec and its options there is nothing more
12: a: no amount: write a=AMOUNT, as in 2M=4G or vm0=4G"
	assert_equal "$(tail -n 1 <<<"$stderr")" 'hint: a blank in a name is written \040'
}

# What is plainly an option needs no hint at blanks in names.
@test "a spec file: options without a value, mounts that end in dots" {
	local file=$BATS_TEST_TMPDIR/specs option

	for option in owner= mode= mount= layout= page-size=; do
		printf 'vm0=4M\nvm1=4M %s\n' "$option" >"$file"
		refuses alloc "hugefill alloc: $file:2: $option: nothing after the =" -n --sysroot=two-nodes --from="$file"
	done
	for option in /dev/.. /dev/. /dev/../ /. /..; do
		echo "vm0=4M mount=$option" >"$file"
		refuses alloc "hugefill alloc: $file:1: $option: is no absolute path of a directory" -n --sysroot=two-nodes --from="$file"
	done
	echo "vm0=4M mount=/dev/x..,owner=nobody" >"$file"
	hf 0 alloc -n --sysroot=two-nodes --from="$file"
}

@test "a spec file has no amounts with +" {
	local file=$BATS_TEST_TMPDIR/specs spec text='a spec file states the end; + has no meaning there: write the whole amount'

	for spec in 2M=+8M 2M=8M@0,+8M@1 default=+4p; do
		printf 'vm0=4M\n%s\n' "$spec" >"$file"
		refuses alloc "hugefill alloc: $file:2: $spec: $text" -n --sysroot=two-nodes --from="$file"
		refuses free "hugefill free: $file:2: $spec: $text" -n --sysroot=two-nodes --from="$file"
		refuses check "hugefill check: $file:2: $spec: $text" --sysroot=two-nodes --from="$file"
	done
	hf 0 alloc -n --sysroot=two-nodes 2M=+8M
}

@test "a path that is on no hugetlbfs lists the mounts" {
	fails 'hugefill alloc: /tmp/x: its directory /tmp is not on a hugetlbfs
hint: hugetlbfs is mounted on /dev/hugepages with 2M pages' --sysroot=two-nodes /tmp/x=2M
	fails 'hugefill alloc: ./2M: its directory . is not on a hugetlbfs
hint: hugetlbfs is mounted on /dev/hugepages with 2M pages' --sysroot=two-nodes ./2M=2M
	fails 'hugefill alloc: /tmp/x: its directory /tmp is not on a hugetlbfs
hint: no hugetlbfs is mounted; a bare name lets hugefill mount one' --sysroot=one-node /tmp/x=2M
	hf 1 alloc -n --sysroot=eight-nodes /mnt/covered/x=2M
	assert_regex "$stderr" '^hugefill alloc: /mnt/covered/x: its directory /mnt/covered is not on a hugetlbfs'
	assert_equal "$output" ""
}

@test "a mount that is read only is refused" {
	hf 1 alloc -n --sysroot=eight-nodes '/mnt/read only/x=2M'
	assert_equal "$output" ""
	assert_regex "$stderr" '^hugefill alloc: /mnt/read only/x: .*[Rr]ead-only'
}

@test "no room for growth: the plan, and the finding on stderr" {
	fails 'hugefill alloc: memory: the pools would grow by 4G, but only 23.5G is available and 22G of it must stay so
hint: ask for at most 1.5G more, or allow less room with --headroom' --sysroot=one-node --headroom=22G 2M=4G
	assert_line --index 1 --regexp '^grow +2M +0 +2M +0B +4G +2048 *$'
	fails 'hugefill alloc: memory: the pools would grow by 23G, but only 23.5G is available and 737.3M of it must stay so
hint: ask for at most 22.8G more, or allow less room with --headroom' --sysroot=one-node 2M=23G
	hf 0 alloc -n --sysroot=one-node --headroom=0 2M=23G
	hf 0 alloc -n --sysroot=one-node --headroom=2% 2M=23G
}

@test "--no-grow and --no-mount" {
	fails 'hugefill alloc: 2M: the pool lacks 4032 pages (8064M), and --no-grow forbids to grow it
hint: leave --no-grow out, or free pages of this size' --sysroot=two-nodes --no-grow 2M=20G
	fails 'hugefill alloc: 2M: the pool lacks 1 page (2M), and --no-grow forbids to grow it
hint: leave --no-grow out, or free pages of this size' --sysroot=two-nodes --no-grow vm0=3501p
	fails 'hugefill alloc: 2M: node 1: requested 3G, obtained 0: the node'"'"'s pool lacks 1536 pages (3G), and --no-grow forbids to grow it
hint: leave --no-grow out, or free pages of this size on this node' --sysroot=two-nodes --no-grow 2M=3648p@1
	plans two-nodes --no-grow vm0=1p <<<'create /dev/hugepages/vm0 0 2M 0B 2M 1 1'
	fails 'hugefill alloc: /dev/hugepages: no hugetlbfs with 2M pages is mounted, and --no-mount forbids to mount one
hint: mount -t hugetlbfs -o pagesize=2M,nosuid,nodev hugetlbfs /dev/hugepages' --sysroot=one-node --no-mount vm0=2M
	plans two-nodes --no-mount vm0=1p <<<'create /dev/hugepages/vm0 0 2M 0B 2M 1 1'
}

@test "limits of mounts and cgroups" {
	fails 'hugefill alloc: /mnt/huge1G: the mount'"'"'s size= limit leaves 8G, but 9G is needed
hint: hugefill mount --size=SIZE on another directory, or unmount /mnt/huge1G and mount it anew' --sysroot=eight-nodes -p 1G a=9G
	hf 1 alloc -n --sysroot=arm64 vm0=1G
	assert_regex "$stderr" "^hugefill alloc: 2M: the cgroup's limit leaves 512M, but 1G is needed"
}

@test "a kernel without huge pages" {
	fails 'hugefill alloc: huge pages: this kernel has none (hugetlb is not built in, or the CPU has no huge pages)' \
		--sysroot=no-hugetlb vm0=2M
	assert_equal "$output" ""
}

@test "a broken tree" {
	fails 'hugefill alloc: broken/proc/meminfo: has no valid line "MemFree:" with a number of kB' --sysroot=broken vm0=2M
	assert_equal "$output" ""
}

@test "a tree that is not there" {
	fails 'hugefill alloc: /nowhere: cannot open the directory of the system'"'"'s files: No such file or directory' \
		--sysroot=/nowhere vm0=2M
	fails 'hugefill alloc: /etc/passwd: cannot open the directory of the system'"'"'s files: Not a directory' \
		--sysroot=/etc/passwd vm0=2M
}
