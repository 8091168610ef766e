/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "survey_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"

/* What must come out of a node's free memory, all page sizes together; bytes. */
struct need {
	uint64_t grow;
	uint64_t strict; /* of it: no other node may make up */
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t add(uint64_t a, unsigned __int128 b)
{
	unsigned __int128 sum = a + b;

	return sum < UINT64_MAX ? (uint64_t)sum : UINT64_MAX;
}

static struct need need_of(const struct hf_plan *plan, size_t node)
{
	struct need need = { 0 };

	for (size_t i = 0; i < plan->machine->pools.count; i++) {
		const struct hf_pool *pool = &plan->machine->pools.pools[i];
		const struct hf_plan_pool *p = &plan->pools[i];
		uint64_t now = node < pool->nnodes ? pool->nodes[node].nr : 0;

		if (!p->grows)
			continue;
		need.grow = add(need.grow, (unsigned __int128)less(p->want[node], now) * pool->page_size);
		need.strict = add(need.strict, (unsigned __int128)less(p->must[node], now) * pool->page_size);
	}
	return need;
}

/* All that the node could ever give: its memory without the pools' share. 0: not known. */
static uint64_t most_of(const struct hf_machine *machine, size_t node)
{
	const struct hf_topology *topo = &machine->topo;
	uint64_t total = topo->nnodes == 1 ? topo->mem_total : topo->nodes[node].mem_total, sum = 0;

	/* Virtual machines may report less than there is while memory is being set up. */
	for (size_t n = 0; n < topo->nnodes; n++)
		sum += topo->nodes[n].mem_total;
	if (topo->nnodes > 1 && sum < topo->mem_total)
		return 0;
	for (size_t i = 0; i < machine->pools.count; i++)
		total = less(total, machine->pools.pools[i].nodes[node].nr * machine->page_sizes[i]);
	return total;
}

static uint64_t free_on(const struct hf_machine *machine, size_t node)
{
	const struct hf_topology *topo = &machine->topo;

	return topo->nnodes == 1 ? topo->mem_free : topo->nodes[node].mem_free;
}

/* True: said already, nothing more is to be said about the node. */
static bool look_at_memory(struct hf_surveying *s, const struct hf_plan *plan, size_t node)
{
	const struct hf_machine *machine = s->machine;
	struct need need = need_of(plan, node);
	uint64_t most = most_of(machine, node), free = free_on(machine, node);
	char grow[HF_SIZE_TEXT], have[HF_SIZE_TEXT];
	struct hf_finding *f;
	bool never = most && need.strict > most;

	if (!never && need.grow <= free)
		return false;
	f = hf_survey_add(s, never && !plan->request->best_effort ? HF_ERROR : HF_WARNING, "node-memory",
			  (int)machine->topo.nodes[node].id, "memory");
	f->wanted = never ? need.strict : need.grow;
	f->got = never ? most : free;
	hf_size_human(f->wanted, grow);
	hf_size_human(f->got, have);
	if (never) {
		hf_survey_say(
			f, "pools are to grow by %s there, but the node has no more than %s outside of pools",
			grow, have);
		hf_survey_hint(f, "ask for less there, or leave @ out so that other nodes make up");
		return true;
	}
	hf_survey_say(f,
		      "pools are to grow by %s there, and %s is free: the kernel must reclaim the rest, "
		      "which may not give enough",
		      grow, have);
	hf_survey_hint(f, "--drop-caches lets hugefill drop clean caches when it falls short");
	return true;
}

static void look_at_blocks(struct hf_surveying *s, const struct hf_pool *pool, size_t node, uint64_t grow,
			   uint64_t claimed)
{
	int id = (int)s->machine->topo.nodes[node].id;
	char size[HF_SIZE_TEXT], blocks[HF_SIZE_TEXT], all[HF_SIZE_TEXT];
	uint64_t contiguous, free, left;
	struct hf_finding *f;

	if (hf_cause_contiguous(&s->machine->root, (unsigned)id, pool->page_size, &contiguous, &free) < 0)
		return;
	left = less(contiguous, claimed);
	if (grow <= left)
		return;
	f = hf_survey_add(s, HF_WARNING, "fragmented", id, hf_size_exact(pool->page_size, size));
	f->wanted = grow;
	f->got = left;
	hf_survey_say(
		f,
		"memory is fragmented: %s is free there, %s of it in blocks of %s or more: the kernel must "
		"compact memory for the rest, which may not give enough",
		hf_size_human(free, all), hf_size_human(left, blocks), size);
	hf_survey_hint(f, "--drop-caches helps; at boot there is no fragmentation: hugefill check --persist");
}

static void look_at_pages(struct hf_surveying *s, const struct hf_plan *plan, size_t node)
{
	uint64_t largest = hf_cause_largest_block(&s->machine->root), claimed = 0;

	/* Larger pages leave less for the smaller ones. */
	for (size_t i = s->machine->pools.count; i-- > 0;) {
		const struct hf_pool *pool = &s->machine->pools.pools[i];
		uint64_t grow = less(plan->pools[i].want[node], pool->nodes[node].nr);

		if (!plan->pools[i].grows || !grow)
			continue;
		grow = add(0, (unsigned __int128)grow * pool->page_size);
		if (pool->page_size <= largest)
			look_at_blocks(s, pool, node, grow, claimed);
		claimed = add(claimed, grow);
	}
}

static void look_at_gigantic(struct hf_surveying *s, const struct hf_plan *plan, size_t index)
{
	uint64_t largest = hf_cause_largest_block(&s->machine->root),
		 page_size = s->machine->page_sizes[index];
	bool unable = hf_survey_lacks_compaction(s->machine);
	char size[HF_SIZE_TEXT];
	struct hf_finding *f;

	if (!plan->pools[index].grow || !largest || page_size <= largest)
		return;
	f = hf_survey_add(s, unable && !plan->request->best_effort ? HF_ERROR : HF_WARNING,
			  unable ? "gigantic-unsupported" : "gigantic", -1, hf_size_exact(page_size, size));
	f->wanted = add(0, (unsigned __int128)plan->pools[index].grow * page_size);
	f->got = s->machine->topo.mem_free;
	if (unable)
		hf_survey_say(f, "this kernel is built without compaction and makes such pages at boot only");
	else
		hf_survey_say(
			f,
			"each page is to be made at run time and needs as much contiguous memory: how many "
			"the kernel will find cannot be told before");
	hf_survey_hint(f, "hugefill check --persist shows how to reserve them at boot");
}

static void look_at_ways(struct hf_surveying *s, const struct hf_plan *plan)
{
	bool grows = false;
	struct hf_finding *f;

	for (size_t i = 0; i < s->machine->pools.count; i++)
		grows = grows || plan->pools[i].grow;
	if (grows && hf_survey_zeroes(s->machine)) {
		f = hf_survey_add(s, HF_INFO, "init-on-alloc", -1, "kernel");
		hf_survey_say(f, "init_on_alloc=1: the kernel zeroes each page when the pool grows: that "
				 "takes about as "
				 "long as filling by one thread");
	}
	if (plan->nthreads && hf_survey_is_older(s->machine, 5, 14)) {
		f = hf_survey_add(s, HF_INFO, "no-populate", -1, "kernel");
		hf_survey_say(f, "is older than Linux 5.14: files are filled by touching");
	}
	if (s->machine->root.live && geteuid() != 0 && (hf_plan_changes_pools(plan) || plan->nmounts)) {
		f = hf_survey_add(s, HF_WARNING, "privilege", -1, "caller");
		hf_survey_say(f, "pools or mounts would be changed, which root alone may do");
		hf_survey_hint(f, "run hugefill as root");
	}
}

/* A mount belongs to root unless it was made for somebody. */
static void look_at_permission(struct hf_surveying *s, const struct hf_plan *plan,
			       const struct hf_target *target)
{
	const struct hf_place *place = &plan->request->places[target->spec];
	bool creates = target->action == HF_ACTION_CREATE;
	const char *object = creates ? place->dir : place->path;
	struct hf_finding *f;

	if ((!creates && target->action != HF_ACTION_FILL && target->action != HF_ACTION_EXTEND) ||
	    place->to_mount || faccessat(AT_FDCWD, object, creates ? W_OK | X_OK : W_OK, AT_EACCESS) == 0 ||
	    errno != EACCES)
		return;
	f = hf_survey_add(s, HF_ERROR, "permission", -1, object);
	hf_survey_say(f, creates ? "this user may not create files there" : "this user may not write to it");
	hf_survey_hint(f, "chown %u, or --owner when %s is made", (unsigned)geteuid(),
		       creates ? "the mount" : "the file");
}

int hf_survey_plan(const struct hf_plan *plan, struct hf_survey *survey, struct hf_err *err)
{
	struct hf_surveying s = { .survey = survey, .machine = plan->machine };

	survey->machine = plan->machine;
	for (size_t i = 0; i < plan->nfindings; i++)
		*hf_survey_add(&s, HF_ERROR, "", -1, "") = plan->findings[i];
	for (size_t i = 0; i < plan->machine->pools.count; i++)
		look_at_gigantic(&s, plan, i);
	for (size_t n = 0; n < plan->machine->topo.nnodes; n++)
		if (plan->machine->topo.nodes[n].has_memory && !look_at_memory(&s, plan, n))
			look_at_pages(&s, plan, n);
	look_at_ways(&s, plan);
	for (size_t i = 0; plan->machine->root.live && i < plan->ntargets; i++)
		look_at_permission(&s, plan, &plan->targets[i]);
	return hf_survey_end(&s, err);
}
