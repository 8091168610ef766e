/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply_parts.h"

#include <errno.h>
#include <math.h>

static struct hf_row *add_row(struct hf_apply *a, size_t target, size_t node, struct hf_err *err)
{
	struct hf_row *rows = reallocarray(a->rows, a->nrows + 1, sizeof(*rows));

	if (!rows) {
		hf_err_nomem(err);
		return NULL;
	}
	a->rows = rows;
	rows[a->nrows] = (struct hf_row){
		.target = target, .node = node, .seconds = NAN, .rate = NAN, .speedup = NAN, .stdev = NAN
	};
	return &rows[a->nrows++];
}

static int pool_rows(struct hf_apply *a, size_t index, struct hf_err *err)
{
	const struct hf_target *t = &a->plan->targets[index];
	const struct hf_pool *pool = hf_plan_pool_of(a->plan, t);
	const struct hf_plan_pool *p = &a->plan->pools[t->pool];

	for (size_t i = 0; i < t->nshares; i++) {
		struct hf_row *row = add_row(a, index, t->asked[i].node, err);

		if (!row)
			return -ENOMEM;
		row->requested = t->asked[i].pages;
		row->filled = pool->nodes[row->node].nr;
		if (a->request->available && !hf_plan_spec_of(a->plan, t)->parts[0].amount.relative)
			row->filled = pool->nodes[row->node].free;
		/* The kernel grows a pool's nodes one after the other: one time for all of them. */
		if (!p->grow_ns || !p->grow)
			continue;
		row->seconds = (double)p->grow_ns / 1e9;
		row->rate = (double)p->grow * (double)pool->page_size / row->seconds;
	}
	return 0;
}

/*
 * fallocate holds the inode's lock over the whole call, so that of all workers on a file one works;
 * the others spin for the lock, which the kernel counts as their CPU time.
 */
static void add_timing(struct hf_row *row, const struct hf_fill_part *part, uint64_t page_size,
		       bool one_by_one)
{
	double wall = (double)(part->end_ns - part->begin_ns) / 1e9;

	row->threads = part->threads;
	row->stdev = hf_stats_stdev(&part->per_gib);
	if (wall <= 0)
		return;
	row->seconds = wall;
	row->rate = (double)part->pages * (double)page_size / wall;
	row->speedup = (double)part->busy_ns / 1e9 / wall;
	if (one_by_one && row->speedup > 1)
		row->speedup = 1;
}

static const struct hf_fill_part *find_part(const struct hf_transaction *t, const struct hf_target *target,
					    size_t node)
{
	for (size_t i = 0; i < t->fill.nparts; i++)
		if (t->fill_files[t->fill.parts[i].file].target == target && t->fill.parts[i].node == node)
			return &t->fill.parts[i];
	return NULL;
}

static uint64_t asked_of(const struct hf_target *t, size_t node)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < t->nshares; i++)
		pages += t->asked[i].node == node ? t->asked[i].pages : 0;
	return pages;
}

/* Maps a file that was there already, to look where its pages lie. */
static int open_kept(struct hf_transaction *t, const struct hf_target *target, struct hf_hugefile *file,
		     struct hf_err *err)
{
	int r = file->fd >= 0 ? 0 : hf_hugefile_open(file, hf_plan_place_of(t->apply->plan, target), err);

	return r < 0 ? r : hf_hugefile_map(file, file->place->size, file->place->size, err);
}

/* Untouched by this call, and without holes, which looking would fill. */
static bool is_whole(const struct hf_plan *plan, const struct hf_target *target)
{
	const struct hf_place *place = hf_plan_place_of(plan, target);

	return target->action == HF_ACTION_KEEP || target->action == HF_ACTION_ADJUST ||
	       (target->action == HF_ACTION_SKIP && place->exists && place->filled &&
		place->filled == place->pages);
}

static int refuse_misplaced(const struct hf_hugefile *file, uint64_t elsewhere, struct hf_err *err)
{
	return hf_err_set(err, EIO, file->place->path, "%llu of its pages lie on another node than asked for",
			  (unsigned long long)elsewhere);
}

static int file_rows(struct hf_transaction *t, size_t index, struct hf_err *err)
{
	struct hf_apply *a = t->apply;
	const struct hf_target *target = &a->plan->targets[index];
	size_t nnodes = a->machine->topo.nnodes;
	_cleanup_free_ uint64_t *on = calloc(nnodes, sizeof(*on));
	struct hf_hugefile *file = &t->files[index];
	bool check = target->strict && target->action == HF_ACTION_CREATE;
	uint64_t elsewhere = 0;
	int r = 0;

	if (!on)
		return hf_err_nomem(err);
	if (is_whole(t->apply->plan, target))
		r = open_kept(t, target, file, err);
	if (r == 0 && file->map)
		r = hf_fill_where(file, &a->machine->topo, check ? &target->layout : NULL, on, &elsewhere,
				  err);
	if (r == 0 && elsewhere)
		r = refuse_misplaced(file, elsewhere, err);
	for (size_t n = 0; n < nnodes && r == 0; n++) {
		const struct hf_fill_part *part = find_part(t, target, n);
		uint64_t asked = asked_of(target, n);
		struct hf_row *row;

		if (!asked && !on[n])
			continue;
		row = add_row(a, index, n, err);
		if (!row)
			return -ENOMEM;
		row->requested = asked;
		row->filled = on[n];
		if (part)
			add_timing(row, part, file->place->page_size,
				   a->request->method == HF_METHOD_FALLOCATE);
	}
	return r;
}

/* Less in all than asked for, of some target. */
static bool is_partly(const struct hf_apply *a)
{
	for (size_t i = 0; i < a->plan->ntargets; i++) {
		uint64_t asked = 0, got = 0;

		for (size_t n = 0; n < a->nrows; n++) {
			if (a->rows[n].target != i)
				continue;
			asked += a->rows[n].requested;
			got += a->rows[n].filled;
			if (a->plan->targets[i].strict && a->rows[n].filled < a->rows[n].requested)
				return true;
		}
		if (got < asked)
			return true;
	}
	return false;
}

int hf_apply_rows(struct hf_transaction *t, struct hf_err *err)
{
	struct hf_apply *a = t->apply;

	/* The files have taken their pages since the pools were looked at. */
	for (size_t i = 0; i < a->machine->pools.count; i++) {
		int r = a->plan->pools[i].used ? hf_pool_refresh(&a->machine->root, &a->machine->topo,
								 &a->machine->pools.pools[i], err)
					       : 0;

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < a->plan->ntargets; i++) {
		int r = hf_target_is_file(&a->plan->targets[i]) ? file_rows(t, i, err) : pool_rows(a, i, err);

		if (r < 0)
			return r;
	}
	a->partly = a->partly || (a->request->best_effort && is_partly(a));
	return 0;
}
