#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Places, names and environments that others have made; and callers without rights.

load helper

NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# start_stopped_at CALL WHEN ARGUMENT...: it stops where it makes this call for the WHENth time
start_stopped_at() {
	local call=$1 when=$2

	shift 2
	start_strace -e trace="$call" -e inject="$call:signal=STOP:when=$when" "$HUGEFILL" "$@"
	wait_until grep -qs "stopped by SIGSTOP" "$tmp/trace"
}

@test "a symbolic link in the place of the file is never followed" {
	mount_huge
	give 4
	full_file "$mnt/other" 4
	"${IN[@]}" ln -s other "$mnt/link" 2>"$tmp/none" || {
		# Then there are none, and one that leads here from elsewhere is not on hugetlbfs.
		ln -s "$mnt/other" "$tmp/link"
		mark
		hf 1 alloc --resize "$tmp/link=8M"
		has "$stderr" "hugefill alloc: $tmp/link: "
		same
		return 0
	}
	mark
	hf 1 alloc --resize "$mnt/link=8M"
	has "$stderr" "hugefill alloc: $mnt/link: is a symbolic link, which is never followed"
	hf 1 free "$mnt/link"
	same
}

@test "a FIFO that nobody opens, and a device: refused at once, not waited for" {
	mount_huge
	"${IN[@]}" mkfifo "$mnt/fifo"
	"${IN[@]}" mknod "$mnt/memory" c 1 1
	"${IN[@]}" mknod "$mnt/block" b 7 0
	mark
	local name

	for name in fifo memory block; do
		run -1 --separate-stderr timeout 10 "${IN[@]}" "$HUGEFILL" alloc "$mnt/$name=2M"
		has "$stderr" "hugefill alloc: $mnt/$name: is no regular file"
		run -1 --separate-stderr timeout 10 "${IN[@]}" "$HUGEFILL" free "$mnt/$name"
		has "$stderr" "hugefill free: $mnt/$name: is no regular file"
	done
	"${IN[@]}" test -p "$mnt/fifo"
}

@test "the file becomes a FIFO, a directory or a link between plan and apply" {
	local what

	mount_huge
	give 8
	for what in mkfifo mkdir "ln -s /etc/passwd"; do
		full_file "$mnt/a" 4
		punch "$mnt/a" 0 1
		mark
		start_stopped_at prlimit64 2 alloc "$mnt/a=4M"
		"${IN[@]}" rm "$mnt/a"
		# shellcheck disable=SC2086 # a command and its arguments
		"${IN[@]}" $what "$mnt/a" 2>"$tmp/none" || {
			kill -9 "$pid"
			ended 137
			continue
		}
		go_on
		ended 1
		has "$(<"$err")" "hugefill alloc: $mnt/a: "
		equal "$(used_pages)" 0 "used pages"
		"${IN[@]}" rm -d "$mnt/a"
	done
	mark
}

@test "another filesystem is mounted between plan and apply" {
	mount_huge
	give 8
	mark
	start_stopped_at prlimit64 2 alloc --no-grow "$mnt/a=4M"
	mount_huge "$mnt"
	go_on
	ended 1
	has "$(<"$err")" "hugefill alloc: $mnt: another filesystem is mounted there than was planned with"
	"${IN[@]}" umount "$mnt"
	same
	start_stopped_at prlimit64 2 alloc --no-grow "$mnt/a=4M"
	"${IN[@]}" mount -t tmpfs tmpfs "$mnt"
	go_on
	ended 1
	has "$(<"$err")" "another filesystem is mounted there than was planned with"
	equal "$("${IN[@]}" ls -A "$mnt")" "" "what is on the tmpfs"
	"${IN[@]}" umount "$mnt"
	same
	# Where it is planned again under the lock, what is there then counts.
	start_stopped_at flock 1 alloc "$mnt/a=32M"
	"${IN[@]}" mount -t tmpfs tmpfs "$mnt"
	go_on
	ended 1
	has "$(<"$err")" "hugefill alloc: $mnt/a: its directory $mnt is not on a hugetlbfs"
	"${IN[@]}" umount "$mnt"
}

@test "the mount is gone between plan and apply" {
	mount_huge
	give 8
	start_stopped_at prlimit64 2 alloc --no-grow "$mnt/a=4M"
	"${IN[@]}" umount "$mnt"
	mark
	go_on
	ended 1
	has "$(<"$err")" "another filesystem is mounted there than was planned with"
	equal "$("${IN[@]}" ls -A "$mnt")" "" "what is in the directory below"
	give 0
	mark
}

