/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"

/* Everything below the root, into a machine whose root is open and whose rest is zero. */
static int read_parts(struct hf_machine *machine, struct hf_err *err)
{
	const struct hf_pool *pool;
	int rc = hf_topology_read(&machine->root, &machine->topo, err);

	if (rc == 0)
		rc = hf_pools_read(&machine->root, &machine->topo, &machine->pools, err);
	if (rc < 0)
		return rc;
	machine->page_sizes = calloc(machine->pools.count + 1, sizeof(*machine->page_sizes));
	if (!machine->page_sizes)
		return hf_err_nomem(err);
	for (size_t i = 0; i < machine->pools.count; i++)
		machine->page_sizes[i] = machine->pools.pools[i].page_size;
	pool = hf_pools_default(&machine->pools);
	rc = hf_mounts_read(&machine->root, pool ? pool->page_size : 0, &machine->mounts, err);
	if (rc < 0)
		return rc;
	return hf_cgroups_read(&machine->root, &machine->mounts, machine->page_sizes, machine->pools.count,
			       &machine->cgroups, err);
}

static void free_parts(struct hf_machine *machine)
{
	hf_cgroups_free(&machine->cgroups);
	hf_mounts_free(&machine->mounts);
	hf_pools_free(&machine->pools);
	hf_topology_free(&machine->topo);
	free(machine->page_sizes);
	machine->page_sizes = NULL;
}

int hf_machine_read(const char *sysroot, struct hf_machine *machine, struct hf_err *err)
{
	int rc;

	*machine = (struct hf_machine){ .root.fd = -1 };
	rc = hf_sysroot_open(&machine->root, sysroot, err);
	return rc < 0 ? rc : read_parts(machine, err);
}

void hf_machine_free(struct hf_machine *machine)
{
	free_parts(machine);
	hf_sysroot_close(&machine->root);
}

int hf_machine_refresh(struct hf_machine *machine, struct hf_err *err)
{
	struct hf_machine now = { .root = machine->root };
	int rc = read_parts(&now, err);

	if (rc < 0) {
		free_parts(&now);
		return rc;
	}
	free_parts(machine);
	*machine = now;
	return 0;
}

void hf_machine_rules(const struct hf_machine *machine, const struct hf_nodeset *nodes,
		      struct hf_spec_rules *rules)
{
	const struct hf_pool *pool = hf_pools_default(&machine->pools);

	*rules = (struct hf_spec_rules){
		.page_sizes = machine->page_sizes,
		.npage_sizes = machine->pools.count,
		.default_page_size = pool ? pool->page_size : 0,
		.online = &machine->topo.online,
		.memory = &machine->topo.memory,
		.nodes = nodes,
	};
}
