/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <math.h>

#include "bench_parts.h"
#include "lock.h"
#include "policy.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t run_bytes(const struct hf_bench *bench)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < bench->ncases && bench->request->workload != HF_BENCH_FORKFAULT; i++)
		bytes += bench->cases[i].bytes;
	return bytes;
}

void hf_bench_show(struct hf_bench *bench, uint64_t bytes)
{
	uint64_t runs = bench->request->warmup + bench->request->runs, each = run_bytes(bench);

	if (bench->progress)
		bench->progress(bench->arg, bench->run, runs, each ? bench->done + bytes : 0, runs * each);
}

int hf_bench_check(const struct hf_bench *bench, struct hf_err *err)
{
	const struct hf_bench_request *r = bench->request;
	const struct hf_pool *pool = hf_pools_find(&bench->machine->pools, r->page_size);
	uint64_t memory = less(bench->machine->topo.mem_available, r->headroom) / r->page_size;
	uint64_t available = pool ? hf_pool_available(pool) : 0;
	uint64_t most = available + memory, wanted = bench->need / r->page_size;
	char size[HF_SIZE_TEXT], largest[HF_SIZE_TEXT];

	/* The pool keeps what it has beside what comes and goes. */
	if (bench->extra && memory < most) {
		uint64_t extra = bench->extra / r->page_size, rest = less(wanted, available);

		if (extra + rest > memory) {
			wanted = extra;
			most = less(memory, rest);
		}
	}
	if (wanted <= most)
		return 0;
	hf_err_set(err, ENOMEM, hf_size_exact(wanted * r->page_size, size),
		   "does not fit into memory beside the headroom: the largest size that does is %s",
		   hf_size_exact(most * r->page_size, largest));
	hf_err_hint(err, "--size=%s, or less --headroom", largest);
	return -ENOMEM;
}

static int time_case(struct hf_bench *bench, struct hf_bench_case *c, double *value, struct hf_err *err)
{
	switch (bench->request->workload) {
	case HF_BENCH_FILL:
		return hf_bench_time_fill(bench, c, value, err);
	case HF_BENCH_FAULT:
		return hf_bench_time_fault(bench, c, value, err);
	case HF_BENCH_FORKFAULT:
		return hf_bench_time_fork(bench, c, value, err);
	case HF_BENCH_POOL:
		return hf_bench_time_pool(bench, c, value, err);
	case HF_BENCH_FREE:
		break;
	}
	return hf_bench_time_free(bench, c, value, err);
}

/* One run of all cases. */
static int run_once(struct hf_bench *bench, struct hf_err *err)
{
	bool counts = bench->run > bench->request->warmup;

	for (size_t i = 0; i < bench->ncases; i++) {
		struct hf_bench_case *c = &bench->cases[i];
		double value[2] = { NAN, NAN };
		int r;

		if (c->with_previous)
			continue;
		if (hf_stop_requested(bench->stop))
			return hf_err_set(err, ECANCELED, NULL, "given up");
		hf_bench_show(bench, 0);
		r = time_case(bench, c, value, err);
		if (r < 0)
			return r;
		bench->done += c->bytes;
		if (!counts)
			continue;
		c->samples[c->nsamples++] = value[0];
		if (i + 1 < bench->ncases && c[1].with_previous)
			c[1].samples[c[1].nsamples++] = value[1];
	}
	return 0;
}

static int provide(struct hf_bench *bench, struct hf_undo *undo, struct hf_err *err)
{
	struct hf_bench_growth growth = { .pages = bench->need / bench->request->page_size,
					  .engine = HF_ENGINE_AUTO };
	int r = hf_machine_refresh(bench->machine, err);

	if (r == 0)
		r = hf_bench_check(bench, err);
	if (r == 0 && growth.pages)
		r = hf_bench_grow(bench, &growth, undo, err);
	return r;
}

static int run_all(struct hf_bench *bench, struct hf_err *err)
{
	uint64_t runs = bench->request->warmup + bench->request->runs;
	struct hf_err second = { 0 };
	struct hf_undo undo = { 0 };
	int rc, r = provide(bench, &undo, err);

	bench->done = 0;
	for (bench->run = 1; bench->run <= runs && r == 0; bench->run++) {
		if (bench->tracer && bench->run == bench->request->warmup + 1)
			hf_tracer_start(bench->tracer);
		r = run_once(bench, err);
	}
	if (bench->tracer)
		hf_tracer_stop(bench->tracer);
	hf_bench_drop(bench);
	rc = hf_bench_undo(bench, &undo, NULL, r < 0 ? &second : err);
	return r < 0 ? r : rc;
}

int hf_bench_run(struct hf_bench *bench, struct hf_err *err)
{
	int lock, r = hf_policy_default();

	/* numactl's policy would make reservations count its nodes only. */
	if (r < 0)
		return hf_err_sys(err, -r, NULL, "cannot set the default memory policy");
	lock = hf_lock_take(&bench->machine->root, bench->stop, bench->waiting, bench->arg, err);
	if (lock < 0)
		return lock;
	r = run_all(bench, err);
	hf_lock_release(lock);
	return r;
}
