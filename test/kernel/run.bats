#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hugefill run: the command finds what alloc would have made, its status is returned, and what is its
# own to give back is given back, whatever became of it.

load helper

# in_sh SCRIPT: what the command of most tests is. SCRIPT ends when the file $tmp/end is there, if it
# calls until_end; what it prints is in $out.
PRELUDE='until_end() { while [ ! -e "$1" ] && [ -d "${1%/*}" ]; do sleep 0.03; done; }
	nr() { cat /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; }
	'

# start_run ARGUMENT... -- SCRIPT: in the background; returns when SCRIPT has printed "ready"
start_run() {
	start env --default-signal=QUIT "$HUGEFILL" run "${@:1:$#-1}" bash -c "$PRELUDE${*: -1}" - "$tmp/end" "$tmp/log"
	wait_until grep -qsx ready "$out"
}

let_end() {
	: >"$tmp/end"
}

@test "the command has the file, its status is returned, everything is given back" {
	# shellcheck disable=SC2016 # for the command
	hf 7 run 2M=64M vm0=32M -- bash -c 'echo "$HUGEFILL_FILE"; stat -c "%s %b %a" /dev/hugepages/vm0
		cat /sys/kernel/mm/hugepages/hugepages-2048kB/{nr,free}_hugepages; exit 7'
	equal "$output" "/dev/hugepages/vm0
33554432 65536 600
32
16" "what the command saw"
	equal "$stderr" "" "standard error"
	same
}

@test "HUGEFILL_FILE only where it is one file" {
	# shellcheck disable=SC2016 # for the command
	HUGEFILL_FILE=other hf 0 run vm0=4M vm1=4M -- bash -c 'echo "${HUGEFILL_FILE-none}"'
	equal "$output" none HUGEFILL_FILE
	# shellcheck disable=SC2016 # for the command
	HUGEFILL_FILE=other hf 0 run 2M=4M -- bash -c 'echo "${HUGEFILL_FILE-none}"'
	equal "$output" none HUGEFILL_FILE
}

@test "a command that a signal kills: 128 and the number, everything is given back" {
	local signal

	for signal in KILL TERM SEGV; do
		# shellcheck disable=SC2016 # for the command
		hf $((128 + $(kill -l $signal))) run 2M=64M vm0=32M -- bash -c 'ulimit -c 0; kill -$0 $$' $signal
		same
	done
}

@test "a command that ^C kills: hugefill dies of it, too, so that a shell's loop ends" {
	local dead='system @ARGV; print $? & 127'

	# shellcheck disable=SC2016 # for the command
	run -0 "${IN[@]}" env --default-signal=INT perl -e "$dead" "$HUGEFILL" run vm0=32M -- bash -c 'kill -INT $$'
	equal "$output" 2 "the signal that it died of"
	same
	run -0 "${IN[@]}" env --default-signal=INT perl -e "$dead" "$HUGEFILL" run vm0=32M -- bash -c 'exit 130'
	equal "$output" 0 "the signal that it died of"
}

@test "signals are forwarded" {
	local signal signals=(HUP INT QUIT USR1 USR2 ALRM CONT WINCH PWR XCPU TERM)

	# shellcheck disable=SC2016 # for the command
	start_run 2M=64M vm0=32M -- "for s in ${signals[*]}; do trap \"echo \$s >>\$2\" \$s; done
		echo ready; until_end \$1; exit 5"
	for signal in "${signals[@]}"; do
		kill "-$signal" "$pid"
		wait_until grep -qsx "$signal" "$tmp/log"
	done
	let_end
	ended 5
	equal "$(paste -sd ' ' "$tmp/log")" "${signals[*]}" "signals that the command got"
	same
}

@test "a command that dies of the signal that was forwarded" {
	start_run vm0=32M -- 'echo ready; exec sleep 100'
	kill -TERM "$pid"
	ended 143
}

@test "signals do not disturb the giving back" {
	# shellcheck disable=SC2016 # for the command
	start_run 2M=64M vm0=32M -- 'flock -n /run/hugefill.lock echo free; echo $$; echo ready; until_end $1; exit 3'
	read -r -d '' free command _ <"$out" || true
	equal "$free" free "the lock"
	exec 8>>/run/hugefill.lock
	flock 8
	let_end
	# It waits for the lock, to give the pages back.
	wait_until [ ! -e "/proc/$command" ]
	kill -TERM "$pid"
	kill -TERM "$pid"
	kill -INT "$pid"
	sleep 0.2
	pool 32
	exec 8>&-
	ended 3
	same
}

