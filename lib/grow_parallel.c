/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "grow_parts.h"

#include <errno.h>
#include <string.h>

#include "brood.h"
#include "clock.h"
#include "overcommit.h"
#include "spread.h"

#define GIGANTIC (1ULL << 30)
#define ROUND_BYTES (1ULL << 30) /* a worker's part of the first round */
#define ROUND_NS 500000000ULL    /* rounds are doubled below this */

/*
 * The rule of --grow=auto. What a page costs has two parts. PLAIN_COST at most is taken by lists and
 * counters under the kernel's locks, which more workers contend for: on Linux 6.18 without
 * init_on_alloc, 2 CPUs, 8192 pages of 2 MiB took 46 ms by the write, 32 ms by two reserving children, and
 * 4096 pages 23 and 19 ms; the first steps, which tell the cost, take 10 microseconds a page, twice as
 * long as all. Of that PLAIN_SAVED is saved, however many there are. What goes beyond, clearing pages
 * (hundreds of microseconds) or making room for them (thousands), the workers share. And there are the
 * children to be made. Where a round shows that it was wrong, the rest is written.
 */
#define PLAIN_COST 20e-6 /* seconds, of a page */
#define PLAIN_SAVED 0.3  /* of it */
#define CHILD_COST 0.001 /* to fork, pin and reap */
#define ROUND_COST 0.003 /* of counters and writes */
#define LEAST_GAIN 0.005

