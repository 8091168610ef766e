/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_parts.h"

#include <errno.h>

#include "clock.h"
#include "fill.h"
#include "policy.h"
#include "populate.h"
#include "workers.h"

#define PIECE_BYTES (16ULL << 20) /* alloc's chunk, and how often a thread looks at the stop */

/* One node's part of the mapping. */
struct part {
	uint64_t first, pages, chunk;
	atomic_ullong next;
};

/* Each on cache lines of its own. */
struct mine {
	struct populate_guard guard;
	struct hf_histogram latency;
	uint64_t begin_ns, end_ns;
} __attribute__((aligned(128)));

struct crew {
	struct hf_bench_job *job;
	struct part *parts; /* [nnodes] */
	struct mine *mine;  /* [threads] */
	struct hf_workers workers;
	atomic_ullong done;
};

static bool must_stop(const struct crew *crew)
{
	return atomic_load_explicit(&crew->workers.failed, memory_order_relaxed) ||
	       hf_stop_requested(crew->job->bench->stop);
}

/* What one call does: a page or a write where each is timed. */
static uint64_t piece_bytes(const struct hf_bench_job *job)
{
	uint64_t unit = job->method == HF_METHOD_TOUCH ? job->step : job->bench->request->page_size;

	if (job->latency || unit >= PIECE_BYTES)
		return unit;
	return PIECE_BYTES / unit * unit;
}

static int do_chunk(struct crew *crew, uint64_t from, uint64_t bytes, struct mine *mine)
{
	const struct hf_bench_job *job = crew->job;
	uint64_t piece = piece_bytes(job);
	uint64_t step = job->method == HF_METHOD_TOUCH ? job->step : job->bench->request->page_size;
	int r = 0;

	for (uint64_t at = 0; at < bytes && r == 0; at += piece) {
		uint64_t len = bytes - at < piece ? bytes - at : piece, start;

		if (must_stop(crew))
			return -ECANCELED;
		start = job->latency ? hf_clock_ns() : 0;
		r = hf_populate(job->method, job->map->fd, job->map->map, from + at, len, step);
		if (job->latency)
			hf_histogram_add(&mine->latency, hf_clock_ns() - start);
		atomic_fetch_add_explicit(&crew->done, len, memory_order_relaxed);
	}
	return r;
}

static int work_on_node(void *arg, unsigned worker, size_t node)
{
	struct crew *crew = arg;
	const struct hf_bench *bench = crew->job->bench;
	uint64_t page_size = bench->request->page_size;
	struct part *part = &crew->parts[node];
	struct mine *mine = &crew->mine[worker];
	int r = hf_policy_node(bench->machine->topo.nodes[node].id, bench->request->strict);

	hf_populate_guard(&mine->guard);
	if (!mine->begin_ns)
		mine->begin_ns = hf_clock_ns();
	while (r == 0) {
		uint64_t from = atomic_fetch_add(&part->next, part->chunk), count = part->chunk;

		if (from >= part->pages)
			break;
		count = part->pages - from < count ? part->pages - from : count;
		r = do_chunk(crew, (part->first + from) * page_size, count * page_size, mine);
	}
	mine->end_ns = hf_clock_ns();
	hf_populate_guard(NULL);
	return r;
}

static void tick(void *arg)
{
	struct crew *crew = arg;

	hf_bench_show(crew->job->bench, atomic_load(&crew->done));
}

static uint64_t chunk_pages(uint64_t page_size, uint64_t fair)
{
	uint64_t pages = PIECE_BYTES / page_size;

	pages = pages ? pages : 1;
	return pages < fair ? pages : fair;
}

/* The nodes' parts lie one after the other; threads are spread evenly over them. */
static void divide(struct crew *crew, uint64_t *threads, uint64_t *work)
{
	const struct hf_bench_request *request = crew->job->bench->request;
	const struct hf_topology *topo = &crew->job->bench->machine->topo;
	uint64_t pages = crew->job->map->bytes / request->page_size, first = 0, index = 0;
	uint64_t nodes = hf_nodeset_count(&request->nodes), fair;

	for (size_t n = 0; n < topo->nnodes; n++) {
		struct part *part = &crew->parts[n];

		if (!hf_nodeset_has(&request->nodes, topo->nodes[n].id))
			continue;
		work[n] = pages / nodes + (index < pages % nodes);
		threads[n] = crew->job->threads / nodes + (index < crew->job->threads % nodes);
		fair = threads[n] ? (work[n] + threads[n] - 1) / threads[n] : work[n];
		part->first = first;
		part->pages = work[n];
		part->chunk = crew->job->slices ? fair : chunk_pages(request->page_size, fair);
		first += work[n];
		index++;
	}
}

