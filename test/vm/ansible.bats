#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Ansible role on a machine of several nodes. A play takes half a minute on an emulated CPU.
# shellcheck disable=SC2154 # bats sets output

load helper
ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
load ../fleet/ansible

@test "Ansible: pools and a file on the nodes that were asked for, twice, and away with them" {
	prepare_ansible
	play 0 "2M=8M@0,16M@1 fleet0=4M@1"
	recap 2 0
	result '[.command, .changed] | join(" ")' "alloc true"
	pools 4 8 0 0
	lies /dev/hugepages/fleet0 1 1
	play 0 "2M=8M@0,16M@1 fleet0=4M@1"
	recap 0 0
	play 2 "2M=4T@3" -- --check
	has "$output" "the pools would grow by 4T"
	play 0 "" hugefill_state=absent
	recap 2 0
	same
}
