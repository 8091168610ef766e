#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make deb: what is in the package, and what dpkg does with it in a clean root directory.

load helper

setup_file() {
	build_all deb
	make_root
}

# The smallest Debian that has what the package depends on, from where this machine has its own.
# Kept in out/.
make_root() {
	local codename

	[ ! -e "$ROOT/out/root.tar" ] || return 0
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	[ -n "$(sources)" ] || apt-get update
	sources >"$BATS_FILE_TMPDIR/sources.list"
	mmdebstrap --quiet --variant=essential --include=libjson-c5,libmount1,libnuma1,libsmartcols1 \
		"$codename" "$BATS_FILE_TMPDIR/root.tar" "$BATS_FILE_TMPDIR/sources.list"
	mv "$BATS_FILE_TMPDIR/root.tar" "$ROOT/out/root.tar"
}

sources() {
	# shellcheck disable=SC2016 # apt's
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		"Created-By: Packages" "Origin: Debian" | sort -u
}

# fresh: a root directory with systemd's place to see that it runs, and a record of what is asked of it
fresh() {
	target=$BATS_TEST_TMPDIR/root
	mkdir "$target"
	tar -xf "$ROOT/out/root.tar" -C "$target" --numeric-owner
	mkdir -p "$target/run/systemd/system" "$target/etc/systemd/system/multi-user.target.wants"
	printf '#!/bin/sh\necho "$*" >>/asked\n' >"$target/usr/bin/deb-systemd-invoke"
	# Those of an administrator.
	echo '2M=1G' >"$target/etc/hugefill.conf"
	(cd "$target" && find . -path ./var -prune -o -path ./asked -prune -o -print | sort) >"$BATS_TEST_TMPDIR/before"
}

newest() {
	echo "$BUILT/deb/hugefill_$VERSION-1_$(dpkg --print-architecture).deb"
}

oldest() {
	echo "$BATS_FILE_TMPDIR/older/out/packages/deb/hugefill_$OLDER-1_$(dpkg --print-architecture).deb"
}

in_root() {
	# dpkg lets maintainer scripts call ldconfig and others by name.
	PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 dpkg --root="$target" "$@"
}

# asked: verbs that systemd was asked for
asked() {
	cut -d ' ' -f 1 "$target/asked" 2>/dev/null | sort -u | tr '\n' ' '
}

@test "lintian has nothing to say" {
	run -0 lintian --allow-root --fail-on error,warning "$BUILT"/deb/*.changes
	run ! grep '^[EW]: ' <<<"$output"
}

@test "what make install installs is in it, each file once" {
	local units

	units=$(pkg-config --variable=systemdsystemunitdir systemd)
	diff <(what_make_installs | sed -e "s,^/usr/lib/systemd/system/,$units/," \
		-e 's,/zsh/site-functions/,/zsh/vendor-completions/,' | sort) \
		<(dpkg-deb --fsys-tarfile "$(newest)" | tar -t | sed -e '/\/$/d' -e 's/^\.//' \
			-e 's,^\(/usr/share/\(man\|doc\)/.*\)\.gz$,\1,' |
			grep -vE '^/usr/share/(lintian/|doc/hugefill/(copyright|changelog.Debian)$)' | sort)
}

@test "built by somebody else, elsewhere, it is the same to the byte" {
	same_bytes "hugefill-$VERSION.tar.xz" 'deb/*.deb' 'deb/*.orig.tar.xz' 'deb/*.debian.tar.xz'
}

@test "its changelog is NEWS" {
	local words

	dpkg-deb --fsys-tarfile "$(newest)" | tar -xO ./usr/share/doc/hugefill/changelog.Debian.gz | zcat \
		>"$BATS_TEST_TMPDIR/changelog"
	run -0 dpkg-parsechangelog -l "$BATS_TEST_TMPDIR/changelog" --all --show-field Changes
	refute_output --partial warning
	words=$(tr -s ' \n' '  ' <<<"$output")
	while read -r paragraph; do
		[[ $words == *"$paragraph"* ]] || fail "not there: $paragraph"
	done < <(awk 'BEGIN { RS = "" } /^  / { $1 = $1; print }' "$ROOT/NEWS")
	assert_equal "$(dpkg-parsechangelog -l "$BATS_TEST_TMPDIR/changelog" --show-field Version)" "$VERSION-1"
	assert_equal "$(date -u -I -d "$(dpkg-parsechangelog -l "$BATS_TEST_TMPDIR/changelog" --show-field Date)")" \
		"$(sed -nE '/^\* /{s/.*\((.*)\)$/\1/p;q}' "$ROOT/NEWS")"
}

@test "installed, the program runs and no unit is enabled or started" {
	fresh
	in_root --install "$(newest)"
	assert_equal "$(dpkg-query --admindir="$target/var/lib/dpkg" -W -f '${Status} ${Version}' hugefill)" \
		"install ok installed $VERSION-1"
	run -0 chroot "$target" /usr/sbin/hugefill --version
	assert_line --index 0 "hugefill $VERSION"
	run -0 in_root --verify hugefill
	assert_output ""
	run -0 find "$target/etc/systemd" -name '*hugefill*'
	assert_output ""
	assert_equal "$(asked)" ""
}

@test "the completions lie where the shells look" {
	run -0 zsh -fc 'print -l $fpath'
	assert_line /usr/share/zsh/vendor-completions
	run -0 dpkg-deb -c "$(newest)"
	assert_output --partial ./usr/share/zsh/vendor-completions/_hugefill
	assert_output --partial "$(pkg-config --variable=completionsdir bash-completion)/hugefill"
}

@test "an upgrade starts and stops nothing, and leaves what the administrator made" {
	fresh
	in_root --install "$(oldest)"
	run -0 chroot "$target" hugefill --version
	assert_line --index 0 "hugefill $OLDER"
	ln -s /lib/systemd/system/hugefill.service "$target/etc/systemd/system/multi-user.target.wants"
	in_root --install "$(newest)"
	run -0 chroot "$target" hugefill --version
	assert_line --index 0 "hugefill $VERSION"
	assert_equal "$(asked)" ""
	[ -L "$target/etc/systemd/system/multi-user.target.wants/hugefill.service" ]
	assert_equal "$(cat "$target/etc/hugefill.conf")" 2M=1G
}

@test "removed and purged, nothing is left; the units were stopped before" {
	fresh
	in_root --install "$(newest)"
	in_root --remove hugefill
	assert_equal "$(asked)" "stop "
	[ ! -e "$target/usr/sbin/hugefill" ]
	[ ! -e "$target/usr/share/man/man8/hugefill.8.gz" ]
	in_root --purge hugefill
	(cd "$target" && find . -path ./var -prune -o -path ./asked -prune -o -print | sort) >"$BATS_TEST_TMPDIR/after"
	# deb-systemd-helper takes directories along that nothing is left in.
	diff <(grep -v '\.wants$' "$BATS_TEST_TMPDIR/before") <(grep -v '\.wants$' "$BATS_TEST_TMPDIR/after")
	run ! grep -r hugefill "$target/var/lib/dpkg/status" "$target/var/lib/systemd"
}
