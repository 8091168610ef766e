# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the kernel tests share. Every test runs in a mount namespace of its own, in which no hugetlbfs
# is mounted and /dev is empty but for a few devices: so /dev/hugepages is free on every machine, and
# nothing a test mounts can stay. Pools are the machine's.
#
# A test makes what it needs (give, mount_huge), says `mark', and runs hugefill; at the end pools,
# mounts, files and directories must be as they were at the last mark (at first: when it began).
# shellcheck disable=SC2034,SC2154 # bats sets and reads status, output, stderr

bats_require_minimum_version 1.5.0
export LC_ALL=C.UTF-8
HUGEFILL=${HUGEFILL:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)/hugefill}
POOL=/sys/kernel/mm/hugepages/hugepages-2048kB
POOL_1G=/sys/kernel/mm/hugepages/hugepages-1048576kB
HOLD=$BATS_SUITE_TMPDIR/hold
AT_THE_POOL=(-P /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages -P "$POOL/nr_hugepages")
SLOW_FILL=(-e trace=madvise -e inject=madvise:delay_exit=1000000)
SLOW_GROWTH=(-e trace=write "${AT_THE_POOL[@]}" -e inject=write:delay_exit=1000000:when=1..3)
IN=()

setup() {
	kernel_setup
}

# For files whose setup does more.
kernel_setup() {
	tmp=$BATS_TEST_TMPDIR
	mnt=$tmp/huge
	out=$tmp/out
	err=$tmp/err
	pid=0
	started=()
	mkdir "$tmp/dev" "$mnt"
	mkfifo "$tmp/ready"
	start_namespace
	mark
}

# pause: a moment, which costs no process: nobody writes to this
pause() {
	[ -n "${never:-}" ] || { mkfifo "$tmp/never" && exec {never}<>"$tmp/never"; }
	read -r -t 0.03 -u "$never" || true
}

teardown() {
	kernel_teardown
}

# What alloc --from remembers of the test's spec files
forget_records() {
	[ -d /run/hugefill ] || return 0
	rm -f -- "/run/hugefill/$(sed 's,^/,,; s,-,\\x2d,g; s,/,-,g' <<<"$(realpath "$tmp")")-"*
	rmdir /run/hugefill 2>/dev/null || true
}

# For files whose teardown does more.
kernel_teardown() {
	local failed=0

	# Reservations and files of processes that have just ended may still be on their way back.
	LIMIT=5 wait_until settled >"$tmp/late" || same || failed=1
	end_started
	forget_records
	throw_away || failed=1
	return $failed
}

start_namespace() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation private bash -ec '
		! grep -q " hugetlbfs " /proc/self/mounts ||
			awk '\''$3 == "hugetlbfs" { print $2 }'\'' /proc/self/mounts | tac | xargs -r umount
		mount -t tmpfs -o mode=0755 dev "$1/dev"
		cp -a /dev/null /dev/zero /dev/full /dev/urandom "$1/dev"
		ln -s /proc/self/fd "$1/dev/fd"
		mount --move "$1/dev" /dev
		echo ready >"$1/ready"
		exec sleep 3600 </dev/null' - "$tmp" >"$tmp/namespace" 2>&1 3>&- &
	namespace=$!
	read -r -t 20 _ <>"$tmp/ready" || { cat "$tmp/namespace"; return 1; }
	IN=(nsenter -m -t "$namespace")
}

# --- the state of the machine, as this process sees it ---

# Few processes, since each test asks several times, and emulated CPUs are slow at making them.

# number FILE VARIABLE
number() {
	read -r "${2?}" <"$1"
}

print_pools() {
	local dir nr free resv surplus overcommit

	for dir in /sys/kernel/mm/hugepages/*; do
		number "$dir/nr_hugepages" nr
		number "$dir/free_hugepages" free
		number "$dir/resv_hugepages" resv
		number "$dir/surplus_hugepages" surplus
		number "$dir/nr_overcommit_hugepages" overcommit
		echo "${dir##*/}: nr $nr free $free resv $resv surplus $surplus overcommit $overcommit"
	done
}

# hugetlbfs_mounts PROCESS: sets mounts, "DIR OPTIONS" each, of its namespace; DIR as the kernel escapes it
hugetlbfs_mounts() {
	local dir type words

	mounts=()
	while read -r _ dir type words _; do
		[ "$type" != hugetlbfs ] || mounts+=("$dir $words")
	done <"/proc/$1/mounts"
}

# print_mounts PROCESS: of its namespace, and the files on them
print_mounts() {
	local mounts dir root=/proc/$1/root found=()

	hugetlbfs_mounts "$1"
	[ "${#mounts[@]}" = 0 ] || printf 'mount %s\n' "${mounts[@]}"
	for dir in "$root"/dev/hugepages*; do
		[ ! -e "$dir" ] && [ ! -L "$dir" ] || echo "${dir#"$root"} $(stat -c %F "$dir")"
	done
	for dir in "${mounts[@]%% *}"; do
		printf -v dir '%b' "${dir//\\/\\0}"
		found+=("$root$dir")
	done
	[ "${#found[@]}" = 0 ] || find "${found[@]}" -xdev -printf '%p %y %i %s %b %m %U:%G\n' | sort -u | sed "s|^$root||"
}

