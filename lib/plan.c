/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include <errno.h>
#include <string.h>

#include "plan_parts.h"
#include "spread.h"

#define LEAST_WORK (64ULL << 20) /* bytes a worker must have to be worth starting */

struct hf_finding *hf_plan_find(struct hf_plan *plan, const char *id, bool fatal, int node,
				const char *object)
{
	struct hf_finding *all = reallocarray(plan->findings, plan->nfindings + 1, sizeof(*all)), *f;

	if (!all)
		return NULL;
	plan->findings = all;
	f = &all[plan->nfindings++];
	*f = (struct hf_finding){ .id = id, .fatal = fatal, .node = node };
	snprintf(f->object, sizeof(f->object), "%s", object);
	return f;
}

/* Without @, nodes that this process's cpuset leaves out are not meant: the kernel grants nothing
 * there; nor are those that went offline since the specs were read. */
static void usable_nodes(const struct hf_topology *topo, bool placed, struct hf_nodeset *nodes)
{
	struct hf_nodeset allowed;

	if (placed)
		return;
	hf_nodeset_and(nodes, &topo->memory, nodes);
	hf_nodeset_and(nodes, &topo->mems_allowed, &allowed);
	if (!hf_nodeset_is_empty(&allowed))
		*nodes = allowed;
}

/* The part's pages spread over its nodes, added to the shares. */
static int add_part(struct hf_plan *plan, struct hf_target *t, const struct hf_spec_part *part,
		    struct hf_err *err)
{
	const struct hf_topology *topo = &plan->machine->topo;
	const struct hf_pool *pool = hf_plan_pool_of(plan, t);
	struct hf_nodeset nodes = part->nodes;
	struct hf_share *shares;
	uint64_t pages, each;
	size_t count, i = 0;
	int r;

	usable_nodes(topo, part->placed, &nodes);
	count = hf_nodeset_count(&nodes);
	r = hf_topology_require(topo, &nodes, hf_plan_spec_of(plan, t)->text, err);
	if (r < 0)
		return r;
	shares = reallocarray(t->shares, t->nshares + count, sizeof(*shares));
	if (!shares)
		return hf_err_nomem(err);
	t->shares = shares;
	r = hf_size_pages(&part->amount, pool->page_size, hf_topology_memory(topo, &nodes),
			  hf_plan_spec_of(plan, t)->text, &pages, err);
	if (r < 0)
		return r;
	for (int id = hf_nodeset_next(&nodes, 0); id >= 0; id = hf_nodeset_next(&nodes, (unsigned)id + 1)) {
		int node = hf_topology_index(topo, (unsigned)id);

		each = pages / count + (i++ < pages % count);
		if (part->amount.relative)
			each += pool->nodes[node].nr;
		t->shares[t->nshares++] = (struct hf_share){ (size_t)node, each };
		if (__builtin_add_overflow(t->pages, each, &t->pages) ||
		    t->pages > INT64_MAX / pool->page_size)
			return hf_err_usage(err, hf_plan_spec_of(plan, t)->text,
					    "its amounts add up to more than 2^63-1 bytes");
	}
	return 0;
}

/* What has to be done about a file, from what is there. */
static int decide_file(struct hf_plan *plan, struct hf_target *t, struct hf_err *err)
{
	const struct hf_place *place = hf_plan_place_of(plan, t);
	const char *text = hf_plan_spec_of(plan, t)->text;

	if (!t->pages)
		return hf_err_usage(err, text, "a file needs one page at least");
	t->action = HF_ACTION_CREATE;
	t->missing = t->pages;
	if (!place->exists)
		return 0;
	if (place->pages == t->pages) {
		t->missing = t->pages > place->filled ? t->pages - place->filled : 0;
		t->action = t->missing                                ? HF_ACTION_FILL
			    : hf_plan_adjusts(plan->request, t->spec) ? HF_ACTION_ADJUST
								      : HF_ACTION_KEEP;
	} else if (place->pages > t->pages) {
		t->action = HF_ACTION_CUT;
	} else {
		t->action = HF_ACTION_EXTEND;
	}
	return 0;
}

