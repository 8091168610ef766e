/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "release.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "grow.h"
#include "lock.h"
#include "release_parts.h"

struct hf_release_step *hf_release_add(struct hf_release *r, enum hf_release_action action,
				       struct hf_err *err)
{
	struct hf_release_step *steps = reallocarray(r->steps, r->nsteps + 1, sizeof(*steps)), *step;
	size_t nnodes = r->machine->topo.nnodes;

	if (!steps) {
		hf_err_nomem(err);
		return NULL;
	}
	r->steps = steps;
	step = &steps[r->nsteps];
	*step = (struct hf_release_step){ .action = action };
	step->wanted = calloc(nnodes, sizeof(*step->wanted));
	step->freed = calloc(nnodes, sizeof(*step->freed));
	r->nsteps++;
	if (step->wanted && step->freed)
		return step;
	hf_err_nomem(err);
	return NULL;
}

static int check_range(const struct hf_release_request *request, const struct hf_place *place,
		       struct hf_err *err)
{
	uint64_t size = place->page_size, offset = request->punch_offset, length = request->punch_length;
	char page[HF_SIZE_TEXT];

	if (!length)
		return hf_err_usage(err, "--punch", "a length of 0 frees nothing");
	if (offset % size || length % size)
		return hf_err_usage(err, "--punch",
				    "offset and length must be multiples of the page size of %s, %s",
				    place->path, hf_size_exact(size, page));
	if (offset > place->size || length > place->size - offset)
		return hf_err_usage(err, "--punch",
				    "the range ends beyond the end of %s, which has %llu bytes", place->path,
				    (unsigned long long)place->size);
	return 0;
}

/* A bare name is looked for on mounts of one page size: it may be meant on one of another. */
static void look_elsewhere(const struct hf_release *r, const char *name, uint64_t page_size,
			   struct hf_release_step *step)
{
	for (size_t i = 0; i < r->machine->mounts.count && !strchr(name, '/') && !step->elsewhere; i++) {
		const struct hf_mount *mount = &r->machine->mounts.mounts[i];
		bool other = !mount->hidden && mount->page_size != page_size;
		char *path =
			other ? hf_sysroot_path(&r->machine->root, "%s/%s", mount->target + 1, name) : NULL;

		if (path && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
			step->elsewhere = path;
			step->elsewhere_size = mount->page_size;
		} else {
			free(path);
		}
	}
}

static int plan_file(struct hf_release *r, const struct hf_spec *spec, size_t index, struct hf_err *err)
{
	struct hf_place *place = &r->places[index];
	struct hf_release_step *step;
	const struct hf_pool *pool;
	uint64_t page_size = spec->with.page_size ? spec->with.page_size : r->request->page_size;
	char size[HF_SIZE_TEXT];
	int rc = hf_place_find_on(r->machine, spec->with.mount, spec->name, page_size, r->request->punch,
				  place, err);

	if (rc < 0)
		return rc;
	step = hf_release_add(r, r->request->punch ? HF_RELEASE_PUNCH : HF_RELEASE_REMOVE, err);
	if (!step)
		return -ENOMEM;
	step->place = index;
	pool = hf_pools_find(&r->machine->pools, place->page_size);
	if (!pool)
		return hf_err_set(err, ENODEV, place->path,
				  "the kernel has no pool of its page size (any more)");
	step->pool = (size_t)(pool - r->machine->pools.pools);
	if (!place->exists) {
		/* A spec states what is to be gone; a bare PATH that is not there is a mistake. */
		step->action = HF_RELEASE_ABSENT;
		look_elsewhere(r, spec->name, place->page_size, step);
		if (spec->nparts)
			return 0;
		hf_err_sys(err, ENOENT, place->path, "cannot free it");
		if (step->elsewhere)
			hf_err_hint(err, "there is %s: --page-size=%s", step->elsewhere,
				    hf_size_exact(step->elsewhere_size, size));
		return -ENOENT;
	}
	if (r->request->punch && (rc = check_range(r->request, place, err)) < 0)
		return rc;
	step->first = r->request->punch ? r->request->punch_offset / place->page_size : 0;
	step->count = r->request->punch ? r->request->punch_length / place->page_size : place->pages;
	rc = hf_release_refuse_held(r, place, err);
	if (rc == 0)
		hf_release_measure(r, step);
	return rc;
}

