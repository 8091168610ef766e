#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The units: as installed, before the eyes of systemd-analyze. No manager is asked, so that this runs
# anywhere.

load house
bats_require_minimum_version 1.5.0

# Exposure in tenths, as systemd-analyze rates what a unit may do; the job alone comes to more than half.
THRESHOLD=45

setup() {
	to=$BATS_TEST_TMPDIR/to
	make -s -C "$ROOT" install UNITDIR="$to/units" PREFIX="$to" HUGEFILL="$HUGEFILL" >"$BATS_TEST_TMPDIR/log" 2>&1 ||
		{ cat "$BATS_TEST_TMPDIR/log"; return 1; }
	units=$to/units
}

# analyze ARGUMENT...: systemd-analyze, which finds our units and the system's own
analyze() {
	SYSTEMD_UNIT_PATH=$units: SYSTEMD_LOG_LEVEL=notice systemd-analyze --no-pager "$@"
}

# verify UNIT...: whatever it has to say about units of ours, or of this test's, is a finding
verify() {
	local said

	said=$(analyze verify --man=no --recursive-errors=no "$@" 2>&1) || echo "exit $?"
	grep -E "^exit|$units|^(hugefill|libvirtd|postgresql)" <<<"$said" || true
}

# section UNIT NAME: without comments
section() {
	awk -v wanted="[$2]" '/^\[/ { on = $0 == wanted } on && /^[A-Z]/' "$1"
}

@test "make install: units that call what is installed; none is enabled" {
	local unit

	for unit in hugefill.service hugefill@.service; do
		run -0 diff <(sed "s,=hugefill ,=$to/sbin/hugefill ," "$ROOT/systemd/$unit") "$units/$unit"
		[ "$(grep -c "^Exec[A-Z][a-z]*=$to/sbin/hugefill " "$units/$unit")" = 3 ]
	done
	[ -x "$to/sbin/hugefill" ]
	[ "$(grep -cE "^Exec.*[+ ]$to/sbin/hugefill [a-z]+ " "$to"/share/doc/hugefill/examples/*.conf | grep -c ':2$')" = 2 ]
	[ -z "$(find "$to" -name '*.wants' -o -type l)" ]
	run -0 make -s -C "$ROOT" uninstall UNITDIR="$units" PREFIX="$to"
	[ -z "$(find "$to" ! -type d)" ]
}

@test "systemd-analyze verify finds nothing" {
	cp "$units/hugefill@.service" "$units/hugefill@db.service"
	none verify "$units/hugefill.service" "$units/hugefill@db.service"
	# It would.
	sed -i 's/^ProtectClock=yes/ProtectClok=yes/' "$units/hugefill.service"
	[[ $(verify "$units/hugefill.service") == *ProtectClok* ]]
	sed -i 's,^ExecStop=[^ ]*,ExecStop=/nowhere/hugefill,; s/^ProtectClok/ProtectClock/' "$units/hugefill.service"
	[[ $(verify "$units/hugefill.service") == *"/nowhere/hugefill is not executable"* ]]
}

# dress UNIT DROP-IN EXAMPLE: a unit of this name, with the example as drop-in for it or its template
dress() {
	printf '[Service]\nExecStart=/bin/true\n' >"$units/$1.service"
	mkdir "$units/$2.service.d"
	cp "$to/share/doc/hugefill/examples/$3.conf" "$units/$2.service.d/hugefill.conf"
}

@test "systemd-analyze verify finds nothing in units with the drop-ins" {
	dress postgresql@15-main postgresql@ postgresql
	dress libvirtd libvirtd libvirt
	none verify "$units/postgresql@15-main.service" "$units/libvirtd.service"
	# It would, in the first command of each kind.
	sed -i 's,+nsenter,+/nowhere/nsenter,' "$units/libvirtd.service.d/hugefill.conf"
	[[ $(verify "$units/libvirtd.service") == *"/nowhere/nsenter is not executable"* ]]
	sed -i 's,^ExecStop=+[^ ]*,ExecStop=+/nowhere/hugefill,' "$units/postgresql@.service.d/hugefill.conf"
	[[ $(verify "$units/postgresql@15-main.service") == *"/nowhere/hugefill is not executable"* ]]
}

@test "systemd-analyze security stays below the threshold" {
	local unit

	for unit in hugefill.service hugefill@.service; do
		run -0 analyze security --offline=true --threshold=$THRESHOLD "$units/$unit"
		[[ $output == *"Overall exposure level for hugefill"*".service: "[0-9]* ]]
	done
	# Without its sandbox it is above.
	sed -i '/^CapabilityBoundingSet=/d; /^SystemCall/d' "$units/hugefill.service"
	run -1 analyze security --offline=true --threshold=$THRESHOLD "$units/hugefill.service"
}

@test "no option gives a unit mounts of its own" {
	local options='ProtectSystem ProtectHome ProtectKernelTunables ProtectKernelModules ProtectKernelLogs
		ProtectControlGroups ProtectProc ProcSubset PrivateTmp PrivateDevices PrivateIPC PrivateUsers
		PrivateNetwork DynamicUser RootDirectory RootImage MountFlags MountImages BindPaths
		BindReadOnlyPaths TemporaryFileSystem ReadWritePaths ReadOnlyPaths InaccessiblePaths ExecPaths
		NoExecPaths LogNamespace MountAPIVFS ExtensionImages StateDirectory RuntimeDirectory User Group'
	local unit

	for unit in hugefill.service hugefill@.service; do
		run -1 grep -E "^(${options//[[:space:]]/|})=" "$units/$unit"
		grep -qx 'PrivateMounts=no' "$units/$unit"
	done
}

@test "the template is the unit but for the file" {
	run -0 diff <(section "$units/hugefill.service" Service | sed 's,/etc/hugefill\.conf,/etc/hugefill/%i.conf,') \
		<(section "$units/hugefill@.service" Service)
	section "$units/hugefill.service" Service | grep -q ^ExecStart=
}
