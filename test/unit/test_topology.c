/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../../lib/topology.h"
#include "tree.h"

#define GIB (1024ull * 1024 * 1024)

static int read_dir(const char *dir, struct hf_topology *topo, struct hf_err *err)
{
	struct hf_sysroot root;
	int rc;

	tree_open(&root, dir);
	rc = hf_topology_read(&root, topo, err);
	hf_sysroot_close(&root);
	return rc;
}

static void is_set(const struct hf_nodeset *set, const char *want, const char *name)
{
	char text[256];

	is_text(hf_nodeset_format(set, ',', text, sizeof(text)), want, "%s", name);
}

static void is_worker_cpus(const struct hf_topology *topo, size_t index, const char *want, const char *name)
{
	struct hf_nodeset cpus;

	hf_topology_worker_cpus(topo, index, &cpus);
	is_set(&cpus, want, name);
}

static void test_fixtures(void)
{
	static const struct {
		const char *name;
		size_t nnodes;
		const char *memory, *cpus, *mems;
		uint64_t total, available, free;
	} t[] = {
		{ "one-node", 1, "0", "0-1", "0", 24 * GIB, 24 * GIB - GIB / 2, 23 * GIB },
		{ "two-nodes", 2, "0-1", "0-63", "0-1", 128 * GIB, 106 * GIB, 104 * GIB },
		{ "eight-nodes", 8, "0-7", "0-63", "0-7", 768 * GIB, 520 * GIB, 512 * GIB },
		{ "memless", 2, "0", "0-7", "0", 32 * GIB, 29 * GIB, 28 * GIB },
		{ "cpuless", 3, "0-2", "0-7", "0-2", 256 * GIB, 246 * GIB, 244 * GIB },
		{ "arm64", 1, "0", "0-5", "0", 32 * GIB, 25 * GIB, 24 * GIB },
		{ "no-hugetlb", 1, "0", "0-3", "0", 8 * GIB, 7 * GIB, 7 * GIB },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_topology topo;
		struct hf_err err = { 0 };
		char dir[128];

		snprintf(dir, sizeof(dir), FIXTURES "%s", t[i].name);
		if (!ok(read_dir(dir, &topo, &err) == 0, "%s is read", t[i].name)) {
			printf("#   %s: %s\n", err.object, err.what);
			continue;
		}
		ok(topo.numa, "%s has node directories", t[i].name);
		is_u64(topo.nnodes, t[i].nnodes, "%s: nodes", t[i].name);
		is_set(&topo.memory, t[i].memory, "nodes with memory");
		is_set(&topo.cpus_allowed, t[i].cpus, "CPUs allowed");
		is_set(&topo.mems_allowed, t[i].mems, "nodes allowed");
		is_u64(topo.mem_total, t[i].total, "%s: MemTotal", t[i].name);
		is_u64(topo.mem_available, t[i].available, "%s: MemAvailable", t[i].name);
		is_u64(topo.mem_free, t[i].free, "%s: MemFree", t[i].name);
		hf_topology_free(&topo);
		hf_topology_free(&topo);
	}
}

static void test_nodes(void)
{
	struct hf_topology topo;
	struct hf_err err = { 0 };

	ok(read_dir(FIXTURES "two-nodes", &topo, &err) == 0, "two-nodes");
	is_set(&topo.nodes[1].cpus, "16-31,48-63", "node 1's CPUs");
	is_u64(topo.nodes[1].mem_total, 64 * GIB, "its memory");
	is_u64(topo.nodes[1].mem_free, 56 * GIB, "its free memory");
	ok(topo.nodes[1].distance[0] == 21 && topo.nodes[1].distance[1] == 10, "its distances");
	ok(hf_topology_index(&topo, 1) == 1 && hf_topology_index(&topo, 2) == -1, "index by id");
	is_worker_cpus(&topo, 1, "16-31,48-63", "its workers run there");
	hf_topology_free(&topo);

	ok(read_dir(FIXTURES "memless", &topo, &err) == 0, "memless");
	ok(topo.nodes[0].has_memory && !topo.nodes[1].has_memory, "node 1 has no memory");
	is_u64(topo.nodes[1].mem_total, 0, "and none is counted");
	hf_topology_free(&topo);

	ok(read_dir(FIXTURES "cpuless", &topo, &err) == 0, "cpuless");
	ok(hf_nodeset_is_empty(&topo.nodes[2].cpus), "node 2 has no CPUs");
	is_worker_cpus(&topo, 2, "4-7", "its workers run on the nearest node");
	hf_topology_free(&topo);
}

