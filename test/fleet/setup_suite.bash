# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fleet tier needs what the kernel tier needs, and the programs that hugefill is to get on with.

fleet=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck source=test/kernel/setup_suite.bash
source "$fleet/../kernel/setup_suite.bash"
eval "kernel_$(declare -f setup_suite)"
eval "kernel_$(declare -f teardown_suite)"

# The kernel tier's looks for its files beside the tests.
setup_suite() {
	local tests=$BATS_TEST_DIRNAME tool module

	for tool in promtool prometheus-node-exporter ansible-playbook ansible-lint curl systemd-analyze; do
		command -v $tool >/dev/null || broken "$tool is missing: make deps-fleet" || return 1
	done
	# The distribution's, whatever comes first in PATH.
	for module in yaml prometheus_client; do
		/usr/bin/python3 -c "import $module" || broken "python3's $module is missing: make deps-fleet" || return 1
	done
	BATS_TEST_DIRNAME=$fleet/../kernel
	kernel_setup_suite || return 1
	BATS_TEST_DIRNAME=$tests
}

teardown_suite() {
	kernel_teardown_suite
}
