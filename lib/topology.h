/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topology - nodes, their memory and CPUs, and what this process may use of them.
 *
 * Read once into plain data; immutable afterwards, so shared between threads freely. A kernel
 * without NUMA (no sys/devices/system/node) is one node 0 with all memory and CPUs.
 */
#ifndef HF_TOPOLOGY_H
#define HF_TOPOLOGY_H

#include "nodeset.h"
#include "sysroot.h"

struct hf_node {
	unsigned id;
	bool has_memory;
	struct hf_nodeset cpus; /* online CPUs of the node; empty: a memory-only (CXL) node */
	uint64_t mem_total;     /* bytes, node meminfo. Some virtual machines report less than
				 * there is while memory is being set up: see mem_total below */
	uint64_t mem_free;      /* bytes */
	unsigned *distance;     /* [nnodes], by index; 10 is local; NULL: the kernel tells none */
};

struct hf_topology {
	bool numa; /* the kernel has node directories */
	size_t nnodes;
	struct hf_node *nodes;          /* ascending by id; plan and apply speak of indexes into this */
	struct hf_nodeset online;       /* ids */
	struct hf_nodeset memory;       /* ids of nodes with memory */
	struct hf_nodeset cpus_allowed; /* proc/self/status Cpus_allowed_list: affinity and cpuset */
	struct hf_nodeset mems_allowed; /* Mems_allowed_list */
	uint64_t mem_total;             /* bytes, proc/meminfo MemTotal */
	uint64_t mem_available;         /* bytes, MemAvailable */
	uint64_t mem_free;              /* bytes, MemFree */
};

int hf_topology_read(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err) _must_check
	_nonnull(1, 2, 3);
void hf_topology_free(struct hf_topology *topo);

/* -ENODEV unless all of these nodes (still) have memory: what was checked when specs were read may have gone
 * offline since. */
int hf_topology_require(const struct hf_topology *topo, const struct hf_nodeset *nodes, const char *object,
			struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);

/* Index of a node id, or -1. */
int hf_topology_index(const struct hf_topology *topo, unsigned id);

/* The node has memory, and this process may use it (cpuset.mems). */
bool hf_topology_is_usable(const struct hf_topology *topo, size_t index);

/* Bytes of memory of these nodes: the machine's MemTotal when they are all nodes with memory. */
uint64_t hf_topology_memory(const struct hf_topology *topo, const struct hf_nodeset *nodes);

/*
 * The CPUs a worker for node index may run on: the node's own within cpus_allowed; where there are
 * none (a CPU-less node, or affinity excludes them), those of the nearest node that has some, by
 * distance, the lower id on a tie. Never empty unless cpus_allowed is.
 */
void hf_topology_worker_cpus(const struct hf_topology *topo, size_t index, struct hf_nodeset *cpus);

#endif
