#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Which mount a file lies on, and the mounts that alloc makes.

load helper

# mounts_on DIR: how many lie on each other there
mounts_on() {
	"${IN[@]}" awk -v dir="$1" '$2 == dir { n++ } END { print n + 0 }' /proc/self/mounts
}

# options_of DIR
options_of() {
	"${IN[@]}" awk -v dir="$1" '$2 == dir { print $3, $4 }' /proc/self/mounts
}

@test "where nothing is mounted, /dev/hugepages is made, and goes again" {
	hf 0 alloc --json vm0=64M
	field '.targets[0].target' /dev/hugepages/vm0
	has "$(options_of /dev/hugepages)" hugetlbfs rw nosuid nodev pagesize=2M
	equal "$(mounts_on /dev/hugepages)" 1
	equal "$("${IN[@]}" stat -c '%a %u:%g' /dev/hugepages)" "755 0:0"
	hf 0 alloc vm1=64M
	equal "$(mounts_on /dev/hugepages)" 1
	hf 0 free --json --umount --shrink vm0
	field '.targets[] | select(.target == "/dev/hugepages").action' keep
	hf 0 free --json --umount --shrink vm1
	field '.targets[] | select(.target == "/dev/hugepages").action' umount
}

count_mounts() {
	awk '$3 == "hugetlbfs"' /proc/self/mounts | wc -l
}

@test "on the machine's own mounts, as a user would run it" {
	local name=hugefill-test.$BATS_ROOT_PID before had_directory=no umount=()

	IN=()
	mark
	before=$(count_mounts)
	[ ! -d /dev/hugepages ] || had_directory=yes
	hf 0 alloc --size 64M --file "$name" --threads 2
	pool 32 0
	[ "$(count_mounts)" = "$before" ] || umount=(--umount)
	hf 0 free --size 64M --file "$name" --shrink "${umount[@]}"
	# What may have been hugefill's own directory goes with its mount.
	[ $had_directory = no ] || mkdir -p /dev/hugepages
	same
	IN=(nsenter -m -t "$namespace")
	mark
}

@test "a path below a place that is not mounted yet counts as on it" {
	hf 0 alloc --dry-run --json /dev/hugepages/vm0=2M /dev/hugepages2M/vm1=2M
	field '[.plan[] | select(.action == "mount").target] | join(" ")' "/dev/hugepages /dev/hugepages2M"
	hf 0 alloc /dev/hugepages/vm0=2M /dev/hugepages2M/vm1=2M
	equal "$(pages /dev/hugepages2M/vm1)" 1 pages
	has "$(options_of /dev/hugepages2M)" pagesize=2M
	hf 0 free --umount --shrink /dev/hugepages/vm0 /dev/hugepages2M/vm1
}

@test "a mount that is there is used and never stacked upon" {
	mount_huge /dev/hugepages
	mark
	hf 0 alloc vm0=64M
	equal "$(mounts_on /dev/hugepages)" 1
	hf 0 free --shrink vm0
	same
	hf 1 alloc --headroom 100% vm0=64M
	same
}

@test "a mount elsewhere is used for bare names; /dev/hugepages comes first" {
	mount_huge "$mnt"
	mark
	hf 0 alloc --json vm0=2M
	field '.targets[0].target' "$mnt/vm0"
	hf 0 free --shrink vm0
	same
	mount_huge /dev/hugepages
	mark
	hf 0 alloc --json vm0=2M
	field '.targets[0].target' /dev/hugepages/vm0
	hf 0 free --shrink vm0
}

@test "hidden and read-only mounts are not used" {
	mount_huge "$mnt"
	"${IN[@]}" mount -t tmpfs over "$mnt"
	mount_huge "$tmp/ro" pagesize=2M,ro
	mark
	hf 0 alloc --json vm0=2M
	field '.targets[0].target' /dev/hugepages/vm0
	hf 0 free --umount --shrink vm0
	same
	hf 1 alloc "$tmp/ro/vm0=2M"
	has "$stderr" "$tmp/ro/vm0" "Read-only file system"
	same
	hf 1 alloc "$mnt/vm0=2M"
	has "$stderr" "its directory $mnt is not on a hugetlbfs"
}

@test "hugetlbfs of another page size on /dev/hugepages: /dev/hugepages2M" {
	[ -d "$POOL_1G" ] || skip "this kernel has no 1 GiB pages"
	mount_huge /dev/hugepages pagesize=1G
	mark
	hf 0 alloc --json vm0=2M
	field '.targets[0].target' /dev/hugepages2M/vm0
	equal "$(mounts_on /dev/hugepages)" 1
	has "$(options_of /dev/hugepages2M)" pagesize=2M nosuid nodev
	hf 0 free --umount --shrink vm0
	same
	# A path says itself which page size it means.
	hf 2 alloc /dev/hugepages/vm0=2M
	has "$stderr" "/dev/hugepages/vm0=2M" 1G
	same
}