static int add_part(struct hf_release *r, struct hf_release_step *step, const struct hf_spec *spec,
		    const struct hf_spec_part *part, struct hf_err *err)
{
	const struct hf_topology *topo = &r->machine->topo;
	struct hf_nodeset nodes = part->nodes;
	size_t count, i = 0;
	uint64_t pages;
	int rc;

	if (!part->placed)
		hf_nodeset_and(&nodes, &topo->memory, &nodes);
	count = hf_nodeset_count(&nodes);
	rc = hf_topology_require(topo, &nodes, spec->text, err);
	if (rc == 0)
		rc = hf_size_pages(&part->amount, spec->page_size, hf_topology_memory(topo, &nodes),
				   spec->text, &pages, err);
	if (rc < 0)
		return rc;
	if (part->amount.relative)
		return hf_err_usage(err, spec->text,
				    "+ has no meaning when pages are given back; write the amount alone");
	for (int id = hf_nodeset_next(&nodes, 0); id >= 0; id = hf_nodeset_next(&nodes, (unsigned)id + 1))
		step->asked[hf_topology_index(topo, (unsigned)id)] += pages / count + (i++ < pages % count);
	step->strict = part->placed;
	return 0;
}

/* One step for each pool, whoever asks for it. */
static struct hf_release_step *shrink_step(struct hf_release *r, size_t pool, struct hf_err *err)
{
	struct hf_release_step *step;

	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].action == HF_RELEASE_SHRINK && r->steps[i].pool == pool)
			return &r->steps[i];
	step = hf_release_add(r, HF_RELEASE_SHRINK, err);
	if (step)
		step->pool = pool;
	return step;
}

static int plan_pool(struct hf_release *r, const struct hf_spec *spec, struct hf_err *err)
{
	const struct hf_pool *pool = hf_pools_find(&r->machine->pools, spec->page_size);
	struct hf_release_step *step;

	if (!pool)
		return hf_err_set(err, ENODEV, spec->text, "the kernel has no such pool (any more)");
	step = shrink_step(r, (size_t)(pool - r->machine->pools.pools), err);
	if (!step)
		return -ENOMEM;
	if (!step->asked)
		step->asked = calloc(r->machine->topo.nnodes, sizeof(*step->asked));
	if (!step->asked)
		return hf_err_nomem(err);
	step->everything = step->everything || !spec->nparts;
	for (size_t i = 0; i < spec->nparts; i++) {
		int rc = add_part(r, step, spec, &spec->parts[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static uint64_t sum(const uint64_t *values, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Pages that the file steps of the same call bring back to a pool's node first. */
static uint64_t brought(const struct hf_release *r, size_t pool, size_t node)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].pool == pool &&
		    (r->steps[i].action == HF_RELEASE_REMOVE || r->steps[i].action == HF_RELEASE_PUNCH))
			pages += r->steps[i].wanted[node];
	return pages;
}

/* Pages of these that the mounts' min_size= reserve again. */
static uint64_t set_aside(const struct hf_release *r, size_t pool)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < r->nsteps; i++)
		pages += r->steps[i].pool == pool ? r->steps[i].set_aside : 0;
	return pages;
}

/* Free pages of the node that are persistent, or will be free. */
static uint64_t on_node(const struct hf_release *r, size_t pool, size_t node, bool planned)
{
	const struct hf_pool *p = &r->machine->pools.pools[pool];

	return smaller(p->nodes[node].free + (planned ? brought(r, pool, node) : 0),
		       hf_pool_node_persistent(p, node));
}

