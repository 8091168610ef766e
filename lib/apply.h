/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply - carries a request out as one transaction: all of it, or nothing.
 *
 *     lock, grow, mount, create, reserve, unlock, fill, verify, publish
 *
 * The plan is made before by the caller, and again here under the lock when pools have to grow.
 * Whatever fails, also a requested stop, the undo log runs before this returns.
 */
#ifndef HF_APPLY_H
#define HF_APPLY_H

#include "fill.h"
#include "grow.h"

enum hf_phase {
	HF_PHASE_LOCK,
	HF_PHASE_GROW,
	HF_PHASE_MOUNT,
	HF_PHASE_RESERVE, /* creating the files, too */
	HF_PHASE_FILL,
	HF_PHASE_VERIFY,
	HF_PHASE_PUBLISH,
	HF_PHASES,
};
const char *hf_phase_name(enum hf_phase phase);

/* All from the calling thread; each may be NULL. */
struct hf_apply_hooks {
	void (*begin)(void *arg, enum hf_phase phase, uint64_t total_bytes);
	void (*progress)(void *arg, uint64_t done_bytes);
	void (*end)(void *arg, enum hf_phase phase);
	void (*note)(void *arg, const char *text);
	/* Everything is in place and the rows are filled: tell the caller's caller. A negative return
	 * undoes it all, with err as the reason. */
	int (*commit)(void *arg, struct hf_err *err);
	void (*left)(const struct hf_err *err, void *arg); /* could not be undone */
	void *arg;
};

/* A row of the result: a target on a node. */
struct hf_row {
	size_t target, node;
	uint64_t requested;                   /* pages */
	uint64_t filled;                      /* pages, measured; pools: the node's total */
	uint64_t threads;                     /* 0: none worked */
	double seconds, rate, speedup, stdev; /* NAN: nothing was timed; rate in bytes per second,
					       * stdev in seconds per GiB */
};

struct hf_apply {
	struct hf_machine *machine;
	struct hf_request *request; /* its places are looked at again under the lock: they belong to
				     * the caller, the array is written to */
	struct hf_place *places;    /* the same array */
	uint64_t page_size;         /* for bare names */
	struct hf_plan *plan;       /* made by the caller; replaced */
	const struct hf_apply_hooks *hooks;
	struct hf_stop *stop;
	bool keep; /* after success the undo log stays, for hf_apply_give_back */

	/* Results; hf_apply_free. */
	struct hf_transaction *kept;
	bool changed;
	bool partly; /* --best-effort: less was had than asked for */
	size_t left; /* steps that could not be undone */
	size_t nrows;
	struct hf_row *rows;
	uint64_t phase_ns[HF_PHASES];
	const char *method;
};

/*
 * 0: done, or nothing to do. Otherwise everything was undone but for apply->left steps; plan's
 * findings say what stood against it. -ECANCELED: stop was requested.
 */
int hf_apply_run(struct hf_apply *apply, struct hf_err *err) _must_check _nonnull(1, 2);
void hf_apply_free(struct hf_apply *apply);

/*
 * Undoes what a call with `keep` has done, whenever that was: no lock is held in between, no file mapped;
 * descriptors are close-on-exec. Pools give back what is neither used nor reserved, and files that somebody
 * else has open or mapped by now stay as they are, mounts that carry files, too: hooks->left is called for
 * each, and apply->left counts them.
 */
void hf_apply_give_back(struct hf_apply *apply) _nonnull(1);

/* A file that would be cut cannot be given back: -EINVAL. */
int hf_apply_refuse_cut(const struct hf_plan *plan, struct hf_err *err) _must_check _nonnull(1, 2);

/* Looks at every file of the request; places[specs->count] zeroed. */
int hf_apply_places(const struct hf_machine *machine, const struct hf_spec_list *specs, uint64_t page_size,
		    struct hf_place *places, struct hf_err *err) _must_check _nonnull(1, 2, 4, 5);

#endif
