#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets output and stderr
#
# check: findings, verdicts and advice, on the captured trees.

load helper

# checks STATUS TREE ARGUMENT... <<ids: the findings' severity, id, object, node, wanted and got
checks() {
	local status=$1 tree=$2

	shift 2
	hf "$status" check --sysroot="$tree" --raw --noheadings --bytes -o SEVERITY,ID,OBJECT,NODE,WANTED,GOT "$@"
	assert_equal "$output" "$(cat)"
	assert_equal "$stderr" ""
}

@test "what people see of a machine" {
	hf 0 check --sysroot=one-node
	assert_equal "$(unpadded)" "\
SEVERITY ID        OBJECT NODE WANTED GOT TEXT
info     no-mount  2M                     no hugetlbfs with pages of this size is mounted: there is no place for files
info     no-mount  1G                     no hugetlbfs with pages of this size is mounted: there is no place for files
info     gigantic  1G                     such a page needs as much contiguous memory: easily had at boot, less and less likely later
info     shm-group limits                 SysV segments of huge pages (SHM_HUGETLB) are for CAP_IPC_LOCK and members of group 0 (vm.hugetlb_shm_group)"
	assert_equal "$stderr" "\
hint: no-mount 2M: hugefill mount --page-size=2M
hint: no-mount 1G: hugefill mount --page-size=1G
hint: gigantic 1G: hugepagesz=1G hugepages=N on the kernel command line
hint: shm-group limits: sysctl vm.hugetlb_shm_group=GID"
}

@test "findings about each machine" {
	checks 0 two-nodes <<'EOF'
warning surplus 2M 1 - 134217728
warning overcommit 2M - - 2147483648
info unused 2M - - 7340032000
info unused 1G - - 4294967296
info no-mount 1G - - -
info gigantic 1G - - -
info shm-group limits - - -
info boot 2M - - 12884901888
EOF
	checks 0 eight-nodes <<'EOF'
warning mount-options /mnt/read\x20only - - -
warning hidden-mount /mnt/covered - - -
info unused 2M - - 12975079424
info unused 1G - - 9663676416
info cgroup 2M - 107374182400 106300440576
info cgroup-reserved 2M - 53687091200 52613349376
info gigantic 1G - - -
info shm-group limits - - -
info boot 2M - - 16330522624
info boot 1G - - 26843545600
EOF
	checks 0 arm64 <<'EOF'
info unused 64K - - 104857600
info unused 2M - - 503316480
info unused 32M - - 268435456
info no-mount 32M - - -
info unused 1G - - 1073741824
info no-mount 1G - - -
info cgroup 2M - 1073741824 536870912
info gigantic 32M - - -
info gigantic 1G - - -
info init-on-alloc kernel - - -
info shm-group limits - - -
info boot 64K - - 104857600
info boot 2M - - 1073741824
info boot 32M - - 268435456
EOF
	checks 1 no-hugetlb <<'EOF'
error no-hugetlb huge\x20pages - - -
EOF
}

@test "the verdict: exit 0, 1, and a word" {
	hf 0 check --sysroot=two-nodes vm0=1G
	assert_equal "$output" ""
	assert_equal "$stderr" "hugefill check: it would succeed"
	hf 0 check --sysroot=two-nodes 2M=20G
	assert_equal "$(unpadded)" "\
SEVERITY ID         OBJECT NODE WANTED GOT TEXT
warning  fragmented 2M        1   5.9G  0B memory is fragmented: 56G is free there, 0B of it in blocks of 2M or more: the kernel must compact memory for the rest, which may not give enough"
	assert_equal "$stderr" "\
hint: fragmented 2M: --drop-caches helps; at boot there is no fragmentation: hugefill check --persist
hugefill check: it would succeed, if the warnings do not come true"
	hf 1 check --sysroot=two-nodes 2M=100G@1
	assert_equal "$(unpadded)" "\
SEVERITY ID          OBJECT NODE WANTED   GOT TEXT
error    node-memory memory    1  95.9G 57.9G pools are to grow by 95.9G there, but the node has no more than 57.9G outside of pools"
	assert_equal "$stderr" "\
hint: node-memory memory: ask for less there, or leave @ out so that other nodes make up
hugefill check: it would not succeed"
	hf 1 check --quiet --sysroot=two-nodes 2M=100G@1
	assert_equal "$output$stderr" ""
}

@test "what the plan finds is found" {
	checks 1 one-node --no-grow vm0=1G <<'EOF'
error no-grow 2M - 1073741824 0
EOF
	checks 1 one-node --no-mount --no-grow vm0=1G <<'EOF'
error no-mount /dev/hugepages - - -
error no-grow 2M - 1073741824 0
EOF
	checks 0 one-node --no-grow --best-effort 2M=1G <<'EOF'
warning no-grow 2M - 1073741824 0
EOF
	checks 1 two-nodes 1G=200G <<'EOF'
error headroom memory - 208305913856 109693464740
warning gigantic 1G - 208305913856 111669149696
warning node-memory memory 0 103079215104 51539607552
warning node-memory memory 1 105226698752 60129542144
EOF
	checks 1 eight-nodes vm0=50G <<'EOF'
error cgroup-reserved 2M - 53687091200 52613349376
EOF
}