static int too_much(const struct hf_release *r, const struct hf_release_step *step, int node, uint64_t wanted,
		    uint64_t have, struct hf_err *err)
{
	const struct hf_pool *pool = &r->machine->pools.pools[step->pool];
	char size[HF_SIZE_TEXT], want[HF_SIZE_TEXT], can[HF_SIZE_TEXT], where[32] = "";

	if (node >= 0)
		snprintf(where, sizeof(where), " on node %u", r->machine->topo.nodes[node].id);
	hf_size_exact(pool->page_size, size);
	hf_err_set(err, EBUSY, size,
		   "%s were to be given back%s, but only %s are neither used, reserved nor surplus",
		   hf_size_exact(wanted * pool->page_size, want), where,
		   hf_size_exact(have * pool->page_size, can));
	hf_err_hint(err, "hugefill free %s gives back all that can be had", size);
	return -EBUSY;
}

/* Into wanted; what the mounts' min_size= keeps of it is taken from the last nodes. */
static void count_files(const struct hf_release *r, struct hf_release_step *step, bool done)
{
	uint64_t kept = set_aside(r, step->pool);

	for (size_t n = r->machine->topo.nnodes; n-- > 0;) {
		uint64_t files = 0, stays;

		for (size_t i = 0; i < r->nsteps && step->files; i++)
			if (r->steps[i].pool == step->pool && (r->steps[i].action == HF_RELEASE_REMOVE ||
							       r->steps[i].action == HF_RELEASE_PUNCH))
				files += done ? r->steps[i].freed[n] : r->steps[i].wanted[n];
		stays = smaller(files, kept);
		step->wanted[n] = files - stays;
		kept -= stays;
	}
}

/*
 * What a shrink is to take: as alloc's pool specs state the pool's end, files counted, the larger of
 * the amount asked for and what the files free, without what their mounts keep. done: the files have
 * gone, and what they freed was measured.
 */
static void want(const struct hf_release *r, struct hf_release_step *step, bool done)
{
	size_t nnodes = r->machine->topo.nnodes;
	uint64_t asked, files;

	count_files(r, step, done);
	if (!step->asked)
		return;
	asked = sum(step->asked, nnodes);
	files = sum(step->wanted, nnodes);
	for (size_t n = 0; n < nnodes; n++) {
		uint64_t more = step->asked[n] > step->wanted[n] ? step->asked[n] - step->wanted[n] : 0;

		/* An amount without @ is one for all nodes: what files free on any of them counts. */
		if (!step->strict)
			more = smaller(more, asked > files ? asked - files : 0);
		step->wanted[n] += more;
		files += more;
	}
}

/* Whether the amount is to be had once the files are gone. */
static int check_pool(const struct hf_release *r, const struct hf_release_step *step, struct hf_err *err)
{
	const struct hf_pool *pool = &r->machine->pools.pools[step->pool];
	uint64_t available = hf_pool_available(pool), wanted = sum(step->wanted, pool->nnodes);
	uint64_t persistent = hf_pool_persistent(pool);

	for (size_t n = 0; n < pool->nnodes; n++) {
		uint64_t here = on_node(r, step->pool, n, true);

		available += brought(r, step->pool, n);
		if (step->strict && !r->request->lenient && step->wanted[n] > here)
			return too_much(r, step, (int)n, step->wanted[n], here, err);
	}
	available -= smaller(available, set_aside(r, step->pool));
	available = available < persistent ? available : persistent;
	if (!step->everything && !r->request->lenient && wanted > available)
		return too_much(r, step, -1, wanted, available, err);
	return 0;
}

/*
 * How much to take of each node: as written; what nodes lack there, others make up unless strict.
 * planned: the files of the same call are still to bring their pages.
 */
static void share_out(const struct hf_release *r, const struct hf_release_step *step, bool planned,
		      uint64_t *take)
{
	const struct hf_pool *pool = &r->machine->pools.pools[step->pool];
	uint64_t lacking = 0, left = hf_pool_available(pool);

	for (size_t n = 0; n < pool->nnodes && planned; n++)
		left += brought(r, step->pool, n);
	left -= planned ? smaller(left, set_aside(r, step->pool)) : 0;
	for (size_t n = 0; n < pool->nnodes; n++) {
		uint64_t have = smaller(on_node(r, step->pool, n, planned), left);

		take[n] = step->everything ? have : smaller(step->wanted[n], have);
		lacking += step->everything ? 0 : step->wanted[n] - take[n];
		left -= take[n];
	}
	for (size_t n = 0; n < pool->nnodes && lacking && !step->strict && step->asked; n++) {
		uint64_t have = on_node(r, step->pool, n, planned);
		uint64_t more = smaller(smaller(have > take[n] ? have - take[n] : 0, lacking), left);

		take[n] += more;
		lacking -= more;
		left -= more;
	}
}

