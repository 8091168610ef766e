/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan_parts.h"

#include <string.h>

#define SIZES(a, b) char a[HF_SIZE_TEXT], b[HF_SIZE_TEXT]

static const char *name_of(const struct hf_plan *plan, const struct hf_target *t)
{
	return hf_target_is_file(t) ? hf_plan_place_of(plan, t)->path : hf_plan_spec_of(plan, t)->text;
}

/* node -1: the machine as a whole. */
static int refuse_pages(struct hf_plan *plan, size_t pool, int node, uint64_t pages)
{
	uint64_t page_size = plan->machine->pools.pools[pool].page_size, bytes = pages * page_size;
	struct hf_finding *f;
	SIZES(size, grow);

	f = hf_plan_find(plan, "no-grow", !plan->request->best_effort, node, hf_size_exact(page_size, size));
	if (!f)
		return -1;
	f->wanted = bytes;
	snprintf(f->text, sizeof(f->text),
		 "the %spool lacks %llu page%s (%s), and --no-grow forbids to grow it",
		 node >= 0 ? "node's " : "", (unsigned long long)pages, pages == 1 ? "" : "s",
		 hf_size_exact(bytes, grow));
	snprintf(f->hint, sizeof(f->hint), "leave --no-grow out, or free pages of this size%s",
		 node >= 0 ? " on this node" : "");
	return 0;
}

/* What a strict placement lacks is the node's; only the rest could lie elsewhere. */
static int refused_growth(struct hf_plan *plan, size_t pool)
{
	const struct hf_pool *now = &plan->machine->pools.pools[pool];
	const struct hf_plan_pool *p = &plan->pools[pool];
	uint64_t rest = p->grow;
	int r = 0;

	if (!plan->request->no_grow || !p->grows)
		return 0;
	for (size_t n = 0; n < now->nnodes && r == 0; n++) {
		uint64_t must = p->must[n] < p->want[n] ? p->must[n] : p->want[n];

		if (must <= now->nodes[n].nr)
			continue;
		rest -= must - now->nodes[n].nr;
		r = refuse_pages(plan, pool, (int)plan->machine->topo.nodes[n].id, must - now->nodes[n].nr);
	}
	if (r == 0 && (rest || !p->grow))
		r = refuse_pages(plan, pool, -1, rest);
	hf_plan_pool_freeze(plan, pool);
	return r;
}

/* Growth takes memory from everything else that runs. */
static int headroom(struct hf_plan *plan)
{
	const struct hf_topology *topo = &plan->machine->topo;
	uint64_t grow = 0, left;
	struct hf_finding *f;
	SIZES(want, have);
	char keep[HF_SIZE_TEXT], most[HF_SIZE_TEXT];

	for (size_t i = 0; i < plan->machine->pools.count; i++)
		if (__builtin_add_overflow(grow, plan->pools[i].grow * plan->machine->page_sizes[i], &grow))
			grow = UINT64_MAX;
	left = topo->mem_available > plan->request->headroom ? topo->mem_available - plan->request->headroom
							     : 0;
	if (grow <= left)
		return 0;
	f = hf_plan_find(plan, "headroom", !plan->request->best_effort, -1, "memory");
	if (!f)
		return -1;
	f->wanted = grow;
	f->got = left;
	snprintf(f->text, sizeof(f->text),
		 "the pools would grow by %s, but only %s is available and %s of it must stay so",
		 hf_size_human(grow, want), hf_size_human(topo->mem_available, have),
		 hf_size_human(plan->request->headroom, keep));
	if (left)
		snprintf(f->hint, sizeof(f->hint),
			 "ask for at most %s more, or allow less room with --headroom",
			 hf_size_human(left, most));
	else
		snprintf(f->hint, sizeof(f->hint), "allow less room with --headroom");
	return 0;
}

