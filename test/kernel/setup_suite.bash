# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel tier has the machine's pools for itself: one run at a time, from empty pools, which are
# given back at the end. A page, mount, file or directory that is left then is a failure.

HUGEFILL_TEST_LOCK=${HUGEFILL_TEST_LOCK:-/run/hugefill-test.lock}
LEAST_MIB=5120

broken() {
	echo "the kernel tests cannot run: $*" >&2
	return 1
}

# test/run holds the lock for all files of a run.
is_locked_above() {
	local process=$$ fd

	while [ "$process" -gt 1 ]; do
		for fd in "/proc/$process/fd"/*; do
			[ ! "$fd" -ef "$HUGEFILL_TEST_LOCK" ] || return 0
		done
		process=$(awk '$1 == "PPid:" { print $2 }' "/proc/$process/status")
	done
	return 1
}

take_lock() {
	! is_locked_above || return 0
	exec {test_lock}>>"$HUGEFILL_TEST_LOCK"
	flock "$test_lock"
}

# The counters that make up each pool: node by node, where there are nodes. "FILE PERSISTENT"
pool_sizes() {
	local dir found=0

	for dir in /sys/devices/system/node/node*/hugepages/hugepages-* /sys/kernel/mm/hugepages/hugepages-*; do
		[ -e "$dir" ] || continue
		# The machine's own counters only where no node has any.
		[[ $dir == */node/* ]] || [ $found = 0 ] || continue
		found=1
		echo "$dir/nr_hugepages $(($(<"$dir/nr_hugepages") - $(<"$dir/surplus_hugepages")))"
	done
}

overcommits() {
	local file

	for file in /sys/kernel/mm/hugepages/*/nr_overcommit_hugepages; do
		echo "$file $(<"$file")"
	done
}

# restore FILE: lines "FILE NUMBER"; a file that has its number already may refuse to be written
restore() {
	local file number status=0

	while read -r file number; do
		[ "$(<"$file")" != "$number" ] || continue
		echo "$number" >"$file" || status=1
		[ "$(<"$file")" = "$number" ] || { echo "$file is $(<"$file"), was $number" >&2; status=1; }
	done <"$1"
	return $status
}

# Shrinking a pool that is in use would make its pages surplus.
is_nobodys() {
	local dir

	for dir in /sys/kernel/mm/hugepages/*; do
		[ "$(<"$dir/free_hugepages")" = "$(<"$dir/nr_hugepages")" ] || return 1
		[ "$(<"$dir/resv_hugepages")" = 0 ] || return 1
	done
}

empty_pools() {
	is_nobodys || broken "huge pages are used or reserved by others" || return 1
	overcommits | awk '{ print $1, 0 }' >"$BATS_SUITE_TMPDIR/zero"
	pool_sizes | awk '{ print $1, 0 }' >>"$BATS_SUITE_TMPDIR/zero"
	restore "$BATS_SUITE_TMPDIR/zero" || broken "the pools cannot be emptied"
}

give_back() {
	local status=0

	restore "$BATS_SUITE_TMPDIR/overcommits" || status=1
	restore "$BATS_SUITE_TMPDIR/pools" || status=1
	return $status
}

setup_suite() {
	local tool mib

	# bats 1.8 leaves it changed when it filters by tags.
	IFS=$' \t\n'
	# Nothing waits longer, on the slowest of machines.
	export BATS_TEST_TIMEOUT=${BATS_TEST_TIMEOUT:-600}
	[ "$(id -u)" = 0 ] || broken "they need root" || return 1
	[ -x "${HUGEFILL:-$BATS_TEST_DIRNAME/../../hugefill}" ] || broken "hugefill is not built" || return 1
	for tool in cc jq strace unshare nsenter setpriv taskset; do
		command -v $tool >/dev/null || broken "$tool is missing: make deps" || return 1
	done
	[ -d /sys/kernel/mm/hugepages/hugepages-2048kB ] || broken "this kernel has no 2 MiB pages" || return 1
	mib=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	[ "$mib" -ge $LEAST_MIB ] || broken "$mib MiB of memory are available, $LEAST_MIB are needed" || return 1
	take_lock || return 1

	pool_sizes >"$BATS_SUITE_TMPDIR/pools"
	overcommits >"$BATS_SUITE_TMPDIR/overcommits"
	empty_pools || { give_back; return 1; }
	# shellcheck source=test/kernel/helper.bash
	source "$BATS_TEST_DIRNAME/helper.bash"
	{ print_pools; print_mounts $$; } >"$BATS_SUITE_TMPDIR/machine"
	# Tests run the program and hold as nobody, too.
	chmod go+x "$BATS_RUN_TMPDIR" "$BATS_SUITE_TMPDIR"
	cc -O2 -Wall -Wextra -D_GNU_SOURCE -o "$BATS_SUITE_TMPDIR/hold" "$BATS_TEST_DIRNAME/hold.c"
}

teardown_suite() {
	local status=0

	[ -e "$BATS_SUITE_TMPDIR/machine" ] || return 0
	{ print_pools; print_mounts $$; } | diff "$BATS_SUITE_TMPDIR/machine" - >&2 || {
		echo "^ the tests have left this behind" >&2
		status=1
	}
	empty_pools || status=1
	give_back || status=1
	return $status
}