static int plan_amount(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	size_t nnodes = r->machine->topo.nnodes;
	_cleanup_free_ uint64_t *take = calloc(nnodes, sizeof(*take));
	int rc;

	want(r, step, false);
	if (!step->asked)
		return 0;
	rc = check_pool(r, step, err);
	if (!take)
		return hf_err_nomem(err);
	if (rc < 0)
		return rc;
	share_out(r, step, true, take);
	memcpy(step->wanted, take, nnodes * sizeof(*take));
	return 0;
}

static int plan_shrinks(struct hf_release *r, struct hf_err *err)
{
	size_t files = r->nsteps;

	for (size_t i = 0; i < files && r->request->shrink; i++) {
		struct hf_release_step *step;
		size_t pool = r->steps[i].pool;

		if (r->steps[i].action != HF_RELEASE_REMOVE && r->steps[i].action != HF_RELEASE_PUNCH)
			continue;
		step = shrink_step(r, pool, err);
		if (!step)
			return -ENOMEM;
		step->files = true;
	}
	return 0;
}

static int add_umount(struct hf_release *r, const char *target, size_t pool, struct hf_err *err)
{
	struct hf_release_step *step;

	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].mount && strcmp(r->steps[i].mount, target) == 0)
			return 0;
	step = hf_release_add(r, HF_RELEASE_UMOUNT, err);
	if (!step)
		return -ENOMEM;
	step->pool = pool;
	step->mount = strdup(target);
	return step->mount ? 0 : hf_err_nomem(err);
}