static int refused_mounts(struct hf_plan *plan)
{
	for (size_t i = 0; i < plan->nmounts && plan->request->no_mount; i++) {
		struct hf_finding *f = hf_plan_find(plan, "no-mount", true, -1, plan->mounts[i].target);
		char size[HF_SIZE_TEXT];

		if (!f)
			return -1;
		hf_size_exact(plan->mounts[i].page_size, size);
		snprintf(f->text, sizeof(f->text),
			 "no hugetlbfs with %s pages is mounted, and --no-mount forbids to mount one", size);
		snprintf(f->hint, sizeof(f->hint),
			 "mount -t hugetlbfs -o pagesize=%s,nosuid,nodev hugetlbfs %s", size,
			 plan->mounts[i].target);
	}
	return 0;
}

static int other_size(struct hf_plan *plan, const struct hf_target *t)
{
	const struct hf_place *place = hf_plan_place_of(plan, t);
	struct hf_finding *f;
	SIZES(have, want);

	if ((t->action != HF_ACTION_EXTEND && t->action != HF_ACTION_CUT) || plan->request->resize)
		return 0;
	/* What an earlier --best-effort could not fill. */
	if (t->action == HF_ACTION_EXTEND && plan->request->best_effort)
		return 0;
	f = hf_plan_find(plan, "other-size", true, -1, place->path);
	if (!f)
		return -1;
	f->wanted = t->pages * place->page_size;
	f->got = place->size;
	snprintf(f->text, sizeof(f->text), "exists with %s, but %s is wanted", hf_size_exact(f->got, have),
		 hf_size_exact(f->wanted, want));
	snprintf(f->hint, sizeof(f->hint), "--resize changes its size; or remove it, or choose another name");
	return 0;
}

/* Pages are not handed to a file that somebody else may have put there for that. */
static int untrusted(struct hf_plan *plan, const struct hf_target *t)
{
	const struct hf_place *place = hf_plan_place_of(plan, t);
	struct hf_finding *f;

	if (!hf_target_is_file(t) || !place->untrusted ||
	    place->uid == hf_plan_wanted(plan->request, t->spec).uid)
		return 0;
	f = hf_plan_find(plan, "untrusted", true, -1, place->path);
	if (!f)
		return -1;
	snprintf(
		f->text, sizeof(f->text),
		"is there already, belongs to user %u, and others than its directory's owner can write to %s",
		(unsigned)place->uid, place->dir);
	snprintf(f->hint, sizeof(f->hint),
		 "remove it, name its owner with --owner, or choose another directory");
	return 0;
}

static bool is_wanted(const struct hf_plan *plan, const struct hf_target *t)
{
	return hf_target_is_filled(t) || (!hf_target_is_file(t) && plan->pools[t->pool].grows);
}

/* A fault on a node outside the cpuset is never granted there. */
static int outside_cpuset(struct hf_plan *plan, const struct hf_target *t)
{
	const struct hf_topology *topo = &plan->machine->topo;
	char nodes[64];

	for (size_t i = 0; i < t->nshares && t->strict && is_wanted(plan, t); i++) {
		unsigned id = topo->nodes[t->shares[i].node].id;
		struct hf_finding *f;

		if (hf_nodeset_has(&topo->mems_allowed, id) || !t->shares[i].pages)
			continue;
		f = hf_plan_find(plan, "cpuset", true, (int)id, name_of(plan, t));
		if (!f)
			return -1;
		snprintf(f->text, sizeof(f->text), "node %u is outside of what this process may use (%s)", id,
			 hf_nodeset_format(&topo->mems_allowed, ',', nodes, sizeof(nodes)));
		snprintf(f->hint, sizeof(f->hint),
			 "widen cpuset.mems of this process, or name one of its nodes");
	}
	return 0;
}

struct demand {
	const char *mount;
	const struct hf_place *place;
	uint64_t bytes, inodes;
};

/* What all files together take of one limited mount; counted at its first target. */
static struct demand demand_on(const struct hf_plan *plan, size_t first)
{
	struct demand d = { .place = &plan->request->places[first] };

	d.mount = d.place->mount;
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_target *t = &plan->targets[i];
		const struct hf_place *place = &plan->request->places[i];

