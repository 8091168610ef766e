#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The Ansible role, on this machine's pages. Plays have eight tasks and more, each a process of its own.
# shellcheck disable=SC2154 # bats sets output

load helper
load ansible

setup() {
	kernel_setup
	prepare_ansible
}

@test "first run changed, second unchanged, more is added, then all of it goes" {
	play 0 "2M=8M fleet0=4M"
	recap 2 0
	result '[.command, .changed, .targets[-1].filled] | join(" ")' "alloc true 4194304"
	equal "$(grep -v '^#' "$conf")" $'2M=8M\nfleet0=4M' "the spec file"
	pool 4 2
	equal "$(pages /dev/hugepages/fleet0)" 2 "pages of the file"

	play 0 "2M=8M fleet0=4M"
	recap 0 0
	result .changed false
	pool 4 2

	# Only what is new is allocated; what is gone is named, and stays.
	play 0 "2M=8M fleet1=8M"
	recap 2 0
	has "$output" "still allocated: fleet0=4M;"
	pool 6 0
	equal "$(pages /dev/hugepages/fleet0)" 2 "pages of the first file"
	equal "$(pages /dev/hugepages/fleet1)" 4 "pages of the second file"
	hf 0 free --shrink fleet0

	play 0 "" hugefill_state=absent
	recap 2 0
	result '[.command, .changed] | join(" ")' "free true"
	[ ! -e "$conf" ]
	same

	play 0 "" hugefill_state=absent
	recap 0 0
	result .changed false
	same
}

@test "check mode tells what would change, and changes nothing" {
	play 0 "fleet0=4M" -- --check --diff
	recap 2 0
	has "$output" "+fleet0=4M"
	result '[.dry_run, .would_change, .changed] | join(" ")' "true true false"
	[ ! -e "$conf" ]
	same

	cp "$tmp/marked" "$tmp/empty"
	play 0 "fleet0=4M"
	mark
	play 0 "fleet0=4M" -- --check
	recap 0 0
	result .would_change false
	play 0 "" hugefill_state=absent -- --check
	recap 2 0
	[ -e "$conf" ]
	same

	play 2 "2M=4T" -- --check
	recap 0 1
	has "$output" "the pools would grow by 4T, but only"
	same
	play 0 "" hugefill_state=absent
	mv "$tmp/empty" "$tmp/marked"
}

@test "what cannot be had fails with the cause, and leaves the spec file as it was" {
	echo "# of the administrator" >"$conf"
	play 2 "fleet0=4M 2M=4T"
	recap 0 1
	has "$output" "memory: the pools would grow by 4T, but only" "hint: ask for at most"
	equal "$(<"$conf")" "# of the administrator"
	same

	play 2 "fleet0=4Q"
	recap 0 1
	has "$output" '4Q: unknown unit \"Q\"'
	equal "$(<"$conf")" "# of the administrator"

	play 2 ""
	has "$output" "hugefill_specs is to be a list of specs"
	play 2 "fleet0=4M" hugefill_state=gone
	play 2 "fleet0=4M" -- -e hugefill_program=hugefill-that-is-not-there
	recap 0 1
	same
}

@test "what fails after the plan fails with the cause, too" {
	# A file that is in the way of the mount, which only the real run finds.
	bin_with hugefill-short <<-END
	#!/bin/sh
	case " \$* " in
	*" --dry-run "*) exec "$HUGEFILL" "\$@" ;;
	*) exec strace -f -qq -o /dev/null -e trace=madvise -e inject=madvise:error=EFAULT "$HUGEFILL" "\$@" ;;
	esac
	END
	play 2 "fleet0=4M" -- -e hugefill_program="$tmp/bin/hugefill-short" \
		-e '{"hugefill_alloc_options": ["--method=populate"]}'
	recap 1 1
	has "$output" "hugefill alloc: "
	same
}

@test "in use by a process: absent fails, names it, and keeps the spec file" {
	play 0 "fleet0=4M"
	hold map /dev/hugepages/fleet0
	play 2 "" hugefill_state=absent
	recap 0 1
	has "$output" "fleet0" "hold"
	[ -e "$conf" ]
	kill "$pid"
	wait "$pid" || true
	play 0 "" hugefill_state=absent
	same
}