static void gather(struct crew *crew)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (uint64_t i = 0; i < crew->job->threads; i++) {
		const struct mine *mine = &crew->mine[i];

		if (mine->begin_ns && mine->begin_ns < begin)
			begin = mine->begin_ns;
		if (mine->end_ns > end)
			end = mine->end_ns;
		if (crew->job->latency)
			hf_histogram_merge(crew->job->latency, &mine->latency);
	}
	crew->job->ns = end > begin ? end - begin : 0;
}

static int explain(int r, struct hf_err *err)
{
	if (r == -ECANCELED)
		return hf_err_set(err, ECANCELED, NULL, "given up");
	if (r == -EFAULT || r == -ENOSPC || r == -ENOMEM) {
		hf_err_set(err, ENOMEM, NULL, "ran out of huge pages: another program took some meanwhile");
		return -ENOMEM;
	}
	return hf_err_sys(err, -r, NULL, "cannot make pages present");
}

static int run(struct crew *crew, struct hf_err *err)
{
	struct populate_signals signals;
	int r = hf_populate_signals(crew->job->method, &signals);

	if (r < 0)
		return hf_err_sys(err, -r, NULL, "cannot catch SIGBUS");
	r = hf_workers_run(&crew->workers, NULL, err);
	hf_populate_signals_restore(&signals);
	gather(crew);
	return r < 0 && !err->errnum ? explain(r, err) : r;
}

int hf_bench_job_run(struct hf_bench_job *job, struct hf_err *err)
{
	const struct hf_topology *topo = &job->bench->machine->topo;
	_cleanup_free_ uint64_t *threads = calloc(topo->nnodes, sizeof(*threads));
	_cleanup_free_ uint64_t *work = calloc(topo->nnodes, sizeof(*work));
	_cleanup_free_ struct part *parts = calloc(topo->nnodes, sizeof(*parts));
	_cleanup_free_ struct mine *mine = aligned_alloc(128, job->threads * sizeof(*mine));
	struct crew crew = { .job = job, .parts = parts, .mine = mine };

	if (!threads || !work || !parts || !mine)
		return hf_err_nomem(err);
	for (uint64_t i = 0; i < job->threads; i++)
		mine[i] = (struct mine){ 0 };
	divide(&crew, threads, work);
	crew.workers = (struct hf_workers){ .topo = topo,
					    .threads = threads,
					    .work = work,
					    .run = work_on_node,
					    .tick = tick,
					    .arg = &crew };
	return run(&crew, err);
}

/* map: the job's, made and unmade here. */
static int time_job(struct hf_bench_job *job, struct hf_bench_map *map, const struct hf_bench_case *c,
		    double *value, struct hf_err *err)
{
	int r = hf_bench_map(c->mapping, job->bench->request->page_size, c->bytes, map, err);

	if (r == 0)
		r = hf_bench_job_run(job, err);
	hf_bench_unmap(map);
	*value = (double)job->ns / 1e9;
	return r;
}

/* Warm-up runs do not count. */
static struct hf_histogram *latency_of(const struct hf_bench *bench, const struct hf_bench_case *c)
{
	return bench->run > bench->request->warmup ? c->latency : NULL;
}

int hf_bench_time_fill(struct hf_bench *bench, struct hf_bench_case *c, double *value, struct hf_err *err)
{
	struct hf_bench_map map;
	struct hf_bench_job job = { .bench = bench,
				    .map = &map,
				    .method = hf_fill_method((enum hf_method)c->kind),
				    .threads = c->count,
				    .step = bench->request->page_size,
				    .latency = latency_of(bench, c) };

	return time_job(&job, &map, c, value, err);
}

int hf_bench_time_fault(struct hf_bench *bench, struct hf_bench_case *c, double *value, struct hf_err *err)
{
	struct hf_bench_map map;
	struct hf_bench_job job = { .bench = bench,
				    .map = &map,
				    .method = HF_METHOD_TOUCH,
				    .threads = c->count,
				    .step = c->stride,
				    .slices = true,
				    .latency = latency_of(bench, c) };

	return time_job(&job, &map, c, value, err);
}
