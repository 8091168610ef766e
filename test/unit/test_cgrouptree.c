/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cgroups of captured trees. */
#include "../../lib/cgrouptree.h"
#include "tree.h"

#define V1_MOUNT "30 1 0:25 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb\n"
#define V2_MOUNT "31 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V2 "sys/fs/cgroup"

static const uint64_t sizes[] = { 64 << 10, 2 << 20, 1 << 30 };

static void put(const char *dir, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/hugetlb.%s", dir, file);
	tree_put(path, text);
}

static void read_tree(struct hf_cgroup_tree *tree)
{
	struct hf_mounts mounts;
	struct hf_sysroot root;
	struct hf_err err = { 0 };

	tree_open(&root, tree_dir);
	ok(hf_mounts_read(&root, 2 << 20, &mounts, &err) == 0, "mounts: %s", err.what);
	ok(hf_cgroup_tree_read(&root, &mounts, sizes, HF_LENGTH(sizes), tree, &err) == 0, "cgroups: %s",
	   err.what);
	hf_mounts_free(&mounts);
	hf_sysroot_close(&root);
}

static void test_v2(void)
{
	struct hf_cgroup_tree tree;

	tree_new();
	tree_put("proc/self/mountinfo", V2_MOUNT);
	put(V2 "/a", "2MB.current", "0\n");
	put(V2 "/a", "2MB.max", "max\n");
	put(V2 "/a/limited", "2MB.current", "0\n");
	put(V2 "/a/limited", "2MB.max", "0\n");
	put(V2 "/a/limited", "2MB.events", "max 12\n");
	put(V2 "/a/limited", "1GB.current", "2147483648\n");
	put(V2 "/a/limited", "1GB.rsvd.max", "max\n");
	put(V2 "/a/limited", "1GB.rsvd.current", "garbage\n");
	put(V2 "/a/failed", "64KB.current", "0\n");
	put(V2 "/a/failed", "64KB.events", "max 1\n");
	put(V2 "/a/quiet", "64KB.current", "0\n");
	put(V2 "/a/quiet", "64KB.events", "min 1\n");
	put(V2 "/b", "2MB.current", "0\n");
	put(V2 "/b", "2MB.max", "0\n");
	put(V2 "/off/below", "2MB.current", "2097152\n");
	read_tree(&tree);
	is_u64(tree.count, 4, "rows");
	if (tree.count == 4) {
		is_text(tree.rows[0].path, "/a/failed", "one with failures");
		is_u64(tree.rows[0].failures, 1, "their number");
		is_text(tree.rows[1].path, "/a/limited", "a limit with failures");
		is_u64(tree.rows[1].limit, 0, "it");
		is_text(tree.rows[3].path, "/b", "a limit of 0 is one");
		is_u64(tree.rows[1].failures, 12, "its failures");
		is_u64(tree.rows[1].rsvd_limit, HF_CGROUP_NONE, "no file, no limit");
		is_u64(tree.rows[2].page_size, 1 << 30, "usage of another size");
		is_u64(tree.rows[2].usage, 2ULL << 30, "it");
		is_u64(tree.rows[2].rsvd_usage, HF_CGROUP_NONE, "garbage is no number");
		ok(tree.rows[2].v2, "v2");
	}
	is_u64(tree.skipped, 0, "nothing skipped");
	hf_cgroup_tree_free(&tree);
}

static void test_v1_root(void)
{
	struct hf_cgroup_tree tree;

	tree_new();
	tree_put("proc/self/mountinfo", V1_MOUNT);
	put(V2 "/hugetlb", "2MB.usage_in_bytes", "2097152\n");
	put(V2 "/hugetlb", "2MB.limit_in_bytes", "9223372036852678656\n");
	put(V2 "/hugetlb", "2MB.failcnt", "3\n");
	put(V2 "/hugetlb", "2MB.rsvd.failcnt", "4\n");
	read_tree(&tree);
	is_u64(tree.count, 1, "v1 counts in its root");
	if (tree.count) {
		is_text(tree.rows[0].path, "/", "the root");
		is_u64(tree.rows[0].limit, HF_CGROUP_NONE, "no limit");
		is_u64(tree.rows[0].failures, 3, "failures");
		is_u64(tree.rows[0].rsvd_failures, 4, "of reservations");
		ok(!tree.rows[0].v2, "v1");
	}
	hf_cgroup_tree_free(&tree);
}

/* Links lead nowhere, also in a circle; a tree may be deeper than any. */
static void test_hostile(void)
{
	char dir[400] = V2;
	struct hf_cgroup_tree tree;

	tree_new();
	tree_put("proc/self/mountinfo", V2_MOUNT);
	for (unsigned i = 0; i < 80; i++) {
		strcat(dir, "/d");
		put(dir, "2MB.current", "2097152\n");
	}
	ok(symlink("..", tree_path(V2 "/d/circle")) == 0, "a link");
	read_tree(&tree);
	is_u64(tree.count, 64, "down to the deepest");
	is_u64(tree.skipped, 1, "and no further");
	hf_cgroup_tree_free(&tree);
}

static void test_part(void)
{
	struct hf_cgroup_tree tree;

	tree_new();
	tree_put("proc/self/mountinfo", "31 1 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put(V2, "2MB.current", "2097152\n");
	put(V2 "/in", "2MB.current", "2097152\n");
	read_tree(&tree);
	is_u64(tree.count, 2, "a container's part");
	is_text(tree.count ? tree.rows[0].path : "", "/docker/x", "its top");
	is_text(tree.count > 1 ? tree.rows[1].path : "", "/docker/x/in", "and below");
	hf_cgroup_tree_free(&tree);
}

static void test_none(void)
{
	struct hf_cgroup_tree tree;

	tree_new();
	tree_put("proc/self/mountinfo", "31 1 0:26 / / rw - ext4 ext4 rw\n");
	read_tree(&tree);
	is_u64(tree.count, 0, "no cgroups");
	hf_cgroup_tree_free(&tree);
}

int main(void)
{
	test_v2();
	test_v1_root();
	test_hostile();
	test_part();
	test_none();
	return tap_done();
}