/* The mounts of the files, and of the pools' page sizes those on the default places. */
static int plan_umounts(struct hf_release *r, struct hf_err *err)
{
	for (size_t i = 0; i < r->nplaces; i++) {
		const struct hf_place *place = &r->places[i];
		const struct hf_pool *pool =
			place->path ? hf_pools_find(&r->machine->pools, place->page_size) : NULL;

		if (pool && !place->to_mount &&
		    add_umount(r, place->mount, (size_t)(pool - r->machine->pools.pools), err) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < r->machine->mounts.count; i++) {
		const struct hf_mount *mount = &r->machine->mounts.mounts[i];

		for (size_t s = 0; s < r->nsteps; s++)
			if (r->steps[s].action == HF_RELEASE_SHRINK && !mount->hidden &&
			    r->machine->page_sizes[r->steps[s].pool] == mount->page_size &&
			    hf_place_is_default(r->machine, mount->target) &&
			    add_umount(r, mount->target, r->steps[s].pool, err) < 0)
				return -ENOMEM;
	}
	return 0;
}

static int refuse_twice(const struct hf_release *r, struct hf_err *err)
{
	const char *path = hf_place_find_twice(r->places, r->nplaces);

	return path ? hf_err_usage(err, path, "two arguments name this file; write one") : 0;
}

static int plan(struct hf_release *r, struct hf_err *err)
{
	const struct hf_spec_list *specs = r->request->specs;
	int rc = 0;

	r->nplaces = specs->count;
	r->places = calloc(specs->count + 1, sizeof(*r->places));
	if (!r->places)
		return hf_err_nomem(err);
	for (size_t i = 0; i < specs->count && rc == 0; i++)
		if (specs->specs[i].kind == HF_SPEC_FILE)
			rc = plan_file(r, &specs->specs[i], i, err);
	if (rc == 0)
		rc = refuse_twice(r, err);
	if (rc == 0 && r->request->stale)
		rc = hf_release_plan_stale(r, err);
	if (rc == 0)
		rc = plan_shrinks(r, err);
	for (size_t i = 0; i < specs->count && rc == 0; i++)
		if (specs->specs[i].kind == HF_SPEC_POOL)
			rc = plan_pool(r, &specs->specs[i], err);
	for (size_t i = 0; i < r->nsteps && rc == 0; i++)
		if (r->steps[i].action == HF_RELEASE_SHRINK)
			rc = plan_amount(r, &r->steps[i], err);
	if (rc == 0 && r->request->umount)
		rc = plan_umounts(r, err);
	for (size_t i = 0; i < r->nsteps && rc == 0 && r->request->dry_run; i++)
		r->steps[i].done =
			r->steps[i].action == HF_RELEASE_UMOUNT && hf_release_is_emptied(r, &r->steps[i]);
	return rc;
}

static int shrink(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	struct hf_pool *pool = &r->machine->pools.pools[step->pool];
	_cleanup_free_ uint64_t *take = calloc(r->machine->topo.nnodes, sizeof(*take));
	int rc = 0;

	if (!take)
		return hf_err_nomem(err);
	want(r, step, true);
	rc = hf_pool_refresh(&r->machine->root, &r->machine->topo, pool, err);
	if (rc == 0)
		share_out(r, step, false, take);
	if (rc == 0 && (step->everything || r->request->lenient))
		memcpy(step->wanted, take, r->machine->topo.nnodes * sizeof(*take));
	for (size_t n = 0; n < r->machine->topo.nnodes && rc == 0; n++) {
		if (take[n])
			rc = hf_grow_shrink(r->machine, pool, n, take[n], &step->freed[n], err);
		r->changed = r->changed || step->freed[n];
	}
	if (rc == 0 && !step->everything && !r->request->lenient &&
	    sum(step->freed, pool->nnodes) < sum(step->wanted, pool->nnodes))
		return too_much(r, step, -1, sum(step->wanted, pool->nnodes), sum(step->freed, pool->nnodes),
				err);
	return rc;
}

static int carry_out(struct hf_release *r, struct hf_err *err)
{
	for (size_t i = 0; i < r->nsteps; i++) {
		struct hf_release_step *step = &r->steps[i];
		uint64_t start = hf_clock_ns();
		int rc = 0;

		if (hf_stop_requested(r->stop))
			return hf_err_set(err, ECANCELED, NULL, "given up; the steps shown are done");
		if (step->action == HF_RELEASE_REMOVE || step->action == HF_RELEASE_PUNCH)
			rc = hf_release_file(r, step, err);
		else if (step->action == HF_RELEASE_SHRINK)
			rc = shrink(r, step, err);
		else if (step->action == HF_RELEASE_UMOUNT)
			rc = hf_release_umount(r, step, err);
		step->ns = hf_clock_ns() - start;
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool shrinks(const struct hf_release *r)
{
	for (size_t i = 0; i < r->request->specs->count; i++)
		if (r->request->specs->specs[i].kind == HF_SPEC_POOL)
			return true;
	return r->request->shrink;
}

int hf_release_run(struct hf_release *r, struct hf_err *err)
{
	int lock = -1, rc = 0;

	if (!r->request->dry_run && shrinks(r)) {
		lock = hf_lock_take(&r->machine->root, r->stop, r->waiting, r->arg, err);
		rc = lock < 0 ? lock : hf_machine_refresh(r->machine, err);
	}
	if (rc == 0)
		rc = plan(r, err);
	if (rc == 0 && !r->request->dry_run)
		rc = carry_out(r, err);
	hf_lock_release(lock);
	return rc;
}

void hf_release_free(struct hf_release *r)
{
	for (size_t i = 0; i < r->nsteps; i++) {
		free(r->steps[i].wanted);
		free(r->steps[i].freed);
		free(r->steps[i].asked);
		free(r->steps[i].mount);
		free(r->steps[i].elsewhere);
	}
	for (size_t i = 0; r->places && i < r->nplaces; i++)
		hf_place_free(&r->places[i]);
	free(r->steps);
	free(r->places);
	r->steps = NULL;
	r->places = NULL;
	r->nsteps = r->nplaces = 0;
}
