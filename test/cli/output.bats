#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# Forms of output: text, raw, JSON, columns; what cannot be written; hostile names.

load helper

@test "text: headings, numbers to the right, sizes for people" {
	hf 0 alloc -n --sysroot=one-node 2M=10G vm0=4G
	assert_equal "$stderr" ""
	assert_equal "$(unpadded)" "\
ACTION TARGET             NODE PAGESIZE FROM  TO PAGES THREADS
grow   2M                    0       2M   0B 10G  5120
mount  /dev/hugepages                2M
create /dev/hugepages/vm0    0       2M   0B  4G  2048       2"
}

@test "--noheadings and --bytes" {
	hf 0 alloc -n --sysroot=one-node --noheadings --bytes vm0=4G
	assert_equal "$(unpadded)" "\
grow   2M                    0  2097152    0 4294967296  2048
mount  /dev/hugepages           2097152
create /dev/hugepages/vm0    0  2097152    0 4294967296  2048       2"
}

@test "--raw: one blank between columns, - where there is nothing" {
	hf 0 alloc -n --sysroot=one-node --raw vm0=4G
	assert_equal "$output" "\
ACTION TARGET NODE PAGESIZE FROM TO PAGES THREADS
grow 2M 0 2M 0B 4G 2048 -
mount /dev/hugepages - 2M - - - -
create /dev/hugepages/vm0 0 2M 0B 4G 2048 2"
}

@test "-o: these columns in this order; + adds; case does not matter" {
	local columns='the columns are ACTION, TARGET, NODE, PAGESIZE, FROM, TO, PAGES, THREADS'

	hf 0 alloc -n --sysroot=two-nodes --raw -o PAGES,node 2M=20G
	assert_equal "$output" $'PAGES NODE\n1024 0\n3008 1'
	hf 0 alloc -n --sysroot=two-nodes --raw -o node,node 2M=+1p@0
	assert_equal "$output" $'NODE\n0'
	hf 0 alloc -n --sysroot=two-nodes --raw -o +to 2M=+1p@0
	assert_equal "$output" $'ACTION TARGET NODE PAGESIZE FROM TO PAGES THREADS\ngrow 2M 0 2M 8G 8G 1 -'
	hf 0 alloc -n --sysroot=two-nodes --raw --output-all -o node 2M=+1p@0
	assert_equal "$output" $'ACTION TARGET NODE PAGESIZE FROM TO PAGES THREADS\ngrow 2M 0 2M 8G 8G 1 -'
	refuses alloc "hugefill alloc: foo: no such column; $columns" -n --sysroot=two-nodes -o node,foo 2M=20G
	refuses alloc "hugefill alloc: --output: a column name is missing; $columns" -n --sysroot=two-nodes -o '' 2M=20G
	refuses alloc "hugefill alloc: --output: a column name is missing; $columns" -n --sysroot=two-nodes -o + 2M=20G
	refuses alloc "hugefill alloc: --output: a column name is missing; $columns" -n --sysroot=two-nodes -o node,,to 2M=20G
}

@test "--json: the keys of a plan are frozen" {
	hf 1 alloc -n --sysroot=one-node --json --headroom=23G vm0=4G
	keys "\
changed
command
dry_run
findings
findings.[]
findings.[].fatal
findings.[].got
findings.[].hint
findings.[].id
findings.[].node
findings.[].object
findings.[].text
findings.[].wanted
hugefill
plan
plan.[]
plan.[].action
plan.[].from
plan.[].node
plan.[].pages
plan.[].pagesize
plan.[].target
plan.[].threads
plan.[].to
would_change"
}

@test "--json: the keys of a failure are frozen" {
	hf 1 alloc -n --sysroot=two-nodes --json /tmp/x=1G
	keys "\
changed
command
dry_run
error
error.errno
error.hint
error.message
error.object
findings
hugefill
not_undone
phases
phases.fill
phases.grow
phases.lock
phases.mount
phases.publish
phases.reserve
phases.verify"
	json '[.command, .changed, .error.object, .error.errno, .not_undone]' '["alloc",false,"/tmp/x","EINVAL",0]'
}

