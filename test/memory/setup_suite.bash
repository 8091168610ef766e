# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Real pools, as in the kernel tier: begun and ended as there.

setup_suite() {
	BATS_TEST_DIRNAME=$BATS_TEST_DIRNAME/../kernel
	# Defines setup_suite and teardown_suite anew.
	# shellcheck source=test/kernel/setup_suite.bash
	source "$BATS_TEST_DIRNAME/setup_suite.bash"
	setup_suite
}
