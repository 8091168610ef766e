# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests in guests need beside the kernel tier's helper: pools and pages node by node.
# shellcheck disable=SC2154 # bats and the other helper set output, mnt, ...

load ../kernel/helper
WHERE=$BATS_SUITE_TMPDIR/where
NODES=/sys/devices/system/node
# Here every row counts.
BY_TARGET=.

# The other's, and each node: a page that comes back to the wrong node is a change.
print_pools() {
	local dir

	for dir in /sys/kernel/mm/hugepages/*; do
		echo "${dir##*/}: nr $(<"$dir/nr_hugepages") free $(<"$dir/free_hugepages")" \
			"resv $(<"$dir/resv_hugepages") surplus $(<"$dir/surplus_hugepages")" \
			"overcommit $(<"$dir/nr_overcommit_hugepages")"
	done
	for dir in /sys/devices/system/node/node*/hugepages/*; do
		echo "${dir#/sys/devices/system/node/}: nr $(<"$dir/nr_hugepages") free $(<"$dir/free_hugepages")" \
			"surplus $(<"$dir/surplus_hugepages")"
	done
}

# of_nodes FILE: of each node's 2 MiB pool, in order
of_nodes() {
	local node words=()

	for node in "$NODES"/node?; do
		words+=("$(cat "$node/hugepages/hugepages-${SIZE_KB:-2048}kB/$1")")
	done
	echo "${words[*]}"
}

# pools NR...: pages of each node's pool
pools() {
	equal "$(of_nodes nr_hugepages)" "$*" "pages of the nodes' pools"
}

# give_nodes NR...: each node's pool gets this many pages
give_nodes() {
	local node=0 nr

	for nr in "$@"; do
		echo "$nr" >"$NODES/node$node/hugepages/hugepages-2048kB/nr_hugepages"
		node=$((node + 1))
	done
	pools "$@"
}

# in_turn COUNT NODE...: the nodes of COUNT pages that go round these nodes
in_turn() {
	local count=$1 i words=()

	shift
	for ((i = 0; i < count; i++)); do
		words+=("${@:i % $# + 1:1}")
	done
	echo "${words[*]}"
}

# blocks NODE:PAGES...: the nodes of pages that lie in blocks
blocks() {
	local one i words=()

	for one in "$@"; do
		for ((i = 0; i < ${one#*:}; i++)); do
			words+=("${one%:*}")
		done
	done
	echo "${words[*]}"
}

# lies FILE NODE...: each page of it, by both ways that the kernel tells
lies() {
	local file=$1 told

	shift
	told=$("${IN[@]}" "$WHERE" "$file") || return 1
	equal "$(head -n 1 <<<"$told")" "$*" "where the pages of $file lie"
	equal "$(tail -n 1 <<<"$told" | tr ' ' '\n' | sort)" \
		"$(tr ' ' '\n' <<<"$*" | sort | uniq -c | awk '{ print "N" $2 "=" $1 }')" "numa_maps of $file"
}

# rows "TARGET NODE REQUESTED FILLED; ...": of the JSON document, sizes in pages of 2 MiB
rows() {
	field '[.targets[] | "\(.target | sub(".*/"; "")) \(.node) \(.requested / 2097152) \(.filled / 2097152)"] | join("; ")' "$1"
}

# planned "ACTION NODE FROM TO; ...": the same for --dry-run
planned() {
	field '[.plan[] | select(.node != null) | "\(.action) \(.node) \(.from / 2097152) \(.to / 2097152)"] | join("; ")' "$1"
}

# The CPUs of each thread of what was started last but the first, the main thread.
worker_cpus() {
	awk '$1 == "Cpus_allowed_list:" { print $2 }' "/proc/$pid"/task/*/status | tail -n +2 | sort | paste -sd ' '
}

has_workers() {
	local tasks=("/proc/$pid/task"/*)

	[ "${#tasks[@]}" = $(($1 + 1)) ]
}

has_pages() {
	[ "$(<"$POOL/nr_hugepages")" -ge "$1" ]
}