@test "what the request has wrong is no finding" {
	refuses check "hugefill check: 2M:3M: no = between target and amount: write 2M=3M" --sysroot=one-node 2M:3M
	refuses check "hugefill check: --page-size: \"4M\" is no page size of this kernel
hint: it has 2M pages
hint: it has 1G pages" --sysroot=one-node -p 4M x=4M
	usage check "--file needs --size" --file x
	hf 1 check --sysroot=one-node --json /tmp/x=2M
	json '.ok, .error.object' $'false\n/tmp/x'
}

@test "json: one document, frozen keys" {
	hf 0 check --sysroot=two-nodes --json 2M=20G
	keys 'command
findings
findings.[]
findings.[].got
findings.[].hint
findings.[].id
findings.[].node
findings.[].object
findings.[].severity
findings.[].text
findings.[].wanted
hugefill
ok'
	json '.command, .ok' $'check\ntrue'
	json '.findings[0] | [.severity, .id, .object, .node, .wanted, .got]' '["warning","fragmented","2M",1,6308233216,0]'
	hf 0 check --sysroot=one-node --json 2M=2M
	json '.ok, .findings' $'true\n[]'
	hf 1 check --sysroot=no-hugetlb --json
	json '.ok, .findings[].id' $'false\nno-hugetlb'
	hf 1 check --sysroot=broken --json
	json '.ok, .error.object' $'false\nbroken/proc/meminfo'
	hf 0 check --sysroot=one-node --json --persist 2M=1G
	json '.persist | keys | join(" ")' 'conf kernel_arguments unit'
	json '.persist.conf, .persist.kernel_arguments' '2M=1G

default_hugepagesz=2M hugepagesz=2M hugepages=512'
}

@test "columns on request" {
	hf 0 check --sysroot=one-node -o +HINT --raw --noheadings 1G=1G
	assert_equal "$output" 'warning gigantic 1G - 1G 23G each\x20page\x20is\x20to\x20be\x20made\x20at\x20run\x20time\x20and\x20needs\x20as\x20much\x20contiguous\x20memory:\x20how\x20many\x20the\x20kernel\x20will\x20find\x20cannot\x20be\x20told\x20before hugefill\x20check\x20--persist\x20shows\x20how\x20to\x20reserve\x20them\x20at\x20boot'
	hf 2 check --sysroot=one-node -o NONE
	hf 0 check --sysroot=one-node -o ID --raw --noheadings
	assert_equal "$output" $'no-mount\nno-mount\ngigantic\nshm-group'
}

@test "advice to make the present pools last" {
	hf 0 check --sysroot=two-nodes --persist
	assert_equal "$output" "\
# Kernel arguments, in force from the next boot on. Gigantic pages and large pools are best made so:
default_hugepagesz=2M hugepagesz=2M hugepages=0:4096,1:2048 hugepagesz=1G hugepages=0:4,1:2

# The same by a unit, files too, as systemd starts it. /etc/hugefill.conf:
2M=8G@0,4G@1
1G=4G@0,2G@1

# /etc/systemd/system/hugefill.service; then: systemctl enable --now hugefill
$(sed 1d "$ROOT/systemd/hugefill.service")"
	assert_equal "$stderr" ""
	hf 0 check --sysroot=one-node --persist
	assert_equal "$stderr" "hugefill check: no pool has pages: give SPECs for those that it is to have"
}

@test "advice for specs: what alloc reads back is the same plan" {
	local plan

	hf 0 alloc -n --raw --sysroot=two-nodes -p 1G big=8G@0 /dev/hugepages/small=64M 2M=+1G
	plan=$output
	hf 0 check --json --persist --sysroot=two-nodes -p 1G big=8G@0 /dev/hugepages/small=64M 2M=+1G
	jq -r .persist.conf <<<"$output" >"$BATS_TEST_TMPDIR/conf"
	json '.persist.kernel_arguments' \
		'default_hugepagesz=2M hugepagesz=2M hugepages=0:4352,1:2368 hugepagesz=1G hugepages=0:8,1:2'
	hf 0 alloc -n --raw --sysroot=two-nodes -p 1G --from "$BATS_TEST_TMPDIR/conf"
	assert_equal "$output" "$plan"
}

@test "advice repeats the options, as systemd reads them" {
	hf 0 check --json --persist --sysroot=one-node --page-size=2M --nodes 0 --threads=3 --headroom=5% \
		--layout=block --mode=640 --owner=0:0 --method=touch --grow=sysfs --available --no-mount --resize \
		--drop-caches --best-effort 1G=1G
	json '.persist.unit | split("\n")[] | select(startswith("Exec"))' "\
ExecStart=hugefill alloc --page-size=2M --nodes=0 --threads=3 --layout=block --method=touch --grow=sysfs --headroom=5%% --mode=640 --owner=0:0 --available --drop-caches --no-mount --resize --best-effort --from=/etc/hugefill.conf
ExecReload=hugefill alloc --page-size=2M --nodes=0 --threads=3 --layout=block --method=touch --grow=sysfs --headroom=5%% --mode=640 --owner=0:0 --available --drop-caches --no-mount --resize --best-effort --from=/etc/hugefill.conf
ExecStop=hugefill free --page-size=2M --nodes=0 --shrink --from=/etc/hugefill.conf"
}

@test "hostile text stays one line; a full device is seen" {
	clean 0 check --sysroot=one-node $'a\eb=2M'
	clean 2 check --sysroot=one-node --persist $'a\nb=2M'
	to_full 1 check --sysroot=one-node
	to_full 1 check --sysroot=one-node --json
	to_full 1 check --sysroot=one-node --persist
}
