#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What bash and zsh offer at the end of a line, beyond options (options.bats): commands, values,
# columns, what this machine has, files.

load house
bats_require_minimum_version 1.5.0

TREE=$ROOT/test/fixtures/two-nodes

# in_bash [-m MOUNT] LINE...: "LINE => WORD WORD" for each; MOUNT stands for the hugetlbfs mounts
in_bash() {
	bash --norc --noprofile -c '
	. "$1" || exit
	shift
	if [ "$1" = -m ]; then
		only=$2
		_hugefill_mounts() { echo "$only"; }
		shift 2
	fi
	for COMP_LINE; do
		COMP_POINT=${#COMP_LINE}
		COMPREPLY=()
		_hugefill
		echo "$COMP_LINE => ${COMPREPLY[*]}"
	done' - "$ROOT/completions/hugefill.bash" "$@"
}

in_zsh() {
	printf '%s\n' "$@" | zsh -f "$ROOT/test/house/offers.zsh" "$ROOT/completions" "$BATS_TEST_TMPDIR/offers"
}

# offers SHELL LINE: only the words, one a line
offers() {
	local line

	line=$("in_$1" "$2")
	[[ $line == "$2 => "* ]]
	tr ' ' '\n' <<<"${line#"$2 => "}"
}

# same EXPECTED WORDS: whatever their order
same() {
	diff <(tr ' ' '\n' <<<"$1" | grep . | sort) <(tr ' ' '\n' <<<"$2" | grep . | sort)
}

@test "bash: commands and values" {
	run -0 diff - <(in_bash 'hugefill ' 'hugefill fr' 'hugefill --json al' 'hugefill alloc --layout ' \
		'hugefill alloc --layout=b' 'hugefill alloc --method=' 'hugefill free --progress=' \
		'hugefill alloc --dr' 'hugefill alloc --size=' 'hugefill alloc -s alloc --layout i' \
		'hugefill --punch') <<-'EOF'
		hugefill  => alloc run free status check mount umount bench
		hugefill fr => free
		hugefill --json al => alloc
		hugefill alloc --layout  => interleave block
		hugefill alloc --layout=b => block
		hugefill alloc --method= => auto populate touch fallocate
		hugefill free --progress= => auto always never
		hugefill alloc --dr => --dry-run --drop-caches
		hugefill alloc --size= => 
		hugefill alloc -s alloc --layout i => interleave
		hugefill --punch => 
	EOF
}

@test "zsh: commands and values" {
	run -0 diff - <(in_zsh 'hugefill ' 'hugefill fr' 'hugefill --json al' 'hugefill alloc --layout ' \
		'hugefill alloc --layout=b' 'hugefill alloc --method ' 'hugefill free --progress ' \
		'hugefill --punch') <<-'EOF'
		hugefill  => alloc run free status check mount umount bench
		hugefill fr => free
		hugefill --json al => alloc
		hugefill alloc --layout  => interleave block
		hugefill alloc --layout=b => --layout=block
		hugefill alloc --method  => auto populate touch fallocate
		hugefill free --progress  => auto always never
		hugefill --punch => 
	EOF
}

@test "both: the columns of each table, those that the program has" {
	local shell command section columns plan

	plan=$("$HUGEFILL" alloc --dry-run --raw --output-all --sysroot="$TREE" --size 64G | head -n 1)
	[ -n "$plan" ]
	for shell in bash zsh; do
		for command in alloc free check mount umount bench; do
			columns=$("$HUGEFILL" $command --help |
				awk '/^Columns:/ { on = 1; next } on && /^  [A-Z]/ { printf "%s ", $1 }')
			same "$columns" "$(offers $shell "hugefill $command -o ")"
		done
		same "$plan" "$(offers $shell 'hugefill alloc -n -o ')"
		for section in pools mounts files processes cgroups; do
			columns=$("$HUGEFILL" status --help | awk -v wanted="With --$section:" '
			/^With --/ { on = $0 == wanted }
			on && /^  [A-Z]/ { printf "%s ", $1 }')
			same "$columns" "$(offers $shell "hugefill status --$section -o ")"
		done
		[ "$(offers $shell 'hugefill alloc -o +TH')" = +THREADS ]
		[ "$(offers $shell 'hugefill alloc -o NODE,TI')" = NODE,TIME ]
	done
}

@test "both: page sizes that this machine has, and the program takes" {
	local shell size sizes count

	count=$(find /sys/kernel/mm/hugepages -mindepth 1 -name 'hugepages-*' 2>/dev/null | wc -l)
	for shell in bash zsh; do
		sizes=$(offers $shell 'hugefill alloc --page-size ')
		[ "$(wc -l <<<"$sizes")" = $((count + 1)) ]
		for size in $sizes; do
			[ "$count" = 0 ] || run -0 "$HUGEFILL" alloc --dry-run -p "$size" default=0
		done
		same "$sizes" "$(offers $shell 'hugefill free ' | grep -v /)"
	done
}

@test "both: nodes that the program takes, joined with +" {
	local shell node

	for shell in bash zsh; do
		offers $shell 'hugefill alloc -N ' | grep -qx all
		for node in $(offers $shell 'hugefill alloc -N '); do
			run -0 "$HUGEFILL" alloc --dry-run -N "$node" default=0
		done
		# shellcheck disable=SC2086 # words
		same "$(offers $shell 'hugefill alloc -N ' | grep -v all | sed 's/^/0+/')" \
			"$(offers $shell 'hugefill alloc -N 0+')"
	done
	[ "$(in_bash 'hugefill alloc 2M=1G@')" = "hugefill alloc 2M=1G@ => $(offers bash 'hugefill alloc -N ' | paste -sd ' ')" ]
	offers zsh 'hugefill alloc vm0=1G@' | grep -qx 'vm0=1G@0'
}

@test "bash: pools and files as specs, with what readline broke off left out" {
	local mount=$BATS_TEST_TMPDIR/huge

	mkdir "$mount"
	run -0 in_bash -m "$mount" "hugefill alloc $BATS_TEST_TMPDIR/h"
	diff - <(echo "$output") <<<"hugefill alloc $BATS_TEST_TMPDIR/h => $mount/"
	: >"$mount/vm0"
	run -0 in_bash -m "$mount" "hugefill free $mount/v" "hugefill free -f $mount/" "hugefill free --file=$mount/v" \
		'hugefill alloc def' 'hugefill free def' 'hugefill alloc vm0=4'
	diff - <(echo "$output") <<-EOF
		hugefill free $mount/v => $mount/vm0
		hugefill free -f $mount/ => $mount/vm0
		hugefill free --file=$mount/v => $mount/vm0
		hugefill alloc def => default=
		hugefill free def => default
		hugefill alloc vm0=4 => 
	EOF
	[ "$(in_bash -m "$mount" 'hugefill umount /')" = "hugefill umount / => $mount" ]
	[ "$(in_bash "hugefill mount $BATS_TEST_TMPDIR/")" = "hugefill mount $BATS_TEST_TMPDIR/ => $mount" ]
}

@test "both: files and directories of --from and --sysroot" {
	local dir=$BATS_TEST_TMPDIR shell

	: >"$dir/specs"
	mkdir "$dir/tree"
	[ "$(offers bash "hugefill alloc --from=$dir/sp")" = "$dir/specs" ]
	[ "$(offers bash "hugefill alloc --sysroot $dir/")" = "$dir/tree" ]
	offers zsh "hugefill alloc --from=$dir/sp" | grep -q 'specs$'
	offers zsh "hugefill alloc --sysroot $dir/t" | grep -q 'tree$'
}
