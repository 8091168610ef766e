/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysfs and meminfo: topology and pools of a tree whose files the input changes (fuzz.h). */
#include "../../lib/pool.h"
#include "fuzz.h"

static void check_topology(const struct hf_topology *topo)
{
	struct hf_nodeset cpus;

	fuzz_must(topo->nnodes && hf_nodeset_count(&topo->online) == topo->nnodes);
	for (size_t i = 0; i < topo->nnodes; i++) {
		fuzz_must(hf_topology_index(topo, topo->nodes[i].id) == (int)i);
		fuzz_must(!i || topo->nodes[i].id > topo->nodes[i - 1].id);
		fuzz_must(topo->nodes[i].has_memory == hf_nodeset_has(&topo->memory, topo->nodes[i].id));
		hf_topology_worker_cpus(topo, i, &cpus);
		fuzz_must(!hf_nodeset_is_empty(&cpus) || hf_nodeset_is_empty(&topo->cpus_allowed));
	}
	hf_topology_memory(topo, &topo->online);
}

static void check_pools(const struct hf_topology *topo, const struct hf_pools *pools)
{
	for (size_t i = 0; i < pools->count; i++) {
		const struct hf_pool *p = &pools->pools[i];

		fuzz_must(p->page_size && p->nnodes == topo->nnodes);
		fuzz_must(!i || p->page_size > pools->pools[i - 1].page_size);
		fuzz_must(hf_pools_find(pools, p->page_size) == p);
		fuzz_must(hf_pool_persistent(p) <= p->nr && hf_pool_available(p) <= p->free);
		for (size_t n = 0; n < p->nnodes; n++)
			fuzz_must(hf_pool_node_persistent(p, n) <= p->nodes[n].nr);
	}
	hf_pools_default(pools);
}

static void read_machine(const struct hf_sysroot *root)
{
	struct hf_topology topo = { 0 };
	struct hf_pools pools = { 0 };
	struct hf_err err = { 0 };
	int r = hf_topology_read(root, &topo, &err);

	if (r == 0) {
		check_topology(&topo);
		r = hf_pools_read(root, &topo, &pools, &err);
	}
	if (r < 0)
		fuzz_check_err(r, &err);
	else
		check_pools(&topo, &pools);
	hf_pools_free(&pools);
	hf_topology_free(&topo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_tree tree;
	int fd;

	fuzz_tree_make(&tree, fuzz_machine_files, fuzz_nmachine_files);
	fd = fuzz_first_fd();
	fuzz_tree_write(&tree, data, size);
	read_machine(&tree.root);
	fuzz_tree_restore(&tree);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
