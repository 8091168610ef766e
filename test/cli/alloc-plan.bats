#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2154 # bats sets stderr
#
# What alloc --dry-run would do, on each captured tree.

load helper

@test "one-node: the pool grows by what is asked for" {
	plans one-node 2M=1G <<<'grow 2M 0 2M 0B 1G 512 -'
	plans one-node 2M=512p <<<'grow 2M 0 2M 0B 1G 512 -'
	plans one-node 2M=1.5G@0 <<<'grow 2M 0 2M 0B 1.5G 768 -'
	plans one-node default=25% <<<'grow 2M 0 2M 0B 6G 3072 -'
	plans one-node 2048K=+2M@all <<<'grow 2M 0 2M 0B 2M 1 -'
	plans one-node 1G=25% <<<'grow 1G 0 1G 0B 6G 6 -'
	plans one-node 2M=8GiB 1G=2G <<'EOF'
grow 2M 0 2M 0B 8G 4096 -
grow 1G 0 1G 0B 2G 2 -
EOF
}

@test "one-node: a file, the mount it needs, the pages it needs" {
	local file

	for file in vm0 /dev/hugepages/vm0; do
		plans one-node "$file=1G" <<'EOF'
grow 2M 0 2M 0B 1G 512 -
mount /dev/hugepages - 2M - - - -
create /dev/hugepages/vm0 0 2M 0B 1G 512 2
EOF
	done
	plans one-node --page-size=1G big=4G <<'EOF'
grow 1G 0 1G 0B 4G 4 -
mount /dev/hugepages1G - 1G - - - -
create /dev/hugepages1G/big 0 1G 0B 4G 4 2
EOF
}

@test "one-node: the short form" {
	local rows='grow 2M 0 2M 0B 1G 512 -
mount /dev/hugepages - 2M - - - -
create /dev/hugepages/hugefill 0 2M 0B 1G 512 2'

	plans one-node --size=1G <<<"$rows"
	plans one-node -s 512p <<<"$rows"
	plans one-node -s 1G@0 <<<"$rows"
	plans one-node -s 1G -N 0 <<<"$rows"
	plans one-node -s 1G -f hugefill <<<"$rows"
	plans one-node -s 1G --file=/dev/hugepages/hugefill <<<"$rows"
	plans one-node -s 1G -p 2M <<<"$rows"
	plans one-node -s 1G -p default <<<"$rows"
	plans one-node --size=1G --file=db <<<"${rows/%\/hugefill 0*//db 0 2M 0B 1G 512 2}"
}

@test "one-node: several specs are one plan" {
	plans one-node 2M=10G vm0=4G vm1=2G <<'EOF'
grow 2M 0 2M 0B 10G 5120 -
mount /dev/hugepages - 2M - - - -
create /dev/hugepages/vm0 0 2M 0B 4G 2048 2
create /dev/hugepages/vm1 0 2M 0B 2G 1024 2
EOF
	plans one-node --available 2M=10G vm0=4G <<'EOF'
grow 2M 0 2M 0B 14G 7168 -
mount /dev/hugepages - 2M - - - -
create /dev/hugepages/vm0 0 2M 0B 4G 2048 2
EOF
}

@test "two-nodes: evenly, or as written" {
	plans two-nodes 2M=20G <<'EOF'
grow 2M 0 2M 8G 10G 1024 -
grow 2M 1 2M 4.1G 10G 3008 -
EOF
	plans two-nodes 2M=8G@1,10G@0 <<'EOF'
grow 2M 0 2M 8G 10G 1024 -
grow 2M 1 2M 4.1G 8G 1984 -
EOF
	plans two-nodes -N 1 2M=8G <<<'grow 2M 1 2M 4.1G 8G 1984 -'
	plans two-nodes -N 0 2M=8G@1 <<<'grow 2M 1 2M 4.1G 8G 1984 -'
	plans two-nodes 2M=+512p@0 <<<'grow 2M 0 2M 8G 9G 512 -'
	plans two-nodes 2M=+512p <<'EOF'
grow 2M 0 2M 8G 8.5G 256 -
grow 2M 1 2M 4.1G 4.6G 256 -
EOF
	plans two-nodes 1G=25% <<'EOF'
grow 1G 0 1G 4G 16G 12 -
grow 1G 1 1G 2G 16G 14 -
EOF
}

@test "two-nodes: surplus pages become persistent" {
	plans two-nodes 2M=6208p <<<'grow 2M 1 2M 4.1G 4.1G 0 -'
}