/* Pages to fill on each node, those that are there left out. */
static int count_missing(struct hf_plan *plan, struct hf_target *t, struct hf_err *err)
{
	const struct hf_place *place = hf_plan_place_of(plan, t);
	size_t nnodes = plan->machine->topo.nnodes;

	t->missing_on = calloc(nnodes, sizeof(*t->missing_on));
	if (!t->missing_on)
		return hf_err_nomem(err);
	for (size_t n = 0; n < nnodes; n++)
		t->missing_on[n] = hf_layout_count(&t->layout, n);
	if (!place->exists)
		return 0;
	t->missing = t->pages;
	for (uint64_t page = 0; page < place->pages && page < t->pages; page++) {
		if (!hf_place_has(place, page))
			continue;
		t->missing_on[hf_layout_node(&t->layout, page)]--;
		t->missing--;
	}
	return 0;
}

int hf_plan_relayout(struct hf_plan *plan, struct hf_target *t, struct hf_err *err)
{
	int r;

	hf_layout_free(&t->layout);
	free(t->missing_on);
	t->missing_on = NULL;
	r = hf_layout_make(t->shares, t->nshares, t->uneven || hf_plan_wanted(plan->request, t->spec).block,
			   &t->layout, err);
	t->pages = t->layout.pages;
	t->missing = t->pages;
	return r < 0 ? r : count_missing(plan, t, err);
}

static int plan_target(struct hf_plan *plan, size_t index, struct hf_err *err)
{
	const struct hf_spec *spec = &plan->request->specs->specs[index];
	struct hf_target *t = &plan->targets[index];
	uint64_t page_size =
		spec->kind == HF_SPEC_POOL ? spec->page_size : plan->request->places[index].page_size;
	const struct hf_pool *pool = hf_pools_find(&plan->machine->pools, page_size);
	int r;

	t->spec = index;
	if (!pool)
		return hf_err_set(err, ENODEV, spec->text,
				  "the kernel has no pool of its page size (any more)");
	t->pool = (size_t)(pool - plan->machine->pools.pools);
	t->strict = spec->parts[0].placed;
	t->uneven = spec->nparts > 1;
	for (size_t i = 0; i < spec->nparts; i++) {
		r = add_part(plan, t, &spec->parts[i], err);
		if (r < 0)
			return r;
	}
	t->asked = calloc(t->nshares + 1, sizeof(*t->asked));
	if (!t->asked)
		return hf_err_nomem(err);
	memcpy(t->asked, t->shares, t->nshares * sizeof(*t->asked));
	if (spec->kind == HF_SPEC_POOL)
		return 0;
	r = decide_file(plan, t, err);
	if (r < 0 || !hf_target_is_filled(t))
		return r;
	return hf_plan_relayout(plan, t, err);
}

/* A file that two specs name would be made twice. */
static int refuse_twice(const struct hf_plan *plan, struct hf_err *err)
{
	const char *path = hf_place_find_twice(plan->request->places, plan->ntargets);

	return path ? hf_err_usage(err, path, "two specs name this file; write one") : 0;
}

/* Those that files need which really come about. */
int hf_plan_mounts(struct hf_plan *plan, struct hf_err *err)
{
	plan->nmounts = 0;
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_place *place = &plan->request->places[i];
		struct hf_plan_mount *mounts;
		size_t known = 0;

		if (!place->to_mount || plan->targets[i].action == HF_ACTION_SKIP)
			continue;
		while (known < plan->nmounts && strcmp(plan->mounts[known].target, place->mount) != 0)
			known++;
		if (known < plan->nmounts && plan->mounts[known].page_size != place->page_size)
			return hf_err_usage(err, place->mount, "specs want a mount of two page sizes there");
		if (known < plan->nmounts)
			continue;
		mounts = reallocarray(plan->mounts, plan->nmounts + 1, sizeof(*mounts));
		if (!mounts)
			return hf_err_nomem(err);
		plan->mounts = mounts;
		mounts[plan->nmounts++] = (struct hf_plan_mount){ place->mount, place->page_size, i };
	}
	return 0;
}

/* Without --threads: every CPU that may work for the node, as far as there is work for it. */
static uint64_t threads_by_itself(const struct hf_plan *plan, size_t node, uint64_t pages, uint64_t bytes)
{
	struct hf_nodeset cpus;
	uint64_t count;

	if (!pages)
		return 0;
	hf_topology_worker_cpus(&plan->machine->topo, node, &cpus);
	count = hf_nodeset_count(&cpus);
	count = count < bytes / LEAST_WORK ? count : bytes / LEAST_WORK;
	count = count < pages ? count : pages;
	return count ? count : 1;
}

