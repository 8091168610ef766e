/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pool.h"

#include <errno.h>
#include <string.h>

#include "policy.h"
#include "size.h"

#define MACHINE "sys/kernel/mm/hugepages"
#define MEMINFO_TEXT 16384

/* The folder of a pool's files: the machine's, or one node's. */
static const char *machine_dir(const struct hf_pool *pool, char buf[static 128])
{
	snprintf(buf, 128, MACHINE "/hugepages-%llukB", (unsigned long long)pool->page_size / 1024);
	return buf;
}

static const char *node_dir(const struct hf_pool *pool, unsigned id, char buf[static 128])
{
	snprintf(buf, 128, "sys/devices/system/node/node%u/hugepages/hugepages-%llukB", id,
		 (unsigned long long)pool->page_size / 1024);
	return buf;
}

/* Strictly "hugepages-<N>kB" with a power of two; 0 for everything else. */
static uint64_t parse_name(const char *name)
{
	static const char prefix[] = "hugepages-";
	const char *digits = name + sizeof(prefix) - 1;
	uint64_t kib = 0;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 || *digits == '0')
		return 0;
	for (; *digits >= '0' && *digits <= '9'; digits++)
		if (__builtin_mul_overflow(kib, 10u, &kib) ||
		    __builtin_add_overflow(kib, (uint64_t)(*digits - '0'), &kib))
			return 0;
	if (strcmp(digits, "kB") != 0 || (kib & (kib - 1)) != 0 || kib > UINT64_MAX / 2 / 1024)
		return 0;
	return kib * 1024;
}

static int read_count(const struct hf_sysroot *root, const char *dir, const char *name, uint64_t *value,
		      struct hf_err *err)
{
	return hf_sysroot_read_u64(root, value, err, "%s/%s_hugepages", dir, name);
}

static int read_machine(const struct hf_sysroot *root, struct hf_pool *pool, struct hf_err *err)
{
	char buf[128];
	const char *dir = machine_dir(pool, buf);
	int rc = read_count(root, dir, "nr", &pool->nr, err);

	if (rc == 0)
		rc = read_count(root, dir, "free", &pool->free, err);
	if (rc == 0)
		rc = read_count(root, dir, "resv", &pool->reserved, err);
	if (rc == 0)
		rc = read_count(root, dir, "surplus", &pool->surplus, err);
	/* 6.18 can show a small negative number, as a huge one, while a forked child outlives the
	 * parent whose private mapping it writes to. */
	if (pool->reserved > INT64_MAX)
		pool->reserved = 0;
	if (rc == 0)
		rc = read_count(root, dir, "nr_overcommit", &pool->overcommit, err);
	return rc;
}

static int read_node(const struct hf_sysroot *root, const struct hf_pool *pool, unsigned id,
		     struct hf_pool_node *node, struct hf_err *err)
{
	struct hf_pool_node now = { 0 };
	char buf[128];
	const char *dir = node_dir(pool, id, buf);
	int rc = read_count(root, dir, "nr", &now.nr, err);

	if (rc == 0)
		rc = read_count(root, dir, "free", &now.free, err);
	if (rc == 0)
		rc = read_count(root, dir, "surplus", &now.surplus, err);
	if (rc == 0)
		*node = now;
	return rc;
}

/* A node that went offline since the topology was read has no pool any more: what others have is still
 * true, and can be given back. */
static int read_present(const struct hf_sysroot *root, const struct hf_pool *pool, unsigned id,
			struct hf_pool_node *node, struct hf_err *err)
{
	int rc = read_node(root, pool, id, node, err);
	char buf[128];

	if (rc != -ENOENT || !root->live || hf_sysroot_exists(root, "%s", node_dir(pool, id, buf)))
		return rc;
	*err = (struct hf_err){ 0 };
	return 0;
}

static void mirror_machine(struct hf_pool *pool)
{
	if (pool->nnodes)
		pool->nodes[0] = (struct hf_pool_node){ pool->nr, pool->free, pool->surplus };
}

static bool has_node_files(const struct hf_sysroot *root, const struct hf_topology *topo,
			   const struct hf_pool *pool)
{
	char buf[128];

	for (size_t i = 0; topo->numa && i < topo->nnodes; i++)
		if (topo->nodes[i].has_memory &&
		    hf_sysroot_exists(root, "%s", node_dir(pool, topo->nodes[i].id, buf)))
			return true;
	return false;
}

/* Fills all counts of pool, whose nodes are zero; page_size is set. */
static int read_counts(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
		       struct hf_err *err)
{
	int rc = read_machine(root, pool, err);

	if (rc < 0)
		return rc;
	pool->has_nodes = has_node_files(root, topo, pool);
	if (!pool->has_nodes) {
		mirror_machine(pool);
		return 0;
	}
	for (size_t i = 0; rc == 0 && i < topo->nnodes; i++)
		if (topo->nodes[i].has_memory)
			rc = read_present(root, pool, topo->nodes[i].id, &pool->nodes[i], err);
	return rc;
}

