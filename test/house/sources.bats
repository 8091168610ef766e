#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The shape of the sources.

load house

# Files of the project, not what was built
project() {
	(cd "$ROOT" && find . \( -path ./out -o -path ./.git \) -prune -o -type f ! -path ./hugefill -print | sort)
}

@test "every header compiles alone" {
	local header

	for header in $(sources lib cmd test/unit | grep '\.h$'); do
		(cd "$ROOT" && eval "$(cat "$HF_OBJECTS/flags")" -Werror -Wno-unused-function -fsyntax-only -x c "$header") ||
			return 1
	done
}

@test "a module includes its own header first" {
	others() {
		local file first

		for file in $(sources lib | grep '\.c$'); do
			[ -e "$ROOT/${file%.c}.h" ] || continue
			first=$(grep -m1 '^ *# *include' "$ROOT/$file")
			[ "$first" = "#include \"$(basename "${file%.c}").h\"" ] || echo "$file: $first"
		done
	}
	none others
}

@test "no file of code reaches 600 lines" {
	long() {
		project | grep -E '(\.[ch]|\.sh|\.bash|\.bats|/Makefile|/run|completions/.*)$' |
			(cd "$ROOT" && xargs -d '\n' wc -l) | awk '$2 != "total" && $1 >= 600'
	}
	none long
}

@test "no bats file has more than 25 tests" {
	many() {
		project | grep '\.bats$' | (cd "$ROOT" && xargs -d '\n' grep -c '^@test') | awk -F: '$NF > 25'
	}
	none many
}

@test "no typedefs" {
	typedefs() {
		local file

		for file in $(sources lib cmd) hugefill.c; do
			strip_comments "$file" | grep -E '^\s*typedef\b' | sed "s|^|$file: |"
		done
	}
	none typedefs
}

@test "a licence line on top of every file that can carry one" {
	# tools/lint.sh has the list of those that cannot.
	"$ROOT/tools/lint.sh" spdx
}

# Debian's package has it as its changelog, in which lintian wants no longer lines.
@test "no line of NEWS is longer than 76 characters" {
	[ "$(grep -cE '^.{77}' "$ROOT/NEWS")" = 0 ]
}

@test "NEWS begins with this version, and the program says it" {
	local version

	version=$(cat "$ROOT/VERSION")
	[ "$(grep -m1 -oE '[0-9]+\.[0-9]+(\.[0-9]+)?' "$ROOT/NEWS")" = "$version" ]
	[[ "$("$HUGEFILL" --version)" == *"$version"* ]]
}
