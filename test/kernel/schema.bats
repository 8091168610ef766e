#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The documents of calls that were carried out are what the schema says.

load helper
KEPT=$BATS_FILE_TMPDIR
load ../schema

@test "alloc, status, check, free" {
	document alloc 0 alloc 2M=64M vm0=32M
	document alloc 0 alloc vm0=32M
	document status 0 status --pools --mounts --files --processes --cgroups
	document check 0 check
	document check 0 check --persist vm1=32M
	document alloc_failure 1 alloc --headroom=100% vm1=1G
	document alloc_failure 1 alloc "$tmp/x=2M"
	document free_failure 1 free "$tmp/x"
	document free 0 free --shrink --umount vm0
	document free 0 free 2M
}

@test "less than asked for" {
	give 32
	document alloc 64 alloc --best-effort --no-grow vm0=64M
	hf 0 free --umount vm0
	give 0
}

@test "mount, umount, and who holds pages" {
	give 8
	document mount 0 mount --size=16M --nr-inodes=9 "$mnt"
	document mount 0 mount --size=16M --nr-inodes=9 "$mnt"
	document mount_failure 1 mount --size=32M "$mnt"
	full_file "$mnt/a" 4
	hold map "$mnt/a"
	document status 0 status --mounts --files --processes
	document umount_failure 1 umount "$mnt"
	kill "$pid"
	"${IN[@]}" rm "$mnt/a"
	document umount 0 umount "$mnt"
	document umount 0 umount "$mnt"
	give 0
}

@test "bench: every workload" {
	local workload

	for workload in fill fault forkfault pool free; do
		document bench 0 bench "$workload" --runs=1 --warmup=0 --size=16M
	done
	document bench 0 bench fill --runs=2 --warmup=0 --size=16M --threads=1,2 --histogram
	echo "$output" >"$tmp/before"
	document bench 0 bench fill --runs=2 --warmup=0 --size=16M --threads=1,2 --compare="$tmp/before"
	document bench_failure 1 bench fill --size=900T
}

@test "all of them are what the schema says" {
	[ "$(cat "$KEPT"/*.json | wc -l)" -gt 20 ]
	agree
}
