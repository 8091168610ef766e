#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper sets mnt, tmp, out, pid
#
# check on the real machine: it changes nothing, and alloc then does what it foretold.

load helper

# found ID OBJECT: how many findings
found() {
	jq --arg id "$1" --arg object "$2" '[.findings[] | select(.id == $id and .object == $object)] | length' <<<"$output"
}

@test "nothing is touched, and the verdict comes true" {
	mark
	hf 0 check --json 2M=64M vm0=64M
	field .ok true
	same
	hf 0 alloc 2M=64M vm0=64M
	pool 32 0
	hf 0 free --shrink --umount vm0
}

@test "what would fail is told before" {
	mark
	hf 1 check --json vm0=500T
	field .ok false
	field '.findings[0] | [.severity, .id] | join(" ")' "error headroom"
	hf 1 check --json --no-grow vm0=64M
	field '[.findings[] | select(.id == "no-grow") | .severity] | join(" ")' error
	hf 1 check --json --no-mount vm0=64M
	equal "$(found no-mount /dev/hugepages)" 1
	same
	give 64
	mount_huge "$mnt" pagesize=2M,size=4M
	mark
	hf 1 check --json "$mnt/db=64M"
	equal "$(found mount-size "$mnt")" 1
	hf 0 check --json "$mnt/db=4M"
}

@test "an ordinary user is told that root is needed" {
	mark
	run -0 --separate-stderr "${IN[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups "$HUGEFILL" check --json 2M=64M
	equal "$(found privilege caller)" 1
	hf 0 check --json 2M=64M
	equal "$(found privilege caller)" 0
}

# as_nobody STATUS ARGUMENT...: hugefill must end so, in the hands of a user who may nothing
as_nobody() {
	run "-$1" --separate-stderr "${IN[@]}" setpriv --reuid=65534 --regid=65534 --clear-groups "$HUGEFILL" "${@:2}"
}

@test "an ordinary user is told what they may not write to" {
	give 8
	mount_huge
	"${IN[@]}" truncate -s 4M "$mnt/empty"
	"${IN[@]}" chmod 0444 "$mnt/empty"
	mark
	as_nobody 1 check --json "$mnt/db=2M"
	equal "$(found permission "$mnt")" 1
	field '.findings[] | select(.id == "permission") | .hint' "chown 65534, or --owner when the mount is made"
	as_nobody 1 alloc "$mnt/db=2M"
	has "$stderr" "$mnt/db: cannot create a file in $mnt: Permission denied" "hint: the directory must be this user's"
	hf 0 check --json "$mnt/db=2M"
	equal "$(found permission "$mnt")" 0
	"${IN[@]}" chown 65534 "$mnt"
	mark
	as_nobody 0 check --json "$mnt/db=2M"
	equal "$(found permission "$mnt")" 0
}

@test "an ordinary user is told the group that lets them make segments" {
	local before command known gone

	before=$(</proc/sys/vm/hugetlb_shm_group)
	as_nobody 0 check --json
	equal "$(found shm-group limits)" 1
	command=$(jq -r '.findings[] | select(.id == "shm-group") | .hint' <<<"$output")
	equal "$command" "sysctl vm.hugetlb_shm_group=65534" command
	$command
	as_nobody 0 check --json
	gone=$(found shm-group limits)
	# Root asks for others.
	hf 0 check --json
	known=$(found shm-group limits)
	echo "$before" >/proc/sys/vm/hugetlb_shm_group
	equal "$gone $known" "0 1" "findings, the user's and root's"
}

@test "findings about this machine come and go, and their commands mend them" {
	give 8
	mount_huge "$mnt"
	mark
	hf 0 check --json
	equal "$(found unused 2M)" 1 unused
	equal "$(found mount-options "$mnt")" 1 mount-options
	equal "$(found no-mount 2M)" 0 no-mount
	field '.findings[] | select(.id == "unused" and .object == "2M") | .got' 8388608
	"${IN[@]}" bash -c "$(jq -r '.findings[] | select(.id == "mount-options") | .hint' <<<"$output")"
	hf 0 check --json
	equal "$(found mount-options "$mnt")" 0 mount-options
	"${IN[@]}" umount "$mnt"
	hf 0 check --json
	equal "$(found no-mount 2M)" 1 no-mount
	"${IN[@]}" mkdir -p /dev/hugepages
	"${IN[@]}" mount -t hugetlbfs -o nosuid,nodev hugetlbfs /dev/hugepages
	"${IN[@]}" mount -t tmpfs tmpfs /dev/hugepages
	hf 0 check --json
	equal "$(found hidden-mount /dev/hugepages)" 1 hidden-mount
	"${IN[@]}" bash -c "$(jq -r '.findings[] | select(.id == "hidden-mount") | .hint | sub(" takes.*"; "")' <<<"$output")"
	hf 0 check --json
	equal "$(found hidden-mount /dev/hugepages)" 0 hidden-mount
	"${IN[@]}" umount /dev/hugepages
	"${IN[@]}" rmdir /dev/hugepages
	mark
}

@test "surplus and overcommit are warnings, and their commands mend them" {
	local command

	echo 8 >"$POOL/nr_overcommit_hugepages"
	hold take 8
	hf 0 check --json
	equal "$(found surplus 2M)" 1 surplus
	field '.findings[] | select(.id == "surplus") | .got' 8388608
	command=$(jq -r '.findings[] | select(.id == "overcommit") | .hint' <<<"$output")
	bash -c "$command"
	equal "$(<"$POOL/nr_overcommit_hugepages")" 0 overcommit
	hf 0 alloc 2M=8M
	hf 0 check --json
	equal "$(found surplus 2M)$(found overcommit 2M)" 00 "both"
	mark
}

@test "the advice is what makes the same pools again" {
	local arguments

	give 64
	hf 0 check --persist --json
	jq -r .persist.conf <<<"$output" >"$tmp/conf"
	arguments=$(jq -r .persist.kernel_arguments <<<"$output")
	matches "$arguments" "^default_hugepagesz=2M hugepagesz=2M hugepages=(32|(,?[0-9]+:[0-9]+)+)$"
	equal "$(tr , '\n' <<<"${arguments##*=}" | awk -F: '{ sum += $NF } END { print sum }')" 32 "pages of all nodes"
	give 0
	hf 0 alloc --from "$tmp/conf"
	pool 32 32
	hf 0 free --from "$tmp/conf"
	pool 0
	mark
}
