/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "fill.h"
#include "grow.h"

/* "2M=+512p@0-3": the growth as a spec, so that it goes the way of alloc's. */
static int make_spec(const struct hf_bench *bench, const struct hf_bench_growth *g, struct hf_spec_list *list,
		     struct hf_err *err)
{
	struct hf_spec_rules rules;
	char size[HF_SIZE_TEXT], text[128];

	hf_machine_rules(bench->machine, bench->request->strict || g->more ? &bench->request->nodes : NULL,
			 &rules);
	snprintf(text, sizeof(text), "%s=%s%llup", hf_size_exact(bench->request->page_size, size),
		 g->more ? "+" : "", (unsigned long long)g->pages);
	return hf_spec_parse(text, &rules, list, err);
}

static int refuse(const struct hf_plan *plan, struct hf_err *err)
{
	for (size_t i = 0; i < plan->nfindings; i++) {
		const struct hf_finding *f = &plan->findings[i];

		if (!f->fatal)
			continue;
		hf_err_set(err, ENOMEM, f->object, "%.900s", f->text);
		if (f->hint[0])
			hf_err_hint(err, "%s", f->hint);
		return -ENOMEM;
	}
	return 0;
}

static int carry_out(struct hf_bench *bench, struct hf_bench_growth *g, struct hf_plan *plan,
		     struct hf_undo *undo, struct hf_err *err)
{
	struct hf_grow grow = { .machine = bench->machine,
				.plan = plan,
				.stop = bench->stop,
				.undo = undo,
				.budget = UINT64_MAX };
	const struct hf_plan_pool *pool = NULL;
	int r = hf_grow_run(&grow, err);

	if (r == -ENOMEM) {
		struct hf_err shortage = *err;

		if (refuse(plan, err) == 0)
			*err = shortage;
	}
	for (size_t i = 0; i < bench->machine->pools.count; i++)
		if (bench->machine->page_sizes[i] == bench->request->page_size)
			pool = &plan->pools[i];
	if (r < 0 || !pool)
		return r;
	g->ns = pool->grow_ns;
	g->parallel = pool->engine && strcmp(pool->engine, "parallel") == 0;
	snprintf(g->why, sizeof(g->why), "%s", pool->why);
	return 0;
}

int hf_bench_grow(struct hf_bench *bench, struct hf_bench_growth *g, struct hf_undo *undo, struct hf_err *err)
{
	struct hf_spec_list specs = { 0 };
	struct hf_place place = { 0 };
	struct hf_plan plan = { 0 };
	const struct hf_request request = { .specs = &specs,
					    .places = &place,
					    .threads = g->threads,
					    .headroom = bench->request->headroom,
					    .available = !g->more,
					    .uid = (uid_t)-1,
					    .gid = (gid_t)-1,
					    .engine = g->engine };
	int r = hf_machine_refresh(bench->machine, err);

	if (r == 0)
		r = make_spec(bench, g, &specs, err);
	if (r == 0)
		r = hf_plan_make(&request, bench->machine, &plan, err);
	if (r == 0)
		r = refuse(&plan, err);
	if (r == 0)
		r = carry_out(bench, g, &plan, undo, err);
	hf_plan_free(&plan);
	hf_spec_list_free(&specs);
	return r;
}

struct left {
	struct hf_bench *bench;
	struct hf_err first;
};

static void tell_left(const struct hf_err *err, void *arg)
{
	struct left *left = arg;

	if (!left->first.errnum)
		left->first = *err;
	if (left->bench->left)
		left->bench->left(err, left->bench->arg);
}

