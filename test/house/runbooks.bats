#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# doc/runbooks.md is what `make check-consumers' runs: nothing in it is passed over.

load house

BOOK=$ROOT/doc/runbooks.md

runbooks() {
	sed -n 's/^## //p' "$BOOK"
}

@test "every runbook says what it needs, and is run by a test" {
	incomplete() {
		local title

		while IFS= read -r title; do
			awk -v wanted="$title" '
			/^## / { on = substr($0, 4) == wanted }
			on && /^Needs: / { found = 1 }
			END { exit !found }' "$BOOK" || echo "$title: needs?"
			grep -qE "^	book (\"$title\"|$title)( |\$)" "$ROOT"/test/consumers/*.bats || echo "$title: no test"
		done < <(runbooks)
	}
	[ "$(runbooks | wc -l)" -ge 7 ]
	none incomplete
}

@test "every block is for the shell, with a name of its own, or a file" {
	strange() {
		awk '
		/^## / { delete seen; next }
		inside { inside = $0 != "```"; next }
		!/^```/ { next }
		{ inside = 1 }
		!/^```sh [a-z_]+( fails)?$/ && !/^```(c|java) [A-Za-z]+\.[a-z]+$/ || seen[$2]++ { print NR ": " $0 }' "$BOOK"
	}
	none strange
}

@test "what the tests look at after a block has that block" {
	astray() {
		local name

		while IFS= read -r name; do
			grep -qE "^\`\`\`sh ${name#after_}( |\$)" "$BOOK" || echo "$name"
		done < <(grep -ohE 'after_[a-z_]+\(\)' "$ROOT"/test/consumers/*.bats | tr -d '()')
	}
	none astray
}
