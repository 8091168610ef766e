/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "grow.h"

#include <errno.h>

#include "cause.h"
#include "child.h"
#include "clock.h"
#include "grow_parts.h"

#define FIRST_STEP (64ULL << 20) /* bytes */
#define STEP_NS 25000000ULL      /* a step is doubled below this, halved above twice this */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static int read_pool(struct hf_machine *machine, struct hf_pool *pool, struct hf_err *err)
{
	return hf_pool_refresh(&machine->root, &machine->topo, pool, err);
}

/* The persistent count without what was added, but not below what is used and reserved; surplus pages
 * that this call had made persistent may turn back. */
static uint64_t lowest(const struct hf_growth *g, const struct hf_pool *pool)
{
	uint64_t persistent = hf_pool_node_persistent(pool, g->node), target = less(persistent, g->added);
	uint64_t used = less(pool->nodes[g->node].nr, pool->nodes[g->node].free);
	uint64_t floor = less(used + (pool->nnodes == 1 ? pool->reserved : 0), g->absorbed);
	uint64_t most = hf_pool_available(pool) + g->absorbed;

	if (pool->nnodes > 1 && less(persistent, target) > most)
		target = less(persistent, most);
	return target < floor ? floor : target;
}

static void take_off(struct hf_growth *g, uint64_t persistent)
{
	uint64_t gone = less(g->taken_from, persistent);

	g->added -= gone < g->added ? gone : g->added;
	g->taken_from = 0;
}

/* What is read back is taken off the growth; a write that could not be read back may have been done. */
static int take_out(struct hf_growth *g, struct hf_pool *pool, struct hf_err *err)
{
	uint64_t persistent, target;
	int r = read_pool(g->machine, pool, err);

	if (r < 0)
		return r;
	persistent = hf_pool_node_persistent(pool, g->node);
	take_off(g, persistent);
	if (g->unread)
		g->added += less(persistent < g->aimed ? persistent : g->aimed, g->before);
	g->unread = false;
	target = lowest(g, pool);
	if (target >= persistent)
		return 0;
	g->taken_from = persistent;
	r = hf_pool_write(&g->machine->root, &g->machine->topo, pool, g->node, target, err);
	if (r == 0)
		take_off(g, hf_pool_node_persistent(pool, g->node));
	return r;
}

/*
 * Others count relatively too: two calls that undo after each other both end right. Never below
 * what is in use, but for surplus pages that this call had made persistent.
 */
static int shrink_back(void *arg, struct hf_err *err)
{
	struct hf_growth *g = arg;
	struct hf_pool *pool = hf_pools_find(&g->machine->pools, g->page_size);
	char size[HF_SIZE_TEXT];
	uint64_t left;
	int r;

	if (!g->added && !g->unread)
		return 0;
	/* Once more: what lacked for a moment may be there now. */
	r = take_out(g, pool, err);
	if (r < 0)
		r = take_out(g, pool, err);
	/* Others may have taken pages out, too. */
	if (r == 0 && g->added > hf_pool_node_persistent(pool, g->node))
		g->added = hf_pool_node_persistent(pool, g->node);
	if (r == 0 && !g->added)
		return 0;
	left = g->added + (g->unread ? less(g->aimed, g->before) : 0);
	hf_size_exact(g->page_size, size);
	if (r == 0)
		r = hf_err_set(
			err, EBUSY, size,
			"%llu pages that were added on node %u stay: they are in use or reserved by others",
			(unsigned long long)left, g->machine->topo.nodes[g->node].id);
	hf_err_hint(err, "later: hugefill free %s=%llup@%u", size, (unsigned long long)left,
		    g->machine->topo.nodes[g->node].id);
	return r;
}

struct hf_growth *hf_grow_remember(struct hf_ladder *l, size_t node, struct hf_err *err)
{
	struct hf_growth *g;

	if (hf_undo_reserve(l->grow->undo, err) < 0)
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g) {
		hf_err_nomem(err);
		return NULL;
	}
	*g = (struct hf_growth){ .machine = l->grow->machine, .page_size = l->pool->page_size, .node = node };
	hf_undo_push(l->grow->undo, shrink_back, free, g);
	return g;
}

static int explain_write(int r, struct hf_err *err)
{
	if (r == -EINVAL)
		hf_err_hint(
			err,
			"this kernel cannot allocate pages of this size at run time (CONFIG_CONTIG_ALLOC): "
			"reserve them at boot, hugepagesz= and hugepages= on the kernel command line");
	return r;
}

