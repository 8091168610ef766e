#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Metrics as those who read them read them: promtool, node_exporter's textfile collector, and the strict
# OpenMetrics parser of Prometheus' client library.
# shellcheck disable=SC2154 # bats sets output

load helper
load ../kernel/groups

teardown() {
	leave_groups || true
	kernel_teardown
}

# read_by_all FILE: every reader takes it without a word; samples are then in $tmp/samples
read_by_all() {
	run -0 promtool check metrics <"$1"
	equal "$output" "" "what promtool says"
	/usr/bin/python3 "$BATS_TEST_DIRNAME/openmetrics.py" <"$1" >"$tmp/samples"
	equal "$(wc -l <"$tmp/samples")" "$(grep -vc '^#' "$1" || true)" "number of samples"
}

# sample NAME LABELS VALUE
sample() {
	grep -qxF "$1"$'\t'"$2"$'\t'"$3" "$tmp/samples" || { echo "no $1 $2 $3 in:"; cat "$tmp/samples"; return 1; }
}

# collect: what node_exporter makes of $tmp/textfiles; in $tmp/scrape, sorted as it sorts
collect() {
	local address

	start prometheus-node-exporter --web.listen-address=127.0.0.1:0 --collector.disable-defaults \
		--collector.textfile --collector.textfile.directory="$tmp/textfiles"
	wait_until grep -qs 'Listening on' "$err"
	address=$(grep -oE '127\.0\.0\.1:[0-9]+' "$err" | tail -n 1)
	curl -sf "http://$address/metrics" >"$tmp/scrape"
	kill "$pid"
}

@test "every captured tree is read by promtool and as OpenMetrics" {
	local tree read=0

	for tree in "$ROOT"/test/fixtures/*/; do
		[ "$(basename "$tree")" != broken ] || continue
		"$HUGEFILL" status --format=openmetrics --sysroot="$tree" >"$tmp/tree.prom" 2>"$err"
		read_by_all "$tmp/tree.prom"
		read=$((read + 1))
	done
	[ $read -ge 7 ]
}

@test "the readers do object: half a file, a sample told twice" {
	"$HUGEFILL" status --format=openmetrics --sysroot="$ROOT/test/fixtures/two-nodes" >"$tmp/all"
	head -c -8 "$tmp/all" >"$tmp/half"
	run -1 /usr/bin/python3 "$BATS_TEST_DIRNAME/openmetrics.py" <"$tmp/half"
	grep -v '^# HELP' "$tmp/all" >"$tmp/helpless"
	run -3 promtool check metrics <"$tmp/helpless"
}

@test "this machine: a pool, a mount with a limit, a cgroup with one" {
	give 32
	mount_huge "$mnt" pagesize=2M,size=16M,nr_inodes=8
	full_file "$mnt/file" 8
	new_group hugetlb
	if [ "$version" = v2 ]; then
		limit hugetlb.2MB.max 32M
	else
		limit hugetlb.2MB.limit_in_bytes 32M
	fi
	mark
	hf 0 status --format=openmetrics
	printf '%s\n' "$output" >"$tmp/machine.prom"
	read_by_all "$tmp/machine.prom"
	sample hugefill_pool_pages node=0,pagesize=2097152 16
	sample hugefill_pool_free_pages node=0,pagesize=2097152 12
	sample hugefill_pool_available_pages pagesize=2097152 12
	sample hugefill_mount_info "mountpoint=$mnt,pagesize=2097152" 1
	sample hugefill_mount_size_bytes "mountpoint=$mnt,pagesize=2097152" 16777216
	sample hugefill_mount_used_bytes "mountpoint=$mnt,pagesize=2097152" 8388608
	sample hugefill_mount_inodes "mountpoint=$mnt,pagesize=2097152" 8
	sample hugefill_mount_used_inodes "mountpoint=$mnt,pagesize=2097152" 2
	sample hugefill_cgroup_limit_bytes "cgroup=/${group##*/},hierarchy=$version,pagesize=2097152" 33554432
	sample hugefill_cgroup_failures_total "cgroup=/${group##*/},hierarchy=$version,pagesize=2097152" 0
}

@test "node_exporter's textfile collector passes on every sample, names and labels as they are" {
	local tree=$tmp/tree

	cp -R "$ROOT/test/fixtures/eight-nodes" "$tree"
	cp -R "$tree/sys/fs/cgroup/machine.slice" "$tree/sys/fs/cgroup/"$'a"b\\c\nd\xff'
	mkdir "$tmp/textfiles"
	"$HUGEFILL" status --format=openmetrics --sysroot="$tree" >"$tmp/textfiles/hugefill.prom"
	read_by_all "$tmp/textfiles/hugefill.prom"
	collect
	grep -qx 'node_textfile_scrape_error 0' "$tmp/scrape"
	equal "$(grep -c '^hugefill_' "$tmp/scrape")" "$(wc -l <"$tmp/samples")" "samples that are passed on"
	grep -qF 'hugefill_pool_pages{node="5",pagesize="2097152"} 4096' "$tmp/scrape"
	grep -qF 'hugefill_cgroup_limit_bytes{cgroup="/a\"b\\\\c\\nd\\xff",hierarchy="v2",pagesize="2097152"} 1.073741824e+11' \
		"$tmp/scrape"
	grep -qx '# TYPE hugefill_pool_pages gauge' "$tmp/scrape"
	grep -qx '# TYPE hugefill_cgroup_failures_total untyped' "$tmp/scrape"
}

@test "the units for the collector: a failed call leaves the last good file" {
	local units=$ROOT/contrib/prometheus line

	run -0 systemd-analyze --man=no verify "$units/hugefill-metrics.service" "$units/hugefill-metrics.timer"
	mkdir "$tmp/textfiles"
	line=$(sed -n "s/^ExecStart=\/bin\/sh -c '\(.*\)'$/\1/p" "$units/hugefill-metrics.service")
	[ -n "$line" ]
	cd "$tmp/textfiles"
	bin_with hugefill <<<"exec '$HUGEFILL' \"\$@\" --sysroot='$ROOT/test/fixtures/'\"\$TREE\""
	TREE=two-nodes run -0 sh -c "$line"
	equal "$(ls)" hugefill.prom
	equal "$(stat -c %s hugefill.prom)" \
		"$("$HUGEFILL" status --format=openmetrics --sysroot="$ROOT/test/fixtures/two-nodes" | wc -c)" "its size"
	cp hugefill.prom "$tmp/before"
	TREE=broken run -1 sh -c "$line"
	cmp hugefill.prom "$tmp/before"
	# What lies there unfinished is not read.
	[ -e hugefill.prom.new ]
	collect
	grep -qx 'node_textfile_scrape_error 0' "$tmp/scrape"
	grep -qF 'hugefill_pool_pages{node="1",pagesize="2097152"} 2112' "$tmp/scrape"
}
