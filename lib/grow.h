/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grow - brings pools up to a plan, and takes pages back out of them.
 *
 * Kernel facts: one mutex per page size serializes all growth of that size; a write shows its pages
 * only at its end, so it is made in steps, for progress and a prompt stop; fewer pages than asked is
 * success, so that what is read back counts; after a short step every further write repeats the
 * costly attempt, so there are no more steps then. Called under the lock (lock.h), one thread.
 */
#ifndef HF_GROW_H
#define HF_GROW_H

#include "machine.h"
#include "plan.h"
#include "stop.h"
#include "undo.h"

struct hf_grow {
	struct hf_machine *machine; /* its pools are read again as they change */
	struct hf_plan *plan;       /* shortages are added to its findings */
	const struct hf_stop *stop;
	struct hf_undo *undo;
	void (*progress)(void *arg, uint64_t done_bytes);
	void *arg;
	uint64_t budget; /* bytes that may be added at all; UINT64_MAX: no limit */
	bool changed;    /* some count was raised */
};

/*
 * Grows every pool that the plan grows. -ECANCELED: stop was requested. -ENOMEM: a node that must
 * have its pages, or a pool in all, is short after the ladder: per node a finding with the cause was
 * added. With --best-effort that is success, and the findings are not fatal. What was grown is in the undo
 * log in every case.
 */
int hf_grow_run(struct hf_grow *grow, struct hf_err *err) _must_check _nonnull(1, 2);

/*
 * Takes `pages` persistent pages (at most) out of a node's pool: never below what is used and
 * reserved, so that no surplus comes up. *taken is what was read back. Under the lock.
 */
int hf_grow_shrink(struct hf_machine *machine, struct hf_pool *pool, size_t node, uint64_t pages,
		   uint64_t *taken, struct hf_err *err) _must_check _nonnull(1, 2, 5, 6);

#endif
