# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What guests are made of: Debian's packages, of this machine or downloaded, and root directories packed
# as an initramfs.

# The system of every guest.
# shellcheck disable=SC2034
packages=(base-passwd bash bats bats-assert bats-file bats-support bsdutils coreutils dash diffutils findutils
	grep jq less libc-bin libhugetlbfs-bin mawk mount ncurses-base ncurses-bin numactl perl-base procps sed strace tar
	util-linux util-linux-extra)
system=(bin sbin lib lib64)
mirror=http://deb.debian.org

# own_apt DIR ARCHITECTURE COMMAND...: apt-get and such with sources, lists and status of its own in DIR:
# nothing of this machine's packages changes.
own_apt() {
	local dir=$1 arch=$2 command=$3

	shift 3
	mkdir -p "$dir"/{state/lists/partial,cache/archives/partial}
	"$command" -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::Etc::preferences=- -o Dir::Etc::preferencesparts=- -o Dir::State="$dir/state" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$dir/cache" -o APT::Sandbox::User=root \
		-o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Acquire::Languages=none \
		-o Acquire::Retries=3 "$@"
}

# sources SUITE: for own_apt's sources.list
sources() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg

	echo "deb [signed-by=$key] $mirror/debian $1 main"
	[ "$1" = forky ] || echo "deb [signed-by=$key] $mirror/debian-security $1-security main"
}

# new_root DIR
new_root() {
	local link

	rm -rf "$1"
	mkdir -p "$1"/{usr/bin,usr/sbin,usr/lib,usr/lib64,etc,dev,proc,sys,run,tmp,root,var/tmp}
	for link in "${system[@]}"; do
		ln -s "usr/$link" "$1/$link"
	done
}

# finish_root DIR: what packages do when they are installed, and what guests need
finish_root() {
	ln -sf mawk "$1/usr/bin/awk"
	ln -sf dash "$1/usr/bin/sh"
	# For each command that is run, bats notes where it is: on an emulated CPU that takes 5 ms. It does so
	# in the tests only, not in what they source; a failure is then shown at the test's own line.
	sed -i '/^bats_debug_trap() {/a [[ $1 != *.bash ]] || return 0' "$1/usr/lib/bats-core/tracing.bash"
	cp "$1/usr/share/base-passwd/passwd.master" "$1/etc/passwd"
	cp "$1/usr/share/base-passwd/group.master" "$1/etc/group"
}

# add_tests ROOT HUGEFILL COMPILER...: the program and its tests. The tests compile their helpers
# themselves; guests have no compiler, so their cc (test/vm/cc) hands out these.
add_tests() {
	local to=$1 hugefill=$2 source
	local root here
	here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	root=$(cd "$here/../.." && pwd)

	shift 2
	mkdir -p "$to"/hugefill/{helpers,doc} "$to/usr/bin"
	cp "$here/init" "$to/init"
	cp "$hugefill" "$to/hugefill/hugefill"
	cp -r "$root/test" "$root/contrib" "$to/hugefill"
	cp "$root/doc/hugefill.schema.json" "$to/hugefill/doc"
	rm -rf "$to/hugefill/test"/{fixtures,fuzz,unit,house}
	for source in "$root"/test/{kernel,perf}/*.c "$here"/*.c; do
		"$@" -O2 -D_GNU_SOURCE -pthread -o "$to/hugefill/helpers/$(basename "$source" .c)" "$source" -lnuma
	done
	cp "$here/cc" "$to/usr/bin/cc"
}

# pack ROOT FILE [OPTION...]: options of find
pack() {
	(cd "$1" && find . "${@:3}" -print0 | cpio --quiet -0 -o -H newc -R 0:0) >"$2.new"
	mv "$2.new" "$2"
}
