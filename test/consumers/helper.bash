# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel tests' helper, and what runs a runbook of doc/runbooks.md in its namespace.
#
# A test may define after_BLOCK functions, and do_SOMETHING for them: they are called in the runbook's
# shell when that block has been run, and look at the machine while the program is there. They see the
# runbook's variables.
# shellcheck disable=SC2154 # bats sets output, status, lines

# shellcheck source=test/kernel/helper.bash
source "$BATS_TEST_DIRNAME/../kernel/helper.bash"
BOOK=$BATS_TEST_DIRNAME/../../doc/runbooks.md
eval "kernel_$(declare -f start_namespace)"
eval "kernel_$(declare -f end_started)"

# The programs want more of /dev than hugefill does.
start_namespace() {
	kernel_start_namespace || return 1
	mkdir "$tmp/work" "$tmp/blocks" "$tmp/tmp"
	chmod 1777 "$tmp/tmp"
	# shellcheck disable=SC2016 # for the inner shell
	"${IN[@]}" bash -ec '
		mknod -m 0666 /dev/random c 1 8
		mkdir -m 1777 /dev/shm
		mount -t tmpfs -o mode=1777 shm /dev/shm'
}

# Servers put themselves into the background, beyond the reach of `kill' on what was started.
end_started() {
	local one mine

	mine=$(readlink "/proc/$namespace/ns/mnt")
	for one in /proc/[0-9]*; do
		[ "${one#/proc/}" != "$namespace" ] || continue
		[ "$(readlink "$one/ns/mnt")" = "$mine" ] || continue
		kill -9 "${one#/proc/}" || true
	done 2>/dev/null
	kernel_end_started
}

# unpack RUNBOOK: its blocks of shell as NN-NAME.ok or NN-NAME.fails in blocks/, its files in work/
unpack() {
	awk -v wanted="$1" -v blocks="$tmp/blocks" -v work="$tmp/work" '
	/^## / { on = substr($0, 4) == wanted; next }
	!on { next }
	to != "" && $0 == "```" { close(to); to = ""; next }
	to != "" { print >to; next }
	/^```sh / { to = sprintf("%s/%02d-%s.%s", blocks, ++n, $2, $3 == "" ? "ok" : $3); next }
	/^```[a-z]+ / { to = work "/" $2 }' "$BOOK"
	compgen -G "$tmp/blocks/*" >/dev/null || { echo "no such runbook: $1"; return 1; }
}

# What stands around the blocks in the runbook's shell.
book_shell() {
	cat <<'END'
set -euo pipefail
trap 'status=$?; trap "" EXIT; [ $status = 0 ] || show; exit $status' EXIT

show() {
	echo "block $book_block:"
	tail -n 50 "$tmp/$book_block".* "$tmp"/*.log
}

# said BLOCK: what it has printed
said() {
	cat "$tmp/$1.out" "$tmp/$1.err"
}

for book_file in "$tmp/blocks"/*; do
	book_block=${book_file##*/}
	book_kind=${book_block#*.}
	book_block=${book_block%.*}
	book_block=${book_block#*-}
	case $book_kind in
	ok)
		source "$book_file" >"$tmp/$book_block.out" 2>"$tmp/$book_block.err"
		;;
	fails)
		! (source "$book_file") >"$tmp/$book_block.out" 2>"$tmp/$book_block.err" || { echo "$book_block has not failed"; exit 1; }
		;;
	*)
		echo "$book_block: $book_kind: no such kind"
		exit 1
		;;
	esac
	if declare -F "after_$book_block" >/dev/null; then
		"after_$book_block"
	fi
done
END
}

# book RUNBOOK [VARIABLE=VALUE...]: runs it; its files are gone and the machine is as before
book() {
	local one

	unpack "$1"
	{
		declare -p tmp POOL
		declare -f equal has matches pool used_pages taken_pages
		for one in $(compgen -A function | grep -E '^(after|do)_'); do
			declare -f "$one"
		done
		book_shell
	} >"$tmp/book"
	run "${IN[@]}" unshare -i setsid env -C "$tmp/work" TMPDIR="$tmp/tmp" \
		PATH="$BATS_SUITE_TMPDIR/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "${@:2}" \
		timeout 120 "$BASH" "$tmp/book" </dev/null 3>&-
	[ "$status" = 0 ] || { echo "exit $status: $output"; return 1; }
	equal "$(find "$tmp/work" -mindepth 1 ! -name '*.c' ! -name '*.java')" "" "what the runbook has left"
}

# used, or reserved
taken_pages() {
	echo $(($(used_pages) + $(<"$POOL/resv_hugepages")))
}

# comment TEXT: of the test, in the TAP
comment() {
	echo "# ${1//$'\n'/$'\n'# }" >&3
}