int hf_pool_refresh(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
		    struct hf_err *err)
{
	struct hf_pool now = { .page_size = pool->page_size, .is_default = pool->is_default };
	int rc;

	now.nodes = calloc(topo->nnodes ? topo->nnodes : 1, sizeof(*now.nodes));
	if (!now.nodes)
		return hf_err_nomem(err);
	now.nnodes = topo->nnodes;
	rc = read_counts(root, topo, &now, err);
	if (rc < 0) {
		free(now.nodes);
		return rc;
	}
	free(pool->nodes);
	*pool = now;
	return 0;
}

static int add_size(const char *name, void *arg)
{
	struct hf_pools *pools = arg;
	uint64_t page_size = parse_name(name);
	struct hf_pool *grown;

	if (!page_size)
		return 0;
	grown = realloc(pools->pools, (pools->count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pools->pools = grown;
	grown[pools->count++] = (struct hf_pool){ .page_size = page_size };
	return 0;
}

static int by_page_size(const void *a, const void *b)
{
	uint64_t x = ((const struct hf_pool *)a)->page_size, y = ((const struct hf_pool *)b)->page_size;

	return (x > y) - (x < y);
}

static int mark_default(const struct hf_sysroot *root, struct hf_pools *pools, struct hf_err *err)
{
	char text[MEMINFO_TEXT];
	uint64_t size = 0;
	struct hf_pool *pool;
	int rc = hf_sysroot_read(root, text, sizeof(text), NULL, err, "proc/meminfo");

	if (rc < 0)
		return rc;
	rc = hf_sysroot_parse_kib(text, "Hugepagesize", &size);
	if (rc == -EBADMSG) {
		_cleanup_free_ char *path = hf_sysroot_path(root, "proc/meminfo");

		return hf_err_set(err, EBADMSG, path,
				  "has no valid line \"Hugepagesize:\" with a number of kB");
	}
	pool = hf_pools_find(pools, size);
	if (pool)
		pool->is_default = true;
	return 0;
}

static int read_all(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pools *pools,
		    struct hf_err *err)
{
	int rc = hf_sysroot_list(root, add_size, pools, err, MACHINE);

	/* The only failure of add_size; list itself has then told nothing. */
	if (rc == -ENOMEM)
		return hf_err_nomem(err);
	for (size_t i = 0; rc == 0 && i < pools->count; i++)
		rc = hf_pool_refresh(root, topo, &pools->pools[i], err);
	if (rc < 0 || !pools->count)
		return rc;
	qsort(pools->pools, pools->count, sizeof(*pools->pools), by_page_size);
	return mark_default(root, pools, err);
}

int hf_pools_read(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pools *pools,
		  struct hf_err *err)
{
	int rc;

	*pools = (struct hf_pools){ 0 };
	if (root->live && !hf_sysroot_exists(root, "sys/kernel")) {
		_cleanup_free_ char *path = hf_sysroot_path(root, "sys");

		return hf_err_set(err, ENOENT, path, "is not mounted: the kernel's pools cannot be seen");
	}
	if (!hf_sysroot_exists(root, MACHINE))
		return 0;
	rc = read_all(root, topo, pools, err);
	if (rc < 0)
		hf_pools_free(pools);
	return rc;
}

void hf_pools_free(struct hf_pools *pools)
{
	for (size_t i = 0; i < pools->count; i++)
		free(pools->pools[i].nodes);
	free(pools->pools);
	*pools = (struct hf_pools){ 0 };
}

struct hf_pool *hf_pools_find(const struct hf_pools *pools, uint64_t page_size)
{
	for (size_t i = 0; i < pools->count; i++)
		if (pools->pools[i].page_size == page_size)
			return &pools->pools[i];
	return NULL;
}

struct hf_pool *hf_pools_default(const struct hf_pools *pools)
{
	for (size_t i = 0; i < pools->count; i++)
		if (pools->pools[i].is_default)
			return &pools->pools[i];
	return NULL;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint64_t hf_pool_persistent(const struct hf_pool *pool)
{
	return less(pool->nr, pool->surplus);
}

uint64_t hf_pool_node_persistent(const struct hf_pool *pool, size_t index)
{
	return less(pool->nodes[index].nr, pool->nodes[index].surplus);
}

uint64_t hf_pool_available(const struct hf_pool *pool)
{
	return less(pool->free, pool->reserved);
}

/* What a refused write needs; rc is passed through. */
static int explain(const struct hf_sysroot *root, int rc, const char *tree, struct hf_err *err)
{
	_cleanup_free_ char *path = root->live ? hf_sysroot_path(root, "%s", tree) : NULL;

	if (!path)
		return rc;
	if (rc == -EACCES || rc == -EPERM)
		hf_err_hint(err,
			    "this file belongs to the host's root: run as root, outside of containers and "
			    "user namespaces (CAP_SYS_ADMIN in one of those is not enough)");
	if (rc == -EROFS)
		hf_err_hint(err,
			    "%s is mounted read-only, as in most containers: run on the host, in a "
			    "privileged container, or \"mount -o remount,rw %s\"",
			    path, path);
	return rc;
}

static int explain_gigantic(int rc, const struct hf_pool *pool, struct hf_err *err)
{
	char size[HF_SIZE_TEXT];

	/* set_max_huge_pages() and the overcommit file refuse sizes beyond the buddy allocator's with
	 * EINVAL where the kernel cannot allocate them while it runs. */
	if (rc == -EINVAL)
		hf_err_hint(err,
			    "this kernel cannot do that with %s pages while it runs; at boot: "
			    "hugepagesz=%s hugepages=COUNT",
			    hf_size_exact(pool->page_size, size), size);
	return rc;
}

/*
 * Where other nodes hold surplus pages, Linux before 6.6 takes what is written to a node's file for so
 * many more, and grows the node by them, or will not shrink it below them. The machine's file counts right in
 * all versions, and one of its kind keeps to the nodes of the writer's memory policy (Documentation/
 * admin-guide/mm/hugetlbpage.rst).
 */
static int write_node(const struct hf_sysroot *root, struct hf_pool *pool, unsigned id, size_t index,
		      uint64_t persistent, struct hf_err *err)
{
	uint64_t elsewhere = less(pool->surplus, pool->nodes[index].surplus);
	uint64_t others = less(hf_pool_persistent(pool), hf_pool_node_persistent(pool, index));
	char buf[128];
	int rc, back;

	/* A cpuset may leave the node out of what a policy can name. */
	if (!elsewhere || !hf_sysroot_exists(root, "%s/nr_hugepages_mempolicy", machine_dir(pool, buf)) ||
	    hf_policy_node(id, true) < 0)
		return hf_sysroot_write_u64(root, persistent, err, "%s/nr_hugepages",
					    node_dir(pool, id, buf));
	rc = hf_sysroot_write_u64(root, others + persistent, err, "%s/nr_hugepages_mempolicy",
				  machine_dir(pool, buf));
	back = hf_policy_default();
	return rc == 0 && back < 0 ? hf_err_sys(err, -back, NULL, "cannot set the default memory policy")
				   : rc;
}

int hf_pool_write(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
		  size_t index, uint64_t persistent, struct hf_err *err)
{
	unsigned id = topo->nodes[index].id;
	char buf[128];
	int rc = pool->has_nodes ? write_node(root, pool, id, index, persistent, err)
				 : hf_sysroot_write_u64(root, persistent, err, "%s/nr_hugepages",
							machine_dir(pool, buf));

	if (rc < 0)
		return explain_gigantic(explain(root, rc, "sys", err), pool, err);
	rc = read_machine(root, pool, err);
	if (rc < 0)
		return rc;
	if (pool->has_nodes)
		return read_node(root, pool, id, &pool->nodes[index], err);
	mirror_machine(pool);
	return 0;
}

int hf_pool_write_total(const struct hf_sysroot *root, const struct hf_topology *topo, struct hf_pool *pool,
			uint64_t persistent, struct hf_err *err)
{
	char buf[128];
	int rc = hf_sysroot_write_u64(root, persistent, err, "%s/nr_hugepages", machine_dir(pool, buf));

	return rc < 0 ? explain(root, rc, "sys", err) : hf_pool_refresh(root, topo, pool, err);
}

int hf_pool_write_overcommit(const struct hf_sysroot *root, struct hf_pool *pool, uint64_t pages,
			     struct hf_err *err)
{
	char buf[128];
	const char *dir = machine_dir(pool, buf);
	int rc = hf_sysroot_write_u64(root, pages, err, "%s/nr_overcommit_hugepages", dir);

	if (rc < 0)
		return explain_gigantic(explain(root, rc, "sys", err), pool, err);
	return read_count(root, dir, "nr_overcommit", &pool->overcommit, err);
}

int hf_pool_read_overcommit(const struct hf_sysroot *root, struct hf_pool *pool, struct hf_err *err)
{
	char buf[128];

	return read_count(root, machine_dir(pool, buf), "nr_overcommit", &pool->overcommit, err);
}

int hf_pool_compact(const struct hf_sysroot *root, const struct hf_topology *topo, size_t index,
		    struct hf_err *err)
{
	int rc;

	if (!topo->numa) {
		rc = hf_sysroot_write(root, "1", err, "proc/sys/vm/compact_memory");
		return explain(root, rc, "proc/sys", err);
	}
	rc = hf_sysroot_write(root, "1", err, "sys/devices/system/node/node%u/compact",
			      topo->nodes[index].id);
	return explain(root, rc, "sys", err);
}

int hf_pool_drop_caches(const struct hf_sysroot *root, struct hf_err *err)
{
	/* 3: page cache and the reclaimable slab objects (dentries, inodes) that lie between free blocks. */
	int rc = hf_sysroot_write(root, "3", err, "proc/sys/vm/drop_caches");

	return explain(root, rc, "proc/sys", err);
}

bool hf_pool_is_optimized(const struct hf_sysroot *root)
{
	uint64_t on = 0;

	/* Absent where the kernel cannot do it; some report a negative number. */
	return hf_sysroot_read_u64(root, &on, NULL, "proc/sys/vm/hugetlb_optimize_vmemmap") == 0 && on;
}
