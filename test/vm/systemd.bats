#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # the helper and bats set tmp, output, ...
#
# A machine that systemd has booted: hugefill.service and a unit that depends on it are enabled
# (test/vm/units), and these tests are a third. Each test begins and ends with the units stopped and
# the pools empty, but for the first ones, which look at what the boot has left.

load helper
bats_require_minimum_version 1.5.0

CONF=/etc/hugefill.conf

setup() {
	tmp=$BATS_TEST_TMPDIR
	cp /hugefill/test/vm/units/hugefill.conf $CONF
	since=$(awk '{ print int($1 * 1000000) }' /proc/uptime)
}

teardown() {
	[ -z "$BATS_TEST_COMPLETED" ] || return 0
	journalctl --no-pager -n 20 -o short-monotonic
	of_nodes nr_hugepages
}

# messages LEVEL UNIT: what the journal has of the unit's hugefill since the test began, of this level or
# graver: "LEVEL MESSAGE"
messages() {
	journalctl --sync
	journalctl -b -o json -p "$1" SYSLOG_IDENTIFIER=hugefill _SYSTEMD_UNIT="$2" |
		jq -r --argjson since "$since" \
			'select((.__MONOTONIC_TIMESTAMP | tonumber) >= $since) | .PRIORITY + " " + .MESSAGE'
}

# fails UNIT: it does not start, and says so by a failed state
fails() {
	run ! systemctl start "$1"
	equal "$(systemctl is-failed "$1")" failed "$1"
	systemctl reset-failed "$1"
}

# empty: nothing of hugefill's is left
empty() {
	pools 0 0
	equal "$(<"$POOL/nr_overcommit_hugepages")" 0 "overcommit limit"
	[ -z "$(ls /dev/hugepages)" ]
}

when() {
	systemctl show --value -p "$2" "$1"
}

@test "boot: the unit has made what the spec file wants" {
	since=0
	equal "$(systemctl is-active hugefill.service)" active hugefill.service
	equal "$(when hugefill.service Result)" success hugefill.service
	pools 32 16
	lies /dev/hugepages/db "$(blocks 0:8 1:8)"
	equal "$(stat -c '%a %U %s' /dev/hugepages/db)" "600 root 33554432" /dev/hugepages/db
	equal "$(messages warning hugefill.service)" "" "what the journal has to complain of"
	messages info hugefill.service | grep -qE '^6 /dev/hugepages/db +0 +2M +16M +16M '
}

@test "boot: a unit that depends on it has started after it, and has seen the pages" {
	equal "$(systemctl is-active hugefill-consumer.service)" active hugefill-consumer.service
	equal "$(</run/consumer)" "32
16
$(blocks 0:8 1:8)
N0=8 N1=8
ready" "what the consumer has seen"
	[ "$(when hugefill.service ExecMainExitTimestampMonotonic)" -le \
		"$(when hugefill-consumer.service ExecMainStartTimestampMonotonic)" ]
	# It has mounts of its own, and the file in them.
	run ! test "/proc/1/ns/mnt" -ef "/proc/$(when hugefill-consumer.service MainPID)/ns/mnt"
	equal "$(</sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages)" 32 "free pages"
}

@test "boot: consumers with names that are known come later" {
	local unit

	for unit in libvirtd virtqemud postgresql kubelet openvswitch-switch; do
		[[ " $(when hugefill.service Before) " == *" $unit.service "* ]]
	done
	[[ " $(when hugefill.service After) " == *" dev-hugepages.mount "* ]]
}

@test "stop: the consumer ends first, then all pages are given back" {
	systemctl stop hugefill.service
	equal "$(systemctl is-active hugefill-consumer.service)" inactive hugefill-consumer.service
	equal "$(systemctl is-active hugefill.service)" inactive hugefill.service
	equal "$(messages warning hugefill.service)" "" "what the journal has to complain of"
	# The file had 8 pages on each node, the pool was larger by 24 and 8: both are gone.
	empty
}

@test "start: the consumer brings the unit with it" {
	systemctl start hugefill-consumer.service
	equal "$(systemctl is-active hugefill.service)" active hugefill.service
	pools 32 16
	systemctl stop hugefill.service
	empty
}

