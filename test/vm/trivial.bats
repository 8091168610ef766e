@test "trivial" {
	numactl --hardware >&3
	free -m >&3
	true
}
