# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Control groups of both versions, for tests that are limited by them. They call leave_groups at their end.
# shellcheck disable=SC2034 # version is for the tests

# The hierarchy that has the controller, from mountinfo: "v2 DIR" or "v1 DIR"
hierarchy() {
	"${IN[@]}" awk -v controller="$1" '
	{ for (i = 7; $i != "-"; i++); type = $(i + 1); options = "," $(i + 3) "," }
	type == "cgroup" && index(options, "," controller ",") { print "v1", $5; exit }
	type == "cgroup2" {
		if ((getline list <($5 "/cgroup.controllers")) > 0 && index(" " list " ", " " controller " "))
			print "v2", $5
	}' /proc/self/mountinfo
}

# new_group CONTROLLER: sets version and group; the controller is on for the length of the test
new_group() {
	local top

	[ -n "$(hierarchy "$1")" ] || set_free "$1"
	read -r version top <<<"$(hierarchy "$1")"
	[ -n "$top" ] || { echo "no hierarchy has the $1 controller"; return 1; }
	group=$top/hugefill-test.$$
	if [ "$version" = v2 ] && ! "${IN[@]}" grep -qw "$1" "$top/cgroup.subtree_control"; then
		"${IN[@]}" bash -c 'echo "+$1" >"$2"' - "$1" "$top/cgroup.subtree_control"
		enabled="$1 $top/cgroup.subtree_control"
	fi
	"${IN[@]}" mkdir "$group"
}

# limit FILE VALUE
limit() {
	"${IN[@]}" bash -c 'echo "$1" >"$2"' - "$2" "$group/$1"
}

leave_groups() {
	[ -z "${group:-}" ] || wait_until "${IN[@]}" rmdir "$group"
	group=
	[ -z "${enabled:-}" ] || "${IN[@]}" bash -c 'echo "-$1" >"$2"' - "${enabled% *}" "${enabled#* }"
	enabled=
}
