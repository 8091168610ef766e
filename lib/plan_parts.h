/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_parts - the rooms of plan, not for others: targets (plan.c), pools (plan_pools.c), findings
 * (plan_findings.c).
 */
#ifndef HF_PLAN_PARTS_H
#define HF_PLAN_PARTS_H

#include "plan.h"

struct hf_wanted {
	bool has_mode, block;
	mode_t mode;
	uid_t uid; /* (uid_t)-1, (gid_t)-1: the caller's */
	gid_t gid;
};

/* The pools' want, must, take, from the targets. */
int hf_plan_pools(struct hf_plan *plan, struct hf_err *err) _must_check;

/* --best-effort: the pools together grow by no more than budget bytes. */
void hf_plan_pools_limit(struct hf_plan *plan, uint64_t budget);

/* The pool does not grow after all. */
void hf_plan_pool_freeze(struct hf_plan *plan, size_t pool);

/* Pages of node free once the plan's growth is done. */
uint64_t hf_plan_free_on(const struct hf_plan *plan, size_t pool, size_t node);

/* Counts and divides again what changed with the shares of a file. */
int hf_plan_relayout(struct hf_plan *plan, struct hf_target *t, struct hf_err *err) _must_check;
int hf_plan_threads(struct hf_plan *plan, struct hf_err *err) _must_check;

/* --best-effort: files get shorter to fit mount and cgroup, whatever the pools have: so that these do
 * not grow for what cannot be used. */
int hf_plan_fit_limits(struct hf_plan *plan, struct hf_err *err) _must_check;

int hf_plan_mounts(struct hf_plan *plan, struct hf_err *err) _must_check;

/* Everything that stands against the plan. */
int hf_plan_findings(struct hf_plan *plan, struct hf_err *err) _must_check;

static inline const struct hf_pool *hf_plan_pool_of(const struct hf_plan *plan, const struct hf_target *t)
{
	return &plan->machine->pools.pools[t->pool];
}

static inline const struct hf_spec *hf_plan_spec_of(const struct hf_plan *plan, const struct hf_target *t)
{
	return &plan->request->specs->specs[t->spec];
}

static inline const struct hf_place *hf_plan_place_of(const struct hf_plan *plan, const struct hf_target *t)
{
	return &plan->request->places[t->spec];
}

static inline bool hf_target_is_file(const struct hf_target *t)
{
	return t->action != HF_ACTION_POOL;
}

/* What is asked for of a file: for all, or on its own line. */
static inline struct hf_wanted hf_plan_wanted(const struct hf_request *request, size_t spec)
{
	const struct hf_spec_options *with = &request->specs->specs[spec].with;
	struct hf_wanted wanted = { .has_mode = request->mode_given,
				    .mode = request->mode,
				    .uid = request->uid,
				    .gid = request->gid,
				    .block = request->block };

	if (with->has_mode) {
		wanted.has_mode = true;
		wanted.mode = with->mode;
	}
	if (with->has_owner) {
		wanted.uid = with->uid;
		wanted.gid = with->gid;
	}
	if (with->layout)
		wanted.block = *with->layout == 'b';
	return wanted;
}

/* The file is there, but not with the mode and owner that were asked for. */
static inline bool hf_plan_adjusts(const struct hf_request *request, size_t spec)
{
	const struct hf_wanted wanted = hf_plan_wanted(request, spec);
	const struct hf_place *place = &request->places[spec];

	return place->exists && ((wanted.has_mode && wanted.mode != place->mode) ||
				 (wanted.uid != (uid_t)-1 && wanted.uid != place->uid) ||
				 (wanted.gid != (gid_t)-1 && wanted.gid != place->gid));
}

static inline bool hf_target_is_filled(const struct hf_target *t)
{
	return t->action == HF_ACTION_CREATE || t->action == HF_ACTION_FILL ||
	       t->action == HF_ACTION_EXTEND || t->action == HF_ACTION_CUT;
}

#endif
