/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../../lib/pool.h"
#include "tree.h"

#define MACHINE_2M "sys/kernel/mm/hugepages/hugepages-2048kB/"
#define NODE1_2M "sys/devices/system/node/node1/hugepages/hugepages-2048kB/"

struct machine {
	struct hf_sysroot root;
	struct hf_topology topo;
	struct hf_pools pools;
	struct hf_err err;
};

static int read_dir(struct machine *m, const char *dir)
{
	memset(m, 0, sizeof(*m));
	tree_open(&m->root, dir);
	if (hf_topology_read(&m->root, &m->topo, &m->err) < 0) {
		printf("Bail out! %s: %s\n", m->err.object, m->err.what);
		exit(1);
	}
	return hf_pools_read(&m->root, &m->topo, &m->pools, &m->err);
}

static void drop(struct machine *m)
{
	hf_pools_free(&m->pools);
	hf_topology_free(&m->topo);
	hf_sysroot_close(&m->root);
}

static void test_sizes(void)
{
	static const uint64_t arm64[] = { 65536, 2097152, 33554432, 1073741824 };
	struct machine m;

	ok(read_dir(&m, FIXTURES "arm64") == 0 && m.pools.count == 4, "arm64 has four sizes");
	for (size_t i = 0; i < HF_LENGTH(arm64) && i < m.pools.count; i++)
		is_u64(m.pools.pools[i].page_size, arm64[i], "ascending");
	ok(hf_pools_default(&m.pools) == &m.pools.pools[1], "the default is 2M");
	ok(hf_pools_find(&m.pools, 33554432) == &m.pools.pools[2], "32M is found");
	ok(!hf_pools_find(&m.pools, 4096), "4K is not");
	drop(&m);

	ok(read_dir(&m, FIXTURES "no-hugetlb") == 0 && m.pools.count == 0, "no-hugetlb has none");
	ok(!hf_pools_default(&m.pools) && !hf_pools_find(&m.pools, 2097152), "and no default");
	drop(&m);
	hf_pools_free(&m.pools);

	tree_copy("one-node");
	tree_put("proc/meminfo", "MemTotal: 1024 kB\nMemFree: 512 kB\nHugepagesize:    1048576 kB\n");
	ok(read_dir(&m, tree_dir) == 0 && hf_pools_default(&m.pools) == &m.pools.pools[1],
	   "the default can be 1G");
	ok(!m.pools.pools[0].is_default, "and only that is marked");
	drop(&m);
}

static void test_names(void)
{
	static const char *const junk[] = {
		"hugepages-2048",
		"hugepages-2048KB",
		"hugepages-kB",
		"hugepages-02048kB",
		"hugepages-0kB",
		"hugepages-3000kB",
		"hugepages-+64kB",
		"hugepages--64kB",
		"hugepages- 64kB",
		"hugepages-64kB ",
		"hugepages-64kBx",
		"xhugepages-64kB",
		"hugepages-0x40kB",
		"hugepages",
		"hugepages-9007199254740992kB",
		"hugepages-18446744073709551616kB",
		"hugepages-18446744073709551680kB", /* 2^64 + 64 */
	};
	struct machine m;

	tree_copy("one-node");
	for (size_t i = 0; i < HF_LENGTH(junk); i++) {
		char file[128];

		snprintf(file, sizeof(file), "sys/kernel/mm/hugepages/%s/nr_hugepages", junk[i]);
		tree_put(file, "1\n");
	}
	ok(read_dir(&m, tree_dir) == 0, "junk beside the pools is passed over");
	is_u64(m.pools.count, 2, "and is no pool");
	drop(&m);
}

