/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup - what limits this process's huge pages: v1 and v2, every ancestor.
 *
 * Kernel facts (Documentation/admin-guide/cgroup-v1/hugetlb.rst, cgroup-v2.rst): hugetlb.<SIZE>.max
 * is charged when a page is faulted (populate fails with EFAULT then, fallocate with ENOSPC),
 * hugetlb.<SIZE>.rsvd.max when it is reserved (mmap fails with ENOMEM); pages are charged to the
 * cgroup of whoever faults them, and stay charged there until the file's pages are freed. With the
 * v2 mount option memory_hugetlb_accounting (Linux 6.6) they count as memory too. Read with the rest
 * of the machine; bytes.
 */
#ifndef HF_CGROUP_H
#define HF_CGROUP_H

#include "mounts.h"

#define HF_CGROUP_NONE UINT64_MAX

/* The tightest limit among this process's cgroup and its ancestors. */
struct hf_cgroup_limit {
	uint64_t max; /* HF_CGROUP_NONE: nothing limits */
	uint64_t usage;
	char *path; /* of the file that says so, as a person finds it; NULL without limit */
};

struct hf_cgroup_pool {
	struct hf_cgroup_limit pages, reserved;
};

struct hf_cgroups {
	size_t count; /* as page_sizes */
	struct hf_cgroup_pool *pools;
	struct hf_cgroup_limit memory; /* only where huge pages count as memory */
};

/* A machine without cgroups limits nothing. */
int hf_cgroups_read(const struct hf_sysroot *root, const struct hf_mounts *mounts, const uint64_t *page_sizes,
		    size_t count, struct hf_cgroups *cgroups, struct hf_err *err) _must_check
	_nonnull(1, 2, 5, 6);
void hf_cgroups_free(struct hf_cgroups *cgroups);

/* Bytes that may still be had; HF_CGROUP_NONE without limit. */
uint64_t hf_cgroup_left(const struct hf_cgroup_limit *limit);

/* "2MB", "1GB", "64KB", as the controller names its files. Returns buf. */
#define HF_CGROUP_SIZE_NAME 24
char *hf_cgroup_size_name(uint64_t bytes, char buf[static HF_CGROUP_SIZE_NAME]);

/* A limit or a usage, dir/file below the root; HF_CGROUP_NONE for "max". -EBADMSG: no number. */
int hf_cgroup_read_value(const struct hf_sysroot *root, const char *dir, const char *file,
			 uint64_t *value) _must_check _nonnull(1, 2, 3, 4);

#endif
