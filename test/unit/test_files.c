/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files are of the live system only; what is no hugetlbfs has none. */
#include <errno.h>

#include "../../lib/files.h"
#include "tree.h"

static struct hf_mount mount_of(const char *target)
{
	struct hf_mount mount = { .page_size = 2 << 20, .target = (char *)(uintptr_t)target };

	return mount;
}

static void test_captured(void)
{
	struct hf_mounts mounts = { 0 };
	struct hf_files files;
	struct hf_sysroot root;
	struct hf_err err = { 0 };

	tree_open(&root, FIXTURES "two-nodes");
	ok(hf_files_read(&root, &mounts, 0, NULL, &files, &err) == -EOPNOTSUPP, "a captured tree is refused");
	has_text(err.what, "captured tree", "it says so");
	hf_sysroot_close(&root);
}

/* The table of mounts may be older than what is mounted there. */
static void test_other_filesystem(void)
{
	struct hf_mount all[] = { mount_of("/proc"), mount_of("/"), mount_of("/nowhere/at/all") };
	struct hf_mounts mounts = { .count = 3, .mounts = all };
	struct hf_mount_usage usage;
	struct hf_files files;
	struct hf_sysroot root;
	struct hf_err err = { 0 };

	tree_open(&root, NULL);
	ok(hf_files_read(&root, &mounts, 0, NULL, &files, &err) == 0, "no error: %s", err.what);
	is_u64(files.count, 0, "and no files");
	hf_files_free(&files);
	hf_mount_usage(&root, &all[1], &usage);
	ok(usage.used == HF_MOUNTS_NONE && usage.inodes == HF_MOUNTS_NONE, "no usage either");
	hf_sysroot_close(&root);
}

static void test_where(void)
{
	struct hf_node nodes[] = { { .id = 0 } };
	const struct hf_topology topo = { .nnodes = 1, .nodes = nodes };
	uint64_t on[1] = { 7 };
	FILE *plain = tmpfile();
	int fd = plain ? fileno(plain) : -1;

	ok(hf_files_where(fd, 2 << 20, 0, 1, 0, &topo, on) == 0 && on[0] == 0, "no pages lie nowhere");
	ok(hf_files_where(fd, 2 << 20, 0, 1ULL << 41, 1, &topo, on) == -E2BIG, "too many holes to ask");
	ok(hf_files_where(fd, 2 << 20, 0, 1, 1, &topo, on) < 0, "a plain file is refused");
	ok(hf_files_where(-1, 2 << 20, 0, 1, 1, &topo, on) == -EBADF, "so is none");
	if (plain)
		fclose(plain);
}

int main(void)
{
	test_captured();
	test_other_filesystem();
	test_where();
	return tap_done();
}