int hf_grow_write(struct hf_ladder *l, struct hf_growth *g, uint64_t target, struct hf_err *err)
{
	struct hf_machine *machine = l->grow->machine;
	uint64_t persistent, surplus, before = hf_pool_node_persistent(l->pool, g->node);
	int r;

	surplus = l->pool->nodes[g->node].surplus;
	g->unread = true;
	g->before = before;
	g->aimed = target;
	r = hf_pool_write(&machine->root, &machine->topo, l->pool, g->node, target, err);
	/* Interrupted, it may be done all the same, and what was to be read back not be read. */
	if (r == -EINTR) {
		*err = (struct hf_err){ 0 };
		r = read_pool(machine, l->pool, err);
	}
	if (r < 0)
		return explain_write(r, err);
	g->unread = false;
	persistent = hf_pool_node_persistent(l->pool, g->node);
	if (persistent > before) {
		g->added += persistent - before;
		g->absorbed += less(surplus, l->pool->nodes[g->node].surplus);
		l->grow->changed = true;
	}
	return 0;
}

void hf_grow_show(struct hf_ladder *l, uint64_t more_pages)
{
	uint64_t have = 0, want = 0;

	if (!l->grow->progress)
		return;
	for (size_t n = 0; n < l->pool->nnodes; n++) {
		have += l->pool->nodes[n].nr;
		want += l->plan->want[n];
	}
	have = less(l->plan->grow, less(want, have)) + more_pages;
	l->grow->progress(l->grow->arg, l->done + have * l->pool->page_size);
}

/* What to write next: a step, surplus pages not counted, since they turn persistent without a page
 * being allocated. */
static uint64_t next_count(const struct hf_ladder *l, const struct hf_growth *g, uint64_t target)
{
	uint64_t nr = l->pool->nodes[g->node].nr;

	return target > nr && target - nr > l->step ? nr + l->step : target;
}

static void adapt(struct hf_ladder *l, uint64_t took)
{
	if (took < STEP_NS && l->step < UINT64_MAX / 4)
		l->step *= 2;
	else if (took > 2 * STEP_NS && l->step > 1)
		l->step /= 2;
}

/* Steps up to target or until the kernel gives less than asked. */
static int climb(struct hf_ladder *l, struct hf_growth *g, uint64_t target, struct hf_err *err)
{
	for (;;) {
		uint64_t next, nr, took, start = hf_clock_ns();
		int r;

		if (hf_stop_requested(l->grow->stop))
			return -ECANCELED;
		/* Writes are absolute: what others did since the last look would be lost. */
		r = read_pool(l->grow->machine, l->pool, err);
		if (r < 0 || hf_pool_node_persistent(l->pool, g->node) >= target)
			return r;
		nr = l->pool->nodes[g->node].nr;
		next = next_count(l, g, target);
		r = hf_grow_write(l, g, next, err);
		if (r < 0)
			return r;
		hf_grow_show(l, 0);
		if (hf_pool_node_persistent(l->pool, g->node) < next)
			return hf_stop_requested(l->grow->stop) ? -ECANCELED : 0;
		took = hf_clock_ns() - start;
		/* Surplus that turns persistent costs nothing and says nothing. */
		if (l->pool->nodes[g->node].nr > nr)
			l->page_cost = (double)took / 1e9 / (double)(l->pool->nodes[g->node].nr - nr);
		adapt(l, took);
		if (l->trial)
			return 0;
	}
}

static int compact(void *arg)
{
	const struct hf_growth *g = arg;
	struct hf_err ignored = { 0 };

	return hf_pool_compact(&g->machine->root, &g->machine->topo, g->node, &ignored);
}

static int drop_caches(void *arg)
{
	const struct hf_growth *g = arg;
	struct hf_err ignored = { 0 };

	return hf_pool_drop_caches(&g->machine->root, &ignored);
}

/* One round: compacts, and writes for all that is missing at once, since each write repeats the
 * kernel's costly attempt. A kernel that cannot compact is not an error: the write tells. */
static int try_again(struct hf_ladder *l, struct hf_growth *g, uint64_t target, bool *gained,
		     struct hf_err *err)
{
	uint64_t before = hf_pool_node_persistent(l->pool, g->node);
	int r = hf_child_run(compact, g, l->grow->stop);

