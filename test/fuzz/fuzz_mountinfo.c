/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc/self/mountinfo, by way of libmount: the input is the file. */
#include <string.h>

#include "../../lib/mounts.h"
#include "fuzz.h"

static const struct fuzz_file files[] = { { "proc/self/mountinfo", "" } };

static void check_mount(const struct hf_mounts *mounts, const struct hf_mount *m)
{
	const struct hf_mount *at;

	fuzz_must(m->target && m->options && !(m->mode & ~07777U));
	at = hf_mounts_at(mounts, m->target);
	fuzz_must(m->hidden == (at != m));
	fuzz_must(m->hidden || strcmp(hf_mounts_type_at(mounts, m->target), "hugetlbfs") == 0);
	fuzz_must(m->hidden || hf_mounts_holding(mounts, m->target) == m);
}

/* Answers are one of the mounts, or none. */
static void ask(const struct hf_mounts *mounts, const char *path)
{
	const struct hf_mount *holding = hf_mounts_holding(mounts, path), *at = hf_mounts_at(mounts, path);

	fuzz_must(!holding || (holding >= mounts->mounts && holding < mounts->mounts + mounts->count));
	fuzz_must(!at || at == holding);
	hf_mounts_type_at(mounts, path);
}

static void ask_cgroups(const struct hf_mounts *mounts)
{
	static const char *const controllers[] = { "hugetlb", NULL };

	for (size_t i = 0; i < HF_LENGTH(controllers); i++) {
		const char *target = NULL, *root = NULL;
		bool option = false;

		if (hf_mounts_cgroup(mounts, controllers[i], &target, &root, "memory_hugetlb_accounting",
				     &option))
			fuzz_must(target && root);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const paths[] = { "/", "/dev/hugepages", "/dev/hugepages/a", "/a/b", "", "a" };
	static struct fuzz_tree tree;
	struct hf_mounts mounts;
	struct hf_err err = { 0 };
	int r, fd;

	fuzz_tree_make(&tree, files, HF_LENGTH(files));
	fd = fuzz_first_fd();
	fuzz_tree_put(&tree, 0, data, size);
	r = hf_mounts_read(&tree.root, 2 << 20, &mounts, &err);
	if (r < 0)
		fuzz_check_err(r, &err);
	for (size_t i = 0; i < mounts.count; i++)
		check_mount(&mounts, &mounts.mounts[i]);
	for (size_t i = 0; i < HF_LENGTH(paths); i++)
		ask(&mounts, paths[i]);
	if (r == 0)
		ask_cgroups(&mounts);
	hf_mounts_free(&mounts);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
