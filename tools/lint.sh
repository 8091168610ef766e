#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lint.sh [CHECK...]: no compiler has a warning, and every checker is content. Goes through all of
# them, or those named, then says which were not.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
wanted=" $* "
failed=()

# files PATTERN...: below the tree, without what was built
files() {
	local names=() pattern

	for pattern in "$@"; do
		names+=(-o -name "$pattern")
	done
	find . \( -path ./out -o -path ./.git \) -prune -o -type f \( "${names[@]:1}" \) -print | sort
}

scripts() {
	files '*.sh' '*.bash' '*.bats'
	find .ci tools test -type f -executable ! -name '*.*' -exec grep -lE '^#!.*\b(ba)?sh\b' {} +
}

# lint NAME COMMAND...: quiet while it succeeds
lint() {
	local name=$1 log

	[ "$wanted" = "  " ] || [[ $wanted == *" $name "* ]] || return 0
	shift
	if log=$("$@" 2>&1 </dev/null); then
		echo "lint: $name: ok"
	else
		echo "$log"
		echo "lint: $name: FAILED"
		failed+=("$name")
	fi
}

build() {
	"${MAKE:-make}" --no-print-directory -j"$(nproc)" OUT="out/lint-$1" CC="$1" CFLAGS="-O2 -g -Werror" all unit
}

# It knows neither the cleanup attribute nor that snprintf may fill an array it is given; leaks and
# uninitialised reads are the sanitizers' and valgrind's to find.
check_c() {
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
		--error-exitcode=1 --suppress=missingIncludeSystem --suppress=memleak \
		--suppress=ctuuninitvar -D_GNU_SOURCE '-DHF_VERSION=""' '-DHF_NUMA_VERSION=""' \
		hugefill.c cmd lib
}

check_format() {
	files '*.c' '*.h' | xargs -d '\n' clang-format --dry-run -Werror
}

check_scripts() {
	scripts | sort -u | xargs -d '\n' shellcheck -x
}

check_completions() {
	bash -n completions/hugefill.bash && zsh -n completions/_hugefill
}

# A file that shall carry no SPDX line: texts that others gave, data, and what tests compare with.
check_spdx() {
	local file status=0

	while read -r file; do
		case $file in
		./LICENSE | ./VERSION | ./hugefill | ./NEWS | *.json) continue ;;
		./packaging/debian/source/format | ./test/fixtures/* | ./test/fuzz/corpus/* | *.expected) continue ;;
		esac
		head -n 5 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || {
			echo "$file: no SPDX line at the top"
			status=1
		}
	done < <(files '*')
	return $status
}

lint gcc build gcc
lint clang build clang
lint clang-format check_format
lint cppcheck check_c
lint shellcheck check_scripts
lint mandoc mandoc -T lint -W warning man/hugefill.8
lint completions check_completions
lint spdx check_spdx
[ ${#failed[@]} = 0 ] || { echo "lint: failed: ${failed[*]}" >&2; exit 1; }