@test "options go to alloc and free" {
	play 0 "fleet0=4M" -- -e '{"hugefill_alloc_options": ["--mode=0640", "--owner=nobody"]}'
	equal "$("${IN[@]}" stat -c '%a %U' /dev/hugepages/fleet0)" "640 nobody"
	play 0 "" hugefill_state=absent -- -e '{"hugefill_free_options": []}'
	pool 2 2
	hf 0 free 2M
	hf 0 umount
}

@test "the unit is enabled and started, once; disabled at the end" {
	# No manager of units runs in every test machine: this one remembers what it is told.
	bin_with systemctl <<-'END'
	#!/bin/sh
	echo "$*" >>"$UNITS/calls"
	verb=$1
	case "$*" in
	*--version*) echo "systemd 252" ;;
	*show*)
		echo "LoadState=loaded"
		if [ -e "$UNITS/started" ]; then echo ActiveState=active; else echo ActiveState=inactive; fi
		;;
	*is-enabled*) [ -e "$UNITS/enabled" ] && echo enabled || { echo disabled; exit 1; } ;;
	*is-active*) [ -e "$UNITS/started" ] ;;
	*disable*) rm "$UNITS/enabled" ;;
	*enable*) touch "$UNITS/enabled" ;;
	*start*) touch "$UNITS/started" ;;
	esac
	END
	export UNITS=$tmp/units
	mkdir "$UNITS"
	play 0 "fleet0=4M" -- -e hugefill_service_enabled=true
	recap 4 0
	[ -e "$UNITS/enabled" ]
	[ -e "$UNITS/started" ]
	play 0 "fleet0=4M" -- -e hugefill_service_enabled=true
	recap 0 0
	play 0 "" hugefill_state=absent -- -e hugefill_service_enabled=true
	recap 3 0
	[ ! -e "$UNITS/enabled" ]
	grep -q 'enable hugefill.service' "$UNITS/calls"
	same
}

@test "a package is installed first; in check mode nothing of it" {
	mkdir -p "$tmp/package/DEBIAN" "$tmp/package/usr/sbin"
	cp "$HUGEFILL" "$tmp/package/usr/sbin/hugefill"
	printf '%s\n' "Package: hugefill-test" "Version: 0.1.0" "Architecture: all" "Maintainer: nobody <nobody@example.org>" \
		"Description: a test" >"$tmp/package/DEBIAN/control"
	dpkg-deb --build "$tmp/package" "$tmp/hugefill.deb" >"$tmp/built"
	# The program comes with the package: what it would do is not known before.
	sed -i '/copy:/,$d' "$tmp/play.yml"
	play 0 "fleet0=4M" -- --check -e hugefill_package="$tmp/hugefill.deb" -e hugefill_program=hugefill-that-is-not-there
	recap 1 0
	same
}

@test "ansible-lint is content with role and example, and would object" {
	cp -R "$ROOT/contrib/ansible" "$tmp/linted"
	cd "$tmp/linted"
	run -0 ansible-lint --offline --nocolor
	sed -i 's/ansible.builtin.fail/fail/' roles/hugefill/tasks/present.yml
	run -2 ansible-lint --offline --nocolor
	has "$output" fqcn
}

@test "the example's specs are planned, its variables are the role's" {
	local specs

	specs=$(/usr/bin/python3 -c 'import sys, yaml
print("\n".join(yaml.safe_load(open(sys.argv[1]))[0]["tasks"][0]["vars"]["hugefill_specs"]))' "$ROOT/contrib/ansible/hugefill.yml")
	hf 0 alloc --dry-run --sysroot="$ROOT/test/fixtures/two-nodes" --from=- <<<"$specs"
	grep -oE '^ +hugefill_[a-z_]+:' "$ROOT/contrib/ansible/hugefill.yml" | tr -d ' ' | while read -r name; do
		grep -q "^$name" "$ROLES/hugefill/defaults/main.yml" || { echo "$name"; exit 1; }
	done
	# Every variable is in the role's README.
	grep -oE '^hugefill_[a-z_]+' "$ROLES/hugefill/defaults/main.yml" | while read -r name; do
		grep -q "\`$name\`" "$ROLES/hugefill/README.md" || { echo "$name"; exit 1; }
	done
}
