/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan_parts.h"

#include <errno.h>

#include "minimum.h"
#include "spread.h"

#define NO_LIMIT (1ULL << 50) /* pages of a node: more than there are, and a sum over nodes cannot wrap */

/* What the files of one pool may still take. */
struct budget {
	struct hf_plan *plan;
	size_t pool;
	bool unlimited;    /* by the pool: it has not been planned yet */
	uint64_t *left_on; /* [nnodes] free pages */
	uint64_t left;     /* pages in all that may be charged to this process; UINT64_MAX: no limit */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t limit_of_cgroup(const struct hf_plan *plan, size_t pool)
{
	const struct hf_cgroups *cgroups = &plan->machine->cgroups;
	uint64_t left = hf_cgroup_left(&cgroups->memory);

	if (pool < cgroups->count) {
		left = smaller(left, hf_cgroup_left(&cgroups->pools[pool].pages));
		left = smaller(left, hf_cgroup_left(&cgroups->pools[pool].reserved));
	}
	return left == HF_CGROUP_NONE ? UINT64_MAX : left / plan->machine->page_sizes[pool];
}

static void take(struct budget *b, const struct hf_target *t)
{
	for (size_t n = 0; n < b->plan->machine->topo.nnodes; n++)
		b->left_on[n] -= smaller(b->left_on[n], t->missing_on[n]);
	if (b->left != UINT64_MAX)
		b->left -= smaller(b->left, t->missing);
}

/* Others' reserved pages are free, but not to be had: on which nodes, nobody knows. */
static uint64_t to_be_had(const struct budget *b, const struct hf_target *t)
{
	const struct hf_pool *pool = hf_plan_pool_of(b->plan, t);
	const struct hf_place *place = hf_plan_place_of(b->plan, t);
	uint64_t sum = 0, others, most;

	for (size_t n = 0; n < pool->nnodes; n++)
		sum += b->left_on[n];
	others = pool->reserved - hf_minimum_serves(b->plan, b->pool, t);
	if (!b->unlimited)
		sum = sum > others ? sum - others : 0;
	most = smaller(sum, b->left);
	return place->mount_limit == HF_MOUNTS_NONE ? most
						    : smaller(most, place->mount_left / place->page_size);
}

/* A file that is there gets longer as far as pages last; holes are filled all or not at all. */
static int cut_old(const struct budget *b, struct hf_target *t, uint64_t most)
{
	const struct hf_place *place = hf_plan_place_of(b->plan, t);
	uint64_t surplus = t->missing - most;

	if (t->action != HF_ACTION_EXTEND || place->filled < place->pages || !most) {
		t->action = HF_ACTION_SKIP;
		return 0;
	}
	for (size_t i = t->nshares; i-- > 0 && surplus;) {
		uint64_t less = smaller(t->shares[i].pages, surplus);

		t->shares[i].pages -= less;
		surplus -= less;
	}
	return 0;
}

/* --best-effort: less, or nothing. */
static int cut(struct budget *b, struct hf_target *t)
{
	uint64_t most = to_be_had(b, t), sum = 0;

	if (t->action != HF_ACTION_CREATE)
		return t->missing > most ? cut_old(b, t, most) : 0;
	for (size_t i = 0; i < t->nshares; i++) {
		uint64_t *pages = &t->shares[i].pages;

		*pages = smaller(*pages,
				 t->strict ? smaller(b->left_on[t->shares[i].node], most - sum) : most - sum);
		sum += *pages;
	}
	if (!sum)
		t->action = HF_ACTION_SKIP;
	return 0;
}

/*
 * A file without @ is laid out by what its nodes have free: evenly as far as they have it, the rest
 * where there is more.
 */
static int spread(struct budget *b, struct hf_target *t, struct hf_err *err)
{
	_cleanup_free_ uint64_t *level = calloc(t->nshares, sizeof(*level));
	_cleanup_free_ uint64_t *limit = calloc(t->nshares, sizeof(*limit));
	uint64_t rest, pages = 0;

	if (!level || !limit)
		return hf_err_nomem(err);
	for (size_t i = 0; i < t->nshares; i++) {
		limit[i] = b->left_on[t->shares[i].node];
		pages += t->shares[i].pages;
	}
	rest = hf_spread_rise(pages, t->nshares, level, limit);
	if (rest)
		hf_spread_rise(rest, t->nshares, level, NULL);
	for (size_t i = 0; i < t->nshares; i++)
		t->shares[i].pages = level[i];
	return 0;
}

static int fit_target(struct budget *b, struct hf_target *t, struct hf_err *err)
{
	int r = b->plan->request->best_effort ? cut(b, t) : 0;

	if (r == 0 && t->action == HF_ACTION_CREATE && !t->strict)
		r = spread(b, t, err);
	if (r == 0 && (t->action == HF_ACTION_CREATE || t->action == HF_ACTION_EXTEND))
		r = hf_plan_relayout(b->plan, t, err);
	if (r == 0 && hf_target_is_filled(t))
		take(b, t);
	return r;
}

/* Strict files first: their pages can lie nowhere else. */
static int fit_pool(struct budget *b, struct hf_err *err)
{
	for (int strict = 1; strict >= 0; strict--)
		for (size_t i = 0; i < b->plan->ntargets; i++) {
			struct hf_target *t = &b->plan->targets[i];
			int r;

			if (t->pool != b->pool || t->strict != (strict != 0) || !hf_target_is_filled(t))
				continue;
			r = fit_target(b, t, err);
			if (r < 0)
				return r;
		}
	return 0;
}

static int fit(struct hf_plan *plan, bool unlimited, struct hf_err *err)
{
	size_t nnodes = plan->machine->topo.nnodes;
	_cleanup_free_ uint64_t *left_on = calloc(nnodes, sizeof(*left_on));

	if (!left_on)
		return hf_err_nomem(err);
	for (size_t pool = 0; pool < plan->machine->pools.count; pool++) {
		struct budget b = { .plan = plan,
				    .pool = pool,
				    .unlimited = unlimited,
				    .left_on = left_on,
				    .left = limit_of_cgroup(plan, pool) };
		int r;

		for (size_t n = 0; n < nnodes; n++)
			left_on[n] = unlimited ? NO_LIMIT : hf_plan_free_on(plan, pool, n);
		r = fit_pool(&b, err);
		if (r < 0)
			return r;
	}
	if (unlimited)
		return 0;
	return hf_plan_mounts(plan, err) < 0 ? -ENOMEM : hf_plan_threads(plan, err);
}

int hf_plan_fit(struct hf_plan *plan, struct hf_err *err)
{
	return fit(plan, false, err);
}

int hf_plan_fit_limits(struct hf_plan *plan, struct hf_err *err)
{
	return fit(plan, true, err);
}
