/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fill.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "policy.h"
#include "populate.h"
#include "workers.h"

/* Small enough to stop within 50 ms at 0.3 GiB/s; the call's cost is lost in it all the same. */
#define CHUNK_BYTES (16ULL << 20)

/* One part's queue; workers meet only in its atomics, and once each in the mutex. */
struct queue {
	struct hf_fill_part *part;
	const struct hf_fill_file *file;
	uint64_t ordinals, chunk; /* of the node's pages in the file's layout */
	atomic_ullong next;
	pthread_mutex_t mutex;
};

struct engine {
	struct hf_fill *fill;
	enum hf_method method;
	struct queue *queues; /* [fill->nparts], by file */
	struct hf_workers workers;
	atomic_ullong done_bytes;
	atomic_int first_error;
	atomic_size_t failed_queue;
	struct populate_guard *guards;
};

/* What a worker did of one part. */
struct share {
	uint64_t pages, begin_ns, end_ns, busy_ns;
};

static bool must_stop(const struct engine *e)
{
	return atomic_load_explicit(&e->workers.failed, memory_order_relaxed) ||
	       hf_stop_requested(e->fill->stop);
}

/* Fills one run of pages that are all missing. */
static int fill_run(struct engine *e, const struct queue *q, uint64_t first, uint64_t count,
		    struct share *mine)
{
	const struct hf_hugefile *file = q->file->file;
	uint64_t size = file->place->page_size;
	int r;

	if (must_stop(e))
		return -ECANCELED;
	r = hf_populate(e->method, file->fd, file->map, first * size, count * size, size);
	if (r == 0) {
		mine->pages += count;
		atomic_fetch_add_explicit(&e->done_bytes, count * size, memory_order_relaxed);
	}
	return r;
}

/* The missing pages among [first, first + count). */
static int fill_missing(struct engine *e, const struct queue *q, struct hf_run run, struct share *mine)
{
	const struct hf_place *place = q->file->file->place;
	uint64_t end = run.first + run.count, page = run.first;

	while (page < end) {
		uint64_t stop = page;
		int r;

		while (stop < end && !hf_place_has(place, stop))
			stop++;
		r = stop > page ? fill_run(e, q, page, stop - page, mine) : 0;
		if (r < 0)
			return r;
		page = stop;
		while (page < end && hf_place_has(place, page))
			page++;
	}
	return 0;
}

static int fill_chunk(struct engine *e, const struct queue *q, uint64_t from, struct share *mine)
{
	uint64_t end = from + q->chunk < q->ordinals ? from + q->chunk : q->ordinals;

	while (from < end) {
		struct hf_run run = hf_layout_run(&q->file->target->layout, q->part->node, from, end - from);
		int r = fill_missing(e, q, run, mine);

		if (r < 0)
			return r;
		from += run.count;
	}
	return 0;
}

static void account(struct queue *q, const struct share *mine)
{
	struct hf_fill_part *part = q->part;
	double gib = (double)mine->pages * (double)q->file->file->place->page_size / (double)(1ULL << 30);

	if (!mine->pages)
		return;
	pthread_mutex_lock(&q->mutex);
	part->pages += mine->pages;
	part->threads++;
	part->busy_ns += mine->busy_ns;
	if (!part->begin_ns || mine->begin_ns < part->begin_ns)
		part->begin_ns = mine->begin_ns;
	if (mine->end_ns > part->end_ns)
		part->end_ns = mine->end_ns;
	hf_stats_add(&part->per_gib, (double)mine->busy_ns / 1e9 / gib);
	pthread_mutex_unlock(&q->mutex);
}

static int drain(struct engine *e, struct queue *q, struct share *mine)
{
	int r = 0;

	mine->begin_ns = hf_clock_ns();
	mine->busy_ns = hf_clock_thread_ns();
	while (r == 0) {
		uint64_t from;

		if (must_stop(e)) {
			r = -ECANCELED;
			break;
		}
		from = atomic_fetch_add(&q->next, q->chunk);
		if (from >= q->ordinals)
			break;
		r = fill_chunk(e, q, from, mine);
	}
	mine->end_ns = hf_clock_ns();
	mine->busy_ns = hf_clock_thread_ns() - mine->busy_ns;
	return r;
}