int hf_plan_threads(struct hf_plan *plan, struct hf_err *err)
{
	size_t nnodes = plan->machine->topo.nnodes;
	_cleanup_free_ uint64_t *pages = calloc(nnodes, sizeof(*pages));
	_cleanup_free_ uint64_t *bytes = calloc(nnodes, sizeof(*bytes));

	free(plan->threads);
	plan->nthreads = 0;
	plan->threads = calloc(nnodes, sizeof(*plan->threads));
	if (!pages || !bytes || !plan->threads)
		return hf_err_nomem(err);
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_target *t = &plan->targets[i];

		for (size_t n = 0; n < nnodes && hf_target_is_filled(t); n++) {
			pages[n] += t->missing_on[n];
			bytes[n] += t->missing_on[n] * hf_plan_pool_of(plan, t)->page_size;
		}
	}
	if (plan->request->threads)
		hf_spread_weighted(plan->request->threads, nnodes, pages, plan->threads);
	for (size_t n = 0; n < nnodes; n++) {
		if (!plan->request->threads)
			plan->threads[n] = threads_by_itself(plan, n, pages[n], bytes[n]);
		plan->nthreads += plan->threads[n];
	}
	return 0;
}

/* The pools once more, for what the limits leave of the files. */
static int plan_less(struct hf_plan *plan, struct hf_err *err)
{
	uint64_t available = plan->machine->topo.mem_available, keep = plan->request->headroom;
	int r = hf_plan_fit_limits(plan, err);

	for (size_t i = 0; i < plan->machine->pools.count && r == 0; i++) {
		free(plan->pools[i].want);
		plan->pools[i] = (struct hf_plan_pool){ 0 };
	}
	if (r == 0)
		r = hf_plan_pools(plan, err);
	for (size_t i = 0; i < plan->machine->pools.count && r == 0; i++)
		if (plan->request->no_grow)
			hf_plan_pool_freeze(plan, i);
	if (r == 0)
		hf_plan_pools_limit(plan, available > keep ? available - keep : 0);
	return r;
}

int hf_plan_make(const struct hf_request *request, const struct hf_machine *machine, struct hf_plan *plan,
		 struct hf_err *err)
{
	int r = 0;

	*plan = (struct hf_plan){ .request = request, .machine = machine, .ntargets = request->specs->count };
	plan->targets = calloc(plan->ntargets + 1, sizeof(*plan->targets));
	plan->pools = calloc(machine->pools.count + 1, sizeof(*plan->pools));
	if (!plan->targets || !plan->pools)
		return hf_err_nomem(err);
	for (size_t i = 0; i < plan->ntargets && r == 0; i++)
		r = plan_target(plan, i, err);
	if (r == 0)
		r = refuse_twice(plan, err);
	if (r == 0)
		r = hf_plan_pools(plan, err);
	if (r == 0)
		r = hf_plan_mounts(plan, err);
	if (r == 0)
		r = hf_plan_findings(plan, err);
	if (r == 0 && request->best_effort)
		r = plan_less(plan, err);
	return r < 0 ? r : hf_plan_fit(plan, err);
}

void hf_plan_free(struct hf_plan *plan)
{
	for (size_t i = 0; plan->targets && i < plan->ntargets; i++) {
		free(plan->targets[i].asked);
		free(plan->targets[i].shares);
		free(plan->targets[i].missing_on);
		hf_layout_free(&plan->targets[i].layout);
	}
	for (size_t i = 0; plan->pools && i < plan->machine->pools.count; i++)
		free(plan->pools[i].want);
	free(plan->targets);
	free(plan->pools);
	free(plan->mounts);
	free(plan->threads);
	free(plan->findings);
	*plan = (struct hf_plan){ 0 };
}

bool hf_plan_changes_pools(const struct hf_plan *plan)
{
	for (size_t i = 0; i < plan->machine->pools.count; i++)
		if (plan->pools[i].grows)
			return true;
	return false;
}

bool hf_plan_changes(const struct hf_plan *plan)
{
	for (size_t i = 0; i < plan->ntargets; i++)
		if (hf_target_is_filled(&plan->targets[i]) || plan->targets[i].action == HF_ACTION_ADJUST)
			return true;
	return plan->nmounts || hf_plan_changes_pools(plan);
}

bool hf_plan_is_fatal(const struct hf_plan *plan)
{
	for (size_t i = 0; i < plan->nfindings; i++)
		if (plan->findings[i].fatal)
			return true;
	return false;
}

uint64_t hf_plan_fill_bytes(const struct hf_plan *plan)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan->ntargets; i++)
		if (hf_target_is_filled(&plan->targets[i]))
			bytes += plan->targets[i].missing *
				 hf_plan_pool_of(plan, &plan->targets[i])->page_size;
	return bytes;
}
