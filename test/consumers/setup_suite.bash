# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The runbooks need what the kernel tier needs, and the programs that they are about.

consumers=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=test/kernel/setup_suite.bash
source "$consumers/../kernel/setup_suite.bash"
eval "kernel_$(declare -f setup_suite)"
eval "kernel_$(declare -f teardown_suite)"

SHM_GROUP=/proc/sys/vm/hugetlb_shm_group

# The kernel tier's looks for its files beside the tests.
setup_suite() {
	local tests=$BATS_TEST_DIRNAME tool

	for tool in qemu-system-x86_64 dpdk-testpmd java hugectl ipcmk sysctl; do
		command -v $tool >/dev/null || broken "$tool is missing: make deps-consumers" || return 1
	done
	compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null ||
		broken "postgres is missing: make deps-consumers" || return 1
	BATS_TEST_DIRNAME=$consumers/../kernel
	kernel_setup_suite || return 1
	BATS_TEST_DIRNAME=$tests
	cp $SHM_GROUP "$BATS_SUITE_TMPDIR/shm_group"
	# Debian's interpreters and users need not reach the source tree.
	install -D -m 0755 "$HUGEFILL" "$BATS_SUITE_TMPDIR/bin/hugefill"
}

teardown_suite() {
	local status=0

	[ ! -e "$BATS_SUITE_TMPDIR/shm_group" ] || cmp "$BATS_SUITE_TMPDIR/shm_group" $SHM_GROUP || {
		echo "^ the tests have changed vm.hugetlb_shm_group" >&2
		cat "$BATS_SUITE_TMPDIR/shm_group" >$SHM_GROUP
		status=1
	}
	kernel_teardown_suite || status=1
	return $status
}
