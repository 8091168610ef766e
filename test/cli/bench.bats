#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# What bench --dry-run would measure, and what it refuses.

load helper

# measures TREE ARGUMENT... <<rows
measures() {
	local tree=$1

	shift
	hf 0 bench --dry-run --raw --noheadings --sysroot="$tree" "$@"
	assert_equal "$output" "$(cat)"
	assert_equal "$stderr" ""
}

@test "text, with headings for people" {
	hf 0 bench -n --sysroot=two-nodes --threads=1,2 --method=populate
	assert_equal "$stderr" ""
	assert_equal "$output" "\
method   nthread size (GiB)
populate       1          1
populate       2          1"
}

@test "fill: sizes, methods, threads" {
	measures two-nodes -s 1G,1536M -t 1,8 --method=touch,fallocate <<-'EOF'
		touch 1 1
		touch 8 1
		fallocate 1 1
		fallocate 8 1
		touch 1 1.5
		touch 8 1.5
		fallocate 1 1.5
		fallocate 8 1.5
	EOF
}

@test "fault: mappings, stride" {
	measures two-nodes fault -t 64 --stride=16M -p 2M <<-'EOF'
		private-anon 64 1 16M
		shared-file 64 1 16M
	EOF
	measures two-nodes fault -t 1 --mapping=private-file -p 2M <<<'private-file 1 1 2M'
}

@test "forkfault: each loop alone, and both" {
	measures two-nodes forkfault --instances=1,24 <<-'EOF'
		faults\x20per\x20sec 1 1
		faults\x20per\x20sec 24 1
		forks\x20per\x20sec 1 1
		forks\x20per\x20sec 24 1
		combined\x20faults 1 1
		combined\x20forks 1 1
		combined\x20faults 24 1
		combined\x20forks 24 1
	EOF
}

@test "pool: serial, parallel, workers per node" {
	measures two-nodes pool --workers=1,3 <<-'EOF'
		serial - 1
		parallel - 1
		workers 1 1
		workers 3 1
	EOF
	hf 0 bench pool -n --raw --noheadings --sysroot=two-nodes
	assert_equal "$(awk '$1 == "workers" { printf "%s ", $2 }' <<<"$output")" "1 2 3 4 5 "
}

@test "free: actions" {
	measures two-nodes free -s 2G <<-'EOF'
		remove 2
		punch 2
		shrink 2
	EOF
	measures two-nodes free --action=punch <<<'punch 1'
}

@test "threads: powers of two up to the CPUs of the nodes meant, and all of them" {
	hf 0 bench -n --raw --noheadings -o nthread --sysroot=two-nodes --nodes=0
	assert_equal "$(head -n 1 <<<"$output")" 1
	[ "$(sort -n <<<"$output")" = "$output" ]
}

@test "columns: one's own, further ones, all in JSON" {
	hf 0 bench -n --raw --sysroot=two-nodes -t 2 -o nthread,case
	assert_equal "$(head -n 1 <<<"$output")" "NTHREAD CASE"
	hf 0 bench -n --raw --sysroot=two-nodes -t 2 -o +stride
	assert_equal "$(head -n 1 <<<"$output")" "TEST NTHREAD SIZE STRIDE"
	hf 2 bench -n --sysroot=two-nodes -o nonsense
	assert_equal "${stderr%%;*}" "hugefill bench: nonsense: no such column"
}

@test "JSON: the keys" {
	hf 0 bench -n --json --sysroot=two-nodes -t 2
	assert_equal "$stderr" ""
	assert_equal "$(jq -r 'keys_unsorted | join(" ")' <<<"$output")" \
		"hugefill command changed dry_run workload unit settings compared_with machine results samples histogram kernel enough"
	assert_equal "$(jq -r '.settings | keys_unsorted | join(" ")' <<<"$output")" \
		"page_size nodes runs warmup histogram seconds"
	assert_equal "$(jq -r '.machine | keys_unsorted | join(" ")' <<<"$output")" \
		"kernel cpu cpus nodes memory_nodes memory page_sizes hvo init_on_alloc governor"
	assert_equal "$(jq -r '.results[0] | keys_unsorted | join(" ")' <<<"$output")" \
		"test mapping nthread instances workers speedup size stride min_time stdev median max_time mean rate per_sec per_instance runs p50 p90 p99 max baseline change pvalue ranked verdict why case"
	assert_equal "$(jq -c '[.command, .changed, .dry_run, .workload, .samples]' <<<"$output")" \
		'["bench",false,true,"fill",[]]'
}

