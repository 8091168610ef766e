/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * policy - memory policies and where pages lie, by libnuma; and CPU affinity. The only file that
 * includes libnuma's headers.
 *
 * Everything here is about the calling thread. A kernel without NUMA answers ENOSYS: then there is
 * nothing to bind, and that counts as success.
 */
#ifndef HF_POLICY_H
#define HF_POLICY_H

#include <stdbool.h>

#include "nodeset.h"

#define HF_POLICY_NODES 1024 /* MAX_NUMNODES of the largest kernels */

/* Pages that this thread faults or fallocates come from this node: only from it (strict, MPOL_BIND)
 * or preferably (MPOL_PREFERRED). hugetlbfs has no policy of its own: the thread's counts. */
int hf_policy_node(unsigned node, bool strict) _must_check;

/* Back to the default policy. */
int hf_policy_default(void) _must_check;

/* The thread's policy, for a program that it starts later. */
struct hf_policy {
	bool known;
	int mode;
	unsigned long nodes[HF_POLICY_NODES / (8 * sizeof(unsigned long))];
};
void hf_policy_save(struct hf_policy *policy);
int hf_policy_restore(const struct hf_policy *policy) _must_check;

/* Pins this thread. -EINVAL: none of the CPUs is online and allowed. */
int hf_policy_cpus(const struct hf_nodeset *cpus) _must_check;

/*
 * The nodes of count (at most HF_POLICY_BATCH) mapped pages at map, step bytes apart, into
 * nodes[]: -1 for a page that is not mapped. -ENOSYS without NUMA.
 */
#define HF_POLICY_BATCH 512
int hf_policy_where(const char *map, uint64_t step, unsigned count, int *nodes) _must_check;

/* Of libnuma, as this program was built with it: the library does not tell. */
const char *hf_policy_version(void);

#endif
