#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What README and the man page show is accepted: each example is planned on a captured tree, where
# it may fail for want of memory or of a file, but not for its wording.

load house
bats_require_minimum_version 1.5.0

TREE=$ROOT/test/fixtures/two-nodes

# fenced LANGUAGE: the blocks of README with this mark
fenced() {
	awk -v mark="\`\`\`$1" '$0 == "```" { on = 0 } on { print } $0 == mark { on = 1 }' "$ROOT/README.md"
}

# man_block SECTION: what stands between .EX and .EE there, as a reader sees it
man_block() {
	awk -v section="$1" '
	/^\.SH / { gsub(/^\.SH +|"/, ""); sh = $0; next }
	/^\.EE/ { on = 0 }
	on && sh == section { print }
	/^\.EX/ { on = 1 }' "$ROOT/man/hugefill.8" | sed 's/\\-/-/g; s/\\e/\\/g; s/\\f[BIRP]//g'
}

# Continued lines joined, rights and what follows a pipe or a redirection left out, the program's own lines only
calls() {
	sed -e ':again' -e '/\\$/N; s/\\\n *//; tagain' | sed -E 's/^sudo //; s/ (\||>).*//' | grep -E '^hugefill( |$)'
}

# plan SPECFILE: each call read from standard input; prints those that are refused
plan() {
	local call words status said how

	while IFS= read -r call; do
		call=${call//--from=\/etc\/hugefill.conf/--from=$1}
		eval "words=($call)" || echo "$call: no words"
		status=0
		# What only looks has no plan, and files are the running machine's.
		how=(--dry-run --sysroot="$TREE")
		case $call in
		*' status'*' --files'*) how=() ;;
		*' status'* | *' check'*) how=(--sysroot="$TREE") ;;
		'hugefill run '*)
			words=(hugefill run "${how[@]}" "${words[@]:2}")
			how=()
			;;
		esac
		said=$("$HUGEFILL" "${words[@]:1}" "${how[@]}" 2>&1 >/dev/null) || status=$?
		[ $status -le 1 ] || printf '%s\nexit %d: %s\n' "$call" $status "$said"
		[[ $said != *Try\ \`* ]] || echo "$call: usage"
	done
}

# At least this many lines, or nothing was tested
at_least() {
	[ "$(wc -l)" -ge "$1" ]
}

@test "README's examples are planned" {
	fenced spec >"$BATS_TEST_TMPDIR/specs"
	fenced sh | calls | at_least 8
	none plan "$BATS_TEST_TMPDIR/specs" < <(fenced sh | calls)
}

# The section for those who come from other tools
moving() {
	awk '/^## / { on = /^## Coming from/ } on && /^\|/' "$ROOT/README.md"
}

@test "README's counterparts of other tools' calls are planned" {
	counterparts() { moving | grep -oE '`hugefill [^`]*`' | tr -d '`'; }
	counterparts | at_least 30
	none plan /dev/null < <(counterparts)
}

@test "README says of every option of hugeadm what stands for it" {
	unsaid() {
		local option

		for option in $(hugeadm --help 2>&1 | grep -oE '^ --[a-z_-]+'); do
			case $option in
			--thp-*) option='--thp-*' ;;
			--help | --verbose) continue ;;
			esac
			moving | cut -d '|' -f 2 | grep -qF -e "\`$option" || echo "$option"
		done
	}
	[ "$(hugeadm --help 2>&1 | grep -cE '^ --')" -ge 25 ]
	none unsaid
}

@test "the man page's examples are planned" {
	man_block 'SPEC FILES' >"$BATS_TEST_TMPDIR/specs"
	man_block EXAMPLES | calls | at_least 12
	none plan "$BATS_TEST_TMPDIR/specs" < <(man_block EXAMPLES | calls)
}

@test "the units call the program with what it takes" {
	fenced spec >"$BATS_TEST_TMPDIR/specs"
	units() {
		{ fenced ini; cat "$ROOT"/systemd/*.service "$ROOT"/systemd/examples/*.conf; } |
			sed -nE 's,^Exec[A-Za-z]+=\+?(nsenter [^h]*)?,,p' | sed 's,/etc/hugefill/[^ ]*\.conf,/etc/hugefill.conf,'
	}
	units | calls | at_least 12
	none plan "$BATS_TEST_TMPDIR/specs" < <(units | calls)
}

@test "the unit, and README's spec file, are what check --persist prints" {
	local advice conf=/etc/hugefill.conf unit=/etc/systemd/system/hugefill.service

	fenced spec >"$BATS_TEST_TMPDIR/specs"
	advice=$("$HUGEFILL" check --persist --sysroot="$TREE" --from="$BATS_TEST_TMPDIR/specs" 2>/dev/null) || true
	run -0 diff <(sed 1d "$ROOT/systemd/hugefill.service") <(sed "1,/^# .*${unit//\//.}/d" <<<"$advice")
	run -0 diff <(fenced spec | grep -v '^#') <(sed "1,/^# .*${conf//\//.}/d; /^$/,\$d" <<<"$advice")
}

@test "spec files that are shown can be read" {
	local which

	fenced spec >"$BATS_TEST_TMPDIR/readme"
	man_block 'SPEC FILES' >"$BATS_TEST_TMPDIR/man"
	for which in readme man; do
		[ -s "$BATS_TEST_TMPDIR/$which" ]
		run -0 "$HUGEFILL" alloc --from="$BATS_TEST_TMPDIR/$which" --dry-run --sysroot="$TREE"
	done
}

@test "README has two commands for a fresh machine, and make knows them" {
	local commands

	commands=$(awk '/^## / { on = /^## Two commands/ } on && /^    / { sub(/^ +/, ""); print }' "$ROOT/README.md")
	[ "$commands" = $'sudo make demo\nsudo make check' ]
	grep -qE '^demo:' "$ROOT/Makefile"
	grep -qE '^check:' "$ROOT/Makefile"
}

@test "the man page names this version and every column" {
	local columns command title

	# column_names ARGUMENT...: the heading of every table
	column_names() {
		"$HUGEFILL" "$1" --help | awk '/^Columns:/ { on = 1; next } on && /^  [A-Z]/ { print $1 }'
	}
	grep -q "^\.TH HUGEFILL 8 .* \"hugefill $(cat "$ROOT/VERSION")\"" "$ROOT/man/hugefill.8"
	for command in alloc free status check mount umount bench; do
		columns=$(column_names $command)
		title="Columns of ${command/#*mount/mount and umount}"
		[ -n "$columns" ]
		none missing_in "$columns" "$(man_columns "$title")"
		none missing_in "$(man_columns "$title")" "$columns"
	done
	columns=$("$HUGEFILL" alloc --dry-run --raw --output-all --sysroot="$TREE" --size 64G | head -n 1)
	none missing_in "$columns" "$(man_columns 'Columns of alloc --dry-run')"
	none missing_in "$(man_columns 'Columns of alloc --dry-run')" "$columns"
}

# man_columns SUBSECTION: the tags there
man_columns() {
	sed 's/\\-/-/g' "$ROOT/man/hugefill.8" | awk -v wanted="$1" '
	/^\.S[SH] / { gsub(/^\.S[SH] +|"/, ""); on = $0 == wanted; next }
	tag { gsub(",", ""); print; tag = 0 }
	/^\.T[PQ]/ { tag = on }' | tr '\n' ' '
}

@test "the man page names every metric, and no other" {
	local file made told

	names() {
		grep -oE '\bhugefill_(pool|mount|cgroup)_[a-z_]+' | sort -u
	}
	made=$(for file in $(sources cmd); do strings_of "$file"; done | names)
	told=$(sed -n '/^\.SS Metrics of status/,/^\.SS Columns of check/p' "$ROOT/man/hugefill.8" |
		sed 's/\\f[BIRP]/ /g' | names)
	[ "$(wc -l <<<"$made")" -ge 15 ]
	none missing_in "$made" "$told"
	none missing_in "$told" "$made"
}

@test "the man page names every id of a finding" {
	ids() {
		grep -ohE '(hf_plan_find\([^"]*|->id = |, )"[a-z]+(-[a-z]+)*", (true|false|!)' "$ROOT"/lib/*.c | grep -oE '"[a-z-]+"'
		grep -ohE '(->id = |[?:] +)"[a-z]+(-[a-z]+)*"' "$ROOT/lib/cause.c" | grep -oE '"[a-z-]+"'
		grep -ohE '(hf_survey_add\([^"]*|HF_[A-Z]+, |[?:] +)"[a-z]+(-[a-z]+)*"[ ,]' "$ROOT"/lib/survey*.c |
			grep -oE '"[a-z-]+"'
	}
	unnamed() {
		local id

		for id in $(ids | tr -d '"' | sort -u); do
			sed 's/\\-/-/g' "$ROOT/man/hugefill.8" | grep -qE "^\.BR $id [,.;]" || echo "$id"
		done
	}
	[ "$(ids | sort -u | wc -l)" -ge 30 ]
	none unnamed
}
