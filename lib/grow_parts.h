/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grow_parts - the rooms of grow, not for others: the ladder of one pool (grow.c), its growth in
 * parallel (grow_parallel.c).
 */
#ifndef HF_GROW_PARTS_H
#define HF_GROW_PARTS_H

#include "grow.h"

/* Growth of one node's pool, and its inverse in the undo log. */
struct hf_growth {
	struct hf_machine *machine;
	uint64_t page_size;
	size_t node;
	uint64_t added;    /* to the persistent count, by this call */
	uint64_t absorbed; /* of these: surplus pages that became persistent */
	bool unread;       /* the last write, from before to aimed, could not be read back */
	uint64_t before, aimed;
	uint64_t taken_from; /* the count before the last write that took pages out, until it was read back */
};

struct hf_ladder {
	struct hf_grow *grow;
	struct hf_pool *pool;
	struct hf_plan_pool *plan;
	uint64_t step;    /* pages; adapts */
	uint64_t done;    /* pages of the pools before this one, for progress */
	double page_cost; /* seconds a page took in the last whole step; 0: not known */
	bool trial;       /* one step only */
	bool dropped;     /* caches */
};

/* A growth of this node that is in the undo log; NULL: err. */
struct hf_growth *hf_grow_remember(struct hf_ladder *l, size_t node, struct hf_err *err) _must_check;

/* One write towards target; what it brought is added to the growth, whatever else happened. */
int hf_grow_write(struct hf_ladder *l, struct hf_growth *g, uint64_t target, struct hf_err *err) _must_check;

void hf_grow_show(struct hf_ladder *l, uint64_t more_pages);

/* Whether so many seconds are beyond what a page takes that is not cleared. */
bool hf_grow_is_costly(double page_cost);

/* The rule of --grow=auto: whether it is worth it to grow the pages that lack in parallel, where the
 * serial write takes page_cost seconds for each. */
bool hf_grow_pays(double page_cost, uint64_t pages, uint64_t workers);

/*
 * Brings the nodes up to the plan as far as it can, in rounds; what then lacks is the ladder's.
 * 0 also when it could not be used or gave less: plan->why says why. -ECANCELED.
 */
int hf_grow_parallel(struct hf_ladder *l, struct hf_err *err) _must_check;

#endif