static void test_memory(void)
{
	struct hf_nodeset nodes = { { 0 } };
	struct hf_topology topo;
	struct hf_err err = { 0 };

	tree_copy("two-nodes");
	/* Some virtual machines tell less in the nodes than there is. */
	tree_put("sys/devices/system/node/node0/meminfo",
		 "Node 0 MemTotal: 4194304 kB\nNode 0 MemFree: 1024 kB\n");
	ok(read_dir(tree_dir, &topo, &err) == 0, "a node that tells less than it has");
	hf_nodeset_add(&nodes, 1);
	is_u64(hf_topology_memory(&topo, &nodes), 64 * GIB, "one node's memory is its own");
	hf_nodeset_add(&nodes, 0);
	is_u64(hf_topology_memory(&topo, &nodes), 128 * GIB, "all nodes' memory is the machine's");
	hf_nodeset_remove(&nodes, 1);
	is_u64(hf_topology_memory(&topo, &nodes), 4 * GIB, "node 0's is what it tells");
	hf_topology_free(&topo);

	ok(read_dir(FIXTURES "memless", &topo, &err) == 0, "memless");
	is_u64(hf_topology_memory(&topo, &nodes), 32 * GIB, "a node without memory does not matter for all");
	hf_topology_free(&topo);
}

static void test_workers(void)
{
	struct hf_topology topo;
	struct hf_err err = { 0 };

	tree_copy("eight-nodes");
	tree_put("proc/self/status",
		 "Name:\tx\nGroups:\t1 2 3\nCpus_allowed_list:\t8-11,40-63\nMems_allowed_list:\t2-3\n");
	ok(read_dir(tree_dir, &topo, &err) == 0, "eight-nodes with an affinity");
	is_set(&topo.mems_allowed, "2-3", "nodes allowed");
	is_worker_cpus(&topo, 1, "8-11", "a node's CPUs are cut to those allowed");
	is_worker_cpus(&topo, 3, "8-11", "with none left, the nearest node that has some");
	is_worker_cpus(&topo, 4, "40-47", "the lower id on a tie");
	topo.cpus_allowed = (struct hf_nodeset){ { 0 } };
	is_worker_cpus(&topo, 4, "", "nothing is allowed");
	hf_nodeset_add(&topo.cpus_allowed, 500);
	is_worker_cpus(&topo, 4, "500", "a CPU of no node is better than none");
	hf_topology_free(&topo);

	tree_copy("cpuless");
	for (int n = 0; n < 3; n++) {
		char file[64];

		snprintf(file, sizeof(file), "sys/devices/system/node/node%d/distance", n);
		tree_drop(file);
	}
	ok(read_dir(tree_dir, &topo, &err) == 0, "no distances");
	ok(!topo.nodes[2].distance, "are NULL");
	is_worker_cpus(&topo, 2, "0-3", "the lowest node then");
	hf_topology_free(&topo);
}

static void test_old_kernels(void)
{
	struct hf_topology topo;
	struct hf_err err = { 0 };

	tree_new();
	tree_put("proc/meminfo", "MemTotal: 2097152 kB\nMemFree: 1048576 kB\n");
	ok(read_dir(tree_dir, &topo, &err) == 0, "a kernel without NUMA, status and MemAvailable");
	ok(!topo.numa && topo.nnodes == 1 && topo.nodes[0].id == 0 && topo.nodes[0].has_memory,
	   "is one node 0");
	is_u64(topo.nodes[0].mem_total, 2 * GIB, "with all memory");
	is_u64(topo.nodes[0].mem_free, GIB, "and all that is free");
	is_u64(topo.mem_available, GIB, "which stands in for MemAvailable");
	is_set(&topo.mems_allowed, "0", "and is allowed");
	hf_topology_free(&topo);

	tree_put("proc/self/status", "Cpus_allowed_list:\t0-2\n");
	ok(read_dir(tree_dir, &topo, &err) == 0, "with status");
	is_set(&topo.nodes[0].cpus, "0-2", "its CPUs are those allowed");
	hf_topology_free(&topo);

	tree_put("sys/devices/system/cpu/online", "0-1\n");
	ok(read_dir(tree_dir, &topo, &err) == 0, "with cpu/online");
	is_set(&topo.nodes[0].cpus, "0-1", "its CPUs are those online");
	is_worker_cpus(&topo, 0, "0-1", "and workers run there");
	hf_topology_free(&topo);

	tree_copy("memless");
	tree_drop("sys/devices/system/node/has_memory");
	tree_drop("proc/self/status");
	ok(read_dir(tree_dir, &topo, &err) == 0, "no has_memory and no status");
	is_set(&topo.memory, "0", "MemTotal says which have memory");
	is_set(&topo.cpus_allowed, "0-7", "all CPUs are allowed");
	hf_topology_free(&topo);
}

