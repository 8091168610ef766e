/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pool - the kernel's huge page pools, per page size and node: read and written.
 *
 * Counts are pages. Kernel facts (Documentation/admin-guide/mm/hugetlbpage.rst, measured on 6.18):
 * nr_hugepages read = persistent + surplus; written = persistent; a write that obtains fewer pages
 * than asked succeeds, so a count is only what was read back; writing below what is in use turns
 * pages into surplus; node directories have nr_, free_ and surplus_hugepages only, reservations and
 * overcommit exist for the machine as a whole. Not thread safe on the same struct.
 */
#ifndef HF_POOL_H
#define HF_POOL_H

#include "topology.h"

struct hf_pool_node {
	uint64_t nr; /* persistent + surplus */
	uint64_t free;
	uint64_t surplus;
};

struct hf_pool {
	uint64_t page_size; /* bytes */
	bool is_default;
	bool has_nodes; /* per-node files exist; else nodes[0] mirrors the machine's counts */
	uint64_t nr, free, reserved, surplus, overcommit; /* the machine's */
	size_t nnodes;
	struct hf_pool_node *nodes; /* [topology nnodes]; nodes without memory are zero */
};

struct hf_pools {
	size_t count;          /* 0: a kernel without huge pages */
	struct hf_pool *pools; /* ascending by page size */
};

/* All sizes; the default one is found by proc/meminfo's Hugepagesize. */
int hf_pools_read(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pools *pools,
		  struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);
void hf_pools_free(struct hf_pools *pools);

/* NULL where the kernel has no such size. */
struct hf_pool *hf_pools_find(const struct hf_pools *pools, uint64_t page_size);
struct hf_pool *hf_pools_default(const struct hf_pools *pools);

/* Reads one pool's counts again, into the same struct. */
int hf_pool_refresh(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
		    struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);

/* nr - surplus, and never below 0 when the kernel was read between two updates. */
uint64_t hf_pool_persistent(const struct hf_pool *pool);
uint64_t hf_pool_node_persistent(const struct hf_pool *pool, size_t index);

/* free - reserved, never below 0. */
uint64_t hf_pool_available(const struct hf_pool *pool);

/*
 * One write of the node's persistent count (of the machine's, where the kernel has no per-node
 * files), then the node's counts are read back into pool. Success says only that the kernel took
 * the write. EINTR: a signal came before it.
 */
int hf_pool_write(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
		  size_t index, uint64_t persistent, struct hf_err *err) _must_check _nonnull(1, 2, 3, 6);

/* One write of the machine's persistent count: what turns the surplus of all nodes persistent at once,
 * each where it lies. Reads all counts back. */
int hf_pool_write_total(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
			uint64_t persistent, struct hf_err *err) _must_check _nonnull(1, 2, 3, 5);

/* The machine's nr_overcommit_hugepages; 1 GiB pages refuse it on kernels before 7 (EINVAL). */
int hf_pool_write_overcommit(const struct hf_sysroot *root, struct hf_pool *pool, uint64_t pages,
			     struct hf_err *err) _must_check _nonnull(1, 2, 4);

/* Reads only the overcommit limit again. */
int hf_pool_read_overcommit(const struct hf_sysroot *root, struct hf_pool *pool,
			    struct hf_err *err) _must_check _nonnull(1, 2, 3);

/* hugetlb_optimize_vmemmap is on (HVO): pages of the pools share most of their metadata. */
bool hf_pool_is_optimized(const struct hf_sysroot *root);

/* Asks the kernel to compact one node's memory (all, without node directories), or to drop clean
 * caches of the machine. Root only. */
int hf_pool_compact(const struct hf_sysroot *root, const struct hf_topology *topo, size_t index,
		    struct hf_err *err) _must_check _nonnull(1, 2, 4);
int hf_pool_drop_caches(const struct hf_sysroot *root, struct hf_err *err) _must_check _nonnull(1, 2);

#endif
