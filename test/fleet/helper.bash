# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel tests' helper, for what manages and watches many machines.
# shellcheck disable=SC2034 # the tests use ROOT

# shellcheck source=test/kernel/helper.bash
source "$BATS_TEST_DIRNAME/../kernel/helper.bash"
ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# bin_with NAME: a script, from standard input, in $tmp/bin, where it comes before the system's
bin_with() {
	mkdir -p "$tmp/bin"
	cat >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
	PATH=$tmp/bin:$PATH
}