static void test_sparse(void)
{
	struct hf_topology topo;
	struct hf_err err = { 0 };

	tree_copy("two-nodes");
	tree_put("sys/devices/system/node/online", "0,8\n");
	tree_put("sys/devices/system/node/has_memory", "0,8,9\n");
	tree_put("sys/devices/system/node/node8/cpulist", "\n");
	tree_put("sys/devices/system/node/node8/meminfo",
		 "Node 8 MemTotal: 1048576 kB\nNode 8 MemFree: 4 kB\n");
	tree_put("sys/devices/system/node/node8/distance", "40 10\n");
	ok(read_dir(tree_dir, &topo, &err) == 0, "nodes 0 and 8");
	ok(topo.nnodes == 2 && topo.nodes[1].id == 8 && hf_topology_index(&topo, 8) == 1,
	   "are indexes 0 and 1");
	is_u64(topo.nodes[1].mem_total, GIB, "node 8's memory");
	is_set(&topo.memory, "0,8", "a node that is not online has no memory");
	hf_topology_free(&topo);
}

static void test_broken(void)
{
	static const struct {
		const char *file, *text;
		int rc;
	} t[] = {
		{ "proc/meminfo", "MemTotal: 1024 kB\nMemFree: 12", -EBADMSG },
		{ "proc/meminfo", "MemFree: 1024 kB\n", -EBADMSG },
		{ "proc/meminfo", "MemTotal: 1 kB\nMemFree: 1 kB\nMemAvailable: x kB\n", -EBADMSG },
		{ "proc/meminfo", "", -EBADMSG },
		{ "proc/meminfo", NULL, -ENOENT },
		{ "sys/devices/system/node/online", "0-\n", -EBADMSG },
		{ "sys/devices/system/node/online", "\n", -EBADMSG },
		{ "sys/devices/system/node/online", "0-2\n", -EBADMSG },
		{ "sys/devices/system/node/has_memory", "all\n", -EBADMSG },
		{ "sys/devices/system/node/node1/cpulist", "0-3,x\n", -EBADMSG },
		{ "sys/devices/system/node/node1/cpulist", "99999\n", -EBADMSG },
		{ "sys/devices/system/node/node1/cpulist", NULL, -ENOENT },
		{ "sys/devices/system/node/node1/meminfo", "Node 0 MemTotal: 1 kB\n", -EBADMSG },
		{ "sys/devices/system/node/node1/meminfo", NULL, -ENOENT },
		{ "sys/devices/system/node/node1/distance", "10\n", -EBADMSG },
		{ "sys/devices/system/node/node1/distance", "20 10 20\n", -EBADMSG },
		{ "sys/devices/system/node/node1/distance", "20 -10\n", -EBADMSG },
		{ "sys/devices/system/node/node1/distance", "20 99999999999999999999\n", -EBADMSG },
		{ "sys/devices/system/node/node1/distance", "20 10x\n", -EBADMSG },
		{ "proc/self/status", "Cpus_allowed_list:\t7-0\n", -EBADMSG },
		{ "proc/self/status", "Mems_allowed_list:\t?\n", -EBADMSG },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_topology topo;
		struct hf_err err = { 0 };

		tree_copy("two-nodes");
		if (t[i].text)
			tree_put(t[i].file, t[i].text);
		else
			tree_drop(t[i].file);
		ok(read_dir(tree_dir, &topo, &err) == t[i].rc && err.errnum == -t[i].rc && !err.usage,
		   "broken %s: \"%s\"", t[i].file, t[i].text ? t[i].text : "none");
		ok(strncmp(err.object, tree_dir, strlen(tree_dir)) == 0, "is named: %s", err.object);
		ok(!topo.nodes && !topo.nnodes, "and leaves nothing");
	}
}

static void test_long_status(void)
{
	size_t len = 900000;
	char *text = malloc(len + 64);
	struct hf_topology topo;
	struct hf_err err = { 0 };

	if (!text)
		abort();
	tree_copy("two-nodes");
	memset(text, '1', len);
	memcpy(text, "Groups:\t", 8);
	snprintf(text + len, 64, "\nCpus_allowed_list:\t3\n");
	tree_put("proc/self/status", text);
	ok(read_dir(tree_dir, &topo, &err) == 0, "a long line in status");
	is_set(&topo.cpus_allowed, "3", "hides nothing behind it");
	hf_topology_free(&topo);
	free(text);
}

int main(void)
{
	struct hf_topology topo;
	struct hf_err err = { 0 };

	test_fixtures();
	test_nodes();
	test_memory();
	test_workers();
	test_old_kernels();
	test_sparse();
	test_broken();
	test_long_status();
	ok(read_dir(FIXTURES "broken", &topo, &err) == -EBADMSG, "the broken tree");
	has_text(err.object, "broken/proc/meminfo", "names its first fault");
	ok(read_dir(NULL, &topo, &err) == 0 && topo.mem_total > 0, "this machine is read");
	hf_topology_free(&topo);
	return tap_done();
}
