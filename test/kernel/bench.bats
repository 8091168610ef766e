#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2154 # filters of jq; bats and the helper set these
#
# bench: what its tables and documents hold, not how fast anything is; and that nothing is left.

load helper

# bench STATUS ARGUMENT...: tiny
bench() {
	local want=$1

	shift
	hf "$want" bench --runs=2 --warmup=0 --size=64M "$@"
}

has_pages() {
	[ "$(<"$POOL/nr_hugepages")" -ge "$1" ]
}

# headings: of the table
headings() {
	grep -m1 "size (GiB)\|test case" <<<"$output" | tr -s ' ' | sed 's/^ //'
}

# json FILTER
json() {
	jq -r "$1" <<<"$output"
}

@test "fill: the table, the count to choose" {
	bench 0 --threads=1,2 --method=populate
	equal "$(headings)" "nthread speedup size (GiB) min time (s) stdev"
	equal "$(grep -cE '^ +[12] .* 0\.0625 +[0-9]+\.[0-9]+ +[0-9]+\.[0-9]+$' <<<"$output")" 2 "rows"
	equal "$(grep -cE '^populate, 64M: --threads=[12] is the smallest count within 5 % of the best' <<<"$output")" 1
	has "$output" "Machine: " "Linux $(uname -r)"
	bench 0 --threads=1,2 --method=populate,touch,fallocate --raw --noheadings
	equal "$(awk '{ printf "%s/%s ", $1, $2 }' <<<"$output")" \
		"populate/1 populate/2 touch/1 touch/2 fallocate/1 fallocate/2 "
	same
}

@test "fill: JSON has all samples, in bytes and seconds" {
	bench 0 --threads=1,2 --method=populate --json --histogram
	equal "$(json '[.workload, .changed, (.samples | length), (.results | length)] | join(" ")')" "fill false 4 2"
	equal "$(json '.results[1] | [.nthread, .size, .runs] | join(" ")')" "2 67108864 2"
	equal "$(json '.results[0] as $r | [.samples[] | select(.case == $r.case) | .value] | min == $r.min_time')" true
	equal "$(json '[.results[] | (.p50 <= .p90) and (.p90 <= .p99) and (.p99 <= .max) and (.p50 > 0)] | all')" true
	# Each of 32 pages in each run that counts
	equal "$(json '.results[0].case as $c | [.histogram[] | select(.case == $c) | .count] | add')" 64
	equal "$(json '.machine.kernel')" "$(uname -r)"
	equal "$(json '.enough[0].nthread as $n | [1, 2] | any(. == $n)')" true
	same
}

@test "fault: every mapping" {
	bench 0 fault --threads=1,2 --mapping=private-anon,shared-anon,private-file,shared-file --stride=4K
	equal "$(headings)" "mapping threads size (GiB) stride min time (s) speedup"
	equal "$(grep -cE '^(private|shared)-(anon|file) +[12] +0\.0625 +4K +[0-9]+\.[0-9]+' <<<"$output")" 8 "rows"
	bench 0 fault --threads=2 --mapping=private-anon --json --histogram
	# One write a page
	equal "$(json '[.histogram[].count] | add')" 64
	same
}

@test "forkfault: each loop goes on while it is counted" {
	local mapping

	for mapping in shared-file shared-anon; do
		bench 0 forkfault --time=200ms --instances=2 --mapping=$mapping --json
		equal "$(json '[.results[].test] | join(", ")')" \
			"faults per sec, forks per sec, combined faults, combined forks"
		equal "$(json '[.results[] | .per_sec > 0] | all')" true "$mapping: counted"
		equal "$(json '.unit')" "per second"
	done
	same
}

@test "pool: both engines, workers per node" {
	give 16
	mark
	bench 0 pool --workers=2,3
	equal "$(headings)" "test case serial (ms) parallel (ms) saved (%)"
	has "$output" "multiplier"
	bench 0 pool --workers=2 --json
	equal "$(json '[.results[].test] | join(" ")')" "serial parallel workers"
	equal "$(json '.pool[0] | (.serial_ms > 0) and (.saved == null or .saved < 100)')" true
	same
}

@test "pool: where one engine applies, the table says why" {
	bench 0 pool --workers=1 --nodes=0
	has "$output" "workers 1, 64M: there is one worker only"
	same
}

@test "free: remove, punch, shrink; what the pool had stays" {
	give 16
	mark
	bench 0 free --json
	equal "$(json '[.results[].test] | join(" ")')" "remove punch shrink"
	equal "$(json '[.results[] | .min_time > 0] | all')" true
	same
}

