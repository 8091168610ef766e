/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan_parts.h"

#include "minimum.h"
#include "spread.h"

/* One pool's arithmetic; arrays are [nnodes]. */
struct math {
	const struct hf_plan *plan;
	const struct hf_pool *pool;
	struct hf_plan_pool *out;
	uint64_t total_wanted;  /* nr that pool specs without @ want in all */
	uint64_t loose;         /* free pages wanted anywhere: files, and --available, without @ */
	uint64_t *loose_on;     /* where they would best lie */
	uint64_t *strict_on;    /* free pages wanted on the node itself */
	uint64_t *limit;        /* 0 for nodes without memory */
	uint64_t *prefer;       /* nr that +AMOUNT without @ would like the node to have */
	uint64_t *given, *lack; /* want_loose's */
	uint64_t others;        /* reserved pages that are not this call's */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What one pool spec asks of the totals, or with --available of the free pages. */
static void count_pool_target(struct math *m, const struct hf_target *t)
{
	bool relative = hf_plan_spec_of(m->plan, t)->parts[0].amount.relative;

	if (m->plan->request->available && !relative) {
		for (size_t i = 0; i < t->nshares; i++) {
			uint64_t *on = t->strict ? m->strict_on : m->loose_on;

			on[t->shares[i].node] += t->shares[i].pages;
			m->loose += t->strict ? 0 : t->shares[i].pages;
		}
		return;
	}
	if (!t->strict) {
		/* +AMOUNT rises everywhere alike, an amount evens the nodes out. */
		for (size_t i = 0; i < t->nshares && relative; i++) {
			uint64_t *level = &m->prefer[t->shares[i].node];

			*level = larger(*level, t->shares[i].pages);
		}
		m->total_wanted = larger(m->total_wanted, t->pages);
		return;
	}
	for (size_t i = 0; i < t->nshares; i++) {
		uint64_t *must = &m->out->must[t->shares[i].node];

		*must = larger(*must, t->shares[i].pages);
	}
}

static void count_file_target(struct math *m, const struct hf_target *t)
{
	uint64_t *on = t->strict ? m->strict_on : m->loose_on;

	for (size_t n = 0; n < m->pool->nnodes; n++)
		on[n] += t->missing_on[n];
	if (t->strict)
		for (size_t n = 0; n < m->pool->nnodes; n++)
			m->out->take_on[n] += t->missing_on[n];
	else
		m->loose += t->missing;
	m->out->take += t->missing;
}

static void count_targets(struct math *m, size_t pool)
{
	for (size_t i = 0; i < m->plan->ntargets; i++) {
		const struct hf_target *t = &m->plan->targets[i];

		if (t->pool != pool)
			continue;
		m->out->used = true;
		if (!hf_target_is_file(t))
			count_pool_target(m, t);
		else if (hf_target_is_filled(t))
			count_file_target(m, t);
	}
}

static uint64_t sum(const uint64_t *values, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

/* Free pages of the node after growing to want. */
static uint64_t free_after(const struct math *m, size_t node)
{
	const struct hf_pool_node *now = &m->pool->nodes[node];

	return now->free + less(m->out->want[node], now->nr);
}

static void want_strict(struct math *m)
{
	for (size_t n = 0; n < m->pool->nnodes; n++) {
		uint64_t *want = &m->out->want[n];

		*want = larger(m->pool->nodes[n].nr, m->out->must[n]);
		*want += less(m->strict_on[n], free_after(m, n));
		/* Pages that are free already may do: then nothing is written. */
		if (m->out->must[n] || *want > m->pool->nodes[n].nr)
			m->out->must[n] = larger(m->out->must[n], m->strict_on[n] ? *want : 0);
	}
}

/* Raises nodes with memory, the lowest first, until all together have total_wanted. */
static void want_total(struct math *m)
{
	uint64_t missing;

	for (size_t n = 0; n < m->pool->nnodes; n++)
		m->out->want[n] = larger(m->out->want[n], m->prefer[n]);
	missing = less(m->total_wanted, sum(m->out->want, m->pool->nnodes));
	hf_spread_rise(missing, m->pool->nnodes, m->out->want, m->limit);
}

/*
 * Free pages that may lie anywhere: what is missing of them is grown where they would best lie, as
 * far as that node lacks them. Others' reserved pages are free but not ours, unless a mount's
 * min_size= reserves them for these files; on which node they will be taken is not known.
 */
static void want_loose(struct math *m)
{
	size_t count = m->pool->nnodes;
	uint64_t need = m->loose + sum(m->strict_on, count), have = 0, missing;

	if (!need)
		return;
	for (size_t n = 0; n < count; n++) {
		have += free_after(m, n);
		m->given[n] = 0;
		m->lack[n] = less(m->loose_on[n], less(free_after(m, n), m->strict_on[n]));
	}
	missing = less(need + m->others, have);
	missing = hf_spread_rise(missing, count, m->given, m->lack);
	for (size_t n = 0; n < count; n++)
		m->out->want[n] += m->given[n];
	hf_spread_rise(missing, count, m->out->want, m->limit);
}

/* Surplus pages count towards a pool spec only once they are persistent; a write does that. */
static void plan_writes(struct math *m)
{
	uint64_t persistent = 0;

	for (size_t n = 0; n < m->pool->nnodes; n++) {
		uint64_t now = hf_pool_node_persistent(m->pool, n);

		if (m->out->want[n] > m->pool->nodes[n].nr || m->out->must[n] > now)
			m->out->write[n] = m->out->want[n];
		persistent += m->out->write[n] ? m->out->write[n] : now;
	}
	for (size_t n = 0; n < m->pool->nnodes && persistent < m->total_wanted; n++) {
		uint64_t now = hf_pool_node_persistent(m->pool, n);
		uint64_t turn = less(m->pool->nodes[n].nr, now);

		if (m->out->write[n] || !turn)
			continue;
		turn = turn < m->total_wanted - persistent ? turn : m->total_wanted - persistent;
		m->out->write[n] = now + turn;
		persistent += turn;
	}
}

static void sum_up(struct math *m)
{
	plan_writes(m);
	for (size_t n = 0; n < m->pool->nnodes; n++) {
		m->out->grow += less(m->out->want[n], m->pool->nodes[n].nr);
		m->out->total += m->out->want[n];
		m->out->grows = m->out->grows || m->out->write[n];
	}
}

static int check_sum(const struct math *m, struct hf_err *err)
{
	unsigned __int128 pages = (unsigned __int128)sum(m->out->want, m->pool->nnodes);
	char size[HF_SIZE_TEXT];

	if (pages * m->pool->page_size <= INT64_MAX)
		return 0;
	return hf_err_usage(err, hf_size_exact(m->pool->page_size, size),
			    "the amounts of all specs for this page size together exceed 2^63-1 bytes");
}

static int plan_pool(struct hf_plan *plan, size_t pool, struct hf_err *err)
{
	struct hf_plan_pool *out = &plan->pools[pool];
	struct math m = { .plan = plan, .pool = &plan->machine->pools.pools[pool], .out = out };
	const struct hf_topology *topo = &plan->machine->topo;
	size_t count = m.pool->nnodes;
	_cleanup_free_ uint64_t *scratch = calloc(count * 6, sizeof(*scratch));

	out->want = calloc(count * 4, sizeof(*out->want));
	if (!scratch || !out->want)
		return hf_err_nomem(err);
	out->must = out->want + count;
	out->take_on = out->must + count;
	out->write = out->take_on + count;
	m.strict_on = scratch;
	m.loose_on = scratch + count;
	m.limit = scratch + 2 * count;
	m.given = scratch + 3 * count;
	m.lack = scratch + 4 * count;
	m.prefer = scratch + 5 * count;
	for (size_t n = 0; n < count; n++)
		m.limit[n] = hf_topology_is_usable(topo, n) ? INT64_MAX : 0;

	count_targets(&m, pool);
	m.others = less(m.pool->reserved, hf_minimum_serves(plan, pool, NULL));
	want_strict(&m);
	want_total(&m);
	want_loose(&m);
	sum_up(&m);
	return check_sum(&m, err);
}

int hf_plan_pools(struct hf_plan *plan, struct hf_err *err)
{
	for (size_t i = 0; i < plan->machine->pools.count; i++) {
		int r = plan_pool(plan, i, err);

		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t hf_plan_free_on(const struct hf_plan *plan, size_t pool, size_t node)
{
	const struct hf_pool_node *now = &plan->machine->pools.pools[pool].nodes[node];

	if (plan->grown)
		return now->free;
	return now->free + less(plan->pools[pool].want[node], now->nr);
}

void hf_plan_pool_freeze(struct hf_plan *plan, size_t pool)
{
	const struct hf_pool *now = &plan->machine->pools.pools[pool];
	struct hf_plan_pool *p = &plan->pools[pool];

	if (!plan->request->best_effort)
		return;
	p->grows = false;
	p->grow = p->total = 0;
	for (size_t n = 0; n < now->nnodes; n++) {
		p->write[n] = p->must[n] = 0;
		p->want[n] = now->nodes[n].nr;
		p->total += now->nodes[n].nr;
	}
}

void hf_plan_pools_limit(struct hf_plan *plan, uint64_t budget)
{
	for (size_t i = 0; i < plan->machine->pools.count; i++) {
		const struct hf_pool *now = &plan->machine->pools.pools[i];
		struct hf_plan_pool *p = &plan->pools[i];

		for (size_t n = 0; n < now->nnodes; n++) {
			uint64_t grow = less(p->want[n], now->nodes[n].nr), most = budget / now->page_size;
			uint64_t cut = less(grow, most);

			budget -= (grow - cut) * now->page_size;
			p->want[n] -= cut;
			p->grow -= cut;
			p->total -= cut;
			if (p->write[n] > p->want[n])
				p->write[n] = p->want[n] > hf_pool_node_persistent(now, n) ? p->want[n] : 0;
			if (p->must[n] > p->want[n])
				p->must[n] = p->want[n];
		}
		p->grows = false;
		for (size_t n = 0; n < now->nnodes; n++)
			p->grows = p->grows || p->write[n];
	}
}
