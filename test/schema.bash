# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets output
#
# For tests of --json against doc/hugefill.schema.json, on top of a helper's hf. Documents are kept and
# looked at together: the interpreter takes longer to start than to look.

# Where documents are kept: the test's folder, or its file's, to be looked at in its last test.
KEPT=${KEPT:-$BATS_TEST_TMPDIR}
SCHEMA_PY=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/schema.py
documents=0

# document KIND STATUS ARGUMENT...: a call whose document is of this kind in the schema
document() {
	local kind=$1

	shift
	hf "$1" "${@:2}" --json
	keep "$kind" <<<"$output"
}

# keep KIND: standard input
keep() {
	documents=$((documents + 1))
	cat >"$KEPT/$BATS_TEST_NUMBER-$documents.$1.json"
}

# agree: every document kept so far is valid
agree() {
	# The distribution's module is for the distribution's interpreter.
	/usr/bin/python3 "$SCHEMA_PY" "$KEPT"/*.json
}

# differs KIND FILTER MESSAGE: the last output, broken by this filter of jq, is refused, for this reason
differs() {
	rm -f "$KEPT"/*.json
	jq "$2" <<<"$output" | keep "$1"
	run -1 agree
	[[ $output == *"$3"* ]] || { printf '"%s" is not in:\n%s\n' "$3" "$output"; return 1; }
}
