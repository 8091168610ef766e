# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel tests' helper, and stories: steps of hugefill, of the administrator and of a program that
# uses the pages, and the pool's counters after each.

# shellcheck source=test/kernel/helper.bash
source "$BATS_TEST_DIRNAME/../kernel/helper.bash"
PEER=$BATS_SUITE_TMPDIR/peer
CROWD=$BATS_SUITE_TMPDIR/crowd
crowd=()

# counters: TOTAL FREE RESERVED SURPLUS of the 2 MiB pool
counters() {
	echo "$(<"$POOL/nr_hugepages") $(<"$POOL/free_hugepages")" \
		"$(<"$POOL/resv_hugepages") $(<"$POOL/surplus_hugepages")"
}

# --- the program: test/peers/peer.h says what it can do ---

start_peer() {
	mkfifo "$tmp/to" "$tmp/from"
	"${IN[@]}" "$PEER" <"$tmp/to" >"$tmp/from" 2>"$tmp/peer.err" 3>&- &
	peer=$!
	started+=("$peer")
	exec 7>"$tmp/to" 8<"$tmp/from"
}

end_peer() {
	exec 7>&- 8<&-
	wait "$peer" || { echo "the peer ended with $?"; return 1; }
	rm "$tmp/to" "$tmp/from"
}

# ask WORD...: its answer is left in reply
ask() {
	echo "$*" >&7
	IFS= read -r -t 60 reply <&8 || { echo "no answer to: $*"; return 1; }
}

# --- stories ---

# step WORD...: sets reply
step() {
	reply=ok
	case $1 in
	hf) hf "${@:2}" ;;
	pool) echo "$2" >"$POOL/nr_hugepages" ;;
	overcommit) echo "$2" >"$POOL/nr_overcommit_hugepages" ;;
	mount) mount_huge "${@:2}" ;;
	rm) "${IN[@]}" rm "$2" ;;
	umount) "${IN[@]}" umount "$2" ;;
	*) ask "$@" ;;
	esac
}

# play: lines "STEP [=> REPLY] [| TOTAL FREE RESERVED SURPLUS]" from standard input, # begins a comment.
# STEP is one of step's, "hf STATUS ARGUMENT..." say, or a command of the peer, which answers REPLY (ok).
play() {
	local story line words want numbers

	mapfile -t story
	start_peer
	for line in "${story[@]}"; do
		line=${line%%#*}
		[[ $line =~ [^[:space:]] ]] || continue
		want=ok numbers=
		if [[ $line == *'|'* ]]; then
			read -r numbers <<<"${line##*|}"
			line=${line%%|*}
		fi
		if [[ $line == *'=>'* ]]; then
			read -r want <<<"${line##*=>}"
			line=${line%%=>*}
		fi
		read -ra words <<<"$line"
		step "${words[@]}" || { echo "in step: ${words[*]}"; return 1; }
		equal "$reply" "$want" "the reply to \"${words[*]}\"" || return 1
		[ -z "$numbers" ] || equal "$(counters)" "$numbers" \
			"after \"${words[*]}\", total free reserved surplus" || return 1
	done
	end_peer
}

# --- consumers: test/peers/crowd.c ---

# crowd KIND PAGES: one more in the background, which has had its pages once when this returns
crowd() {
	local said=$tmp/crowd.${#crowd[@]}

	"${IN[@]}" "$CROWD" consume "$@" >"$said" 2>&1 </dev/null 3>&- &
	crowd+=("$!")
	started+=("$!")
	wait_until grep -qs ready "$said" || { cat "$said"; return 1; }
}

# disperse: they end, and each has always found what it wrote
disperse() {
	local i

	for i in "${!crowd[@]}"; do
		kill -TERM "${crowd[i]}"
		wait "${crowd[i]}" || { echo "a consumer ended with $?:"; cat "$tmp/crowd.$i"; return 1; }
	done
	crowd=()
}
