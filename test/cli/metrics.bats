#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# status --format=openmetrics on captured trees: names, labels and order stay as they are.

load helper

# metrics WANTED ARGUMENT...: this text exactly, and nothing on standard error
metrics() {
	local wanted=$1

	shift
	hf 0 status --format=openmetrics "$@"
	assert_equal "$output" "$wanted"
	assert_equal "$stderr" ""
}

# samples WANTED ARGUMENT...: without the lines of comments
samples() {
	local wanted=$1

	shift
	hf 0 status --format=openmetrics "$@"
	assert_equal "$(grep -v '^#' <<<"$output")" "$wanted"
	assert_equal "$(tail -n 1 <<<"$output")" "# EOF"
}

# wrong MESSAGE ARGUMENT...: a usage error; argp breaks its second line
wrong() {
	local message=$1

	shift
	hf 2 status --sysroot=two-nodes "$@"
	assert_equal "${stderr%%$'\n'*}" "hugefill status: $message"
	assert_equal "$output" ""
}

@test "pools: what the kernel counts by nodes, then what it counts for the machine" {
	metrics '# HELP hugefill_pool_pages Huge pages of the pool, persistent and surplus.
# TYPE hugefill_pool_pages gauge
# UNIT hugefill_pool_pages pages
hugefill_pool_pages{pagesize="2097152",node="0"} 4096
hugefill_pool_pages{pagesize="2097152",node="1"} 2112
hugefill_pool_pages{pagesize="1073741824",node="0"} 4
hugefill_pool_pages{pagesize="1073741824",node="1"} 2
# HELP hugefill_pool_free_pages Huge pages that are not in use, reserved ones too.
# TYPE hugefill_pool_free_pages gauge
# UNIT hugefill_pool_free_pages pages
hugefill_pool_free_pages{pagesize="2097152",node="0"} 3000
hugefill_pool_free_pages{pagesize="2097152",node="1"} 1000
hugefill_pool_free_pages{pagesize="1073741824",node="0"} 4
hugefill_pool_free_pages{pagesize="1073741824",node="1"} 1
# HELP hugefill_pool_surplus_pages Huge pages that go back to the system when they are freed.
# TYPE hugefill_pool_surplus_pages gauge
# UNIT hugefill_pool_surplus_pages pages
hugefill_pool_surplus_pages{pagesize="2097152",node="0"} 0
hugefill_pool_surplus_pages{pagesize="2097152",node="1"} 64
hugefill_pool_surplus_pages{pagesize="1073741824",node="0"} 0
hugefill_pool_surplus_pages{pagesize="1073741824",node="1"} 0
# HELP hugefill_pool_reserved_pages Free huge pages that are promised.
# TYPE hugefill_pool_reserved_pages gauge
# UNIT hugefill_pool_reserved_pages pages
hugefill_pool_reserved_pages{pagesize="2097152"} 500
hugefill_pool_reserved_pages{pagesize="1073741824"} 1
# HELP hugefill_pool_overcommit_pages Surplus huge pages that may be.
# TYPE hugefill_pool_overcommit_pages gauge
# UNIT hugefill_pool_overcommit_pages pages
hugefill_pool_overcommit_pages{pagesize="2097152"} 1024
hugefill_pool_overcommit_pages{pagesize="1073741824"} 0
# HELP hugefill_pool_available_pages Free huge pages that are not promised.
# TYPE hugefill_pool_available_pages gauge
# UNIT hugefill_pool_available_pages pages
hugefill_pool_available_pages{pagesize="2097152"} 3500
hugefill_pool_available_pages{pagesize="1073741824"} 4
# EOF' --sysroot=two-nodes --pools
}

@test "mounts: limits where there are some; what is covered is left out" {
	metrics '# HELP hugefill_mount_info A hugetlbfs mount that can be reached.
# TYPE hugefill_mount_info gauge
hugefill_mount_info{mountpoint="/dev/hugepages",pagesize="2097152"} 1
hugefill_mount_info{mountpoint="/mnt/huge1G",pagesize="1073741824"} 1
hugefill_mount_info{mountpoint="/mnt/read only",pagesize="2097152"} 1
# HELP hugefill_mount_size_bytes Most that its files may have.
# TYPE hugefill_mount_size_bytes gauge
# UNIT hugefill_mount_size_bytes bytes
hugefill_mount_size_bytes{mountpoint="/mnt/huge1G",pagesize="1073741824"} 8589934592
# HELP hugefill_mount_min_size_bytes What is reserved for the mount.
# TYPE hugefill_mount_min_size_bytes gauge
# UNIT hugefill_mount_min_size_bytes bytes
hugefill_mount_min_size_bytes{mountpoint="/mnt/huge1G",pagesize="1073741824"} 1073741824
# HELP hugefill_mount_inodes Most files, its root counts.
# TYPE hugefill_mount_inodes gauge
# UNIT hugefill_mount_inodes inodes
hugefill_mount_inodes{mountpoint="/mnt/huge1G",pagesize="1073741824"} 64
# EOF' --sysroot=eight-nodes --mounts
}

