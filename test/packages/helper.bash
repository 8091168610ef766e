# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets output
#
# What the tests of packages share. Each kind is built three times: as it is, as an older version, and
# once more by somebody else in another place.

bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
VERSION=$(cat "$ROOT/VERSION")
OLDER=0.0.9
BUILT=$ROOT/out/packages
# A user who may write nowhere else.
SOMEBODY=(setpriv "--reuid=nobody" "--regid=nogroup" --clear-groups --no-new-privs)
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL HUGEFILL HF_OBJECTS OUT SOURCE_DATE_EPOCH DEB_BUILD_OPTIONS

# unpack DIRECTORY: the source archive into this one, which must not be there
unpack() {
	mkdir "$1"
	tar -xf "$BUILT/hugefill-$VERSION.tar.xz" -C "$1" --strip-components=1
}

# build_all deb|rpm: what setup_file does; in $BATS_FILE_TMPDIR/older and .../again the others' out/packages
build_all() {
	"$ROOT/packaging/build" "$1"
	unpack "$BATS_FILE_TMPDIR/older"
	echo "$OLDER" >"$BATS_FILE_TMPDIR/older/VERSION"
	sed -i "0,/^\* .*/s//* $OLDER (2026-01-02)/" "$BATS_FILE_TMPDIR/older/NEWS"
	DEB_BUILD_OPTIONS="nocheck noopt" "$BATS_FILE_TMPDIR/older/packaging/build" "$1"
	# bats' own directory is not open to everybody.
	again=$(mktemp -d /var/tmp/hugefill-again.XXXXXX)
	echo "$again" >"$BATS_FILE_TMPDIR/again"
	unpack "$again/elsewhere"
	chown -R nobody:nogroup "$again"
	(
		cd "$again" || exit
		umask 077
		env -i PATH="$PATH" HOME=/nonexistent TZ=Pacific/Auckland LANG=de_DE.UTF-8 DEB_BUILD_OPTIONS=nocheck \
			"${SOMEBODY[@]}" "$again/elsewhere/packaging/build" "$1"
	)
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/again" ] || rm -rf "$(cat "$BATS_FILE_TMPDIR/again")"
}

# same_bytes GLOB...: below packages/, as they are and built by somebody else
same_bytes() {
	local file again

	again=$(cat "$BATS_FILE_TMPDIR/again")
	cd "$BUILT" || return
	# shellcheck disable=SC2068 # patterns
	for file in $@; do
		cmp "$file" "$again/elsewhere/out/packages/$file" || return
	done
}

# what_make_installs: files, as make install has them below /usr
what_make_installs() {
	make -s -C "$ROOT" install DESTDIR="$BATS_TEST_TMPDIR/installed" PREFIX=/usr >/dev/null
	(cd "$BATS_TEST_TMPDIR/installed" && find . -type f -printf '/%P\n' | sort)
}
