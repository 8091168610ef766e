/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine - one snapshot of everything that a plan depends on.
 */
#ifndef HF_MACHINE_H
#define HF_MACHINE_H

#include "cgroup.h"
#include "mounts.h"
#include "pool.h"
#include "spec.h"

struct hf_machine {
	struct hf_sysroot root;
	struct hf_topology topo;
	struct hf_pools pools;
	struct hf_mounts mounts;
	struct hf_cgroups cgroups;
	uint64_t *page_sizes; /* [pools.count], bytes: what specs may name */
};

/* sysroot NULL: the running machine. The caller frees, also after a failure. */
int hf_machine_read(const char *sysroot, struct hf_machine *machine, struct hf_err *err) _must_check
	_nonnull(2, 3);
void hf_machine_free(struct hf_machine *machine);

/* Pools and mounts read again, as under the lock; topology and memory too. Pointers into the machine
 * are void afterwards; after a failure the old snapshot stands. */
int hf_machine_refresh(struct hf_machine *machine, struct hf_err *err) _must_check _nonnull(1, 2);

/* Rules for spec parsing; borrows from machine. nodes: --nodes or NULL. */
void hf_machine_rules(const struct hf_machine *machine, const struct hf_nodeset *nodes,
		      struct hf_spec_rules *rules) _nonnull(1, 3);

#endif