@test "a result beside an earlier one" {
	bench 0 --threads=1 --method=populate --json
	echo "$output" >"$tmp/before.json"
	bench 0 --threads=1,2 --method=populate --compare="$tmp/before.json"
	equal "$(headings)" "nthread speedup size (GiB) min time (s) stdev baseline (s) change (%) p verdict"
	has "$output" "too few runs" "no baseline" "Mann-Whitney"
	# The same four times over: no difference, and four runs are enough to say so.
	jq '.results[0].case as $c | .samples = [range(1; 9) | { case: $c, run: ., value: (. * 1000) }]' \
		"$tmp/before.json" >"$tmp/slow.json"
	hf 0 bench --size=64M --runs=4 --warmup=0 --threads=1 --method=populate --compare="$tmp/slow.json" --json
	equal "$(json '.results[0] | [.verdict, .ranked, .baseline] | join(" ")')" "better exact 1000"
	equal "$(json '.results[0].pvalue < 0.05')" true
	same
}

@test "a picture, or the script for one" {
	local file drawn=

	bench 0 --threads=1,2 --plot="$tmp/it's.gp" --quiet
	has "$(<"$tmp/it's.gp")" "plot x title 'ideal'" "set xlabel 'threads'"
	if command -v gnuplot >/dev/null; then
		drawn=yes
		bench 0 --threads=1,2 --plot="$tmp/it's.svg" --quiet
		has "$(<"$tmp/it's.svg")" "<svg"
	fi
	# A file that cannot be written: it is said, and what was there stays.
	mkdir "$tmp/full"
	"${IN[@]}" mount -t tmpfs -o size=4k tmpfs "$tmp/full"
	"${IN[@]}" bash -c 'echo old >"$0/x.svg"; head -c 4096 /dev/zero >"$0/z"' "$tmp/full" || true
	for file in x.gp ${drawn:+x.svg}; do
		bench 1 --threads=1,2 --plot="$tmp/full/$file" --quiet
		has "$stderr" "$tmp/full/$file: cannot be written: No space left on device"
	done
	equal "$("${IN[@]}" ls "$tmp/full" | paste -sd ' ')" "x.svg z" files
	equal "$("${IN[@]}" cat "$tmp/full/x.svg")" old "the old picture"
	mkdir "$tmp/bin"
	run -0 --separate-stderr "${IN[@]}" env PATH="$tmp/bin" "$HUGEFILL" bench --runs=1 --warmup=0 --size=64M \
		--plot="$tmp/none.svg" --raw
	has "$stderr" "gnuplot is not installed"
	has "$(<"$tmp/none.svg.gp")" "set output '$tmp/none.svg'"
	same
}

@test "kernel functions: traced, or said why not; the rest goes on" {
	bench 0 --threads=1 --kernel=hugetlb_add_to_page_cache,no_such_function
	equal "$(headings)" "nthread speedup size (GiB) min time (s) stdev"
	has "$output" "no_such_function: "
	grep -qE '^@?hugetlb_add_to_page_cache:' <<<"$output"
	bench 0 --threads=1 --kernel=no_such_function --json
	equal "$(json '.kernel[0] | (.function == "no_such_function") and (.why | length > 9)')" true
	run ! grep -qs hugefill /sys/kernel/tracing/kprobe_events /sys/kernel/tracing/synthetic_events
	same
}

@test "a signal: the pool is as it was, no process stays" {
	local workload name number

	give 8
	mark
	while read -r workload name number; do
		# shellcheck disable=SC2086 # words
		start "$HUGEFILL" bench $workload --size=256M --runs=1000
		wait_until has_pages 9
		sleep 0.2
		kill "-$name" "$pid"
		ended $((128 + number))
		has "$(<"$err")" "hugefill bench: given up"
		same
		! pgrep -P "$pid"
	done <<-'EOF'
		fill INT 2
		fault TERM 15
		forkfault HUP 1
		pool TERM 15
		free INT 2
	EOF
}

@test "two at once: one after the other" {
	start "$HUGEFILL" bench --size=64M --runs=1 --raw
	bench 0 --threads=1 --raw --noheadings
	ended 0
	same
}

@test "standard output that is full" {
	# shellcheck disable=SC2016 # for the inner shell
	run -1 --separate-stderr "${IN[@]}" sh -c '"$1" bench --size=64M --runs=1 >/dev/full' - "$HUGEFILL"
	has "$stderr" "cannot write"
	same
}