int hf_bench_undo(struct hf_bench *bench, struct hf_undo *undo, uint64_t *ns, struct hf_err *err)
{
	struct left left = { .bench = bench };
	sigset_t all, before;
	uint64_t start;

	/* A signal must not interrupt the writes: it waits. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	atomic_store(&bench->stop->undoing, true);
	start = hf_clock_ns();
	hf_undo_run(undo, tell_left, &left);
	if (ns)
		*ns = hf_clock_ns() - start;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	atomic_store(&bench->stop->undoing, false);
	if (!left.first.errnum)
		return 0;
	return hf_err_set(err, left.first.errnum, left.first.object, "the pool is not as it was");
}

int hf_bench_time_pool(struct hf_bench *bench, struct hf_bench_case *c, double *value, struct hf_err *err)
{
	struct hf_undo undo = { 0 };
	struct hf_err second = { 0 };
	struct hf_bench_growth g = { .pages = c->bytes / bench->request->page_size,
				     .more = true,
				     .engine = c->kind == HF_BENCH_SERIAL ? HF_ENGINE_SYSFS
									  : HF_ENGINE_PARALLEL,
				     .threads = c->count * hf_nodeset_count(&bench->request->nodes) };
	int r = hf_bench_grow(bench, &g, &undo, err);
	int rc = hf_bench_undo(bench, &undo, NULL, r < 0 ? &second : err);

	*value = (double)g.ns / 1e9;
	if (r == 0 && c->kind != HF_BENCH_SERIAL && !g.parallel) {
		*value = NAN;
		snprintf(c->why, sizeof(c->why), "%s", g.why);
	}
	return r < 0 ? r : rc;
}

/* Makes the pages and takes the mapping away: what is timed is what frees the pages. */
static int fill_file(struct hf_bench *bench, struct hf_bench_case *c, struct hf_bench_map *map,
		     struct hf_err *err)
{
	struct hf_bench_job job = { .bench = bench,
				    .map = map,
				    .method = hf_fill_method(HF_METHOD_AUTO),
				    .threads = hf_nodeset_count(&bench->machine->topo.cpus_allowed),
				    .step = bench->request->page_size };
	int r = hf_bench_map(HF_BENCH_SHARED_FILE, bench->request->page_size, c->bytes, map, err);

	if (r == 0)
		r = hf_bench_job_run(&job, err);
	if (r == 0 && munmap(map->map, map->bytes) < 0)
		r = hf_err_sys(err, errno, "memfd", "cannot unmap it");
	else if (r == 0)
		map->map = NULL;
	return r;
}

static int time_file(struct hf_bench *bench, struct hf_bench_case *c, uint64_t *ns, struct hf_err *err)
{
	struct hf_bench_map map;
	int r = fill_file(bench, c, &map, err);
	uint64_t start = hf_clock_ns();

	if (r == 0 && c->kind == HF_BENCH_PUNCH) {
		if (fallocate(map.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)c->bytes) < 0)
			r = hf_err_sys(err, errno, "memfd", "cannot punch it");
	} else if (r == 0) {
		/* The last reference: the kernel frees the pages before it returns. */
		r = close(map.fd) < 0 ? hf_err_sys(err, errno, "memfd", "cannot close it") : 0;
		map.fd = -1;
	}
	*ns = hf_clock_ns() - start;
	hf_bench_unmap(&map);
	return r;
}

static int time_shrink(struct hf_bench *bench, struct hf_bench_case *c, uint64_t *ns, struct hf_err *err)
{
	struct hf_bench_growth g = { .pages = c->bytes / bench->request->page_size,
				     .more = true,
				     .engine = HF_ENGINE_AUTO };
	struct hf_err second = { 0 };
	struct hf_undo undo = { 0 };
	int r = hf_bench_grow(bench, &g, &undo, err);
	int rc = hf_bench_undo(bench, &undo, ns, r < 0 ? &second : err);

	return r < 0 ? r : rc;
}

int hf_bench_time_free(struct hf_bench *bench, struct hf_bench_case *c, double *value, struct hf_err *err)
{
	uint64_t ns = 0;
	int r = c->kind == HF_BENCH_SHRINK ? time_shrink(bench, c, &ns, err) : time_file(bench, c, &ns, err);

	*value = (double)ns / 1e9;
	return r;
}
