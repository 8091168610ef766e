/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers - threads that belong to a node: all created and pinned before the first one works.
 *
 * Kernel facts: a populate holds mmap_lock for reading over the whole call, and a waiting writer
 * (pthread_create's stack, mmap) would block everybody: hence one barrier after all creations.
 * Workers run with every signal blocked but those of their own faults; only fatal signals
 * interrupt a populate anyway.
 */
#ifndef HF_WORKERS_H
#define HF_WORKERS_H

#include <stdatomic.h>

#include "topology.h"

struct hf_workers {
	const struct hf_topology *topo;
	const uint64_t *threads; /* [topo->nnodes] workers for each node */
	const uint64_t *work;    /* [topo->nnodes] not 0: the node has work. Nodes with work and no
				  * worker are served in turn by those of the others */
	/* Does all of the node's work that is left; called in a worker, which is pinned to the
	 * node's CPUs. It does not allocate, map or print. A negative return stops all. */
	int (*run)(void *arg, unsigned worker, size_t node);
	/* Called by the calling thread about ten times a second while workers run; may be NULL. */
	void (*tick)(void *arg);
	void *arg;
	atomic_bool failed; /* set at the first error: run() looks at it between its pieces */
};

/* The number of workers. */
uint64_t hf_workers_count(const struct hf_workers *workers);

/*
 * Creates the workers, lets them run, waits for all. start_ns (may be NULL): when the barrier
 * opened. Returns 0, the first negative return of run(), or the failure to start: then none of
 * them ran.
 */
int hf_workers_run(struct hf_workers *workers, uint64_t *start_ns, struct hf_err *err) _must_check
	_nonnull(1, 3);

#endif
