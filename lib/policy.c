/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "policy.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>

/* libnuma prints and exits where a library must not; it lets programs say otherwise. */
void numa_error(char *where)
{
	(void)where;
}

void numa_warn(int number, char *where, ...)
{
	(void)number;
	(void)where;
}

#define MAX_NODES HF_POLICY_NODES
#define WORD_BITS (8 * sizeof(unsigned long))

/* A plain mask: libnuma's own exit when memory is out. */
int hf_policy_node(unsigned node, bool strict)
{
	unsigned long mask[MAX_NODES / WORD_BITS] = { 0 };

	if (node >= MAX_NODES)
		return -EINVAL;
	mask[node / WORD_BITS] = 1UL << (node % WORD_BITS);
	if (set_mempolicy(strict ? MPOL_BIND : MPOL_PREFERRED, mask, MAX_NODES + 1) < 0 && errno != ENOSYS)
		return -errno;
	return 0;
}

int hf_policy_default(void)
{
	if (set_mempolicy(MPOL_DEFAULT, NULL, 0) < 0 && errno != ENOSYS)
		return -errno;
	return 0;
}

void hf_policy_save(struct hf_policy *policy)
{
	*policy = (struct hf_policy){ 0 };
	policy->known = get_mempolicy(&policy->mode, policy->nodes, MAX_NODES + 1, NULL, 0) == 0;
}

int hf_policy_restore(const struct hf_policy *policy)
{
	if (!policy->known)
		return 0;
	return set_mempolicy(policy->mode, policy->nodes, MAX_NODES + 1) < 0 ? -errno : 0;
}

int hf_policy_cpus(const struct hf_nodeset *cpus)
{
	cpu_set_t *set = CPU_ALLOC(HF_NODESET_MAX);
	size_t size = CPU_ALLOC_SIZE(HF_NODESET_MAX);
	int r = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	for (int cpu = hf_nodeset_next(cpus, 0); cpu >= 0; cpu = hf_nodeset_next(cpus, (unsigned)cpu + 1))
		CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0)
		r = -errno;
	CPU_FREE(set);
	return r;
}

int hf_policy_where(const char *map, uint64_t step, unsigned count, int *nodes)
{
	void *pages[HF_POLICY_BATCH];

	for (unsigned i = 0; i < count; i++)
		pages[i] = (void *)(uintptr_t)(map + i * step);
	if (move_pages(0, count, pages, NULL, nodes, 0) < 0)
		return -errno;
	for (unsigned i = 0; i < count; i++)
		if (nodes[i] < 0)
			nodes[i] = -1;
	return 0;
}

const char *hf_policy_version(void)
{
	return HF_NUMA_VERSION;
}