@test "the mount is gone while the file is filled" {
	mount_huge
	give 32
	mark
	start_stopped madvise alloc --threads 1 --no-grow "$mnt/a=32M"
	"${IN[@]}" umount -l "$mnt"
	go_on
	# The file is on the mount that was meant, which nobody sees any more.
	[[ $(wait "$pid"; echo $?) = [01] ]]
	wait_until eval 'equal "$(used_pages)" 0 >"$tmp/used"'
	equal "$("${IN[@]}" ls -A "$mnt")" "" "what is in the directory below"
	give 0
	mark
}

@test "a directory that everybody can write to: a file of somebody else's is not taken for ours" {
	mount_huge "$mnt" pagesize=2M,mode=1777
	give 16
	chmod go+x "$tmp" "$BATS_RUN_TMPDIR/test"
	"${IN[@]}" "${NOBODY[@]}" touch "$mnt/db"
	"${IN[@]}" "${NOBODY[@]}" truncate -s 4M "$mnt/db"
	mark
	hf 1 alloc "$mnt/db=4M"
	has "$stderr" "hugefill alloc: $mnt/db: " 65534
	hf 1 alloc --resize --owner root "$mnt/db=8M"
	same
	# One's own is, and so is a new one, which nobody else can take the name from meanwhile.
	hf 0 alloc "$mnt/mine=4M"
	hf 0 alloc "$mnt/mine=4M"
	run -1 "${IN[@]}" "${NOBODY[@]}" rm -f "$mnt/mine"
	start_stopped madvise alloc --threads 1 "$mnt/late=4M"
	"${IN[@]}" "${NOBODY[@]}" touch "$mnt/late"
	go_on
	ended 1
	has "$(<"$err")" "hugefill alloc: $mnt/late: somebody else created it meanwhile"
	equal "$("${IN[@]}" stat -c '%u %s' "$mnt/late")" "65534 0" "the other's file"
	"${IN[@]}" rm "$mnt/late"
	hf 0 free "$mnt/mine"
	same
}

@test "names with newline, escape and other bytes are printed escaped" {
	local name=$'a\n\e[31mb\x7f\xff\\' shown="a\\n\\x1b[31mb\\x7f\\xff\\\\"

	mount_huge
	mark
	hf 0 alloc --json "$mnt/$name=4M"
	equal "$(jq -r '.targets | length' <<<"$output")" 1 targets
	hf 0 alloc "$mnt/$name=4M"
	hf 0 alloc --raw "$mnt/$name=4M"
	equal "${#lines[@]}" 2 "lines of --raw"
	hf 1 alloc "$mnt/$name=8M"
	has "$stderr" "$shown: exists with 4M"
	[[ $stderr != *$'\e'* && $output != *$'\e'* ]]
	hf 0 free --shrink "$mnt/$name"
	[[ $output != *$'\e'* ]]
	hf 1 free "$mnt/$name"
	has "$stderr" "$shown: "
	[[ $stderr != *$'\e'* ]]
}

@test "the environment does not steer it" {
	local with=("ARGP_HELP_FMT=rmargin=20,no-dup-args-note" LIBMOUNT_FSTAB="$tmp/tab" LIBMOUNT_MTAB="$tmp/tab"
		LIBMOUNT_UTAB="$tmp/utab" LIBMOUNT_DEBUG=all LIBMOUNT_FORCE_MOUNT2=always LIBSMARTCOLS_DEBUG=all
		POSIXLY_CORRECT=1 TZ=:/etc/shadow COLUMNS=20)

	hf 0 --help
	local help=$output

	run -0 --separate-stderr "${IN[@]}" env "${with[@]}" "$HUGEFILL" --help
	equal "$output" "$help" --help
	echo "none /dev/hugepages hugetlbfs pagesize=2M 0 0" >"$tmp/tab"
	run -0 --separate-stderr "${IN[@]}" env "${with[@]}" "$HUGEFILL" alloc --json vm0=4M
	equal "$stderr" "" "standard error"
	field '.targets[0].target' /dev/hugepages/vm0
	"${IN[@]}" grep -q '^hugetlbfs /dev/hugepages hugetlbfs .*pagesize=2M' /proc/self/mounts
	run -0 --separate-stderr "${IN[@]}" env "${with[@]}" "$HUGEFILL" free --json --shrink --umount vm0
	equal "$stderr" "" "standard error"
	[ ! -e "$tmp/utab" ]
}

