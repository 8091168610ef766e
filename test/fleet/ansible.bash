# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Plays of the role, in the namespace of a test, with the program that is tested.
# shellcheck disable=SC2034,SC2154 # bats sets output; helpers and tests the rest

ROLES=$ROOT/contrib/ansible/roles

# Ansible needs a place for its semaphores, and a home.
prepare_ansible() {
	"${IN[@]}" mkdir /dev/shm
	export HOME=$tmp/home ANSIBLE_ROLES_PATH=$ROLES ANSIBLE_NOCOLOR=1 ANSIBLE_NOCOWS=1
	export ANSIBLE_RETRY_FILES_ENABLED=0 ANSIBLE_LOCALHOST_WARNING=0 ANSIBLE_INVENTORY_UNPARSED_WARNING=0
	mkdir "$HOME"
	conf=$tmp/hugefill.conf
	cat >"$tmp/play.yml" <<-'END'
	- hosts: all
	  gather_facts: false
	  tasks:
	    - ansible.builtin.include_role:
	        name: hugefill
	    - ansible.builtin.copy:
	        content: "{{ hugefill_result | to_json }}"
	        dest: "{{ result_file }}"
	      changed_when: false
	      check_mode: false
	END
	mark
}

# play STATUS SPECS [VARIABLE=VALUE...] [-- ARGUMENT...]: SPECS with blanks between; sets output
play() {
	local want=$1 variables=()

	variables=("$(jq -nc --arg specs "$2" '{ hugefill_specs: ($specs | split(" ") - [""]) }')")
	shift 2
	while [ $# != 0 ] && [ "$1" != -- ]; do
		variables+=("$1")
		shift
	done
	variables+=("hugefill_program=$HUGEFILL" "hugefill_conf=$conf" "result_file=$tmp/result")
	rm -f "$tmp/result"
	run "-$want" timeout 300 "${IN[@]}" ansible-playbook -i localhost, -c local \
		"${variables[@]/#/--extra-vars=}" "$tmp/play.yml" "${@:2}" || {
		echo "$output"
		return 1
	}
}

# recap CHANGED FAILED: of the play's tasks
recap() {
	matches "$output" "localhost +: ok=[0-9]+ +changed=$1 +unreachable=0 +failed=$2 "
}

# result FILTER WANTED: of the document that hugefill printed
result() {
	equal "$(jq -r "$1" "$tmp/result")" "$2" "$1 of the result"
}
