#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# Options: usage errors, their place on the line, help, what the environment must not change.

load helper

@test "no command, an unknown one" {
	hf 2
	assert_equal "$output" ""
	assert_equal "$stderr" "hugefill: a command is missing
Try \`hugefill --help' or \`hugefill --usage' for more information."
	hf 2 frobnicate 2M=1G
	assert_equal "$output" ""
	assert_equal "$stderr" "hugefill: frobnicate: there is no such command
hint: \`hugefill --help' lists the commands"
	hf 2 --frobnicate alloc
	assert_equal "$output" ""
	assert_equal "$stderr" "hugefill: unrecognized option '--frobnicate'
Try \`hugefill --help' or \`hugefill --usage' for more information."
}

@test "alloc: what is missing, what does not go together" {
	usage alloc 'nothing is asked for: give a SPEC, --size or --from'
	usage alloc 'nothing is asked for: give a SPEC, --size or --from' -n --sysroot=two-nodes
	usage alloc '--file needs --size' -f x
	usage alloc '--file needs --size' -f x vm0=1G
	usage alloc '--json and --raw exclude each other' -n --json --raw 2M=1G
	usage alloc "unrecognized option '--frobnicate'" --frobnicate
	usage alloc "option requires an argument -- 's'" -s
	usage alloc "option '--raw' doesn't allow an argument" --raw=x
}

@test "alloc: values of options" {
	local number='is no number from 1 to 65536'

	usage alloc "--threads: \"0\" $number" -t 0 vm0=1G
	usage alloc "--threads: \"-1\" $number" --threads=-1 vm0=1G
	usage alloc "--threads: \"1x\" $number" -t 1x vm0=1G
	usage alloc "--threads: \"\" $number" --threads= vm0=1G
	usage alloc "--threads: \"99999999999999999999\" $number" -t 99999999999999999999 vm0=1G
	usage alloc '--layout: "x" is none of interleave, block' --layout=x vm0=1G
	usage alloc '--method: "x" is none of auto, populate, touch, fallocate' --method=x vm0=1G
	usage alloc '--progress: "x" is none of auto, always, never' --progress=x vm0=1G
	usage alloc '--mode: "9" is no octal mode from 0 to 0777' --mode=9 vm0=1G
	usage alloc '--mode: "1777" is no octal mode from 0 to 0777' --mode=1777 vm0=1G
	usage alloc '--deadline: "0" is no time; write 90, 90s, 500ms, 1.5m or 2h' --deadline=0 vm0=1G
	usage alloc '--deadline: "-1" is no time; write 90, 90s, 500ms, 1.5m or 2h' --deadline=-1 vm0=1G
	usage alloc '--deadline: "1y" is no time; write 90, 90s, 500ms, 1.5m or 2h' --deadline=1y vm0=1G
	usage alloc '--owner: "no_such_user": there is no user "no_such_user"; write USER[:GROUP] or :GROUP' \
		--owner=no_such_user vm0=1G
	usage alloc '--owner: "0:no_such_group": there is no group "no_such_group"' --owner=0:no_such_group vm0=1G
}

@test "alloc: values that need the machine" {
	local tree=--sysroot=two-nodes

	refuses alloc 'hugefill alloc: --page-size: "3M" is no page size of this kernel
hint: it has 2M pages
hint: it has 1G pages' -n $tree -p 3M -s 1G
	refuses alloc 'hugefill alloc: --page-size: "x": does not begin with a digit: write a number and a unit, as in 512M or 0.5G' \
		-n $tree -p x -s 1G
	refuses alloc 'hugefill alloc: --headroom: "1p" is neither a size in whole bytes nor a percentage' \
		-n $tree --headroom=1p -s 1G
	refuses alloc 'hugefill alloc: --headroom: "x": does not begin with a digit: write a number and a unit, as in 512M or 0.5G' \
		-n $tree --headroom=x -s 1G
	refuses alloc 'hugefill alloc: --headroom: "101%": more than 100% of the memory' -n $tree --headroom=101% -s 1G
	refuses alloc 'hugefill alloc: --nodes: "5": node 5 does not exist: the nodes with memory are 0-1' -n $tree -N 5 -s 1G
	refuses alloc 'hugefill alloc: --nodes: "": a number is missing: write a list as in 0, 0-3 or 0-3+6' -n $tree -N '' -s 1G
	refuses alloc 'hugefill alloc: --size: an amount is missing; write one as 4G' -n $tree -s ''
	refuses alloc 'hugefill alloc: --file: a name is missing' -n $tree -s 1G -f ''
}

@test "a captured tree is never acted upon" {
	refuses alloc 'hugefill alloc: --sysroot: a captured tree cannot be changed; add --dry-run' --sysroot=two-nodes 2M=20G
	refuses free 'hugefill free: --sysroot: a captured tree cannot be changed; add --dry-run' --sysroot=two-nodes 2M
	refuses alloc 'hugefill alloc: --sysroot: a captured tree cannot be changed; add --dry-run' --sysroot=two-nodes \
		--json vm0=1G
	hf 2 alloc -n --sysroot= 2M=1G
	assert_equal "$output" ""
	assert_regex "$stderr" '^hugefill alloc: --sysroot needs a directory'
}

@test "common options before and after the command are the same" {
	local option

	hf 0 alloc -n 2M=20G --sysroot=two-nodes
	local plain=$output
	hf 0 --sysroot two-nodes alloc 2M=20G -n
	assert_equal "$output" "$plain"
	for option in --json --raw --noheadings --bytes --output=node,pages -onode --output-all -q -J -r -b; do
		hf 0 "$option" --sysroot=two-nodes alloc -n 2M=20G
		local before=$output
		[ "$option" = -q ] || [ "$before" != "$plain" ] || [ "$option" = --output-all ] || fail "$option: no effect"
		hf 0 alloc "$option" --sysroot=two-nodes -n 2M=20G
		assert_equal "$output" "$before"
		hf 0 alloc -n 2M=20G --sysroot=two-nodes "$option"
		assert_equal "$output" "$before"
	done
	hf 2 --json alloc --raw -n --sysroot=two-nodes 2M=20G
	assert_regex "$stderr" '^hugefill alloc: --json and --raw exclude each other'
	hf 0 -o node alloc -o pages -n --sysroot=two-nodes --noheadings --raw 2M=20G
	assert_equal "$output" $'1024\n3008'
}

@test "options may follow specs, and -- ends them" {
	plans two-nodes -- --=2p -n=1p <<'EOF'
create /dev/hugepages/-- 0 2M 0B 2M 1 1
create /dev/hugepages/-- 1 2M 0B 2M 1 1
create /dev/hugepages/-n 0 2M 0B 2M 1 1
EOF
	plans two-nodes a=1p@0 -t 1 b=1p@1 --layout block <<'EOF'
create /dev/hugepages/a 0 2M 0B 2M 1 1
create /dev/hugepages/b 1 2M 0B 2M 1 -
EOF
}

@test "help lists the commands, and each command's options and columns" {
	local command

	hf 0 --help
	assert_equal "$stderr" ""
	assert_line --index 0 'Usage: hugefill [OPTION...] COMMAND [OPTION...] [SPEC...]'
	assert_line --regexp '^  alloc +grow pools, mount hugetlbfs if needed, create files and fill them$'
	assert_line --regexp '^  free +remove or punch files, give pool pages back to the system$'
	for command in alloc free; do
		hf 0 "$command" --help
		assert_equal "$stderr" ""
		assert_line --index 0 --regexp "^Usage: hugefill $command \\[OPTION\\.\\.\\.\\] \\[SPEC"
		assert_line --regexp '^ +-n, --dry-run '
		assert_line --regexp '^ +--sysroot=DIR '
		assert_line --regexp '^  TARGET  '
		assert_line --regexp '^  PAGES .*\(on request\)$'
		hf 0 "--help" "$command"
		assert_line --index 0 'Usage: hugefill [OPTION...] COMMAND [OPTION...] [SPEC...]'
		hf 0 "$command" -?
		assert_line --index 0 --regexp "^Usage: hugefill $command "
	done
}

@test "usage and version" {
	local option version

	version=$("$HUGEFILL" --version)
	for option in --version -V; do
		hf 0 $option
		assert_equal "$output" "$version"
		hf 0 alloc $option
		assert_equal "$output" "$version"
		hf 0 free $option
		assert_equal "$output" "$version"
		assert_equal "$stderr" ""
	done
	hf 0 --usage
	assert_line --index 0 --regexp '^Usage: hugefill \['
	hf 0 alloc --usage
	assert_line --index 0 --regexp '^Usage: hugefill alloc \['
	hf 0 free --usage
	assert_line --index 0 --regexp '^Usage: hugefill free \['
	assert_equal "$stderr" ""
}

@test "the version is VERSION's, and each library that is linked is named with its own" {
	local wanted

	of() { pkg-config --modversion "$1"; }
	wanted=$(printf 'hugefill %s\nlibnuma %s (as built)\nlibmount %s\nlibsmartcols %s\njson-c %s' \
		"$(cat "$ROOT/VERSION")" "$(of numa)" "$(of mount)" "$(of smartcols)" "$(of json-c)")
	hf 0 --version
	assert_equal "$output" "$wanted"
	# What else is linked comes with the compiler.
	run -0 bash -c 'readelf -d "$1" | sed -nE "s/.*NEEDED.*\[lib([^.]*)\.so.*/\1/p" |
		grep -vxE "c|m|[atu]b?san|gcc_s|pthread" | sort' - "$HUGEFILL"
	assert_equal "$output" $'json-c\nmount\nnuma\nsmartcols'
}

@test "the program's file name does not matter" {
	cp "$HUGEFILL" "$BATS_TEST_TMPDIR/other"
	run -2 --separate-stderr "$BATS_TEST_TMPDIR/other" alloc -n --sysroot=two-nodes 2M=512
	assert_equal "$stderr" "hugefill alloc: 512: no unit: write 512p for pages or 512M for MiB"
}

@test "the environment changes nothing" {
	local help plan variable

	hf 0 alloc --help
	help=$output
	hf 0 alloc -n --sysroot=two-nodes 2M=20G vm0=1G
	plan=$output
	for variable in ARGP_HELP_FMT=rmargin=40,opt-doc-col=10,no-dup-args-note ARGP_HELP_FMT=nonsense \
		LIBMOUNT_DEBUG=all LIBMOUNT_FSTAB=/nowhere LIBMOUNT_MTAB=/nowhere LIBMOUNT_UTAB=/nowhere \
		LIBMOUNT_FORCE_MOUNT2=always LIBMOUNT_x= COLUMNS=20 LINES=3 TERM=dumb; do
		run -0 --separate-stderr env "$variable" "$HUGEFILL" alloc --help
		assert_equal "$output" "$help"
		assert_equal "$stderr" ""
		run -0 --separate-stderr env "$variable" "$HUGEFILL" alloc -n --sysroot=two-nodes 2M=20G vm0=1G
		assert_equal "$output" "$plan"
		assert_equal "$stderr" ""
	done
}

@test "an empty environment will do" {
	run -0 --separate-stderr env -i "$HUGEFILL" alloc -n --sysroot=two-nodes --raw --noheadings 2M=20G
	assert_equal "$output" "grow 2M 0 2M 8G 10G 1024 -
grow 2M 1 2M 4.1G 10G 3008 -"
	assert_equal "$stderr" ""
}