struct parallel {
	struct hf_ladder *l;
	struct hf_overcommit *limit;
	struct hf_growth **growth; /* [nnodes]; NULL: nothing written there */
	uint64_t *children;        /* [nnodes] */
	uint64_t *todo;            /* [nnodes] pages of this round */
	uint64_t workers, most;    /* most: pages of a round */
	bool chosen;               /* by the rule, not asked for */
	bool kept;                 /* a round brought pages */
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t missing_on(const struct hf_ladder *l, size_t node)
{
	return l->plan->write[node] ? less(l->plan->write[node], hf_pool_node_persistent(l->pool, node)) : 0;
}

static uint64_t missing(const struct hf_ladder *l)
{
	uint64_t pages = 0;

	for (size_t n = 0; n < l->pool->nnodes; n++)
		pages += missing_on(l, n);
	return pages;
}

/* On the nodes whose turn it is: fewer workers than nodes go from one to the next, round by round. */
static uint64_t missing_now(const struct parallel *p)
{
	uint64_t pages = 0;

	for (size_t n = 0; n < p->l->pool->nnodes; n++)
		pages += p->children[n] ? missing_on(p->l, n) : 0;
	return pages;
}

/* Every CPU of the nodes that grow, or as --threads divides; no more than there are pages. */
static int count_children(struct parallel *p, struct hf_err *err)
{
	const struct hf_ladder *l = p->l;
	size_t nnodes = l->pool->nnodes;
	_cleanup_free_ uint64_t *pages = calloc(nnodes, sizeof(*pages));

	if (!pages)
		return hf_err_nomem(err);
	for (size_t n = 0; n < nnodes; n++)
		pages[n] = missing_on(l, n);
	p->workers = 0;
	if (l->grow->plan->request->threads)
		hf_spread_weighted(l->grow->plan->request->threads, nnodes, pages, p->children);
	for (size_t n = 0; n < nnodes; n++) {
		struct hf_nodeset cpus;

		hf_topology_worker_cpus(&l->grow->machine->topo, n, &cpus);
		if (!l->grow->plan->request->threads)
			p->children[n] = hf_nodeset_count(&cpus);
		if (p->children[n] > pages[n])
			p->children[n] = pages[n];
		p->workers += p->children[n];
	}
	return 0;
}

/* Why it cannot be, or NULL. */
static const char *refusal(const struct parallel *p)
{
	const struct hf_pool *pool = p->l->pool;

	if (pool->page_size >= GIGANTIC)
		return "pages of this size are no surplus pages";
	if (pool->surplus)
		return "the pool has surplus pages, which would be lost";
	if (hf_pool_is_optimized(&p->l->grow->machine->root))
		return "with hugetlb_optimize_vmemmap each surplus page costs milliseconds";
	if (p->workers < 2)
		return "there is one worker only";
	return NULL;
}

bool hf_grow_is_costly(double page_cost)
{
	return page_cost > PLAIN_COST;
}

bool hf_grow_pays(double page_cost, uint64_t pages, uint64_t workers)
{
	double plain = page_cost < PLAIN_COST ? page_cost : PLAIN_COST, count = (double)workers;
	double saved = plain * PLAIN_SAVED + (page_cost - plain) * (1 - 1 / count);

	return workers > 1 && (double)pages * saved - ROUND_COST - CHILD_COST * count > LEAST_GAIN;
}

/* This round's pages, in proportion to what nodes lack. */
static void plan_round(struct parallel *p)
{
	uint64_t all = missing_now(p);

	for (size_t n = 0; n < p->l->pool->nnodes; n++) {
		uint64_t here = p->children[n] ? missing_on(p->l, n) : 0;

		p->todo[n] = all <= p->most ? here : (uint64_t)((unsigned __int128)here * p->most / all);
		if (here && !p->todo[n])
			p->todo[n] = 1;
	}
}

/* Surplus of others would be made persistent with ours, and be lost when the children end. */
static int raise_limit(struct parallel *p, uint64_t pages, struct hf_err *err)
{
	struct hf_ladder *l = p->l;
	char size[HF_SIZE_TEXT];
	int r = hf_pool_refresh(&l->grow->machine->root, &l->grow->machine->topo, l->pool, err);

	if (r < 0)
		return r;
	if (l->pool->surplus)
		return hf_err_set(err, EBUSY, hf_size_exact(l->pool->page_size, size),
				  "others have taken surplus pages meanwhile");
	return hf_overcommit_raise(p->limit, pages, err);
}

/* Before the write, since it must be known what to undo whatever it did. */
static int expect(struct parallel *p, size_t node, uint64_t came, struct hf_err *err)
{
	struct hf_growth *g;

	if (!p->growth[node])
		p->growth[node] = hf_grow_remember(p->l, node, err);
	g = p->growth[node];
	if (!g)
		return -err->errnum;
	g->unread = true;
	g->before = hf_pool_node_persistent(p->l->pool, node);
	g->aimed = g->before + came;
	return 0;
}

/* Pages that came up on a node which does not want them: a child's allocation may spill. */
static int trim(struct parallel *p, struct hf_growth *g, struct hf_err *err)
{
	struct hf_ladder *l = p->l;
	uint64_t have = hf_pool_node_persistent(l->pool, g->node), want = l->plan->write[g->node];
	int r;

	g->added += less(have, g->before);
	g->unread = false;
	want = want > g->before ? want : g->before;
	if (have <= want)
		return 0;
	r = hf_pool_write(&l->grow->machine->root, &l->grow->machine->topo, l->pool, g->node, want, err);
	g->added -= less(have, hf_pool_node_persistent(l->pool, g->node));
	return r;
}

/*
 * What came up as surplus turns persistent where it lies, by one write for all nodes: on Linux 6.1 a
 * write to one node would allocate as many pages as the others have surplus.
 */
static int keep_pages(struct parallel *p, uint64_t *kept, struct hf_err *err)
{
	struct hf_ladder *l = p->l;
	uint64_t before = hf_pool_persistent(l->pool), came = 0;
	int r = 0;

	for (size_t n = 0; n < l->pool->nnodes && r == 0; n++) {
		if (!l->pool->nodes[n].surplus)
			continue;
		came += l->pool->nodes[n].surplus;
		r = expect(p, n, l->pool->nodes[n].surplus, err);
	}
	if (r < 0 || !came)
		return r;
	r = hf_pool_write_total(&l->grow->machine->root, &l->grow->machine->topo, l->pool, before + came,
				err);
	for (size_t n = 0; n < l->pool->nnodes && r == 0; n++)
		if (p->growth[n] && p->growth[n]->unread)
			r = trim(p, p->growth[n], err);
	*kept = less(hf_pool_persistent(l->pool), before);
	l->grow->changed = true;
	return r;
}

static void tick(void *arg, uint64_t pages)
{
	hf_grow_show(arg, pages);
}

static int run_round(struct parallel *p, uint64_t *kept, struct hf_err *err)
{
	struct hf_ladder *l = p->l;
	struct hf_brood brood = { .topo = &l->grow->machine->topo,
				  .page_size = l->pool->page_size,
				  .children = p->children,
				  .pages = p->todo,
				  .cover = hf_pool_available(l->pool),
				  .stop = l->grow->stop,
				  .tick = tick,
				  .arg = l };
	struct hf_err second = { 0 };
	uint64_t pages = 0;
	int r;

	for (size_t n = 0; n < l->pool->nnodes; n++)
		pages += p->todo[n];
	r = raise_limit(p, pages, err);
	if (r == 0)
		r = hf_brood_reserve(&brood, err);
	if (r == 0)
		r = hf_pool_refresh(&l->grow->machine->root, &l->grow->machine->topo, l->pool, err);
	if (r == 0)
		r = keep_pages(p, kept, err);
	if (hf_overcommit_lower(p->limit, r == 0 ? err : &second) < 0 && r == 0)
		r = -err->errnum;
	hf_brood_end(&brood);
	if (r == 0)
		r = hf_pool_refresh(&l->grow->machine->root, &l->grow->machine->topo, l->pool, err);
	return r;
}

/* Whether another round can bring more: what the fault path finds no more, the ladder may; and where
 * others take pages away at the same time it goes on no longer. */
static bool is_worth_more(const struct parallel *p, uint64_t all, uint64_t lacked, uint64_t kept)
{
	uint64_t wanted = lacked < p->most ? lacked : p->most, now = missing(p->l);

	return !p->limit->lost && now && kept >= wanted && now < all;
}

/* The rule, here: a round of `took' seconds that kept these pages took more for a page, but for what a
 * round takes anyway, than the write does. Told in why. */
static bool was_wrong(const struct parallel *p, double took, uint64_t kept)
{
	struct hf_plan_pool *plan = p->l->plan;
	size_t used = strlen(plan->why);

	took = (took - ROUND_COST - CHILD_COST * (double)p->workers) / (double)kept;
	if (!p->chosen || took <= p->l->page_cost)
		return false;
	snprintf(plan->why + used, sizeof(plan->why) - used, ", by %llu workers %.1f: the rest is written",
		 (unsigned long long)p->workers, took * 1e6);
	return true;
}

static int run_rounds(struct parallel *p, struct hf_err *err)
{
	struct hf_ladder *l = p->l;
	bool more = true;

	p->most = p->workers * (ROUND_BYTES / l->pool->page_size);
	while (more) {
		uint64_t start = hf_clock_ns(), all = missing(l), lacked, kept = 0, took;
		int r;

		if (hf_stop_requested(l->grow->stop))
			return -ECANCELED;
		r = count_children(p, err);
		if (r < 0)
			return r;
		lacked = missing_now(p);
		plan_round(p);
		r = run_round(p, &kept, err);
		p->kept = p->kept || kept;
		if (r < 0)
			return r;
		hf_grow_show(l, 0);
		took = hf_clock_ns() - start;
		more = is_worth_more(p, all, lacked, kept) && !was_wrong(p, (double)took / 1e9, kept);
		if (took < ROUND_NS)
			p->most *= 2;
	}
	return 0;
}

static int explain(const struct parallel *p, int r, struct hf_err *err)
{
	struct hf_plan_pool *plan = p->l->plan;
	size_t used = strlen(plan->why);

	if (p->kept)
		plan->engine = "parallel";
	if (r == -ECANCELED || r == -ENOMEM)
		return r;
	if (r < 0) {
		/* The limit cannot be written here, or no child could be made: the ladder does the rest. */
		snprintf(plan->why, sizeof(plan->why), "%.100s%s%.90s%s%.50s", err->object,
			 err->object[0] ? ": " : "", err->what, err->silent_errno ? "" : ": ",
			 err->silent_errno ? "" : strerror(err->errnum));
		*err = (struct hf_err){ 0 };
	} else if (p->limit->lost) {
		snprintf(plan->why + used, sizeof(plan->why) - used,
			 "; others have changed nr_overcommit_hugepages meanwhile, and it is left as it is");
	}
	return 0;
}

static int decide(struct parallel *p, struct hf_err *err)
{
	struct hf_ladder *l = p->l;
	const char *no = refusal(p);
	int r;

	p->chosen = l->grow->plan->request->engine == HF_ENGINE_AUTO;
	if (no) {
		snprintf(l->plan->why, sizeof(l->plan->why), "%s", no);
		return 0;
	}
	if (!missing(l))
		return 0;
	if (p->chosen && !hf_grow_pays(l->page_cost, missing(l), p->workers)) {
		snprintf(l->plan->why, sizeof(l->plan->why),
			 "a page takes %.1f microseconds: nothing is to be gained", l->page_cost * 1e6);
		return 0;
	}
	snprintf(l->plan->why, sizeof(l->plan->why),
		 p->chosen ? "a page takes %.1f microseconds" : "as asked for", l->page_cost * 1e6);
	r = hf_overcommit_remember(l->grow->machine, l->pool->page_size, l->grow->undo, &p->limit, err);
	if (r < 0)
		return r;
	r = run_rounds(p, err);
	hf_overcommit_end(p->limit);
	return explain(p, r, err);
}

int hf_grow_parallel(struct hf_ladder *l, struct hf_err *err)
{
	size_t nnodes = l->pool->nnodes;
	_cleanup_free_ struct hf_growth **growth = calloc(nnodes, sizeof(*growth));
	_cleanup_free_ uint64_t *children = calloc(nnodes, sizeof(*children));
	_cleanup_free_ uint64_t *todo = calloc(nnodes, sizeof(*todo));
	struct parallel p = { .l = l, .growth = growth, .children = children, .todo = todo };
	int r;

	if (!growth || !children || !todo)
		return hf_err_nomem(err);
	r = count_children(&p, err);
	return r < 0 ? r : decide(&p, err);
}