static void test_counts(void)
{
	struct hf_pool *pool;
	struct machine m;

	ok(read_dir(&m, FIXTURES "two-nodes") == 0, "two-nodes");
	pool = hf_pools_default(&m.pools);
	is_u64(pool->nr, 6208, "nr");
	is_u64(pool->free, 4000, "free");
	is_u64(pool->reserved, 500, "reserved");
	is_u64(pool->surplus, 64, "surplus");
	is_u64(pool->overcommit, 1024, "overcommit");
	is_u64(hf_pool_persistent(pool), 6144, "persistent = nr - surplus");
	is_u64(hf_pool_available(pool), 3500, "available = free - reserved");
	ok(pool->has_nodes && pool->nnodes == 2, "per node");
	is_u64(pool->nodes[0].nr, 4096, "node 0 nr");
	is_u64(pool->nodes[1].nr, 2112, "node 1 nr");
	is_u64(pool->nodes[1].free, 1000, "node 1 free");
	is_u64(pool->nodes[1].surplus, 64, "node 1 surplus");
	is_u64(hf_pool_node_persistent(pool, 1), 2048, "node 1 persistent");

	pool->nr = pool->free = pool->nodes[0].nr = 1;
	pool->surplus = pool->reserved = pool->nodes[0].surplus = 2;
	is_u64(hf_pool_persistent(pool), 0, "never below 0: persistent");
	is_u64(hf_pool_available(pool), 0, "available");
	is_u64(hf_pool_node_persistent(pool, 0), 0, "a node's persistent");
	ok(hf_pool_refresh(&m.root, &m.topo, pool, &m.err) == 0, "refresh");
	ok(pool->nr == 6208 && pool->nodes[0].nr == 4096 && pool->is_default && pool->page_size == 2097152,
	   "reads all again and keeps what the pool is");
	drop(&m);
}

static void test_nodes(void)
{
	struct machine m;
	struct hf_pool *pool;

	ok(read_dir(&m, FIXTURES "memless") == 0, "memless");
	pool = hf_pools_default(&m.pools);
	ok(pool->has_nodes && pool->nnodes == 2 && pool->nodes[1].nr == 0, "a node without memory is zero");
	is_u64(pool->nodes[0].nr, 1024, "its neighbour is not");
	drop(&m);

	tree_copy("one-node");
	tree_put(MACHINE_2M "nr_hugepages", "7\n");
	tree_put(MACHINE_2M "free_hugepages", "5\n");
	tree_put(MACHINE_2M "surplus_hugepages", "3\n");
	tree_drop("sys/devices/system/node/node0/hugepages");
	ok(read_dir(&m, tree_dir) == 0, "no files per node");
	pool = hf_pools_default(&m.pools);
	ok(!pool->has_nodes && pool->nodes[0].nr == 7 && pool->nodes[0].free == 5 &&
		   pool->nodes[0].surplus == 3,
	   "node 0 mirrors the machine");
	ok(hf_pool_write(&m.root, &m.topo, pool, 0, 9, &m.err) == -EROFS, "a write goes to");
	has_text(m.err.object, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
		 "the machine's file");
	drop(&m);
}

static void test_refusal(void)
{
	struct hf_pool *pool;
	struct machine m;

	ok(read_dir(&m, FIXTURES "two-nodes") == 0, "two-nodes");
	pool = hf_pools_default(&m.pools);
	ok(hf_pool_write(&m.root, &m.topo, pool, 1, 9, &m.err) == -EROFS,
	   "write is refused on a captured tree");
	is_text(m.err.object, FIXTURES "two-nodes/" NODE1_2M "nr_hugepages", "the node's file is named");
	has_text(m.err.what, "captured tree", "with the reason");
	is_text(m.err.hint, "", "no hint about mounts or root");
	is_u64(pool->nodes[1].nr, 2112, "the counts stay");
	ok(hf_pool_write_overcommit(&m.root, pool, 9, &m.err) == -EROFS, "overcommit is refused");
	is_text(m.err.object, FIXTURES "two-nodes/" MACHINE_2M "nr_overcommit_hugepages", "and named");
	ok(hf_pool_compact(&m.root, &m.topo, 1, &m.err) == -EROFS, "compact is refused");
	is_text(m.err.object, FIXTURES "two-nodes/sys/devices/system/node/node1/compact", "and named");
	ok(hf_pool_drop_caches(&m.root, &m.err) == -EROFS, "drop_caches is refused");
	is_text(m.err.object, FIXTURES "two-nodes/proc/sys/vm/drop_caches", "and named");
	drop(&m);
}

