/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgrouptree - every cgroup that limits, uses or was refused huge pages, v1 and v2.
 *
 * Kernel facts: v2's root has no files of the controller, and where it is not enabled for a cgroup
 * it is not for those below. Usage counts the cgroup and everything below it. A page is charged to
 * the cgroup that faulted it, and stays so after the process has gone elsewhere.
 */
#ifndef HF_CGROUPTREE_H
#define HF_CGROUPTREE_H

#include "cgroup.h"

/* A cgroup and a page size; bytes, HF_CGROUP_NONE where there is no such number or no limit. */
struct hf_cgroup_row {
	char *path; /* in its hierarchy: "/system.slice" */
	bool v2;
	uint64_t page_size;
	uint64_t limit, rsvd_limit, usage, rsvd_usage;
	uint64_t failures;      /* how often the limit refused a page; v2: here and below */
	uint64_t rsvd_failures; /* v1 only */
};

struct hf_cgroup_tree {
	size_t count;
	struct hf_cgroup_row *rows; /* by hierarchy, path and page size */
	size_t skipped;             /* deeper than is looked into, or not readable */
};

/* Rows with a limit, a usage or failures only. A machine without cgroups has none. */
int hf_cgroup_tree_read(const struct hf_sysroot *root, const struct hf_mounts *mounts,
			const uint64_t *page_sizes, size_t count, struct hf_cgroup_tree *tree,
			struct hf_err *err) _must_check _nonnull(1, 2, 5, 6);
void hf_cgroup_tree_free(struct hf_cgroup_tree *tree);

#endif
