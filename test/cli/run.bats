#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# hugefill run: its command line, and what is found out before anything is allocated.

load helper

@test "run: what is missing, what does not go together" {
	usage run 'a command is missing: write -- and the command after the SPECs'
	usage run 'a command is missing: write -- and the command after the SPECs' vm0=1G
	usage run 'a command is missing: write -- and the command after the SPECs' vm0=1G --
	usage run 'a command is missing: write -- and the command after the SPECs' vm0=1G true
	usage run 'a command is missing: write -- and the command after the SPECs' vm0=1G ls -l
	usage run 'nothing is asked for: give a SPEC, --size or --from' -- true
	usage run "unrecognized option '--frobnicate'" --frobnicate vm0=1G -- true
	usage run '--json needs --dry-run: standard output is the command'\''s
hint: hugefill alloc --json makes the files, hugefill free gives them back' --json vm0=1G -- true
}

@test "run: specs are alloc's" {
	refuses run 'hugefill run: 1: no unit: write 1p for pages or 1M for MiB' vm0=1 -- true
	hf 2 run --sysroot=two-nodes vm0=1G -- true
	assert_equal "$stderr" "hugefill run: --sysroot: a captured tree cannot be changed; add --dry-run"
}

@test "run: a command that is not there, or no program: nothing is allocated" {
	hf 127 run vm0=1G -- no-such-command
	assert_equal "$stderr" "hugefill run: no-such-command: cannot run it: No such file or directory"
	hf 127 run vm0=1G -- ''
	hf 127 run vm0=1G -- ./no-such-command
	hf 126 run vm0=1G -- /
	assert_equal "$stderr" "hugefill run: /: cannot run it: Permission denied"
	: >"$BATS_TEST_TMPDIR/plain"
	hf 126 run vm0=1G -- "$BATS_TEST_TMPDIR/plain"
	run -126 env PATH="$BATS_TEST_TMPDIR" "$HUGEFILL" run vm0=1G -- plain
	run -126 env PATH="/nowhere:$BATS_TEST_TMPDIR:" "$HUGEFILL" run vm0=1G -- plain
	run -127 env PATH=/nowhere "$HUGEFILL" run vm0=1G -- plain
}

@test "run --dry-run prints alloc's plan, and knows itself in JSON" {
	local plan

	hf 0 alloc --dry-run --sysroot=two-nodes 2M=1G vm0=512M@1
	plan=$output
	hf 0 run --dry-run --sysroot=two-nodes 2M=1G vm0=512M@1 -- no-such-command --option
	assert_equal "$output" "$plan"
	hf 0 run --json -n --sysroot=two-nodes vm0=512M@1 -- true
	assert_equal "$(jq -r '.command, .dry_run' <<<"$output" | paste -sd ' ')" "run true"
}