	if (r == -ECANCELED)
		return r;
	l->step = UINT64_MAX / 2;
	r = climb(l, g, target, err);
	*gained = hf_pool_node_persistent(l->pool, g->node) > before;
	return r;
}

/* Until a round gains nothing; with --drop-caches once more after that. */
static int insist(struct hf_ladder *l, struct hf_growth *g, uint64_t target, struct hf_err *err)
{
	bool gained = true;

	while (gained && hf_pool_node_persistent(l->pool, g->node) < target) {
		int r = try_again(l, g, target, &gained, err);

		if (r < 0)
			return r;
		if (gained || l->dropped || !l->grow->plan->request->drop_caches)
			continue;
		l->dropped = true;
		r = hf_child_run(drop_caches, g, l->grow->stop);
		if (r == -ECANCELED)
			return r;
		gained = r == 0;
	}
	return 0;
}

static int grow_node(struct hf_ladder *l, size_t node, uint64_t target, struct hf_err *err)
{
	uint64_t nr = l->pool->nodes[node].nr, most = l->grow->budget / l->pool->page_size;
	struct hf_growth *g;
	int r;

	if (target > nr && target - nr > most)
		target = nr + most;
	if (hf_pool_node_persistent(l->pool, node) >= target)
		return 0;
	g = hf_grow_remember(l, node, err);
	if (!g)
		return -err->errnum;
	r = climb(l, g, target, err);
	if (r == 0)
		r = insist(l, g, target, err);
	if (l->grow->budget != UINT64_MAX)
		l->grow->budget =
			less(l->grow->budget, less(l->pool->nodes[node].nr, nr) * l->pool->page_size);
	return r;
}

static uint64_t total_nr(const struct hf_pool *pool)
{
	uint64_t total = 0;

	for (size_t n = 0; n < pool->nnodes; n++)
		total += pool->nodes[n].nr;
	return total;
}

/* Pages that nodes lack which must have them: no other node makes up for these. */
static uint64_t strict_lack(const struct hf_ladder *l)
{
	uint64_t pages = 0;

	for (size_t n = 0; n < l->pool->nnodes; n++)
		pages += less(l->plan->must[n], l->pool->nodes[n].nr);
	return pages;
}