@test "two-nodes: a file takes what is free, others' reserved pages stay" {
	plans two-nodes vm0=1G <<'EOF'
create /dev/hugepages/vm0 0 2M 0B 512M 256 8
create /dev/hugepages/vm0 1 2M 0B 512M 256 8
EOF
	plans two-nodes vm0=3500p <<'EOF'
create /dev/hugepages/vm0 0 2M 0B 4.9G 2500 32
create /dev/hugepages/vm0 1 2M 0B 2G 1000 31
EOF
	plans two-nodes -b vm0=3501p <<'EOF'
grow 2M 1 2097152 4429185024 4431282176 1 -
create /dev/hugepages/vm0 0 2097152 0 5242880000 2500 32
create /dev/hugepages/vm0 1 2097152 0 2099249152 1001 31
EOF
	plans two-nodes -p 1G vm0=4G <<'EOF'
mount /dev/hugepages1G - 1G - - - -
create /dev/hugepages1G/vm0 0 1G 0B 3G 3 3
create /dev/hugepages1G/vm0 1 1G 0B 1G 1 1
EOF
}

@test "two-nodes: with @ no other node makes up" {
	plans two-nodes vm0=2G@1 <<'EOF'
grow 2M 1 2M 4.1G 4.2G 24 -
create /dev/hugepages/vm0 1 2M 0B 2G 1024 32
EOF
	plans two-nodes db=100p@0,1100p@1 <<'EOF'
grow 2M 1 2M 4.1G 4.3G 100 -
create /dev/hugepages/db 0 2M 0B 200M 100 3
create /dev/hugepages/db 1 2M 0B 2.1G 1100 32
EOF
	plans two-nodes vm0=1G@0 vm1=1G@1 <<'EOF'
create /dev/hugepages/vm0 0 2M 0B 1G 512 16
create /dev/hugepages/vm1 1 2M 0B 1G 512 16
EOF
}

@test "two-nodes: --threads are shared by the pages, one at least" {
	plans two-nodes -t 8 vm0=1500p@0,500p@1 -o threads <<<$'6\n2'
	plans two-nodes --threads=3 vm0=1G -o threads <<<$'2\n1'
	plans two-nodes -t 3 vm0=4G@0,2M@1 -o threads <<<$'2\n1'
	plans two-nodes -t 1 vm0=1G -o threads <<<$'1\n-'
	plans two-nodes -t 100 vm0=2p -o threads <<<$'1\n1'
}

@test "eight-nodes" {
	plans eight-nodes vm0=1G <<'EOF'
create /dev/hugepages/vm0 1 2M 0B 322M 161 5
create /dev/hugepages/vm0 2 2M 0B 48M 24 1
create /dev/hugepages/vm0 3 2M 0B 320M 160 5
create /dev/hugepages/vm0 5 2M 0B 320M 160 5
create /dev/hugepages/vm0 7 2M 0B 14M 7 1
EOF
	plans eight-nodes 2M=16G@0-3+6 <<'EOF'
grow 2M 0 2M 0B 3.2G 1639 -
grow 2M 1 2M 1G 3.2G 1127 -
grow 2M 2 2M 2G 3.2G 614 -
grow 2M 6 2M 200M 3.2G 1538 -
EOF
	plans eight-nodes -p 1G a=8G <<'EOF'
create /mnt/huge1G/a 1 1G 0B 4G 4 4
create /mnt/huge1G/a 4 1G 0B 3G 3 3
create /mnt/huge1G/a 7 1G 0B 1G 1 1
EOF
}

@test "memless: nothing goes where no memory is" {
	plans memless 2M=4G <<<'grow 2M 0 2M 2G 4G 1024 -'
	plans memless 2M=4G@all <<<'grow 2M 0 2M 2G 4G 1024 -'
	plans memless vm0=1G <<<'create /dev/hugepages/vm0 0 2M 0B 1G 512 4'
	plans memless 2M=2G vm0=4G <<'EOF'
grow 2M 0 2M 2G 4G 1024 -
create /dev/hugepages/vm0 0 2M 0B 4G 2048 4
EOF
}

