#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each runbook of doc/runbooks.md, run as it stands there, with the machine looked at in between.

load helper

@test "PostgreSQL" {
	after_size() {
		[ "$pages" -ge 128 ]
	}
	after_check() {
		has "$(said check)" "the pool lacks 1 page (2M)" "it would not succeed"
		pool $((pages - 1)) $((pages - 1))
	}
	after_start_short() {
		has "$(cat pg/log)" "could not map anonymous shared memory: Cannot allocate memory"
		pool $((pages - 1)) $((pages - 1))
	}
	after_grow() {
		pool "$pages"
		equal "$(taken_pages)" "$pages" "used or reserved"
		[ "$(used_pages)" -ge 1 ]
	}
	after_look() {
		has "$(said look)" postgres
		equal "$(tail -n 1 "$tmp/look.out")" on huge_pages
	}
	book PostgreSQL
	comment "$(cat "$tmp/size.out" "$tmp/check.out" "$tmp/check.err" "$tmp/look.out")"
}

@test "QEMU" {
	after_start() {
		equal "$(stat -c %U /dev/hugepages/vm0)" nobody owner
		pool 512 0
	}
	after_look() {
		has "$(said look)" "/dev/hugepages/vm0" "$(cat run/vm0.pid)" qemu-system-x86
	}
	after_busy() {
		has "$(said busy)" "1 process holds it" "qemu-system-x86"
	}
	# do_start OPTION...: milliseconds until QEMU answers, with its memory in place
	do_start() {
		local line began=${EPOCHREALTIME/./}

		coproc guest { exec "${qemu[@]}" "$@" -S -qmp stdio 2>>"$tmp/qemu.log"; }
		echo '{"execute":"qmp_capabilities"}{"execute":"query-memdev"}' >&"${guest[1]}"
		while [[ ${line:-} != *1073741824* ]]; do
			read -r -t 60 line <&"${guest[0]}"
		done
		echo $(((${EPOCHREALTIME/./} - began) / 1000))
		echo '{"execute":"quit"}' >&"${guest[1]}"
		wait "$guest_PID"
	}
	do_median() {
		sort -n "$1" | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
	}
	after_without() {
		local turn

		kill "$(cat run/vm0.pid)"
		# Memory that the machine's host has not given yet would be slower than later.
		hugefill alloc -q warm=1G
		hugefill free -q warm
		for turn in 1 2 3 4 5; do
			do_start "${file[@]}" >>"$tmp/with"
			do_start "${prealloc[@]}" >>"$tmp/prealloc"
		done
		echo "start-up with a file that hugefill filled: $(do_median "$tmp/with") ms;" \
			"with prealloc=on: $(do_median "$tmp/prealloc") ms (1 GiB, medians of 5)" >"$tmp/compared"
		# The runbook goes on with a guest that runs.
		"${qemu[@]}" "${file[@]}" -daemonize -pidfile "$PWD/run/vm0.pid"
		echo 512 >"$POOL/nr_hugepages"
	}
	book QEMU
	comment "$(cat "$tmp/look.out" "$tmp/busy.err" "$tmp/compared")"
}

@test "DPDK" {
	after_check() {
		pool 256 256
	}
	after_look() {
		pool 256 128
		equal "$(stat -c %U /dev/hugepages-dpdk)" nobody owner
		equal "$(find /dev/hugepages-dpdk -type f ! -user nobody)" "" "files of others"
		has "$(said look)" dpdk-testpmd /dev/hugepages-dpdk
	}
	after_end() {
		pool 256 128
		has "$(cat one.log)" "Bye..."
	}
	book DPDK
	comment "$(cat "$tmp/look.out")"
}

@test "Files that a killed program left" {
	after_kill() {
		pool 256 0
	}
	after_preview() {
		equal "$(cat "$tmp/preview.out")" 128 "files that are stale"
		pool 256 0
	}
	after_free() {
		pool 256 128
		equal "$(tail -n 1 "$tmp/free.out")" 128 "files that are left"
		kill -0 "$living"
		equal "$(find /dev/hugepages-dpdk -name 'livingmap_*' | wc -l)" 128 "files of the living"
	}
	book "Files that a killed program left"
	comment "$(cat "$tmp/preview.out" "$tmp/free.out" "$tmp/free.err")"
}

# Heap and code cache have all their pages, whatever else has.
java_has_its_pages() {
	after_look() {
		has "$(said look)" java
		matches "$(cat java.log)" 'CodeCache:.*page_size=2M size=64M'
		matches "$(cat java.log)" 'Heap:.*page_size=2M size=256M'
		equal "$(grep -i warning java.log || true)" "" "what Java warns of"
		[ "$(taken_pages)" -ge 160 ]
		[ "$(used_pages)" -ge 64 ]
		equal "$(ps -o user= -p "$pid" | tr -d ' ')" "$user" user
	}
	book Java user="$1"
	comment "$(cat "$tmp/look.out")"
}

@test "Java, as an ordinary user" {
	java_has_its_pages nobody
}

@test "Java, as root" {
	java_has_its_pages root
}

@test "libhugetlbfs" {
	after_segments() {
		pool 64 64
		equal "$(taken_pages)" 64 "used or reserved"
		equal "$(said segments | grep -i warning || true)" "" "what libhugetlbfs says"
	}
	book libhugetlbfs
	comment "$(cat "$tmp/look.out")"
}

@test "Programs of one's own" {
	after_map() {
		has "$(said map)" map anonymous
	}
	after_refused() {
		has "$(said refused)" "shmget: Operation not permitted"
		pool 32 32
	}
	after_advice() {
		has "$(said advice)" "hint: shm-group limits: sysctl vm.hugetlb_shm_group=$(id -g nobody)"
	}
	after_mend() {
		pool 32 0
		has "$(said mend)" segment sysv
		# Nothing is to be mended any more.
		equal "$("${as[@]}" hugefill check --raw -o ID | grep -x shm-group || true)" "" "what check finds"
	}
	book "Programs of one's own"
	comment "$(cat "$tmp/map.out" "$tmp/refused.err" "$tmp/mend.out")"
}
