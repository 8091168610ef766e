#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# deps.sh GROUP...: installs what is missing of these groups, with apt-get or dnf; nothing when
# nothing is missing. Without root it says what it would do and exits 1.
#
# The one list of what the build, the tests and the benchmarks need:
# group, how to see that it is there, Debian's package, Fedora's package ("-": part of another).
set -eu

list() {
	cat <<-'EOF'
	build  cmd:gcc                  gcc               gcc
	build  pkg                      libc6-dev         glibc-devel
	build  cmd:make                 make              make
	build  cmd:cmp                  diffutils         diffutils
	build  cmd:pkg-config           pkg-config        pkgconf-pkg-config
	build  pc:numa                  libnuma-dev       numactl-devel
	build  pc:mount                 libmount-dev      libmount-devel
	build  pc:smartcols             libsmartcols-dev  libsmartcols-devel
	build  pc:json-c                libjson-c-dev     json-c-devel
	check  pkg                      -                 libasan
	check  pkg                      -                 libubsan
	check  pkg                      -                 libtsan
	check  cmd:prove                perl              perl-Test-Harness
	check  cmd:bats                 bats              bats
	check  pkg                      bats-support      bats-support
	check  pkg                      bats-assert       bats-assert
	check  pkg                      bats-file         bats-file
	check  cmd:setpriv              util-linux        util-linux
	check  cmd:flock                util-linux        util-linux
	check  cmd:strace               strace            strace
	check  cmd:jq                   jq                jq
	check  pkg                      python3-jsonschema  python3-jsonschema
	check  cmd:clang                clang             clang
	check  cmd:clang-format         clang-format      clang-tools-extra
	check  cmd:cppcheck             cppcheck          cppcheck
	check  cmd:shellcheck           shellcheck        ShellCheck
	check  cmd:mandoc               mandoc            mandoc
	check  cmd:valgrind             valgrind          valgrind
	check  cmd:numactl              numactl           numactl
	check  cmd:zsh                  zsh               zsh
	check  pkg                      bash-completion   bash-completion
	check  cmd:systemd-analyze      systemd           systemd
	check  cmd:hugeadm              libhugetlbfs-bin  libhugetlbfs-utils
	fleet  cmd:promtool             prometheus        golang-github-prometheus
	fleet  cmd:prometheus-node-exporter prometheus-node-exporter node-exporter
	fleet  pkg                      python3-prometheus-client python3-prometheus_client
	fleet  pkg                      python3-yaml      python3-pyyaml
	fleet  cmd:ansible-playbook     ansible-core      ansible-core
	fleet  cmd:ansible-lint         ansible-lint      python3-ansible-lint
	fleet  cmd:curl                 curl              curl
	perf   cmd:hugeadm              libhugetlbfs-bin  libhugetlbfs-utils
	perf   cmd:qemu-system-x86_64   qemu-system-x86   qemu-system-x86-core
	vm     cmd:qemu-system-x86_64   qemu-system-x86   qemu-system-x86-core
	peers  cmd:hugeadm              libhugetlbfs-bin  libhugetlbfs-utils
	peers  cmd:stress-ng            stress-ng         stress-ng
	peers  pkg                      -                 libhugetlbfs-tests
	perf   cmd:/usr/bin/time        time              time
	perf   cmd:gnuplot              gnuplot-nox       gnuplot
	vm     cmd:qemu-system-aarch64  qemu-system-arm   qemu-system-aarch64-core
	vm     cmd:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu
	vm     cmd:cpio                 cpio              cpio
	vm     cmd:numactl              numactl           numactl
	vm     cmd:less                 less              less
	vm     cmd:ps                   procps            procps-ng
	vm     cmd:systemctl            systemd           systemd
	packages  pkg                   build-essential   -
	packages  cmd:dh                debhelper         debhelper
	packages  cmd:git               git               git-core
	packages  cmd:lintian           lintian           lintian
	packages  cmd:mmdebstrap        mmdebstrap        mmdebstrap
	packages  cmd:rpmbuild          rpm               rpm-build
	packages  cmd:rpmlint           rpmlint           rpmlint
	packages  pc:systemd            systemd           systemd-devel
	packages  cmd:xz                xz-utils          xz
	consumers  pkg                      postgresql             postgresql-server
	consumers  cmd:qemu-system-x86_64   qemu-system-x86        qemu-system-x86-core
	consumers  cmd:dpdk-testpmd         dpdk-dev               dpdk
	consumers  cmd:java                 default-jre-headless   java-latest-openjdk-headless
	consumers  cmd:hugectl              libhugetlbfs-bin       libhugetlbfs-utils
	consumers  pkg                      libhugetlbfs0          libhugetlbfs
	consumers  pkg                      libhugetlbfs-dev       libhugetlbfs-devel
	consumers  cmd:jq                   jq                     jq
	consumers  cmd:ps                   procps                 procps-ng
	EOF
}

# A command may have come from elsewhere than the distribution's package, so it is asked for first.
is_there() {
	case $1 in
	cmd:*) command -v "${1#cmd:}" >/dev/null ;;
	pc:*) pkg-config --exists "${1#pc:}" 2>/dev/null ;;
	*) is_installed "$2" ;;
	esac
}

is_installed() {
	if [ "$manager" = dnf ]; then
		rpm -q "$1" >/dev/null 2>&1
	else
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
	fi
}

missing() {
	list | while read -r group probe debian fedora; do
		case " $groups " in *" $group "*) ;; *) continue ;; esac
		package=$debian
		[ "$manager" = dnf ] && package=$fedora
		[ "$package" = - ] || is_there "$probe" "$package" || echo "$package"
	done | sort -u | tr '\n' ' '
}

# The package lists of a fresh machine are empty or old: they are fetched when a package is not found.
install_apt() {
	export DEBIAN_FRONTEND=noninteractive
	apt-get install -y --no-install-recommends "$@" || {
		apt-get update
		apt-get install -y --no-install-recommends "$@"
	}
}

[ $# -gt 0 ] || { echo "usage: deps.sh GROUP..." >&2; exit 2; }
groups=$*
manager=apt-get
command -v apt-get >/dev/null || manager=dnf
wanted=$(missing)
[ -n "$wanted" ] || exit 0

if ! command -v "$manager" >/dev/null; then
	echo "missing, and neither apt-get nor dnf is here to install it: $wanted" >&2
	exit 1
fi
if [ "$(id -u)" != 0 ]; then
	echo "missing: $wanted" >&2
	echo "as root this would run: $manager install $wanted" >&2
	exit 1
fi
echo "installing: $wanted"
# shellcheck disable=SC2086 # a list of words
case $manager in
apt-get) install_apt $wanted ;;
dnf) dnf install -y --setopt=install_weak_deps=False $wanted ;;
esac