@test "reload: a changed file is applied as a difference" {
	local before

	systemctl start hugefill.service
	before=$(stat -c %i /dev/hugepages/db)
	echo 'vm=8M@1' >>$CONF
	systemctl reload hugefill.service
	equal "$(stat -c %i /dev/hugepages/db)" "$before" "inode of the file that was there"
	lies /dev/hugepages/vm "$(blocks 1:4)"
	systemctl stop hugefill.service
	empty
}

@test "shortage: the unit fails, what depends on it does not start, the journal has the cause" {
	echo 'big=4G@1' >>$CONF
	run ! systemctl start hugefill-consumer.service
	has "$output" "A dependency job for hugefill-consumer.service failed"
	equal "$(systemctl is-active hugefill-consumer.service)" inactive hugefill-consumer.service
	equal "$(systemctl is-failed hugefill.service)" failed hugefill.service
	systemctl reset-failed hugefill.service
	messages err hugefill.service >"$tmp/said"
	grep -qE '^3 hugefill alloc: memory: the pools would grow by ' "$tmp/said"
	grep -q '^3 hint: ask for at most ' "$tmp/said"
	run ! grep -E '^. <' "$tmp/said"
	empty
}

@test "shortage that shows while the pool grows: the node is named, all is undone" {
	echo '2M=1000M@1' >>$CONF
	fails hugefill.service
	messages err hugefill.service >"$tmp/said"
	grep -qE '^3 hugefill alloc: 2M: node 1: requested [0-9]+M, obtained [0-9]+M: ' "$tmp/said"
	grep -q '^3 hint: ' "$tmp/said"
	empty
}

@test "a file that is wrong fails the unit with the line's number" {
	echo 'db=3' >>$CONF
	fails hugefill.service
	messages err hugefill.service >"$tmp/said"
	grep -q "^3 hugefill alloc: $CONF:5: 3: " "$tmp/said"
	empty
}

@test "without a file the unit is passed over" {
	rm $CONF
	systemctl start hugefill.service
	equal "$(when hugefill.service ConditionResult)" no condition
	equal "$(systemctl is-active hugefill.service)" inactive hugefill.service
	empty
}

@test "a mount that the unit makes is the machine's, and others see it" {
	systemctl stop dev-hugepages.mount
	[ "$(findmnt -N 1 -n -o FSTYPE -M /dev/hugepages)" = "" ]
	systemctl start hugefill-consumer.service
	equal "$(findmnt -N 1 -n -o FSTYPE -M /dev/hugepages)" hugetlbfs "as process 1 sees it"
	equal "$(tail -n 1 /run/consumer)" ready "what the consumer has seen"
	systemctl stop hugefill.service
	empty
}

@test "hugefill@: a file for each consumer, and a failure where there is none" {
	mkdir -p /etc/hugefill
	echo 'one=8M@0' >/etc/hugefill/one.conf
	echo 'two=8M@1' >/etc/hugefill/two.conf
	systemctl start hugefill@one hugefill@two
	lies /dev/hugepages/one "$(blocks 0:4)"
	lies /dev/hugepages/two "$(blocks 1:4)"
	systemctl stop hugefill@one
	pools 0 4
	[ ! -e /dev/hugepages/one ]
	systemctl stop hugefill@two
	fails hugefill@three
	messages err hugefill@three.service | grep -q '^3 hugefill alloc: /etc/hugefill/three.conf: .*No such file'
	rm -r /etc/hugefill
	empty
}

# override UNIT LINE...: a drop-in
override() {
	mkdir -p "/run/systemd/system/$1.d"
	printf '%s\n' '[Service]' "${@:2}" >"/run/systemd/system/$1.d/test.conf"
	systemctl daemon-reload
}

