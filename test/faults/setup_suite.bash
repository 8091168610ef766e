# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fault tier needs what the kernel tier needs, and a helper more.

faults=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=test/kernel/setup_suite.bash
source "$faults/../kernel/setup_suite.bash"
eval "kernel_$(declare -f setup_suite)"
eval "kernel_$(declare -f teardown_suite)"

# The kernel tier's looks for its files beside the tests.
setup_suite() {
	local tests=$BATS_TEST_DIRNAME

	BATS_TEST_DIRNAME=$faults/../kernel
	kernel_setup_suite || return 1
	BATS_TEST_DIRNAME=$tests
	cc -O2 -Wall -Wextra -D_GNU_SOURCE -o "$BATS_SUITE_TMPDIR/fragment" "$faults/fragment.c"
}

teardown_suite() {
	kernel_teardown_suite
}
