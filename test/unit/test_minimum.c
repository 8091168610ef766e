/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What min_size= of a mount keeps, in the plan and on the way back. */
#include "../../lib/minimum.h"

#include "scene.h"

/* two-nodes' pool, with so many free and reserved pages, all free on node 0. */
static void set_pool(struct scene *s, uint64_t free, uint64_t reserved)
{
	struct hf_pool *pool = hf_pools_default(&s->machine.pools);

	pool->nr = pool->free = free;
	pool->reserved = reserved;
	pool->surplus = 0;
	memset(pool->nodes, 0, pool->nnodes * sizeof(*pool->nodes));
	pool->nodes[0].nr = pool->nodes[0].free = free;
}

static void test_plan(void)
{
	static const struct {
		const char *specs;
		uint64_t free, reserved, least, used; /* pages; the last two of the mount of all files */
		uint64_t grow;
		const char *what;
	} t[] = {
		{ "a=8p", 8, 8, 0, 0, 8, "without min_size= all reserved pages are others'" },
		{ "a=8p", 8, 8, 8, 0, 0, "all that the file takes is the mount's" },
		{ "a=8p@0", 8, 8, 8, 0, 0, "strictly placed too" },
		{ "a=8p", 8, 8, 4, 0, 4, "what exceeds it is grown" },
		{ "a=8p", 8, 8, 8, 6, 6, "a part of it is used already" },
		{ "a=8p", 8, 8, 8, 9, 8, "all of it is" },
		{ "a=8p", 8, 3, 8, 0, 0, "never more than is reserved at all" },
		{ "a=8p", 12, 12, 4, 0, 4, "others' reservations are not touched" },
		{ "a=2p", 8, 8, 8, 0, 0, "more than the file needs" },
		{ "a=6p b=6p", 8, 8, 8, 0, 4, "two files share it" },
		{ "a=6p b=6p@0", 8, 8, 8, 0, 4, "whatever their placement" },
		{ "a=2p 2M=8p", 8, 8, 8, 0, 0, "a pool spec counts all pages" },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct scene s;

		scene_open(&s, FIXTURES "two-nodes");
		set_pool(&s, t[i].free, t[i].reserved);
		ok(scene_specs(&s, t[i].specs, 0) == 0, "%s", t[i].specs);
		for (size_t p = 0; p < s.specs.count; p++) {
			s.places[p].min_size = s.places[p].mount ? t[i].least << 21 : 0;
			s.places[p].min_used = t[i].used << 21;
		}
		ok(hf_plan_make(&s.request, &s.machine, &s.plan, &s.err) == 0, "%s: planned", t[i].what);
		is_u64(s.plan.pools[0].grow, t[i].grow, "%s, %s: pages to grow", t[i].specs, t[i].what);
		scene_close(&s);
	}
}

static void test_best_effort(void)
{
	static const struct {
		const char *specs;
		uint64_t free, reserved, least;
		uint64_t first, second;
	} t[] = {
		{ "a=8p", 8, 8, 8, 8, 0 },      { "a=8p", 8, 8, 0, 0, 0 },
		{ "a=8p", 8, 8, 5, 5, 0 },      { "a=6p b=6p", 8, 8, 8, 6, 2 },
		{ "a=6p b=6p", 9, 8, 4, 5, 0 }, { "a=2p b=6p", 9, 8, 4, 2, 3 },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct scene s;

		scene_open(&s, FIXTURES "two-nodes");
		s.request.best_effort = s.request.no_grow = true;
		set_pool(&s, t[i].free, t[i].reserved);
		ok(scene_specs(&s, t[i].specs, 0) == 0, "%s", t[i].specs);
		for (size_t p = 0; p < s.specs.count; p++)
			s.places[p].min_size = t[i].least << 21;
		ok(hf_plan_make(&s.request, &s.machine, &s.plan, &s.err) == 0, "--best-effort --no-grow");
		for (size_t p = 0; p < s.specs.count; p++) {
			const struct hf_target *target = &s.plan.targets[p];

			is_u64(target->action == HF_ACTION_SKIP ? 0 : target->pages,
			       p ? t[i].second : t[i].first, "case %zu, %s: file %zu", i, t[i].specs, p);
		}
		scene_close(&s);
	}
}

static void test_regains(void)
{
	static const struct {
		uint64_t least, used, before, freed, want;
	} t[] = {
		{ 0, 8, 0, 8, 0 },  { 8, 8, 0, 8, 8 },   { 8, 8, 0, 3, 3 }, { 8, 12, 0, 4, 0 },
		{ 8, 12, 0, 6, 2 }, { 8, 12, 4, 6, 6 },  { 8, 4, 0, 4, 4 }, { 8, 4, 2, 2, 2 },
		{ 8, 4, 4, 2, 0 },  { 4, 40, 30, 8, 2 },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_place place = { .page_size = 2 << 20,
					  .min_size = t[i].least << 21,
					  .min_used = t[i].used << 21 };

		is_u64(hf_minimum_regains(&place, t[i].before, t[i].freed), t[i].want,
		       "min_size= of %llu pages, %llu used, %llu freed after %llu",
		       (unsigned long long)t[i].least, (unsigned long long)t[i].used,
		       (unsigned long long)t[i].freed, (unsigned long long)t[i].before);
	}
}

int main(void)
{
	test_plan();
	test_best_effort();
	test_regains();
	return tap_done();
}
