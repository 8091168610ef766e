#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make dist, and what packages are made from.

load helper

setup_file() {
	make -s -C "$ROOT" dist
}

@test "the archive has what is committed, and what it was unpacked to gives the same one" {
	git -C "$ROOT" ls-tree -r --name-only HEAD | sort >"$BATS_TEST_TMPDIR/committed"
	unpack "$BATS_TEST_TMPDIR/tree"
	(cd "$BATS_TEST_TMPDIR/tree" && find . -type f -printf '%P\n' | sort) >"$BATS_TEST_TMPDIR/archived"
	diff "$BATS_TEST_TMPDIR/committed" "$BATS_TEST_TMPDIR/archived"
	mkdir "$BATS_TEST_TMPDIR/tree/out"
	touch "$BATS_TEST_TMPDIR/tree/hugefill" "$BATS_TEST_TMPDIR/tree/out/x"
	make -s -C "$BATS_TEST_TMPDIR/tree" dist
	cmp "$BUILT/hugefill-$VERSION.tar.xz" "$BATS_TEST_TMPDIR/tree/out/packages/hugefill-$VERSION.tar.xz"
}

@test "nothing is built when VERSION and NEWS differ" {
	unpack "$BATS_TEST_TMPDIR/tree"
	echo 9.9.9 >"$BATS_TEST_TMPDIR/tree/VERSION"
	run -1 "$BATS_TEST_TMPDIR/tree/packaging/build" dist
	assert_output "packaging/build: VERSION is 9.9.9, NEWS begins with another"
	[ ! -e "$BATS_TEST_TMPDIR/tree/out" ]
}

@test "the version is in VERSION, and said in NEWS and the man page; nowhere else" {
	cd "$ROOT"
	run -1 git grep -nF -e "$VERSION" -- packaging Makefile tools hugefill.c cmd lib completions README.md .ci
	assert_output ""
}