@test "--json: values, and numbers that are numbers" {
	hf 0 alloc -n --sysroot=two-nodes --json 2M=20G vm0=2p
	assert_equal "$stderr" ""
	json .hugefill "$(cat "$ROOT/VERSION")"
	json 'del(.hugefill, .plan)' '{"command":"alloc","changed":false,"dry_run":true,"would_change":true,"findings":[]}'
	json '.plan[]' "\
{\"action\":\"grow\",\"target\":\"2M\",\"node\":0,\"pagesize\":2097152,\"from\":8589934592,\"to\":10737418240,\"pages\":1024,\"threads\":null}
{\"action\":\"grow\",\"target\":\"2M\",\"node\":1,\"pagesize\":2097152,\"from\":4429185024,\"to\":10737418240,\"pages\":3008,\"threads\":null}
{\"action\":\"create\",\"target\":\"/dev/hugepages/vm0\",\"node\":0,\"pagesize\":2097152,\"from\":0,\"to\":2097152,\"pages\":1,\"threads\":1}
{\"action\":\"create\",\"target\":\"/dev/hugepages/vm0\",\"node\":1,\"pagesize\":2097152,\"from\":0,\"to\":2097152,\"pages\":1,\"threads\":1}"
}

@test "--json: nothing to do, fewer columns, a finding" {
	hf 0 alloc -n --sysroot=two-nodes --json 2M=1G
	json '[.would_change, .plan, .findings]' '[false,[],[]]'
	assert_equal "$stderr" ""
	hf 0 alloc -n --sysroot=two-nodes --json -o node,pages 2M=20G
	json .plan '[{"node":0,"pages":1024},{"node":1,"pages":3008}]'
	hf 1 alloc -n --sysroot=one-node --json --no-grow 2M=4G
	json '.findings[] | [.id, .fatal, .object, .node, .wanted, .got]' '["no-grow",true,"2M",null,4294967296,0]'
	json '.findings[0].text' 'the pool lacks 2048 pages (4G), and --no-grow forbids to grow it'
	assert_equal "$(sed -n 1p <<<"$stderr")" \
		'hugefill alloc: 2M: the pool lacks 2048 pages (4G), and --no-grow forbids to grow it'
}

@test "--json: exit 2 prints no document, exit 1 always does" {
	local tree

	refuses alloc "hugefill alloc: 512: no unit: write 512p for pages or 512M for MiB" -n --sysroot=two-nodes --json 2M=512
	refuses alloc "hugefill alloc: /dev/hugepages/a: two specs name this file; write one" -n --sysroot=two-nodes --json a=2M a=2M
	refuses free "hugefill free: 512: no unit: write 512p for pages or 512M for MiB" -n --sysroot=two-nodes --json 2M=512
	for tree in no-hugetlb broken /nowhere; do
		hf 1 alloc -n --sysroot="$tree" --json vm0=2M
		json '.command, .changed, (.error.message | length > 0)' $'alloc\nfalse\ntrue'
		hf 1 free -n --sysroot="$tree" --json 2M
		json '.command, .changed, (.error.message | length > 0)' $'free\nfalse\ntrue'
	done
}

@test "--quiet: errors only, and what programs read" {
	hf 0 alloc -n --sysroot=two-nodes -q 2M=20G
	assert_equal "$output$stderr" ""
	hf 0 alloc -n --sysroot=two-nodes -q 2M=1G
	assert_equal "$output$stderr" ""
	hf 0 alloc -n --sysroot=two-nodes -q --raw -o node 2M=20G
	assert_equal "$output" $'NODE\n0\n1'
	hf 0 alloc -n --sysroot=two-nodes -q --json 2M=20G
	json '.plan | length' 2
	hf 1 alloc -n --sysroot=two-nodes -q --no-grow 2M=20G
	assert_equal "$output" ""
	assert_regex "$stderr" '^hugefill alloc: 2M: the pool lacks 4032 pages'
	hf 2 alloc -n --sysroot=two-nodes -q 2M=x
	assert_regex "$stderr" '^hugefill alloc: x: '
}

@test "what cannot be written is a failure" {
	local arguments

	for arguments in --help --version --usage 'alloc --help' 'alloc --usage' 'free --version'; do
		# shellcheck disable=SC2086 # two words
		to_full 1 $arguments
		assert_equal "$stderr" "hugefill: standard output: cannot write: No space left on device"
	done
	for arguments in '2M=20G' '--json 2M=20G' '--raw 2M=20G' '--json 2M=1G'; do
		# shellcheck disable=SC2086 # two words
		to_full 1 alloc -n --sysroot=two-nodes $arguments
		assert_equal "$stderr" "hugefill alloc: standard output: cannot write the result: No space left on device"
	done
	to_full 1 free -n --sysroot=two-nodes 2M
	assert_equal "$stderr" "hugefill free: standard output: cannot write the result: No space left on device"
	# Nothing is written: that succeeds.
	to_full 0 alloc -n --sysroot=two-nodes -q 2M=20G
	to_full 2 alloc -n --sysroot=two-nodes 2M=512
	assert_equal "$stderr" "hugefill alloc: 512: no unit: write 512p for pages or 512M for MiB"
}

@test "a closed standard output" {
	# shellcheck disable=SC2016 # for the inner shell
	run -1 --separate-stderr bash -c '"$@" >&-' - "$HUGEFILL" alloc -n --sysroot=two-nodes 2M=20G
	assert_regex "$stderr" 'cannot write the result: Bad file descriptor$'
}

@test "hostile names come out escaped" {
	local name=$'a\n\e[31m\t\\x41 \x7f\xff'

	hf 0 alloc -n --sysroot=two-nodes --noheadings -o target "$name=2M"
	assert_equal "$output" '/dev/hugepages/a\x0a\x1b[31m\x09\x5cx41 \x7f\xff'
	hf 0 alloc -n --sysroot=two-nodes --noheadings --raw -o target "$name=2M"
	assert_equal "$output" '/dev/hugepages/a\x0a\x1b[31m\x09\x5cx41\x20\x7f\xff'
	hf 0 alloc -n --sysroot=two-nodes --json "$name=2M"
	json '.plan[].target | tojson' '"/dev/hugepages/a\n\u001b[31m\t\\x41 \u007f�"'
	hf 0 free -n --sysroot=two-nodes --noheadings -o target "$name=2M"
	assert_equal "$output" '/dev/hugepages/a\x0a\x1b[31m\x09\x5cx41 \x7f\xff'
}

@test "hostile text in messages comes out escaped" {
	local evil=$'\e[31m\r'

	clean 2 "$evil"
	clean 1 alloc -n --sysroot=two-nodes "/tmp/$evil=2M"
	clean 2 alloc -n --sysroot=two-nodes "2M=$evil"
	clean 2 alloc -n --sysroot=two-nodes "2M=1$evil"
	clean 2 alloc -n --sysroot=two-nodes "2M=1G@$evil"
	clean 2 alloc -n --sysroot=two-nodes "$evil"
	clean 2 alloc -n --sysroot=two-nodes "$evil/=1G"
	clean 2 alloc -n --sysroot=two-nodes "$evil=1G" "$evil=1G"
	clean 1 alloc -n --sysroot="$evil" 2M=1G
	clean 1 free -n --sysroot=two-nodes "$evil"
	for option in --threads --layout --method --mode --owner --deadline --headroom --page-size --nodes --from \
		--progress --output --size; do
		clean 2 alloc -n --sysroot=two-nodes "$option=$evil" vm0=2M
	done
	clean 2 free -n --sysroot=two-nodes "--punch=$evil" x
	clean 2 free -n --sysroot=two-nodes "--punch=0:$evil" x
}

@test "other characters stay as they are where the locale has them" {
	LC_ALL=C.UTF-8 hf 0 alloc -n --sysroot=two-nodes --noheadings -o target 'grün=2M'
	assert_equal "$output" '/dev/hugepages/grün'
	LC_ALL=C hf 0 alloc -n --sysroot=two-nodes --noheadings -o target 'grün=2M'
	assert_equal "$output" '/dev/hugepages/gr\xc3\xbcn'
	LC_ALL=C.UTF-8 hf 0 alloc -n --sysroot=two-nodes --json 'grün=2M'
	json '.plan[].target' '/dev/hugepages/grün'
}

@test "a tree's own hostile text comes out escaped" {
	local tree=$BATS_TEST_TMPDIR/tree

	cp -R two-nodes "$tree"
	printf '31 24 0:27 / /dev/huge\\033[31mpages rw - hugetlbfs hugetlbfs rw,pagesize=2M\n' >"$tree/proc/self/mountinfo"
	clean 1 alloc -n --sysroot="$tree" /tmp/x=2M
	clean 0 alloc -n --sysroot="$tree" x=2M
	printf '12\033[31mx\n' >"$tree/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
	clean 1 alloc -n --sysroot="$tree" x=2M
}
