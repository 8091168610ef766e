#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One set of options: --help, the man page and both completions agree, in both directions.

load house

# Something must be compared: two empty sets would agree.
setup() {
	[ -x "$HUGEFILL" ] && [ -n "$(commands)" ]
}

# A row of the help: up to six blanks, then "-s, --size=SIZE", or "--mode=MODE" alone.
help_options() {
	"$HUGEFILL" "$@" --help | grep -oE '^ {2,6}(-., )?--[a-z][a-z-]*' | grep -oE -- '--[a-z][a-z-]*' | sort -u
}

commands() {
	"$HUGEFILL" --help | awk '
	tolower($0) ~ /^ *commands:/ { on = 1; next }
	on && /^ +[a-z]+  / { print $1; next }
	on && /^[^ ]/ { on = 0 }'
}

# man_options SECTION SUBSECTION: the tags of .TP and .TQ there; SUBSECTION "" is all of the section
man_options() {
	awk -v section="$1" -v sub_wanted="$2" '
	/^\.SH / { gsub(/^\.SH +|"/, ""); sh = $0; ss = ""; next }
	/^\.SS / { gsub(/^\.SS +|"/, ""); ss = $0; next }
	/^\.(TP|TQ)/ { tag = 1; next }
	tag { tag = 0; if (sh == section && (sub_wanted == "" || ss == sub_wanted)) print }
	' "$ROOT/man/hugefill.8" | sed 's/\\-/-/g; s/\\f[BIRP]//g' | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' |
		grep -oE -- '--[a-z][a-z-]*' | sort -u
}

bash_options() {
	bash -c '
	! [ -r /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion
	. "$1" || exit; shift
	COMP_WORDS=(hugefill "$@" --); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
	run=$(complete -p hugefill | sed -E "s/.* -F ([^ ]+) .*/\1/")
	"$run" hugefill -- "${COMP_WORDS[COMP_CWORD - 1]}"
	printf "%s\n" "${COMPREPLY[@]}"' - "$ROOT/completions/hugefill.bash" "$@" 2>/dev/null |
		grep -oE -- '^--[a-z][a-z-]*' | sort -u
}

# agree NAME A B: the same words, else what each lacks
agree() {
	local lacks extra

	lacks=$(missing_in "$2" "$3")
	extra=$(missing_in "$3" "$2")
	[ -z "$lacks" ] || echo "$1 lacks what --help has: ${lacks//$'\n'/ }"
	[ -z "$extra" ] || echo "$1 has what --help lacks: ${extra//$'\n'/ }"
}

@test "there are commands, and each has options" {
	local command

	[ "$(commands | wc -l)" -ge 2 ]
	for command in $(commands); do
		[ "$(help_options "$command" | wc -l)" -ge 5 ] || { echo "$command"; return 1; }
	done
}

@test "the man page and --help agree" {
	compare() {
		local command

		for command in $(commands); do
			agree "man page, $command" "$(help_options "$command")" \
				"$(man_options COMMANDS "$command"; man_options 'COMMON OPTIONS' '')"
		done
		agree "man page, common options" "$(help_options)" "$(man_options 'COMMON OPTIONS' '')"
	}
	none compare
}

@test "the man page has a section for each command, and no other" {
	compare() {
		agree "man page" "$(commands)" \
			"$(awk '/^\.SH / { on = /COMMANDS/ } on && /^\.SS / { print $2 }' "$ROOT/man/hugefill.8")"
	}
	none compare
}

@test "the bash completion and --help agree" {
	compare() {
		local command

		for command in $(commands); do
			agree "bash completion, $command" "$(help_options "$command")" "$(bash_options "$command")"
		done
		agree "bash completion, no command" "$(help_options)" "$(bash_options)"
	}
	none compare
}

@test "the zsh completion and --help agree" {
	compare() {
		local command

		agree "zsh completion" \
			"$(help_options; for command in $(commands); do help_options "$command"; done)" \
			"$(grep -v '^ *#' "$ROOT/completions/_hugefill" | grep -oE -- '--[a-z][a-z-]*' | sort -u)"
	}
	none compare
}

@test "both completions know every command" {
	local file command

	for file in hugefill.bash _hugefill; do
		for command in $(commands); do
			grep -qw -- "$command" "$ROOT/completions/$file" || { echo "$file: $command"; return 1; }
		done
	done
}