static int work_on_node(void *arg, unsigned worker, size_t node)
{
	struct engine *e = arg;
	unsigned id = e->fill->plan->machine->topo.nodes[node].id;
	int r = 0;

	hf_populate_guard(&e->guards[worker]);
	for (size_t i = 0; i < e->fill->nparts && r == 0; i++) {
		struct queue *q = &e->queues[i];
		struct share mine = { 0 };

		if (q->part->node != node || atomic_load(&q->next) >= q->ordinals)
			continue;
		r = hf_policy_node(id, q->file->target->strict);
		if (r == 0)
			r = drain(e, q, &mine);
		account(q, &mine);
		if (r < 0 && r != -ECANCELED) {
			int none = 0;

			if (atomic_compare_exchange_strong(&e->first_error, &none, r))
				atomic_store(&e->failed_queue, i);
		}
	}
	hf_populate_guard(NULL);
	return r;
}

static void tick(void *arg)
{
	struct engine *e = arg;

	if (e->fill->progress)
		e->fill->progress(e->fill->arg, atomic_load(&e->done_bytes));
}

static uint64_t fair_chunk(uint64_t pages, uint64_t page_size, uint64_t threads)
{
	uint64_t most = CHUNK_BYTES / page_size, fair = pages / (threads ? threads : 1);

	most = most ? most : 1;
	fair = fair ? fair : 1;
	return most < fair ? most : fair;
}

static size_t count_parts(const struct hf_fill *fill)
{
	size_t count = 0;

	for (size_t f = 0; f < fill->nfiles; f++)
		for (size_t n = 0; n < fill->plan->machine->topo.nnodes; n++)
			count += fill->files[f].target->missing_on[n] != 0;
	return count;
}

static void make_queues(struct engine *e, uint64_t *work)
{
	struct hf_fill *fill = e->fill;
	size_t at = 0;

	for (size_t f = 0; f < fill->nfiles; f++) {
		const struct hf_target *t = fill->files[f].target;

		for (size_t n = 0; n < fill->plan->machine->topo.nnodes; n++) {
			struct queue *q = &e->queues[at];

			if (!t->missing_on[n])
				continue;
			fill->parts[at] = (struct hf_fill_part){ .file = f, .node = n };
			q->part = &fill->parts[at++];
			q->file = &fill->files[f];
			q->ordinals = hf_layout_count(&t->layout, n);
			q->chunk = fair_chunk(q->ordinals, q->file->file->place->page_size,
					      fill->plan->threads[n]);
			pthread_mutex_init(&q->mutex, NULL);
			work[n] += t->missing_on[n];
		}
	}
}

/* A failure of one page in words; the caller adds what the numbers show. */
static int explain(const struct engine *e, int error, struct hf_err *err)
{
	const struct queue *q = &e->queues[atomic_load(&e->failed_queue)];
	const char *path = q->file->file->place->path;
	unsigned node = e->fill->plan->machine->topo.nodes[q->part->node].id;

	if (error == -ECANCELED)
		return hf_err_set(err, ECANCELED, path, "given up while it was being filled");
	if (error == -EFAULT || error == -ENOSPC || error == -ENOMEM) {
		hf_err_set(err, ENOMEM, path, "node %u ran out of huge pages while it was being filled",
			   node);
		return -ENOMEM;
	}
	if (error == -EHWPOISON)
		return hf_err_set(err, EHWPOISON, path, "a page on node %u has a hardware memory error",
				  node);
	return hf_err_sys(err, -error, path, "cannot fill pages on node %u", node);
}

static int run_engine(struct engine *e, struct hf_err *err)
{
	struct hf_fill *fill = e->fill;
	struct populate_signals signals;
	int r;

	if (hf_stop_requested(fill->stop))
		return explain(e, -ECANCELED, err);
	r = hf_populate_signals(e->method, &signals);
	if (r < 0)
		return hf_err_sys(err, -r, NULL, "cannot catch SIGBUS");
	r = hf_workers_run(&e->workers, NULL, err);
	hf_populate_signals_restore(&signals);
	tick(e);
	if (atomic_load(&e->first_error))
		fill->failed_part = atomic_load(&e->failed_queue);
	if (r < 0 && !err->errnum)
		r = explain(e, atomic_load(&e->first_error) ? atomic_load(&e->first_error) : r, err);
	return r;
}

