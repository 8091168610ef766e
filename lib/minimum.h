/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * minimum - the pages that a mount's min_size= keeps for the files on it.
 *
 * The kernel counts what is left of them among the pool's reserved pages. A file on the mount takes
 * them first, so that they are not others'; when it goes, they are set aside again, and the pool has
 * that much less to give back. What is left is told nowhere: it is min_size= less what the mount has
 * used, and more where the kernel has kept more (mm/hugetlb.c, hugepage_subpool_put_pages).
 */
#ifndef HF_MINIMUM_H
#define HF_MINIMUM_H

#include "place.h"
#include "plan.h"

/* Sets place->min_used, for a place on a mount with min_size= that is there. Live systems only. */
int hf_minimum_look(const struct hf_machine *machine, struct hf_place *place, struct hf_err *err) _must_check
	_nonnull(1, 2, 3);

/* Pages that are left for the place's mount, never more than the pool has reserved. */
uint64_t hf_minimum_left(const struct hf_place *place, const struct hf_pool *pool) _nonnull(1, 2);

/*
 * Pages of the pool's reserved ones that the plan's files take because they are their mounts'. Up to
 * a target: of the files that come before it (strict ones come first), and all that are left for its
 * own mount; NULL: of all files.
 */
uint64_t hf_minimum_serves(const struct hf_plan *plan, size_t pool, const struct hf_target *up_to)
	_nonnull(1);

/* Pages that are set aside again when the mount gives up freed pages, after others of the same call. */
uint64_t hf_minimum_regains(const struct hf_place *place, uint64_t freed_before, uint64_t freed) _nonnull(1);

#endif