@test "what was there before stays: pages, a mount, complete files" {
	give 64
	mount_huge
	full_file "$mnt/old" 16
	mark
	# shellcheck disable=SC2016 # for the command
	hf 0 run 2M=128M "$mnt/old=16M" "$mnt/new=32M" -- bash -c "ls $mnt | paste -sd ' '
		cat $POOL/nr_hugepages"
	equal "$output" $'new old\n64' "what the command saw"
	same
	equal "$(stamps "$mnt/old")" "1 2 3 4 5 6 7 8" stamps
}

@test "holes that were filled, a file that was extended, its mode: as before" {
	give 32
	mount_huge
	full_file "$mnt/db" 16
	punch "$mnt/db" 1 3
	mark
	hf 0 run --resize --mode=0640 "$mnt/db=32M" -- stat -c '%s %b %a' "$mnt/db"
	equal "$output" "33554432 65536 640" "what the command saw"
	same
	equal "$(stamps "$mnt/db")" "1 0 0 0 5 6 7 8" stamps
}

@test "a file that would be cut is refused" {
	give 32
	mount_huge
	full_file "$mnt/db" 16
	mark
	hf 1 run --resize "$mnt/db=8M" -- echo ran
	equal "$output" "" "standard output"
	has "$stderr" "$mnt/db: would be made smaller, which could not be given back" "hugefill alloc --resize"
	hf 1 run --dry-run --resize "$mnt/db=8M" -- echo ran
}

@test "a file that the command leaves on the mount: it stays, and so do mount and pages" {
	hf 1 run 2M=40M@0 vm0=32M@0 -- fallocate -l 8M /dev/hugepages/left
	has "$stderr" "hugefill run: could not be undone:" \
		"hugefill run: /dev/hugepages: stays mounted: 1 file on it would be gone with it" \
		"hint: when they are no longer wanted: hugefill umount --force /dev/hugepages" \
		"2M: 4 pages that were added on node 0 stay" "hint: later: hugefill free 2M=4p@0"
	pool 4 0
	equal "$("${IN[@]}" ls -A /dev/hugepages)" left files
	hf 0 umount --force /dev/hugepages
	hf 0 free 2M=4p@0
	same
	hf 9 run 2M=40M vm0=32M -- bash -c 'fallocate -l 8M /dev/hugepages/left; exit 9'
	hf 0 umount --force /dev/hugepages
	hf 0 free 2M
}

@test "a process that still maps the file: it is named, and the file stays" {
	# shellcheck disable=SC2016 # for the command
	hf 1 run vm0=32M -- bash -c '"$0" map "$HUGEFILL_FILE" >"$1" 2>&1 3>&- & echo $!
		while ! grep -q ready "$1"; do sleep 0.03; done' "$HOLD" "$out"
	local holder=$output
	has "$stderr" "hugefill run: /dev/hugepages/vm0: stays: it is held" "process $holder (hold) has it mapped" \
		"hint: when it is no longer used: hugefill free /dev/hugepages/vm0"
	pool 16 0
	kill "$holder"
	wait_until [ ! -e "/proc/$holder" ]
	hf 0 free --shrink --umount vm0
	same
}

@test "an extension that another process maps stays" {
	give 32
	mark
	mount_huge
	full_file "$mnt/db" 16
	hold map "$mnt/db"
	hf 1 run --resize "$mnt/db=32M" -- true
	has "$stderr" "$mnt/db: stays as it is now: it is held" "process $pid (hold)" "its size before: 16777216 bytes"
	equal "$(pages "$mnt/db")" 16 pages
	kill "$pid"
	wait "$pid" || true
	"${IN[@]}" rm "$mnt/db"
	"${IN[@]}" umount "$mnt"
}

@test "a file that the command removes, or renames" {
	# shellcheck disable=SC2016 # for the command
	hf 0 run vm0=32M -- bash -c 'rm "$HUGEFILL_FILE"'
	same
	# shellcheck disable=SC2016 # for the command
	hf 1 run vm0=32M -- bash -c 'mv "$HUGEFILL_FILE" /dev/hugepages/mine'
	has "$stderr" "/dev/hugepages/vm0: was given another name, under which it stays" "hint: find /dev/hugepages -xdev -inum "
	hf 0 free --shrink --umount mine
}

@test "pages that others use by then stay, and are counted" {
	mount_huge
	mark
	hf 1 run 2M=64M@0 -- "${IN[@]}" "$HUGEFILL" alloc --no-grow "$mnt/other=16M"
	has "$stderr" "2M: 8 pages that were added on node 0 stay: they are in use or reserved by others" \
		"hint: later: hugefill free 2M=8p@0"
	pool 8 0
	"${IN[@]}" rm "$mnt/other"
	hf 0 free 2M=8p@0
	same
	# What others gave back meanwhile is not missed.
	hf 0 run 2M=64M -- "${IN[@]}" "$HUGEFILL" free 2M
}