int hf_fill_run(struct hf_fill *fill, struct hf_err *err)
{
	struct engine e = { .fill = fill, .method = hf_fill_method(fill->plan->request->method) };
	_cleanup_free_ uint64_t *work = calloc(fill->plan->machine->topo.nnodes, sizeof(*work));
	int r;

	fill->method = hf_fill_method_name(e.method);
	fill->failed_part = SIZE_MAX;
	fill->nparts = count_parts(fill);
	fill->parts = calloc(fill->nparts + 1, sizeof(*fill->parts));
	e.queues = calloc(fill->nparts + 1, sizeof(*e.queues));
	e.guards = calloc(fill->plan->nthreads + 1, sizeof(*e.guards));
	e.workers = (struct hf_workers){ .topo = &fill->plan->machine->topo,
					 .threads = fill->plan->threads,
					 .work = work,
					 .run = work_on_node,
					 .tick = tick,
					 .arg = &e };
	if (!work || !fill->parts || !e.queues || !e.guards) {
		r = hf_err_nomem(err);
	} else {
		make_queues(&e, work);
		r = fill->nparts ? run_engine(&e, err) : 0;
		for (size_t i = 0; i < fill->nparts; i++)
			pthread_mutex_destroy(&e.queues[i].mutex);
	}
	free(e.queues);
	free(e.guards);
	return r;
}

void hf_fill_free(struct hf_fill *fill)
{
	free(fill->parts);
	fill->parts = NULL;
	fill->nparts = 0;
}

enum hf_method hf_fill_method(enum hf_method wanted)
{
	if (wanted != HF_METHOD_AUTO)
		return wanted;
	return hf_populate_is_supported() ? HF_METHOD_POPULATE : HF_METHOD_TOUCH;
}

const char *hf_fill_method_name(enum hf_method method)
{
	static const char *const names[] = { "auto", "populate", "touch", "fallocate" };

	return names[method];
}

static int count_batch(const struct hf_hugefile *file, const struct hf_topology *topo,
		       const struct hf_layout *layout, uint64_t first, unsigned count, uint64_t *on,
		       uint64_t *elsewhere)
{
	uint64_t size = file->place->page_size;
	int nodes[HF_POLICY_BATCH];
	int r = hf_policy_where(file->map + first * size, size, count, nodes);

	if (r == -ENOSYS) {
		on[0] += count;
		return 0;
	}
	for (unsigned i = 0; i < count && r == 0; i++) {
		int node = nodes[i] < 0 ? -1 : hf_topology_index(topo, (unsigned)nodes[i]);

		if (node < 0)
			return -EIO;
		on[node]++;
		if (layout && (size_t)node != hf_layout_node(layout, first + i))
			(*elsewhere)++;
	}
	return r;
}

int hf_fill_where(const struct hf_hugefile *file, const struct hf_topology *topo,
		  const struct hf_layout *layout, uint64_t *on, uint64_t *elsewhere, struct hf_err *err)
{
	uint64_t size = file->place->page_size, pages = file->length / size;
	int r = 0;

	for (uint64_t page = 0; page < pages && r == 0; page += HF_POLICY_BATCH) {
		unsigned count = pages - page < HF_POLICY_BATCH ? (unsigned)(pages - page) : HF_POLICY_BATCH;

		r = hf_populate_map(file->map, page * size, count * size, size);
		if (r == 0)
			r = count_batch(file, topo, layout, page, count, on, elsewhere);
	}
	if (r < 0)
		return hf_err_sys(err, -r, file->place->path, "cannot find out where its pages lie");
	return 0;
}

bool hf_fill_is_present(const struct hf_hugefile *file, uint64_t page)
{
	int node = -1,
	    r = hf_policy_where(file->map + page * file->place->page_size, file->place->page_size, 1, &node);
	unsigned char resident = 0;

	if (r == 0)
		return node >= 0;
	return mincore(file->map + page * file->place->page_size, 1, &resident) == 0 && (resident & 1);
}