@test "something else on /dev/hugepages is never mounted upon" {
	"${IN[@]}" mkdir /dev/hugepages
	"${IN[@]}" mount -t tmpfs foreign /dev/hugepages
	mark
	hf 1 alloc /dev/hugepages/vm0=2M
	has "$stderr" "/dev/hugepages: a tmpfs is mounted there already" "hint: "
	same
	hf 0 alloc --json vm0=2M
	field '.targets[0].target' /dev/hugepages2M/vm0
	hf 0 free --umount --shrink vm0
	same
	"${IN[@]}" mkdir /dev/hugepages2M
	"${IN[@]}" mount -t tmpfs foreign /dev/hugepages2M
	mark
	hf 1 alloc vm0=2M
	has "$stderr" "/dev/hugepages2M: a tmpfs is mounted there already"
	equal "$(mounts_on /dev/hugepages) $(mounts_on /dev/hugepages2M)" "1 1"
}

@test "/dev/hugepages is an empty directory: it is used, and stays after a failure" {
	"${IN[@]}" mkdir /dev/hugepages
	mark
	hf 0 alloc vm0=2M
	has "$(options_of /dev/hugepages)" pagesize=2M
	hf 0 free --shrink vm0
	"${IN[@]}" umount /dev/hugepages
	same
	run -1 "${IN[@]}" bash -c '"$@" >/dev/full' - "$HUGEFILL" alloc vm0=2M
}

@test "/dev/hugepages is no directory: refused" {
	"${IN[@]}" touch /dev/hugepages
	mark
	hf 1 alloc vm0=2M
	has "$stderr" "hugefill alloc: /dev/hugepages: is no directory"
	same
	"${IN[@]}" rm /dev/hugepages
	"${IN[@]}" ln -s /etc /dev/hugepages
	mark
	hf 1 alloc vm0=2M
	has "$stderr" "hugefill alloc: /dev/hugepages"
}

@test "--no-mount fails rather than mount" {
	hf 1 alloc --json --no-mount vm0=2M
	field '.findings[0] | [.id, .object] | join(" ")' "no-mount /dev/hugepages"
	has "$stderr" "hint: mount -t hugetlbfs" "nosuid,nodev"
	same
	mount_huge
	mark
	hf 0 alloc --no-mount vm0=2M
	hf 0 free --shrink vm0
}

@test "--owner and --mode are also the mount's that is made for the file, which can be entered" {
	hf 0 alloc --owner 1234:5678 --mode 0640 vm0=2M
	equal "$("${IN[@]}" stat -c '%a %u:%g' /dev/hugepages)" "750 1234:5678" "the mount's mode and owner"
	equal "$("${IN[@]}" stat -c '%a %u:%g' /dev/hugepages/vm0)" "640 1234:5678" "the file's mode and owner"
	hf 0 free --umount --shrink vm0
}

@test "the mount's size= and nr_inodes= are respected" {
	mount_huge "$mnt" pagesize=2M,size=64M,nr_inodes=3
	mark
	hf 1 alloc --json "$mnt/a=66M"
	field '.findings[0] | [.id, .object, .wanted, .got] | join(" ")' "mount-size $mnt 69206016 67108864"
	has "$stderr" "size= limit leaves 64M, but 66M is needed" "hint: hugefill mount --size="
	same
	hf 1 alloc "$mnt/a=34M" "$mnt/b=32M"
	has "$stderr" "size= limit"
	same
	hf 1 alloc "$mnt/a=2M" "$mnt/b=2M" "$mnt/c=2M"
	has "$stderr" "nr_inodes= limit leaves 2 files, but 3 are needed"
	same
	hf 0 alloc "$mnt/a=32M" "$mnt/b=32M"
	hf 1 alloc "$mnt/c=2M"
	hf 0 free --shrink "$mnt/a" "$mnt/b"
}

@test "the mount's size= limit is reached only while the file is made" {
	mount_huge "$mnt" pagesize=2M,size=64M
	give 128
	mark
	# Another program takes the room between the plan and the reservation.
	start_stopped ftruncate alloc "$mnt/a=64M"
	full_file "$mnt/other" 32
	go_on
	ended 1
	has "$(<"$err")" "$mnt"
	"${IN[@]}" rm "$mnt/other"
}

@test "a mount for everybody has the sticky bit" {
	hf 0 mount --mode=1777 "$mnt"
	equal "$("${IN[@]}" stat -c %a "$mnt")" 1777
	hf 0 mount --mode=1777 --json "$mnt"
	field .changed false
	hf 1 mount --mode=0777 "$mnt"
	has "$stderr" "mode: it has 1777, 0777 is wanted"
	hf 0 umount "$mnt"
}