@test "a mount that the command unmounts, or covers" {
	hf 0 run vm0=32M -- "${IN[@]}" umount -l /dev/hugepages
	same
	hf 1 run vm0=32M -- mount -t tmpfs cover /dev/hugepages
	has "$stderr" "/dev/hugepages: another filesystem is mounted there now, and stays"
	"${IN[@]}" umount /dev/hugepages
	hf 0 umount
}

@test "a shortage, or a signal before it is there: nothing is run" {
	hf 1 run --no-grow vm0=32M -- touch "$tmp/ran"
	has "$stderr" "hugefill run: " "--no-grow"
	start_stopped_growth run 2M=256M -- touch "$tmp/ran"
	kill -TERM "$pid"
	go_on
	ended 143
	[ ! -e "$tmp/ran" ]
	same
}

@test "the deadline is for the allocation only" {
	hf 0 run --deadline=3s vm0=32M -- sleep 3.5
	start_strace "${SLOW_FILL[@]}" "$HUGEFILL" run --deadline=2s --threads=1 vm0=96M -- touch "$tmp/ran"
	ended 1
	[ ! -e "$tmp/ran" ]
}

@test "the command has signals, descriptors, limits and memory policy as hugefill was given them" {
	# The signals 32 and 33 are the C library's own: no program can set or keep what is done with them.
	# shellcheck disable=SC2016 # for the command
	local look='while read -r key set; do
			[[ $key != Sig[IBC]* ]] || printf "%s %x\n" "$key" $((16#$set & ~0x180000000))
		done </proc/self/status; ulimit -n; ls /proc/self/fd | wc -l; sed -n "1s/^[^ ]* \([^ ]*\).*/\1/p" /proc/self/numa_maps'
	# shellcheck disable=SC2054 # lists of signals
	local how=(env --ignore-signal=PIPE,XFSZ,CHLD,USR2 --block-signal=TERM,HUP bash -c 'ulimit -Sn 99; exec "$@"' -
		numactl --interleave=0)

	run -0 --separate-stderr "${IN[@]}" "${how[@]}" bash -c "$look"
	local before=$output
	has "$before" 99 interleave
	run -0 --separate-stderr "${IN[@]}" "${how[@]}" "$HUGEFILL" run vm0=32M -- bash -c "$look"
	equal "$output" "$before" "what the command was given"
}

@test "a program whose interpreter is missing: 127, and everything is given back" {
	printf '#!/nonexistent\n' >"$tmp/script"
	chmod +x "$tmp/script"
	hf 127 run 2M=64M vm0=32M -- "$tmp/script"
	has "$stderr" "$tmp/script: cannot run it: No such file or directory"
	same
	printf 'echo "$1"' >"$tmp/script"
	hf 0 run vm0=32M -- "$tmp/script" works
	equal "$output" works
}

@test "hugefill killed: the command is terminated, free --stale takes up what stays" {
	# shellcheck disable=SC2016 # for the command
	start_run vm0=32M -- 'trap "echo TERM >>$2; exit" TERM; echo ready; until_end $1'
	kill -KILL "$pid"
	wait_until grep -qsx TERM "$tmp/log"
	ended 137
	equal "$(pages /dev/hugepages/vm0)" 16 pages
	wait_until stale_is_free
	hf 0 umount
	hf 0 free 2M
}

stale_is_free() {
	hf 0 free --stale --shrink
	[ ! -e "/proc/$namespace/root/dev/hugepages/vm0" ]
}

@test "two at once give back what is each one's own" {
	local first

	# shellcheck disable=SC2016 # for the command
	start_run 2M=+64M vm0=16M -- 'echo ready; until_end $1'
	first=$pid
	hf 0 run 2M=+32M vm1=16M -- cat "$POOL/nr_hugepages"
	equal "$output" 48 "pages"
	pool 32
	let_end
	pid=$first
	ended 0
	same
}

@test "--verbose tells on standard error, --best-effort runs with less" {
	hf 0 run --verbose --raw vm0=32M@0 -- echo mine
	equal "$output" mine "standard output"
	has "$stderr" $'\nTARGET NODE PAGESIZE' "/dev/hugepages/vm0 0 2M 32M 32M" \
		"hugefill run: the command has ended with 0; everything is given back"
	give 16
	mark
	hf 0 run --best-effort --no-grow vm0=32M -- stat -c %s /dev/hugepages/vm0
	equal "$output" 16777216 "the file's size"
	same
}
