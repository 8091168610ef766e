#!/usr/bin/env zsh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# offers.zsh COMPLETIONS FILE: for each line of standard input, the words that zsh offers at its end
# when it completes with the functions in COMPLETIONS, as "LINE => WORD WORD". FILE is scratch.
emulate -R zsh
zmodload zsh/zpty zsh/zselect

hits=$2
functions[inner]='
	fpath=($completions $fpath)
	autoload -Uz compinit
	compinit -D -u
	# A call with -O, -A or -D only sorts words out; the others offer them.
	compadd() {
		local -a offered
		if [[ ${(j: :)@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
			builtin compadd -A offered "$@"
			print -rl -- $IPREFIX$^offered >>$hits
		fi
		builtin compadd "$@"
	}
	offer() {
		zle complete-word
		zle kill-whole-line
		print -r -- END >>$hits
	}
	zle -N offer
	bindkey "^I" offer
	unset zle_bracketed_paste
	# A list might ask whether it is to be shown.
	unsetopt auto_list auto_menu
	PS1=
	print RE""ADY'

# What is written to the shell is echoed, so that it must not hold the word READY itself.
zpty shell zsh -f -i
zpty -w shell "stty -echo; completions=${(q)1} hits=${(q)hits}"
zpty -w shell ${functions[inner]//$'\n'/$'\n'}
zpty -r -m shell output '*READY*'
while IFS= read -r line; do
	: >$hits
	zpty -w -n shell $line$'\t'
	for (( i = 0; i < 500; i++ )); do
		words=(${(f)"$(<$hits)"})
		(( ! $words[(I)END] )) || break
		zselect -t 2
		# What the shell draws is read, lest it blocks.
		zpty -r -t shell output
	done
	words=(${words:#END})
	print -r -- "$line => $words"
done
zpty -d shell
