#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make rpm: what is in the package, and what rpm does with it in an empty root directory.

load helper

setup_file() {
	build_all rpm
}

newest() {
	echo "$BUILT/rpm/RPMS/$(uname -m)/hugefill-$VERSION-1.$(uname -m).rpm"
}

oldest() {
	echo "$BATS_FILE_TMPDIR/older/out/packages/rpm/RPMS/$(uname -m)/hugefill-$OLDER-1.$(uname -m).rpm"
}

# What it depends on is not there as RPMs, where this is Debian.
in_root() {
	rpm --root "$BATS_TEST_TMPDIR/root" --define '_dbpath /rpmdb' "$@"
}

@test "rpmlint has nothing to say" {
	run -0 rpmlint -c "$ROOT/packaging/rpmlint.toml" "$BUILT"/rpm/SPECS/*.spec "$(newest)" "$BUILT"/rpm/SRPMS/*.rpm
	assert_line --partial '2 packages and 1 specfiles checked'
	run ! grep ': [EW]: ' <<<"$output"
}

@test "what make install installs is in it, each file once" {
	diff <(what_make_installs) <(rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$(newest)" | sed -n 's/^-[^ ]* //p' |
		grep -vE '^/usr/(lib/\.build-id|share/licenses)/' | sed 's,^\(/usr/share/man/.*\)\.gz$,\1,' | sort)
}

@test "built by somebody else, elsewhere, its files are the same" {
	local again

	again=$(cat "$BATS_FILE_TMPDIR/again")/elsewhere/out/packages/rpm/RPMS
	# The linker's build ID goes by the place of the build where packages are no RPMs.
	diff <(rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILESIZES} %{FILEMTIMES} %{FILENAMES}\n]' "$(newest)" |
		grep -v '/\.build-id') \
		<(rpm -qp --qf '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILESIZES} %{FILEMTIMES} %{FILENAMES}\n]' \
			"$again"/*/*.rpm | grep -v '/\.build-id')
}

@test "its changelog is NEWS" {
	local words paragraph

	words=$(rpm -qp --changelog "$(newest)" | tr -s ' \n' '  ')
	while read -r paragraph; do
		[[ $words == *"$paragraph"* ]] || fail "not there: $paragraph"
	done < <(awk 'BEGIN { RS = "" } /^  / { $1 = $1; print }' "$ROOT/NEWS")
	[[ $words == *" - $VERSION-1 "* ]]
}

@test "installed, upgraded and erased, nothing is left" {
	in_root --initdb
	in_root --install --nodeps "$(oldest)"
	run -0 "$BATS_TEST_TMPDIR/root/usr/sbin/hugefill" --version
	assert_line --index 0 "hugefill $OLDER"
	in_root --upgrade --nodeps "$(newest)"
	run -0 in_root -q hugefill
	assert_output "hugefill-$VERSION-1.$(uname -m)"
	run -0 in_root --verify --nodeps hugefill
	assert_output ""
	run -0 "$BATS_TEST_TMPDIR/root/usr/sbin/hugefill" --version
	assert_line --index 0 "hugefill $VERSION"
	in_root --erase hugefill
	run -0 find "$BATS_TEST_TMPDIR/root" -path '*/rpmdb' -prune -o ! -type d -print
	assert_output ""
}

@test "where systemd's macros are, they are used, and an upgrade does not restart" {
	run -0 rpmspec --parse --define 'systemd_post() POST %*' --define 'systemd_preun() PREUN %*' \
		--define 'systemd_postun() POSTUN %*' --define 'systemd_postun_with_restart() RESTART %*' "$BUILT"/rpm/SPECS/*.spec
	assert_line 'POST hugefill.service'
	assert_line --regexp '^PREUN hugefill\.service'
	assert_line 'POSTUN hugefill.service'
	refute_line --regexp ^RESTART
}