revert() {
	rm -rf /run/systemd/system/*.d
	systemctl daemon-reload
}

@test "the sandbox leaves room for all that alloc does" {
	mkdir -p /etc/hugefill
	echo 'db=256M' >/etc/hugefill/x.conf
	override hugefill@x.service ExecStart= \
		'ExecStart=/usr/sbin/hugefill alloc --json --grow=parallel --owner=nobody:nogroup --mode=0660 --from=/etc/hugefill/x.conf'
	systemctl start hugefill@x
	equal "$(stat -c '%a %U:%G' /dev/hugepages/db)" "660 nobody:nogroup" /dev/hugepages/db
	pools 64 64
	messages info hugefill@x.service | grep -qE '"engine": ?"parallel"'
	# Holes are found by userfaultfd.
	punch /dev/hugepages/db 3 5
	override hugefill@x.service ExecReload= \
		'ExecReload=/usr/sbin/hugefill alloc --drop-caches --owner=nobody:nogroup --mode=0660 --from=/etc/hugefill/x.conf'
	systemctl reload hugefill@x
	equal "$(pages /dev/hugepages/db)" 128 "pages of the file"
	equal "$(messages warning hugefill@x.service)" "" "what the journal has to complain of"
	systemctl stop hugefill@x
	revert
	rm -r /etc/hugefill
	empty
}

@test "the sandbox lets stop see who holds a file" {
	local user

	mkdir -p /etc/hugefill
	echo 'db=8M' >/etc/hugefill/x.conf
	systemctl start hugefill@x
	chown nobody /dev/hugepages/db
	setpriv --reuid=nobody --clear-groups "$HOLD" map /dev/hugepages/db >"$tmp/out" 3>&- &
	user=$!
	wait_until grep -qs ready "$tmp/out"
	systemctl stop hugefill@x || true
	messages err hugefill@x.service | grep -qE "^3 .*\b$user\b"
	[ -e /dev/hugepages/db ]
	kill $user
	systemctl reset-failed hugefill@x || true
	hf 0 free --shrink --from=/etc/hugefill/x.conf
	rm -r /etc/hugefill
	empty
}

# fake UNIT EXAMPLE LINE...: a consumer of this name, with the drop-in that is shipped for it
fake() {
	local name=$1 example=$2

	printf '%s\n' '[Service]' 'Type=exec' 'ProtectSystem=strict' 'PrivateTmp=yes' 'PrivateDevices=yes' \
		'NoNewPrivileges=yes' "${@:3}" >"/run/systemd/system/$name.service"
	mkdir -p "/run/systemd/system/$name.service.d" /etc/hugefill
	cp "/usr/share/doc/hugefill/examples/$example.conf" "/run/systemd/system/$name.service.d/hugefill.conf"
	systemctl daemon-reload
}

@test "the drop-in for PostgreSQL: each cluster has its pages, a shortage fails the start" {
	local name=postgresql@15-main

	fake postgresql@ postgresql User=nobody "ExecStart=/hugefill/helpers/hold take 64" 'ExecStop=/bin/kill -9 $MAINPID' \
		'ExecStop=/bin/sh -c "while kill -0 $MAINPID; do sleep 0.1; done"' SuccessExitStatus=KILL
	echo '2M=32p' | tee /etc/hugefill/postgresql-15-{main,other}.conf >"$tmp/out"
	systemctl start $name
	wait_until used_at_least 32
	equal "$(<"$POOL/nr_hugepages")" 32 "pages of the pool"
	systemctl start postgresql@15-other
	wait_until used_at_least 64
	equal "$(<"$POOL/nr_hugepages")" 64 "pages of the pool"
	systemctl stop $name
	equal "$(<"$POOL/nr_hugepages")" 32 "pages of the pool"
	# What did not start takes nothing away either.
	echo '2M=4G' >/etc/hugefill/postgresql-15-main.conf
	fails $name
	messages err $name.service | grep -q '^3 hugefill alloc: memory: '
	equal "$(<"$POOL/nr_hugepages")" 32 "pages of the pool"
	systemctl stop postgresql@15-other
	revert
	rm -r /etc/hugefill /run/systemd/system/postgresql@.service
	empty
}

@test "the drop-in for libvirt: mount and pools are there before the daemon" {
	fake libvirtd libvirt ReadWritePaths=/run PrivateDevices=no \
		'ExecStart=/bin/sh -c "findmnt -n -o FSTYPE -M /dev/hugepages1G >/run/seen; echo . >>/run/seen; exec sleep 1000"'
	echo '2M=16M@1' >/etc/hugefill/libvirt.conf
	systemctl start libvirtd
	wait_until grep -qsxF . /run/seen
	equal "$(head -n 1 /run/seen)" hugetlbfs "what the daemon has seen"
	pools 0 8
	systemctl stop libvirtd
	pools 0 8
	hf 0 free 2M
	hf 0 umount --page-size=1G
	revert
	rm -r /etc/hugefill /run/systemd/system/libvirtd.service
	empty
}