		if (!place->mount || strcmp(place->mount, d.mount) != 0)
			continue;
		if (i < first)
			return (struct demand){ 0 };
		if (hf_target_is_filled(t))
			d.bytes += t->missing * place->page_size;
		d.inodes += t->action == HF_ACTION_CREATE;
	}
	return d;
}

static int mount_limits(struct hf_plan *plan, size_t index)
{
	struct demand d = { 0 };
	struct hf_finding *f;
	SIZES(want, have);

	if (plan->request->places[index].mount)
		d = demand_on(plan, index);
	if (d.bytes && d.place->mount_limit != HF_MOUNTS_NONE && d.bytes > d.place->mount_left) {
		f = hf_plan_find(plan, "mount-size", !plan->request->best_effort, -1, d.mount);
		if (!f)
			return -1;
		f->wanted = d.bytes;
		f->got = d.place->mount_left;
		snprintf(f->text, sizeof(f->text), "the mount's size= limit leaves %s, but %s is needed",
			 hf_size_exact(f->got, have), hf_size_exact(d.bytes, want));
		/* hugetlbfs takes no remount: it would succeed and change nothing. */
		snprintf(f->hint, sizeof(f->hint),
			 "hugefill mount --size=SIZE on another directory, or unmount %s and mount it anew",
			 d.mount);
	}
	if (d.inodes && d.place->inodes_left != HF_MOUNTS_NONE && d.inodes > d.place->inodes_left) {
		f = hf_plan_find(plan, "mount-inodes", true, -1, d.mount);
		if (!f)
			return -1;
		snprintf(f->text, sizeof(f->text),
			 "the mount's nr_inodes= limit leaves %llu files, but %llu are needed",
			 (unsigned long long)d.place->inodes_left, (unsigned long long)d.inodes);
		snprintf(f->hint, sizeof(f->hint), "remove files there, or mount with a larger nr_inodes=");
	}
	return 0;
}

static int cgroup_limit(struct hf_plan *plan, size_t pool, const char *id,
			const struct hf_cgroup_limit *limit)
{
	uint64_t page_size = plan->machine->page_sizes[pool], need = plan->pools[pool].take * page_size;
	struct hf_finding *f;
	SIZES(want, have);
	char size[HF_SIZE_TEXT];

	if (!need || need <= hf_cgroup_left(limit))
		return 0;
	f = hf_plan_find(plan, id, !plan->request->best_effort, -1, hf_size_exact(page_size, size));
	if (!f)
		return -1;
	f->wanted = need;
	f->got = hf_cgroup_left(limit);
	snprintf(f->text, sizeof(f->text), "the cgroup's limit leaves %s, but %s is needed (%s)",
		 hf_size_exact(f->got, have), hf_size_exact(need, want), limit->path);
	snprintf(f->hint, sizeof(f->hint), "raise the limit in %s, or run hugefill in another cgroup",
		 limit->path);
	return 0;
}

static int cgroup_limits(struct hf_plan *plan, size_t pool)
{
	const struct hf_cgroups *cgroups = &plan->machine->cgroups;

	if (pool >= cgroups->count)
		return 0;
	return cgroup_limit(plan, pool, "cgroup", &cgroups->pools[pool].pages) |
	       cgroup_limit(plan, pool, "cgroup-reserved", &cgroups->pools[pool].reserved) |
	       cgroup_limit(plan, pool, "cgroup-memory", &cgroups->memory);
}

int hf_plan_findings(struct hf_plan *plan, struct hf_err *err)
{
	int r = headroom(plan) | refused_mounts(plan);

	for (size_t i = 0; i < plan->machine->pools.count; i++)
		r |= refused_growth(plan, i) | cgroup_limits(plan, i);
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_target *t = &plan->targets[i];

		r |= other_size(plan, t) | untrusted(plan, t) | outside_cpuset(plan, t) |
		     mount_limits(plan, i);
	}
	return r ? hf_err_nomem(err) : 0;
}
