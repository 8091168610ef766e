/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cgroup limits, v1 and v2: a tree whose files the input changes (fuzz.h). */
#include "../../lib/cgrouptree.h"
#include "fuzz.h"

#define V2 "sys/fs/cgroup/unified/"
#define V1 "sys/fs/cgroup/hugetlb/"

static const struct fuzz_file files[] = {
	{ "proc/self/cgroup", "5:hugetlb,pids:/a/b\n1:name=systemd:/x\n0::/a/b\n" },
	{ "proc/self/mountinfo", "28 1 8:1 / / rw - ext4 ext4 rw\n"
				 "29 28 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 "
				 "rw,memory_hugetlb_accounting\n"
				 "30 28 0:25 / /sys/fs/cgroup/hugetlb rw - cgroup cgroup rw,hugetlb,pids\n" },
	{ V2 "a/b/hugetlb.2MB.max", "4194304\n" },
	{ V2 "a/b/hugetlb.2MB.current", "2097152\n" },
	{ V2 "a/b/hugetlb.2MB.rsvd.max", "max\n" },
	{ V2 "a/hugetlb.2MB.max", "max\n" },
	{ V2 "a/hugetlb.2MB.rsvd.max", "8388608\n" },
	{ V2 "a/hugetlb.1GB.max", "0\n" },
	{ V2 "a/b/memory.max", "1073741824\n" },
	{ V2 "a/memory.max", "max\n" },
	{ V2 "a/memory.current", "4096\n" },
	{ V1 "a/b/hugetlb.2MB.limit_in_bytes", "9223372036852678656\n" },
	{ V1 "a/hugetlb.2MB.limit_in_bytes", "6291456\n" },
	{ V1 "a/hugetlb.2MB.usage_in_bytes", "0\n" },
	{ V1 "hugetlb.2MB.rsvd.limit_in_bytes", "0\n" },
	{ "outside", "1\n" },
	{ V2 "a/hugetlb.2MB.current", "2097152\n" },
	{ V2 "a/b/hugetlb.2MB.events", "max 3\n" },
	{ V1 "hugetlb.2MB.usage_in_bytes", "0\n" },
	{ V1 "a/hugetlb.2MB.failcnt", "17\n" },
};

static void check_limit(const struct hf_cgroup_limit *limit)
{
	uint64_t left = hf_cgroup_left(limit);

	fuzz_must((limit->max == HF_CGROUP_NONE) == !limit->path);
	fuzz_must(limit->path ? left <= limit->max : left == HF_CGROUP_NONE);
}

static void read_tree(const struct hf_sysroot *root, const struct hf_mounts *mounts,
		      const uint64_t *page_sizes, size_t count)
{
	struct hf_cgroup_tree cgroups;
	struct hf_err err = { 0 };

	fuzz_must(hf_cgroup_tree_read(root, mounts, page_sizes, count, &cgroups, &err) == 0);
	for (size_t i = 0; i < cgroups.count; i++)
		fuzz_must(cgroups.rows[i].path);
	hf_cgroup_tree_free(&cgroups);
}

static void read_cgroups(const struct hf_sysroot *root)
{
	static const uint64_t page_sizes[] = { 65536, 2 << 20, 1 << 30 };
	struct hf_cgroups cgroups = { 0 };
	struct hf_mounts mounts = { 0 };
	struct hf_err err = { 0 };
	int r = hf_mounts_read(root, 2 << 20, &mounts, &err);

	if (r == 0)
		r = hf_cgroups_read(root, &mounts, page_sizes, HF_LENGTH(page_sizes), &cgroups, &err);
	if (r < 0)
		fuzz_check_err(r, &err);
	for (size_t i = 0; r == 0 && i < cgroups.count; i++) {
		check_limit(&cgroups.pools[i].pages);
		check_limit(&cgroups.pools[i].reserved);
	}
	if (r == 0) {
		check_limit(&cgroups.memory);
		read_tree(root, &mounts, page_sizes, HF_LENGTH(page_sizes));
	}
	hf_cgroups_free(&cgroups);
	hf_mounts_free(&mounts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_tree tree;
	int fd;

	fuzz_tree_make(&tree, files, HF_LENGTH(files));
	fd = fuzz_first_fd();
	fuzz_tree_write(&tree, data, size);
	read_cgroups(&tree.root);
	fuzz_tree_restore(&tree);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