@test "cgroups of both versions: counters have no type" {
	metrics '# HELP hugefill_cgroup_limit_bytes Most that may be used.
# TYPE hugefill_cgroup_limit_bytes gauge
# UNIT hugefill_cgroup_limit_bytes bytes
hugefill_cgroup_limit_bytes{cgroup="/machine",hierarchy="v1",pagesize="2097152"} 1073741824
# HELP hugefill_cgroup_usage_bytes Used, with the cgroups below.
# TYPE hugefill_cgroup_usage_bytes gauge
# UNIT hugefill_cgroup_usage_bytes bytes
hugefill_cgroup_usage_bytes{cgroup="/machine",hierarchy="v1",pagesize="2097152"} 536870912
# HELP hugefill_cgroup_reserved_usage_bytes Reserved, used or not.
# TYPE hugefill_cgroup_reserved_usage_bytes gauge
# UNIT hugefill_cgroup_reserved_usage_bytes bytes
hugefill_cgroup_reserved_usage_bytes{cgroup="/machine",hierarchy="v1",pagesize="2097152"} 0
# HELP hugefill_cgroup_failures_total How often the limit has refused a page.
hugefill_cgroup_failures_total{cgroup="/machine",hierarchy="v1",pagesize="2097152"} 0
# EOF' --sysroot=arm64 --cgroups
	samples 'hugefill_cgroup_limit_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 107374182400
hugefill_cgroup_reserved_limit_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 53687091200
hugefill_cgroup_usage_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 1073741824
hugefill_cgroup_reserved_usage_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 1073741824
hugefill_cgroup_failures_total{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 0' \
		--sysroot=eight-nodes --cgroups --page-size=2M
}

@test "without a section pools, mounts and cgroups; --page-size and --nodes as for tables" {
	samples 'hugefill_pool_pages{pagesize="2097152",node="2"} 1024
hugefill_pool_free_pages{pagesize="2097152",node="2"} 24
hugefill_pool_surplus_pages{pagesize="2097152",node="2"} 0
hugefill_mount_info{mountpoint="/dev/hugepages",pagesize="2097152"} 1
hugefill_mount_info{mountpoint="/mnt/read only",pagesize="2097152"} 1
hugefill_cgroup_limit_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 107374182400
hugefill_cgroup_reserved_limit_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 53687091200
hugefill_cgroup_usage_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 1073741824
hugefill_cgroup_reserved_usage_bytes{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 1073741824
hugefill_cgroup_failures_total{cgroup="/machine.slice",hierarchy="v2",pagesize="2097152"} 0' \
		--sysroot=eight-nodes --page-size=2M --nodes=2
}

@test "a used-up pool is a number, not a note; --quiet prints it all the same" {
	cp -R one-node "$BATS_TEST_TMPDIR/tree"
	for name in nr free resv; do
		echo 5 >"$BATS_TEST_TMPDIR/tree/sys/kernel/mm/hugepages/hugepages-2048kB/${name}_hugepages"
	done
	hf 0 status --format=openmetrics --sysroot="$BATS_TEST_TMPDIR/tree" --page-size=2M --quiet
	assert_equal "$stderr" ""
	assert_regex "$output" 'hugefill_pool_available_pages\{pagesize="2097152"\} 0'
}

@test "a kernel without huge pages has no metrics, a broken tree not even an end" {
	hf 0 status --format=openmetrics --sysroot=no-hugetlb
	assert_equal "$output" "# EOF"
	assert_equal "$stderr" "hugefill status: pools: this kernel has no huge pages"
	hf 1 status --format=openmetrics --sysroot=broken
	assert_equal "$output" ""
	to_full 1 status --format=openmetrics --sysroot=two-nodes
}

@test "names in labels: escaped twice over, different ones stay different" {
	local tree=$BATS_TEST_TMPDIR/tree name

	cp -R eight-nodes "$tree"
	for name in $'a"b\\c' $'new\nline' $'\xfe' $'\xff' 'größe' $'\e[2J'; do
		cp -R "$tree/sys/fs/cgroup/machine.slice" "$tree/sys/fs/cgroup/$name"
	done
	hf 0 status --format=openmetrics --sysroot="$tree" --cgroups --page-size=2M
	assert_equal "$(grep -a -oP '^hugefill_cgroup_usage_bytes\{cgroup="\K.*(?=",hierarchy)' <<<"$output")" \
		'/\\x1b[2J
/a\"b\\\\c
/größe
/machine.slice
/new\\nline
/\\xfe
/\\xff'
}

@test "what is refused" {
	wrong "--format, --json and --raw exclude each other" --format=openmetrics --json
	wrong "--format, --json and --raw exclude each other" --raw --format=openmetrics
	wrong "--format has no columns for --output and --output-all" --format=openmetrics -o NODE
	wrong "--format has no columns for --output and --output-all" --format=openmetrics --output-all
	wrong "--format is one look at the machine, not with --watch" --watch=1 --format=openmetrics
	wrong "--processes has no metrics" --format=openmetrics --pools --processes
	wrong "--files has no metrics" --format=openmetrics --files
	hf 2 status --format=prometheus
	assert_regex "${stderr//$'\n'/ }" '--format: .*openmetrics'
}
