/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "minimum.h"

#include <string.h>

#include "files.h"
#include "plan_parts.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Without size= the kernel counts nothing. A file may have its pages reserved up to its end: the more is
 * taken for used, the more pages a plan asks the pool for, rather too many than too few. */
static int count_files(const struct hf_machine *machine, struct hf_place *place, struct hf_err *err)
{
	struct hf_files files = { 0 };
	int r = hf_files_read(&machine->root, &machine->mounts, place->page_size, NULL, &files, err);

	for (size_t i = 0; i < files.count && r == 0; i++) {
		uint64_t filled = files.files[i].filled * place->page_size;

		if (files.files[i].dev == place->dev)
			place->min_used += files.files[i].size > filled ? files.files[i].size : filled;
	}
	hf_files_free(&files);
	return r;
}

int hf_minimum_look(const struct hf_machine *machine, struct hf_place *place, struct hf_err *err)
{
	place->min_used = 0;
	if (place->mount_limit == HF_MOUNTS_NONE)
		return count_files(machine, place, err);
	place->min_used = less(place->mount_limit, place->mount_left);
	return 0;
}

uint64_t hf_minimum_left(const struct hf_place *place, const struct hf_pool *pool)
{
	return smaller(less(place->min_size, place->min_used) / pool->page_size, pool->reserved);
}

static bool same_mount(const struct hf_place *a, const struct hf_place *b)
{
	return (a->dev && a->dev == b->dev) || strcmp(a->mount, b->mount) == 0;
}

static bool is_before(const struct hf_target *t, const struct hf_target *up_to)
{
	if (!up_to)
		return true;
	return t->strict != up_to->strict ? t->strict : t->spec < up_to->spec;
}

/* Of the mount that target `first` is the first on; 0 for the others, and where nothing is set aside. */
static uint64_t serves_mount(const struct hf_plan *plan, size_t first, const struct hf_target *up_to)
{
	const struct hf_target *targets = plan->targets;
	const struct hf_place *place = &plan->request->places[first];
	uint64_t left = hf_minimum_left(place, hf_plan_pool_of(plan, &targets[first])), taken = 0;

	if (!left)
		return 0;
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_place *other = &plan->request->places[i];

		if (!other->mount || !same_mount(other, place))
			continue;
		if (i < first)
			return 0;
		if (&targets[i] == up_to)
			taken = left;
		if (hf_target_is_filled(&targets[i]) && is_before(&targets[i], up_to) && taken < left)
			taken += targets[i].missing;
	}
	return smaller(left, taken);
}

uint64_t hf_minimum_serves(const struct hf_plan *plan, size_t pool, const struct hf_target *up_to)
{
	uint64_t pages = 0;

	for (size_t i = 0; i < plan->ntargets; i++)
		if (plan->request->places[i].min_size && plan->targets[i].pool == pool)
			pages += serves_mount(plan, i, up_to);
	return smaller(pages, plan->machine->pools.pools[pool].reserved);
}

uint64_t hf_minimum_regains(const struct hf_place *place, uint64_t freed_before, uint64_t freed)
{
	uint64_t least = place->min_size / place->page_size, used = place->min_used / place->page_size;
	uint64_t before = less(used, freed_before), after = less(before, freed);

	return less(least, after) - less(least, before);
}
