#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# demo.sh: fills a file of huge pages with two threads, shows the pool, and gives everything back.
# 4 GiB, or less where memory is short. Leaves pools and mounts as they were, also when interrupted.
set -euo pipefail
cd "$(dirname "$0")/.."
name=hugefill-demo.$$

[ "$(id -u)" = 0 ] || { echo "the demo grows a pool and mounts hugetlbfs: sudo make demo" >&2; exit 1; }

meminfo() {
	awk -v key="$1:" '$1 == key { print $2 }' /proc/meminfo
}

# Every pool's persistent pages per node (the machine's, where there are no node files), and every mount.
state() {
	local dir

	shopt -s nullglob
	for dir in /sys/devices/system/node/node*/hugepages/hugepages-* /sys/kernel/mm/hugepages/hugepages-*; do
		echo "$dir $(($(<"$dir/nr_hugepages") - $(<"$dir/surplus_hugepages")))"
	done
	awk '$3 == "hugetlbfs" { print $2, $4 }' /proc/mounts
}

pool_total() {
	local dir=/sys/kernel/mm/hugepages/hugepages-${page_kib}kB

	echo $(($(<"$dir/nr_hugepages") - $(<"$dir/surplus_hugepages")))
}

run() {
	echo
	echo "# hugefill $*"
	./hugefill "$@"
}

show_pool() {
	if ./hugefill --help | grep -q '^  status '; then
		run status
	else
		echo
		echo "# grep Huge /proc/meminfo"
		grep Huge /proc/meminfo
	fi
}

# Only what the demo itself added goes: pages that were in the pool stay, and so does a mount.
clean_up() {
	local options=() grown

	trap - EXIT
	[ "$had_mount" = yes ] || options+=(--umount)
	if [ "$total_before" = 0 ]; then
		run free --size "${mib}M" --file "$name" --shrink "${options[@]}"
	else
		run free --size "${mib}M" --file "$name" "${options[@]}"
		grown=$(($(pool_total) - total_before))
		[ "$grown" -le 0 ] || run free "default=${grown}p"
	fi
}

page_kib=$(meminfo Hugepagesize)
[ -n "$page_kib" ] || { echo "this kernel has no huge pages" >&2; exit 1; }
mib=4096
while [ $((mib * 1024)) -gt $(($(meminfo MemAvailable) / 2)) ] && [ $((mib * 512)) -ge "$page_kib" ]; do
	mib=$((mib / 2))
done
threads=$(nproc)
[ "$threads" -le 2 ] || threads=2
had_mount=no
! awk '$3 == "hugetlbfs" { found = 1 } END { exit !found }' /proc/mounts || had_mount=yes
total_before=$(pool_total)
before=$(state)

# An alloc that fails or is interrupted undoes itself.
run alloc --size "${mib}M" --file "$name" --threads "$threads"
trap 'clean_up || true' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
show_pool
clean_up

after=$(state)
if [ "$before" != "$after" ]; then
	echo "the machine is not as it was:" >&2
	diff <(echo "$before") <(echo "$after") >&2 || true
	exit 1
fi
echo
echo "Pools and mounts are as they were."
