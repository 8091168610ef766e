# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The peers tier needs what the kernel tier needs, and programs that use what hugefill prepared.

peers=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=test/kernel/setup_suite.bash
source "$peers/../kernel/setup_suite.bash"
eval "kernel_$(declare -f setup_suite)"
eval "kernel_$(declare -f teardown_suite)"

build() {
	cc -O2 -Wall -Wextra -D_GNU_SOURCE -pthread -o "$BATS_SUITE_TMPDIR/$1" "${@:2}"
}

# The kernel tier's looks for its files beside the tests.
setup_suite() {
	local tests=$BATS_TEST_DIRNAME tool

	for tool in hugeadm pagesize stress-ng; do
		command -v $tool >/dev/null || broken "$tool is missing: make deps-peers" || return 1
	done
	BATS_TEST_DIRNAME=$peers/../kernel
	kernel_setup_suite || return 1
	BATS_TEST_DIRNAME=$tests
	build peer "$peers"/peer*.c && build crowd "$peers/crowd.c"
}

teardown_suite() {
	kernel_teardown_suite
}
