/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan for any machine: a first line of flags and specs, blanks between them, then what the tree's
 * files hold (fuzz.h).
 */
#include <string.h>

#include "../../lib/apply.h"
#include "fuzz.h"

/* The flags' bits. */
enum { BLOCK = 1, AVAILABLE = 2, NO_GROW = 4, NO_MOUNT = 8, BEST_EFFORT = 16, THREADS = 32 };

struct scene {
	struct hf_machine machine;
	struct hf_spec_list specs;
	struct hf_place *places;
	struct hf_request request;
	struct hf_plan plan;
};

static uint64_t sum_of(const struct hf_target *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nshares; i++)
		sum += t->shares[i].pages;
	return sum;
}

static void check_target(const struct scene *s, const struct hf_target *t)
{
	uint64_t laid = 0, missing = 0;

	fuzz_must(t->pool < s->machine.pools.count);
	for (size_t i = 0; i < t->nshares; i++)
		fuzz_must(t->shares[i].node < s->machine.topo.nnodes);
	if (t->action != HF_ACTION_CREATE)
		return;
	fuzz_must(sum_of(t) == t->pages && t->layout.pages == t->pages);
	for (size_t n = 0; n < s->machine.topo.nnodes; n++) {
		laid += hf_layout_count(&t->layout, n);
		missing += t->missing_on[n];
	}
	fuzz_must(laid == t->pages && missing == t->missing);
}

static void check_plan(const struct scene *s)
{
	fuzz_must(s->plan.ntargets == s->specs.count);
	for (size_t i = 0; i < s->plan.ntargets; i++)
		check_target(s, &s->plan.targets[i]);
	for (size_t i = 0; i < s->plan.nfindings; i++)
		fuzz_must(s->plan.findings[i].id && s->plan.findings[i].text[0]);
	hf_plan_fill_bytes(&s->plan);
	hf_plan_changes(&s->plan);
}

static void set_flags(struct scene *s, unsigned flags)
{
	s->request = (struct hf_request){ .specs = &s->specs,
					  .places = s->places,
					  .threads = flags & THREADS ? 3 : 0,
					  .headroom = s->machine.topo.mem_total / 100 * 3,
					  .block = flags & BLOCK,
					  .available = flags & AVAILABLE,
					  .no_grow = flags & NO_GROW,
					  .no_mount = flags & NO_MOUNT,
					  .best_effort = flags & BEST_EFFORT,
					  .uid = (uid_t)-1,
					  .gid = (gid_t)-1 };
}

static int make(struct scene *s, char *specs, unsigned flags, struct hf_err *err)
{
	struct hf_pool *pool = hf_pools_default(&s->machine.pools);
	struct hf_spec_rules rules;
	char *word;
	int r = 0;

	hf_machine_rules(&s->machine, NULL, &rules);
	while (r == 0 && (word = strsep(&specs, " ")) != NULL)
		r = hf_spec_parse(word, &rules, &s->specs, err);
	s->places = calloc(s->specs.count + 1, sizeof(*s->places));
	fuzz_must(s->places);
	set_flags(s, flags);
	if (r == 0)
		r = hf_apply_places(&s->machine, &s->specs, pool ? pool->page_size : 0, s->places, err);
	return r < 0 ? r : hf_plan_make(&s->request, &s->machine, &s->plan, err);
}

static void run(const char *dir, char *specs, unsigned flags)
{
	struct scene s = { 0 };
	struct hf_err err = { 0 };
	int r = hf_machine_read(dir, &s.machine, &err);

	if (r == 0)
		r = make(&s, specs, flags, &err);
	if (r < 0)
		fuzz_check_err(r, &err);
	else
		check_plan(&s);
	hf_plan_free(&s.plan);
	for (size_t i = 0; s.places && i < s.specs.count; i++)
		hf_place_free(&s.places[i]);
	free(s.places);
	hf_spec_list_free(&s.specs);
	hf_machine_free(&s.machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t len = newline ? (size_t)(newline - data) : size;
	static struct fuzz_tree tree;
	char *specs;
	int fd;

	if (!len)
		return 0;
	fuzz_tree_make(&tree, fuzz_machine_files, fuzz_nmachine_files);
	fd = fuzz_first_fd();
	if (newline)
		fuzz_tree_write(&tree, newline + 1, size - len - 1);
	specs = fuzz_text(data + 1, len - 1);
	run(tree.dir, specs, data[0]);
	free(specs);
	fuzz_tree_restore(&tree);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
