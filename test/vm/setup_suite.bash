# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# In a guest nothing is to be saved. Its tests use the kernel tier's helper.

setup_suite() {
	local source

	cat /sys/kernel/mm/hugepages/hugepages-*/nr_hugepages >"$BATS_SUITE_TMPDIR/pools"
	for source in "$BATS_TEST_DIRNAME"/../kernel/hold.c "$BATS_TEST_DIRNAME"/where.c; do
		cc -o "$BATS_SUITE_TMPDIR/$(basename "$source" .c)" "$source" || return 1
	done
}
