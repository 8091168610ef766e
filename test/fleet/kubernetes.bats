#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# doc/kubernetes.md: its manifests are sound, and what its init container does is done on this machine's
# pages, under the limit that a kubelet sets.
# shellcheck disable=SC2154 # bats sets output, stderr

load helper
load ../kernel/groups

DOC=$ROOT/doc/kubernetes.md

teardown() {
	leave_groups || true
	kernel_teardown
}

# manifests STATUS FILE
manifests() {
	run "-$1" /usr/bin/python3 "$BATS_TEST_DIRNAME/manifests.py" "$2" "$tmp"
}

# broken SED-SCRIPT PART: a document that has this changed is refused, for this reason
broken() {
	sed "$1" "$DOC" >"$tmp/broken.md"
	! cmp -s "$DOC" "$tmp/broken.md" || { echo "nothing to change: $1"; return 1; }
	manifests 1 "$tmp/broken.md"
	has "$output" "$2"
}

@test "the manifests have what they need" {
	manifests 0 "$DOC"
	equal "$output" "" "what is said"
	[ -s "$tmp/script" ]
	run -0 sh -n "$tmp/script"
	hf 0 alloc --dry-run --sysroot="$ROOT/test/fixtures/two-nodes" --grow=sysfs --from="$tmp/hugefill.conf"
}

@test "manifests that would not work are found out" {
	broken 's/^      app.kubernetes.io\/name: hugefill/&-other/' "selects other pods"
	broken 's/privileged: true/privileged: false/' "it may write no pool"
	broken 's/hostPID: true/hostPID: false/' "process 1 is the container's"
	broken 's/mountPath: \/etc\/hugefill/&.d/' "the file lies elsewhere"
	broken 's/path: \/run$/path: \/tmp/' "the lock is not the node's"
	broken 's/limits: {memory: 256Mi, hugepages-2Mi: 2Gi}/limits: {memory: 256Mi, hugepages-2Mi: 1Gi}/' \
		"cannot be overcommitted"
	broken 's/^      hostPID: true/&\n&/' "is there twice"
	broken 's/nodeSelector/nodeSelectors/' "unknown keys"
}

# init_container STATUS: its script in the group, with the ConfigMap's file in its place; what starts the
# kubelet anew writes to $tmp/kubelet
init_container() {
	sed "s|/etc/hugefill/|$tmp/|" "$tmp/script" >"$tmp/init"
	run "-$1" --separate-stderr "${IN[@]}" bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - \
		"$group" sh "$tmp/init" || { printf '%s\n' "$output" "$stderr"; return 1; }
}

@test "the init container: grows the pool where it may use no page, restarts the kubelet once" {
	manifests 0 "$DOC"
	bin_with nsenter-of-the-pod <<-END
	#!/bin/sh
	echo "\$*" >>"$tmp/kubelet"
	END
	sed -i 's/nsenter /nsenter-of-the-pod /' "$tmp/script"
	bin_with hugefill <<<"exec '$HUGEFILL' \"\$@\""
	new_group hugetlb
	if [ "$version" = v2 ]; then
		limit hugetlb.2MB.max 0
	else
		limit hugetlb.2MB.limit_in_bytes 0
	fi
	# This machine may have one node.
	echo 2M=64M >"$tmp/hugefill.conf"
	init_container 0
	field .changed true
	pool 32 32
	equal "$(<"$tmp/kubelet")" "--target 1 --all -- systemctl restart kubelet.service" "the restart"
	mark

	init_container 0
	field .changed false
	equal "$(wc -l <"$tmp/kubelet")" 1 "number of restarts"
	same

	# A pod's reason for Init:CrashLoopBackOff.
	echo 2M=4T >"$tmp/hugefill.conf"
	init_container 1
	has "$stderr" "the pools would grow by 4T"
	equal "$(wc -l <"$tmp/kubelet")" 1 "number of restarts"
	same

	# What the note says of the other engine, and of files.
	echo fleet0=16M >"$tmp/hugefill.conf"
	init_container 1
	has "$stderr" "the cgroup's limit leaves 0, but 16M is needed"
	same
}