state() {
	local process=$namespace

	[ "${#IN[@]}" != 0 ] || process=$$
	print_pools
	print_mounts "$process"
}

mark() {
	state >"$tmp/marked"
}

# Pools, mounts and files are as at the last mark.
same() {
	settled || { diff "$tmp/marked" "$tmp/state" || echo "^ the state of the machine has changed"; return 1; }
}

settled() {
	state >"$tmp/state"
	[ "$(<"$tmp/state")" = "$(<"$tmp/marked")" ]
}

# --- what a test needs ---

# give MIB: the 2 MiB pool gets this size
give() {
	echo $(($1 / 2)) >"$POOL/nr_hugepages"
	equal "$(<"$POOL/nr_hugepages")" $(($1 / 2)) "pages given to the pool"
}

# gigantic MOST: how many 1 GiB pages fragmented memory can give now, at most MOST
gigantic() {
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/compact_memory
	echo "$1" >"$POOL_1G/nr_hugepages"
	cat "$POOL_1G/nr_hugepages"
	echo 0 >"$POOL_1G/nr_hugepages"
}

# mount_huge [DIR [OPTIONS]]: with 2 MiB pages, on $mnt
mount_huge() {
	"${IN[@]}" mkdir -p "${1:-$mnt}"
	"${IN[@]}" mount -t hugetlbfs -o "${2:-pagesize=2M}" hugetlbfs "${1:-$mnt}"
}

# full_file FILE MIB: pages that carry their numbers
full_file() {
	"${IN[@]}" fallocate -l "$2M" "$1"
	"${IN[@]}" "$HOLD" stamp "$1"
}

# punch FILE FIRST COUNT: pages
punch() {
	"${IN[@]}" fallocate -p -o "$(($2 * 2))M" -l "$(($3 * 2))M" "$1"
}

stamps() {
	"${IN[@]}" "$HOLD" show "$1"
}

# pages FILE: how many it has
pages() {
	echo $(($("${IN[@]}" stat -c %b "$1") / 4096))
}

# free_pages, used_pages: of the 2 MiB pool
free_pages() {
	cat "$POOL/free_hugepages"
}

used_pages() {
	echo $(($(<"$POOL/nr_hugepages") - $(<"$POOL/free_hugepages")))
}

# --- running ---

# hf STATUS ARGUMENT...: hugefill must end with this status
hf() {
	local want=$1

	shift
	run "-$want" --separate-stderr timeout --foreground $((${LIMIT:-60} * 5)) "${IN[@]}" "$HUGEFILL" "$@" || {
		printf '%s\n' "hugefill $*" "$output" "$stderr"
		return 1
	}
}

# start COMMAND...: in the background, in the namespace; sets pid. Not as bash starts it, with SIGINT
# ignored.
start() {
	"${IN[@]}" env --default-signal=INT,HUP,PIPE "$@" >"$out" 2>"$err" </dev/null 3>&- &
	pid=$!
	started+=("$pid")
}

# hold VERB ARGUMENT: in the background, until the end of the test or `kill'
hold() {
	start "$HOLD" "$@"
	wait_until grep -qs ready "$out"
}

# start_strace OPTION... COMMAND...: what is started, and what pid names, is the command itself
start_strace() {
	rm -f "$tmp/trace"
	start strace -D -f -q -o "$tmp/trace" "$@"
}

# start_slow_fill ARGUMENT...: after each chunk of 16 MiB a worker stands still for a second. The first
# pages are there when this returns.
start_slow_fill() {
	start_strace "${SLOW_FILL[@]}" "$HUGEFILL" "$@"
	wait_until used_at_least 1
}

# start_stopped_fill ARGUMENT...: it stops at each chunk (of 16 MiB, or of one page where nodes take turns), until
# go_on. The first pages are there when this returns.
start_stopped_fill() {
	local before

	before=$(used_pages)
	start_strace -e trace=madvise -e inject=madvise:signal=STOP "$HUGEFILL" "$@"
	wait_until filled_more_than "$before"
}

# The calls that fill nothing, a sanitizer's among them, are left behind.
filled_more_than() {
	used_at_least $(($1 + 1)) && return 0
	! grep -qs madvise "$tmp/trace" || kill -CONT "$pid"
	return 1
}

used_at_least() {
	[ "$(used_pages)" -ge "$1" ]
}

# start_stopped CALL ARGUMENT...: it stops where it has made this system call for the first time, until
# go_on
start_stopped() {
	stop_at "$1" -- "${@:2}"
}

