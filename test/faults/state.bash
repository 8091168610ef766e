# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The state of the machine for scripts that look at it some hundred times: no process is started where
# no file is there. They run in a mount namespace of the tests' and have the pools for themselves, from
# empty ones. $dir is a folder of theirs.
# shellcheck disable=SC2154 # dir is the script's
POOL=/sys/kernel/mm/hugepages/hugepages-2048kB
DIR=/dev/hugepages

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

begin() {
	mkfifo "$dir/never"
	look
	[[ $STATE != *=[1-9]* && $STATE != *\[* ]] || die "the pools are not empty: $STATE"
	empty=$STATE
}

# nap SECONDS: without a process
nap() {
	read -r -t "$1" _ <>"$dir/never"
}

# Sets STATE.
look() {
	local pool file value line

	STATE=
	for pool in /sys/kernel/mm/hugepages/*; do
		for file in nr free resv surplus nr_overcommit; do
			read -r value <"$pool/${file}_hugepages"
			STATE+="$file=$value "
		done
	done
	while read -r line; do
		[[ $line != *" hugetlbfs "* ]] || STATE+="[$line] "
	done </proc/self/mounts
	for file in "$DIR"*; do
		[ ! -e "$file" ] || STATE+="$file "
	done
	for file in "$DIR"/* "$DIR"/.h*; do
		[ ! -e "$file" ] || STATE+="[$(stat -c '%n %F %i %s %b %a %u:%g' "$file") $("$HOLD" show "$file")] "
	done
}

# settles COMMAND...: within a second; pages are on their way back for a moment after a process that was
# killed
settles() {
	local i

	for ((i = 0; i < 50; i++)); do
		look
		"$@" && return 0
		nap 0.02
	done
	return 1
}

is_empty() {
	[ "$STATE" = "$empty" ]
}

# is_pool NR FREE
is_pool() {
	local nr free

	read -r nr <"$POOL/nr_hugepages"
	read -r free <"$POOL/free_hugepages"
	[ "$nr $free" = "$1 $2" ]
}

# is_file NAME MIB FILLED-MIB
is_file() {
	[ "$(stat -c '%s %b' "$DIR/$1" 2>&1)" = "$(($2 << 20)) $(($3 << 11))" ]
}

stamps() {
	"$HOLD" show "$DIR/$1"
}

mount_huge() {
	mkdir "$DIR"
	mount -t hugetlbfs -o pagesize=2M hugetlbfs "$DIR"
}

# give PAGES
give() {
	echo "$1" >"$POOL/nr_hugepages"
}

# full_file NAME MIB
full_file() {
	fallocate -l "$2M" "$DIR/$1"
	"$HOLD" stamp "$DIR/$1"
}

take_back() {
	local target

	while read -r _ target _; do
		umount -l "$target"
	done < <(grep ' hugetlbfs ' /proc/self/mounts)
	[ ! -e "$DIR" ] || rmdir "$DIR"
	echo 0 >"$POOL/nr_hugepages"
	echo 0 >"$POOL/nr_overcommit_hugepages"
	settles is_empty || die "cannot clean up: $STATE"
}