/* Plain files in place of the kernel's: a root that claims to be live. */
static void test_write(void)
{
	struct hf_pool *pool;
	uint64_t total = 0;
	struct machine m;

	tree_copy("two-nodes");
	ok(read_dir(&m, tree_dir) == 0, "a copy of two-nodes");
	m.root.live = true;
	pool = hf_pools_default(&m.pools);
	tree_put(MACHINE_2M "free_hugepages", "4444\n");
	tree_put(NODE1_2M "free_hugepages", "1234\n");
	ok(hf_pool_write(&m.root, &m.topo, pool, 1, 5, &m.err) == 0, "write");
	is_u64(pool->nodes[1].nr, 5, "the node's total is read back");
	is_u64(pool->nodes[1].free, 1234, "and its free pages");
	is_u64(pool->free, 4444, "and the machine's");
	is_u64(pool->nodes[0].nr, 4096, "the other node is left alone");
	/* Node 1 has 64 surplus pages; node 0 is to have 9 beside the 2048 persistent pages of the others. */
	ok(hf_pool_write(&m.root, &m.topo, pool, 0, 9, &m.err) == 0, "write beside another node's surplus");
	is_u64(pool->nodes[0].nr, 4096, "the node's own file is left alone");
	ok(hf_sysroot_read_u64(&m.root, &total, NULL, MACHINE_2M "nr_hugepages_mempolicy") == 0,
	   "the machine's file for the policy's nodes");
	is_u64(total, 2057, "gets the total");
	ok(hf_pool_write_overcommit(&m.root, pool, 77, &m.err) == 0 && pool->overcommit == 77,
	   "overcommit is read back");
	tree_put(NODE1_2M "surplus_hugepages", "cut");
	ok(hf_pool_write(&m.root, &m.topo, pool, 1, 6, &m.err) == -EBADMSG,
	   "what cannot be read back is an error");
	ok(hf_pool_compact(&m.root, &m.topo, 1, &m.err) == -ENOENT, "no compaction in this kernel");
	drop(&m);
}

static void test_broken(void)
{
	static const struct {
		const char *file, *text;
		int rc;
	} t[] = {
		{ MACHINE_2M "nr_hugepages", "12x\n", -EBADMSG },
		{ MACHINE_2M "resv_hugepages", "", -EBADMSG },
		{ MACHINE_2M "surplus_hugepages", "-1\n", -EBADMSG },
		{ MACHINE_2M "free_hugepages", NULL, -ENOENT },
		{ MACHINE_2M "nr_overcommit_hugepages", NULL, -ENOENT },
		{ NODE1_2M "nr_hugepages", "18446744073709551616\n", -EBADMSG },
		{ NODE1_2M "free_hugepages", NULL, -ENOENT },
		{ NODE1_2M "surplus_hugepages", "x", -EBADMSG },
		{ "proc/meminfo", "MemTotal: 9 kB\nMemFree: 1 kB\nHugepagesize:   20", -EBADMSG },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct machine m;

		tree_copy("two-nodes");
		if (t[i].text)
			tree_put(t[i].file, t[i].text);
		else
			tree_drop(t[i].file);
		ok(read_dir(&m, tree_dir) == t[i].rc && m.err.errnum == -t[i].rc, "broken %s: %s", t[i].file,
		   t[i].text ? t[i].text : "none");
		ok(strstr(m.err.object, t[i].file), "is named: %s", m.err.object);
		ok(m.pools.count == 0 && !m.pools.pools, "and leaves nothing");
		drop(&m);
	}
}

static void test_failed_refresh(void)
{
	struct hf_pool *pool;
	struct machine m;

	tree_copy("two-nodes");
	ok(read_dir(&m, tree_dir) == 0, "a copy of two-nodes");
	pool = hf_pools_default(&m.pools);
	tree_put(MACHINE_2M "nr_hugepages", "1\n");
	tree_put(NODE1_2M "nr_hugepages", "?\n");
	ok(hf_pool_refresh(&m.root, &m.topo, pool, &m.err) == -EBADMSG, "a refresh that fails");
	ok(pool->nr == 6208 && pool->nodes[1].nr == 2112, "leaves the counts as they were");
	drop(&m);
}

int main(void)
{
	test_sizes();
	test_names();
	test_counts();
	test_nodes();
	test_refusal();
	test_write();
	test_broken();
	test_failed_refresh();
	return tap_done();
}