# start_stopped_growth ARGUMENT...: it stops after the first step of a pool's growth
start_stopped_growth() {
	stop_at write "${AT_THE_POOL[@]}" -- "$@" --grow=sysfs
}

# stop_at CALL [STRACE-OPTION...] -- ARGUMENT...
stop_at() {
	local options=(-e trace="$1" -e inject="$1":signal=STOP:when=1)

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	start_strace "${options[@]}" "$HUGEFILL" "${@:2}"
	wait_until grep -qs "stopped by SIGSTOP" "$tmp/trace"
}

go_on() {
	while kill -CONT "$pid" 2>/dev/null; do
		pause
	done
}

# ended STATUS: what was started last ends so
ended() {
	local got=0

	wait "$pid" || got=$?
	[ "$got" = "$1" ] || { echo "exit status $got instead of $1:"; cat "$out" "$err"; return 1; }
}

# What stands still may have children that do, too, and keep the lock.
end_started() {
	local one children

	for one in "${started[@]}"; do
		children=$(cat "/proc/$one/task"/*/children 2>/dev/null) || true
		# shellcheck disable=SC2086 # words
		kill -9 "$one" $children 2>/dev/null || continue
		wait "$one" 2>/dev/null || true
	done
}

# wait_until COMMAND...: succeeds, within a minute
wait_until() {
	local end=$((SECONDS + ${LIMIT:-60}))

	while [ $SECONDS -le $end ]; do
		"$@" && return 0
		pause
	done
	echo "in vain: $*"
	return 1
}

# set_free CONTROLLER: a v1 hierarchy that was unmounted while a group in it was still on its way out
# keeps its controller, though it is mounted nowhere; mounted and unmounted once more, it lets go
set_free() {
	local at try

	! grep -qE "^[^ ]+ [^ ]+ cgroup [^ ]*\b$1\b" /proc/self/mounts || return 0
	at=$(mktemp -d)
	for ((try = 0; try < 100; try++)); do
		! awk -v name="$1" '$1 == name && $2 == 0 { found = 1 } END { exit !found }' /proc/cgroups || break
		mount -t cgroup -o "$1" none "$at" || break
		find "$at" -depth -mindepth 1 -type d -name 'hugefill-test*' -exec rmdir {} +
		umount "$at"
		sleep 0.1
	done
	rmdir "$at"
}

# --- checks that say what is wrong ---

# equal GOT WANTED [WHAT]
equal() {
	[ "$1" = "$2" ] || { echo "${3:-it} is \"$1\", not \"$2\""; return 1; }
}

# has TEXT PART...
has() {
	local text=$1 part

	shift
	for part in "$@"; do
		[[ $text == *"$part"* ]] || { printf '"%s" is not in:\n%s\n' "$part" "$text"; return 1; }
	done
}

# matches TEXT PATTERN: extended regular expression
matches() {
	[[ $1 =~ $2 ]] || { printf '"%s" does not match:\n%s\n' "$2" "$1"; return 1; }
}

# The rows of the document that one target has for several nodes, as one row: what these tests expect is
# true on machines of any number of nodes. Other members are those of its first node.
BY_TARGET='def joined: reduce .[] as $row ([]; if length > 0 and .[-1].target == $row.target
		and .[-1].action == $row.action and .[-1].last < $row.node
	then .[-1] |= (reduce ("requested", "filled", "freed", "pages", "from", "to") as $key
		(.; if $row[$key] then .[$key] += $row[$key] else . end) | .last = $row.node)
	else . + [$row + { last: $row.node }] end);
	if .targets then .targets |= joined else . end | if .plan then .plan |= joined else . end'

# field FILTER WANTED: of the JSON document on standard output
field() {
	equal "$(jq -r "$BY_TARGET | $1" <<<"$output")" "$2" "$1"
}

# pool NR [FREE]: of the 2 MiB pool, in pages
pool() {
	equal "$(<"$POOL/nr_hugepages")" "$1" "the pool's total"
	[ $# = 1 ] || equal "$(<"$POOL/free_hugepages")" "$2" "the pool's free pages"
}

# --- the end ---

nothing_used() {
	local dir nr

	for dir in /sys/kernel/mm/hugepages/*; do
		echo 0 >"$dir/nr_hugepages"
		number "$dir/nr_hugepages" nr
		[ "$nr" = 0 ] || return 1
	done
}

# The test's own mounts and files go with the namespace, at the latest.
throw_away() {
	local mounts

	hugetlbfs_mounts "$namespace"
	[ "${#mounts[@]}" = 0 ] ||
		"${IN[@]}" bash -c 'awk '\''$3 == "hugetlbfs" { print $2 }'\'' /proc/self/mounts | tac | xargs -r umount -l'
	kill "$namespace"
	wait "$namespace" 2>/dev/null || true
	wait_until nothing_used
	[ "$(<"$POOL/nr_overcommit_hugepages")" = 0 ] || echo 0 >"$POOL/nr_overcommit_hugepages"
}