@test "more than memory: the largest size that fits, and only that is wrong" {
	hf 1 bench -n --sysroot=two-nodes --size=1G,100T
	[[ $stderr == "hugefill bench: 100T: does not fit into memory beside the headroom: the largest size that does is "* ]]
	size=$(grep -oP 'hint: --size=\K[0-9A-Z]+' <<<"$stderr")
	hf 0 bench -n --sysroot=two-nodes --size="$size"
	hf 0 bench pool -n --sysroot=two-nodes --size=1G
	hf 1 bench pool -n --sysroot=two-nodes --size=100T
}

@test "usage errors" {
	local message options

	# shellcheck disable=SC2086 # words
	while IFS='|' read -r options message; do
		refuses bench "hugefill bench: $message" -n --sysroot=two-nodes $options
	done <<-'EOF'
		nonsense|WORKLOAD: "nonsense" is none of fill, fault, forkfault, pool, free
		--size=3M|--size: 3M is no multiple of the page size, 2M
		--size=2M|--size: 2M is less than a page for each of 2 nodes
		--size=1G,1G|--size: "1G" is named twice
		--threads=0|--threads: "0" is no number from 1 to 8192
		--threads=1,1|--threads: "1" is named twice
		--method=magic|--method: "magic" is none of auto, populate, touch, fallocate
		fault --mapping=none|--mapping: "none" is none of private-anon, shared-anon, private-file, shared-file
		fault --stride=0|--stride: "0" leads nowhere
		fault --stride=2G|--stride: is longer than the size 1G
		forkfault --mapping=private-anon|--mapping: forkfault is about shared mappings
		forkfault --mapping=shared-anon --size=64M --instances=1,24|--size: 64M is less than a page for each of 2 x 24 instances
		forkfault --time=soon|--time: "soon" is no time; write 90, 90s, 500ms, 1.5m or 2h
		--runs=0|--runs: "0" is no number from 1 to 1000
		--warmup=-1|--warmup: "-1" is no number from 0 to 100
		pool --threads=2|--threads: is for fill and fault, not for pool
		fill --stride=4K|--stride: is for fault, not for fill
		free --histogram|--histogram: is for fill and fault, not for free
		free --plot=x.svg|--plot: is for fill, fault and pool, not for free
		--kernel=a-b|--kernel: "a-b": is no name of a kernel function
		--kernel=a,,b|--kernel: "": is no name of a kernel function
		--kernel=a,a|--kernel: "a": is named twice
		--plot=x.pdf|--plot: "x.pdf" ends neither in .svg, .png nor .gp
		--compare=/dev/null|/dev/null: is no JSON document: it ends too early
		--compare=/none|/none: cannot open the earlier result: No such file or directory
	EOF
	usage bench "more than one WORKLOAD" fill fault
	refuses bench "hugefill bench: --sysroot: a captured tree cannot be measured; add --dry-run" \
		--sysroot=two-nodes
}

@test "--compare: not any JSON, and not another workload" {
	echo '{ "command": "alloc" }' >"$BATS_TEST_TMPDIR/alloc.json"
	echo '{ "command": "bench", "workload": "pool", "samples": [ { "case": "x", "run": 1, "value": 1 } ] }' \
		>"$BATS_TEST_TMPDIR/pool.json"
	refuses bench "hugefill bench: $BATS_TEST_TMPDIR/alloc.json: is no result of \`hugefill bench --json'" \
		-n --sysroot=two-nodes --compare="$BATS_TEST_TMPDIR/alloc.json"
	refuses bench "hugefill bench: $BATS_TEST_TMPDIR/pool.json: is a result of workload pool, not of fill" \
		-n --sysroot=two-nodes --compare="$BATS_TEST_TMPDIR/pool.json"
}

@test "without root nothing is measured" {
	hf 1 bench --size=64M
	assert_equal "$output" ""
}
