/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brood - child processes that reserve huge pages in parallel, so that the kernel allocates them.
 *
 * Kernel facts: with nr_overcommit_hugepages raised, an mmap of shared anonymous huge pages
 * allocates what the pool lacks as surplus pages, outside of the mutex that serializes
 * nr_hugepages. mmap_lock is held for writing over it, so that only processes run side by side, not
 * threads. Nothing is cleared but what init_on_alloc clears. Free pages of the pool are taken
 * first. Kernels before 6.9 allocate on the node the process runs on, later ones on those of its
 * policy, and both may spill: the caller reads per node what came. The pages are surplus and vanish
 * with the children: they must be made persistent while these live.
 */
#ifndef HF_BROOD_H
#define HF_BROOD_H

#include "machine.h"
#include "stop.h"

struct hf_brood {
	const struct hf_topology *topo;
	uint64_t page_size;
	const uint64_t *children; /* [nnodes] processes for each node */
	const uint64_t *pages;    /* [nnodes] to be allocated there */
	uint64_t cover;           /* pages that are available now: reserved first, or they would be used up */
	const struct hf_stop *stop;
	/* About ten times a second, with the pages reserved so far; may be NULL. */
	void (*tick)(void *arg, uint64_t pages);
	void *arg;

	/* private */
	size_t count;
	pid_t *pids;
	bool piped;
	int busy[2]; /* a pipe; each child has its end while it reserves */
	struct hf_brood_shared *shared;
	size_t shared_bytes;
	void *covered;
};

/*
 * Reserves until all pages are there or no more can be had. 0 in both cases; -ECANCELED: stop was
 * requested; another -errno: the children could not be made. The caller ends it in every case.
 */
int hf_brood_reserve(struct hf_brood *brood, struct hf_err *err) _must_check _nonnull(1, 2);

/* Kills and reaps the children: what was not made persistent goes back to the system. */
void hf_brood_end(struct hf_brood *brood);

#endif