@test "cpuless: a node without CPUs is filled from the nearest" {
	plans cpuless vm0=1G <<'EOF'
grow 2M 0 2M 0B 342M 171 -
grow 2M 1 2M 0B 342M 171 -
grow 2M 2 2M 0B 340M 170 -
create /dev/hugepages/vm0 0 2M 0B 342M 171 4
create /dev/hugepages/vm0 1 2M 0B 342M 171 4
create /dev/hugepages/vm0 2 2M 0B 340M 170 4
EOF
	plans cpuless 1G=16p@0,48p@2 <<'EOF'
grow 1G 0 1G 0B 16G 16 -
grow 1G 2 1G 4G 48G 44 -
EOF
	plans cpuless --threads 4 vm0=4G@0,2M@1,2M@2 -o action,node,threads <<'EOF'
grow 0 -
grow 1 -
grow 2 -
create 0 2
create 1 1
create 2 1
EOF
}

@test "arm64: four page sizes" {
	plans arm64 64K=200M default=2G 32M=512M 1G=3G <<'EOF'
grow 64K 0 64K 100M 200M 1600 -
grow 2M 0 2M 1G 2G 512 -
grow 32M 0 32M 256M 512M 8 -
grow 1G 0 1G 2G 3G 1 -
EOF
	plans arm64 -p 64K x=1M <<<'create /mnt/huge64K/x 0 64K 0B 1M 16 1'
	plans arm64 -p 32M x=512M <<'EOF'
grow 32M 0 32M 256M 512M 8 -
mount /dev/hugepages32M - 32M - - - -
create /dev/hugepages32M/x 0 32M 0B 512M 16 6
EOF
	plans arm64 vm0=480M <<<'create /dev/hugepages/vm0 0 2M 0B 480M 240 6'
}

@test "nothing to do is said, and is success" {
	local spec

	for spec in 2M=0 2M=8G 2M=8G@0,4G@1 1G=1% 2M=+0@0; do
		hf 0 alloc -n --sysroot=two-nodes "$spec"
		assert_equal "$stderr" "hugefill alloc: nothing to do"
		assert_equal "$output" ""
	done
}

@test "specs from a file and from standard input" {
	local rows='grow 2M 0 2M 8G 10G 1024 -
grow 2M 1 2M 4.1G 10G 3008 -
create /dev/hugepages/a b 0 2M 0B 2M 1 1'
	local file=$BATS_TEST_TMPDIR/specs

	printf '# a comment\n\n  2M=20G\t\n\t# another\na\\040b=2M\r\n' >"$file"
	hf 0 alloc -n --sysroot=two-nodes --raw --noheadings --from="$file"
	assert_equal "$output" "${rows/a b/a\\x20b}"
	hf 0 alloc -n --sysroot=two-nodes --raw --noheadings --from=- <"$file"
	assert_equal "$output" "${rows/a b/a\\x20b}"
	printf 'c=2M@1' >"$file"
	plans two-nodes d=2M@0 --from="$file" <<'EOF'
create /dev/hugepages/d 0 2M 0B 2M 1 1
create /dev/hugepages/c 1 2M 0B 2M 1 1
EOF
}

@test "options on the lines of a spec file" {
	local file=$BATS_TEST_TMPDIR/specs

	printf '%s\n' 'a=4M layout=block' 'b=4M@0 page-size=1G,mode=0640' >"$file"
	hf 2 alloc -n --sysroot=two-nodes --from="$file"
	printf '%s\n' 'a=4M  layout=block' $'b=1G@0\tpage-size=1G,mode=0640,mount=/mnt/big\\054one/' \
		'/dev/hugepages/c=2M@1 owner=0:0' >"$file"
	hf 0 alloc -n --sysroot=two-nodes --raw --noheadings -o ACTION,TARGET,PAGESIZE --from="$file"
	assert_line 'mount /mnt/big,one 1G'
	assert_line 'create /mnt/big,one/b 1G'
	assert_line 'create /dev/hugepages/c 2M'
	hf 0 check --persist --sysroot=two-nodes --from="$file"
	assert_line 'b=1G@0 page-size=1G,mode=0640,mount=/mnt/big\054one'
	assert_line '/dev/hugepages/c=2M@1 owner=0:0'
	assert_line 'a=4M layout=block'
}

@test "options that do not change the plan" {
	local option

	for option in --layout=block --method=touch --method=fallocate --mode=0640 --owner=0:0 --owner=:0 \
		--drop-caches --deadline=1.5m --resize --best-effort --progress=always -v; do
		plans two-nodes vm0=2p "$option" <<'EOF'
create /dev/hugepages/vm0 0 2M 0B 2M 1 1
create /dev/hugepages/vm0 1 2M 0B 2M 1 1
EOF
	done
}
