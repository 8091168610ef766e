# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the house tests share. Each finding is one line; a test fails when there is any.

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
HUGEFILL=${HUGEFILL:-$ROOT/hugefill}
# Where the program's objects lie; its file "flags" holds the compiler's command line.
HF_OBJECTS=${HF_OBJECTS:-$ROOT/out/obj}
unset ARGP_HELP_FMT

# none COMMAND...: fails with what the command prints, if it prints anything
none() {
	local found

	found=$("$@") || true
	[ -z "$found" ] || { echo "$found"; return 1; }
}

# C sources and headers below these places, relative to the root
sources() {
	(cd "$ROOT" && find "$@" -name '*.[ch]' | sort)
}

# strip FILE: without comments, lines numbered as before
strip_comments() {
	gcc -fpreprocessed -dD -E -x c "$ROOT/$1" 2>/dev/null | grep -v '^# [0-9]'
}

# strings_of FILE: its string literals, one a line
strings_of() {
	strip_comments "$1" | grep -v '^ *#include' | grep -oE '"([^"\\]|\\.)*"'
}

# undefined OBJECT: names that it takes from others, without the compiler's fortified spelling
undefined() {
	nm -u "$1" | awk '{ print $2 }' | sed -E 's/^__(.*)_chk$/\1/; s/@.*//; s/^__isoc(99|23)_//'
}

# missing_in A B: words of A that are not in B
missing_in() {
	comm -23 <(tr ' ' '\n' <<<"$1" | sort -u) <(tr ' ' '\n' <<<"$2" | sort -u) | grep . || true
}