@test "no locale changes numbers or messages" {
	local locale

	for locale in de_DE.UTF-8 fr_FR tr_TR.UTF-8 C POSIX none; do
		run -0 --separate-stderr "${IN[@]}" env LC_ALL=$locale LANGUAGE=$locale "$HUGEFILL" alloc --json vm0=4M
		jq -e '.targets[0].filled == 4194304 and (.phases.fill | type) == "number"' <<<"$output" >"$tmp/true"
		run -1 --separate-stderr "${IN[@]}" env LC_ALL=$locale LANGUAGE=$locale "$HUGEFILL" alloc vm0=8M
		has "$stderr" "exists with 4M, but 8M is wanted"
		hf 0 free --shrink --umount vm0
	done
}

@test "closed descriptors do not become its files" {
	mount_huge
	mark
	run -1 "${IN[@]}" bash -c '"$@" >&- 2>"$0"' "$tmp/said" "$HUGEFILL" alloc "$mnt/a=4M"
	same
	"${IN[@]}" bash -c '"$@" <&- 2>&-' - "$HUGEFILL" alloc "$mnt/a=4M" >"$out"
	has "$(<"$out")" "$mnt/a"
	hf 0 free --shrink "$mnt/a"
	run -1 "${IN[@]}" bash -c '"$@" <&- >&- 2>&-' - "$HUGEFILL" alloc "$mnt/a=4M"
	same
}

# as_nobody STATUS ARGUMENT...
as_nobody() {
	local want=$1

	shift
	run "-$want" --separate-stderr "${IN[@]}" "${NOBODY[@]}" "$BATS_TEST_TMPDIR/hugefill" "$@" || {
		printf '%s\n' "$output" "$stderr"
		return 1
	}
}

@test "without root it says what is needed" {
	install -m 0755 "$HUGEFILL" "$tmp/hugefill"
	chmod go+x "$tmp" "$BATS_RUN_TMPDIR/test"
	as_nobody 1 alloc 2M=64M
	has "$stderr" "hugefill alloc: /run/hugefill.lock: " "Permission denied" "hint: " CAP_SYS_ADMIN
	as_nobody 1 free 2M
	has "$stderr" "hugefill free: /run/hugefill.lock: " "Permission denied" CAP_SYS_ADMIN
	same
	give 4
	mark
	"${IN[@]}" install -d -o 65534 /dev/hugepages
	as_nobody 1 alloc --no-grow vm0=4M
	has "$stderr" "hugefill alloc: /dev/hugepages: " "ot permitted" CAP_SYS_ADMIN
	"${IN[@]}" rmdir /dev/hugepages
	same
}

@test "root without the capability it takes, and a read-only /sys" {
	run -1 --separate-stderr "${IN[@]}" setpriv --bounding-set -sys_admin --inh-caps -sys_admin \
		"$HUGEFILL" alloc vm0=4M --no-grow
	same
	run -1 --separate-stderr "${IN[@]}" unshare -m bash -c 'mount -o remount,ro,bind /sys; exec "$@"' - \
		"$HUGEFILL" alloc 2M=64M
	has "$stderr" "nr_hugepages: " "Read-only file system" "hint: "
	same
}

@test "a copy that is setuid is refused" {
	install -m 4755 "$HUGEFILL" "$tmp/hugefill"
	chmod go+x "$tmp" "$BATS_RUN_TMPDIR/test"
	"${IN[@]}" mount -o remount,suid,bind "$tmp" 2>"$tmp/none" || true
	as_nobody 1 alloc 2M=64M
	has "$stderr" "hugefill: setuid and file capabilities are not supported"
	as_nobody 1 --version
	same
}

@test "a lock file that others have made is not used" {
	local what

	rm -f /run/hugefill.lock
	for what in "ln -s $tmp/target" mkfifo mkdir "install -m 0666 /dev/null" "install -o 65534 /dev/null"; do
		# shellcheck disable=SC2086 # a command and its arguments
		$what /run/hugefill.lock
		run -1 --separate-stderr timeout 10 "${IN[@]}" "$HUGEFILL" alloc 2M=4M || {
			rm -rf /run/hugefill.lock
			return 1
		}
		rm -rf /run/hugefill.lock
		has "$stderr" "hugefill alloc: /run/hugefill.lock: "
		[ ! -e "$tmp/target" ]
		same
	done
}