/* Pages without a place of their own may come from nodes that still have memory. */
static int make_up(struct hf_ladder *l, struct hf_err *err)
{
	const struct hf_topology *topo = &l->grow->machine->topo;

	for (size_t n = 0; n < l->pool->nnodes; n++) {
		uint64_t missing = less(less(l->plan->total, total_nr(l->pool)), strict_lack(l));
		int r;

		if (!missing)
			return 0;
		if (!hf_topology_is_usable(topo, n) || l->pool->nodes[n].nr < l->plan->want[n])
			continue;
		r = grow_node(l, n, l->pool->nodes[n].nr + missing, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_shortage(struct hf_ladder *l, size_t node, uint64_t wanted, struct hf_err *err)
{
	const struct hf_pool *pool = l->pool;
	char size[HF_SIZE_TEXT];
	struct hf_finding *f = hf_plan_find(l->grow->plan, "short", !l->grow->plan->request->best_effort,
					    (int)l->grow->machine->topo.nodes[node].id,
					    hf_size_exact(pool->page_size, size));

	if (!f)
		return hf_err_nomem(err);
	f->wanted = wanted * pool->page_size;
	f->got = pool->nodes[node].nr * pool->page_size;
	hf_cause_of_shortage(l->grow->machine, pool, node, less(wanted, pool->nodes[node].nr), l->dropped, f);
	return 0;
}

/* Which nodes are short, and whether that matters. */
static int judge(struct hf_ladder *l, struct hf_err *err)
{
	uint64_t missing = less(l->plan->total, total_nr(l->pool));
	bool strictly = false;
	char size[HF_SIZE_TEXT];

	for (size_t n = 0; n < l->pool->nnodes; n++)
		strictly = strictly || l->pool->nodes[n].nr < l->plan->must[n];
	if (!missing && !strictly)
		return 0;
	for (size_t n = 0; n < l->pool->nnodes; n++) {
		uint64_t wanted = missing ? l->plan->want[n] : l->plan->must[n];

		if (l->pool->nodes[n].nr < wanted && add_shortage(l, n, wanted, err) < 0)
			return -err->errnum;
	}
	if (l->grow->plan->request->best_effort)
		return 0;
	hf_size_exact(l->pool->page_size, size);
	hf_err_set(err, ENOMEM, size, "the pool is short: %llu pages were wanted in all, %llu could be had",
		   (unsigned long long)l->plan->total, (unsigned long long)total_nr(l->pool));
	return -ENOMEM;
}

/* Steps on the first node that grows, to learn what a page costs: one, and another if that was
 * costly, since something else may have run meanwhile. */
static int try_out(struct hf_ladder *l, struct hf_err *err)
{
	for (size_t n = 0; n < l->pool->nnodes; n++) {
		struct hf_growth *g;
		int r;

		if (hf_pool_node_persistent(l->pool, n) >= l->plan->write[n])
			continue;
		g = hf_grow_remember(l, n, err);
		if (!g)
			return -err->errnum;
		l->trial = true;
		r = climb(l, g, l->plan->write[n], err);
		if (r == 0 && hf_grow_is_costly(l->page_cost)) {
			double first = l->page_cost;

			r = climb(l, g, l->plan->write[n], err);
			l->page_cost = l->page_cost < first ? l->page_cost : first;
		}
		l->trial = false;
		return r;
	}
	return 0;
}

static int grow_pool(struct hf_ladder *l, struct hf_err *err)
{
	enum hf_engine engine = l->grow->plan->request->engine;
	int r = 0;

	/* Or one page; adapts from there. */
	l->step = FIRST_STEP / l->pool->page_size;
	l->step = l->step ? l->step : 1;
	l->page_cost = 0;
	l->plan->engine = "sysfs";
	snprintf(l->plan->why, sizeof(l->plan->why), "as asked for");
	if (engine == HF_ENGINE_AUTO)
		r = try_out(l, err);
	/* With a budget pages are counted as they come, by the ladder. */
	if (r == 0 && engine != HF_ENGINE_SYSFS && l->grow->budget == UINT64_MAX)
		r = hf_grow_parallel(l, err);
	for (size_t n = 0; n < l->pool->nnodes && r == 0; n++)
		r = l->plan->write[n] ? grow_node(l, n, l->plan->write[n], err) : 0;
	if (r == 0)
		r = make_up(l, err);
	return r < 0 ? r : judge(l, err);
}

int hf_grow_run(struct hf_grow *grow, struct hf_err *err)
{
	struct hf_ladder l = { .grow = grow };

	for (size_t i = 0; i < grow->machine->pools.count; i++) {
		uint64_t start = hf_clock_ns();
		int r;

		l.pool = &grow->machine->pools.pools[i];
		l.plan = &grow->plan->pools[i];
		if (!l.plan->grows)
			continue;
		r = grow_pool(&l, err);
		if (r == -ECANCELED)
			return hf_err_set(err, ECANCELED, NULL, "given up while a pool was growing");
		if (r < 0)
			return r;
		l.plan->grow_ns = hf_clock_ns() - start;
		l.done += l.plan->grow * l.pool->page_size;
	}
	return 0;
}

int hf_grow_shrink(struct hf_machine *machine, struct hf_pool *pool, size_t node, uint64_t pages,
		   uint64_t *taken, struct hf_err *err)
{
	uint64_t persistent, surplus, most, target;
	int r = read_pool(machine, pool, err);

	*taken = 0;
	if (r < 0)
		return r;
	persistent = hf_pool_node_persistent(pool, node);
	surplus = pool->nodes[node].surplus;
	most = pool->nodes[node].free < hf_pool_available(pool) ? pool->nodes[node].free
								: hf_pool_available(pool);
	most = most < persistent ? most : persistent;
	pages = pages < most ? pages : most;
	if (!pages)
		return 0;
	target = persistent - pages;
	r = hf_pool_write(&machine->root, &machine->topo, pool, node, target, err);
	if (r < 0)
		return r;
	/* Somebody took pages between the reading and the writing: what became surplus by that turns
	 * persistent again, which allocates nothing. */
	if (pool->nodes[node].surplus > surplus)
		r = hf_pool_write(&machine->root, &machine->topo, pool, node,
				  target + pool->nodes[node].surplus - surplus, err);
	*taken = less(persistent, hf_pool_node_persistent(pool, node));
	return r;
}
