/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_parts.h"

#include <errno.h>

#include "fill.h"

const char *hf_bench_workload_name(enum hf_bench_workload workload)
{
	static const char *const names[] = { "fill", "fault", "forkfault", "pool", "free" };

	return names[workload];
}

const char *hf_bench_mapping_name(enum hf_bench_mapping mapping)
{
	static const char *const names[] = { "private-anon", "shared-anon", "private-file", "shared-file" };

	return names[mapping];
}

const char *hf_bench_freeing_name(enum hf_bench_freeing freeing)
{
	static const char *const names[] = { "remove", "punch", "shrink" };

	return names[freeing];
}

const char *hf_bench_test_name(const struct hf_bench *bench, const struct hf_bench_case *c)
{
	static const char *const loops[] = { "faults per sec", "forks per sec", "combined faults",
					     "combined forks" };
	static const char *const growing[] = { "serial", "parallel", "workers" };

	switch (bench->request->workload) {
	case HF_BENCH_FILL:
		return hf_fill_method_name((enum hf_method)c->kind);
	case HF_BENCH_FAULT:
		return hf_bench_mapping_name(c->mapping);
	case HF_BENCH_FORKFAULT:
		return loops[c->kind];
	case HF_BENCH_POOL:
		return growing[c->kind];
	case HF_BENCH_FREE:
		break;
	}
	return hf_bench_freeing_name((enum hf_bench_freeing)c->kind);
}

char *hf_bench_key(const struct hf_bench *bench, const struct hf_bench_case *c, char buf[static HF_BENCH_KEY])
{
	snprintf(buf, HF_BENCH_KEY, "%s/%s/%s/count=%llu/size=%llu/stride=%llu/page=%llu",
		 hf_bench_workload_name(bench->request->workload), hf_bench_test_name(bench, c),
		 hf_bench_mapping_name(c->mapping), (unsigned long long)c->count,
		 (unsigned long long)c->bytes, (unsigned long long)c->stride,
		 (unsigned long long)bench->request->page_size);
	return buf;
}

static int add_case(struct hf_bench *bench, struct hf_bench_case new, struct hf_err *err)
{
	struct hf_bench_case *cases = reallocarray(bench->cases, bench->ncases + 1, sizeof(*cases)), *c;

	if (!cases)
		return hf_err_nomem(err);
	bench->cases = cases;
	c = &cases[bench->ncases++];
	*c = new;
	c->samples = calloc(bench->request->runs, sizeof(*c->samples));
	if (bench->request->histogram)
		c->latency = calloc(1, sizeof(*c->latency));
	return c->samples && (c->latency || !bench->request->histogram) ? 0 : hf_err_nomem(err);
}

/* Threads over kinds: fill, fault; free has one thread only. */
static int add_threads(struct hf_bench *bench, uint64_t bytes, struct hf_err *err)
{
	const struct hf_bench_request *r = bench->request;
	size_t counts = r->workload == HF_BENCH_FREE ? 1 : r->counts.count;
	int rc = 0;

	for (size_t k = 0; k < r->kinds.count; k++)
		for (size_t t = 0; t < counts && rc == 0; t++) {
			struct hf_bench_case c = { .kind = (unsigned)r->kinds.values[k],
						   .mapping = HF_BENCH_SHARED_FILE,
						   .count = 1,
						   .bytes = bytes };

			if (r->workload != HF_BENCH_FREE)
				c.count = r->counts.values[t];
			if (r->workload == HF_BENCH_FAULT) {
				c.mapping = (enum hf_bench_mapping)c.kind;
				c.stride = r->stride;
			}
			rc = add_case(bench, c, err);
		}
	return rc;
}

static int add_loops(struct hf_bench *bench, uint64_t bytes, struct hf_err *err)
{
	const struct hf_bench_request *r = bench->request;
	int rc = 0;

	for (size_t k = 0; k < r->kinds.count; k++)
		for (unsigned loop = HF_BENCH_FAULTS; loop <= HF_BENCH_COMBINED_FAULTS; loop++)
			for (size_t i = 0; i < r->counts.count && rc == 0; i++) {
				struct hf_bench_case c = { .kind = loop,
							   .mapping =
								   (enum hf_bench_mapping)r->kinds.values[k],
							   .count = r->counts.values[i],
							   .bytes = bytes };

				rc = add_case(bench, c, err);
				if (rc < 0 || loop != HF_BENCH_COMBINED_FAULTS)
					continue;
				c.kind = HF_BENCH_COMBINED_FORKS;
				c.with_previous = true;
				rc = add_case(bench, c, err);
			}
	return rc;
}

static int add_growing(struct hf_bench *bench, uint64_t bytes, struct hf_err *err)
{
	const struct hf_bench_request *r = bench->request;
	struct hf_bench_case c = { .kind = HF_BENCH_SERIAL, .mapping = HF_BENCH_SHARED_FILE, .bytes = bytes };
	int rc = add_case(bench, c, err);

	c.kind = HF_BENCH_PARALLEL;
	if (rc == 0)
		rc = add_case(bench, c, err);
	c.kind = HF_BENCH_WORKERS;
	for (size_t i = 0; i < r->counts.count && rc == 0; i++) {
		c.count = r->counts.values[i];
		rc = add_case(bench, c, err);
	}
	return rc;
}

static int check_size(const struct hf_bench_request *r, uint64_t bytes, struct hf_err *err)
{
	char size[HF_SIZE_TEXT], page[HF_SIZE_TEXT];
	uint64_t pages = bytes / r->page_size;
	unsigned nodes = hf_nodeset_count(&r->nodes);

	hf_size_exact(bytes, size);
	hf_size_exact(r->page_size, page);
	if (!bytes)
		return hf_err_usage(err, "--size", "0 is nothing to measure");
	if (bytes % r->page_size)
		return hf_err_usage(err, "--size", "%s is no multiple of the page size, %s", size, page);
	if (pages < nodes)
		return hf_err_usage(err, "--size", "%s is less than a page for each of %u nodes", size,
				    nodes);
	for (size_t k = 0; k < r->kinds.count && r->workload == HF_BENCH_FORKFAULT; k++)
		for (size_t i = 0; i < r->counts.count; i++)
			if (r->kinds.values[k] == HF_BENCH_SHARED_ANON && 2 * r->counts.values[i] > pages)
				return hf_err_usage(err, "--size",
						    "%s is less than a page for each of 2 x %llu instances",
						    size, (unsigned long long)r->counts.values[i]);
	if (r->workload == HF_BENCH_FAULT && r->stride > bytes)
		return hf_err_usage(err, "--stride", "is longer than the size %s", size);
	return 0;
}

/* What the pool must have, and have room for. */
static void add_needs(struct hf_bench *bench, uint64_t bytes)
{
	const struct hf_bench_request *r = bench->request;
	bool need = r->workload != HF_BENCH_POOL && r->workload != HF_BENCH_FREE, extra = !need;

	if (r->workload == HF_BENCH_FREE) {
		extra = false;
		for (size_t k = 0; k < r->kinds.count; k++) {
			extra = extra || r->kinds.values[k] == HF_BENCH_SHRINK;
			need = need || r->kinds.values[k] != HF_BENCH_SHRINK;
		}
	}
	if (need && bytes > bench->need)
		bench->need = bytes;
	if (extra && bytes > bench->extra)
		bench->extra = bytes;
}

int hf_bench_plan(struct hf_bench *bench, struct hf_err *err)
{
	const struct hf_bench_request *r = bench->request;
	int rc = 0;

	if (hf_nodeset_is_empty(&r->nodes))
		return hf_err_set(err, ENODEV, NULL, "no node has memory");
	for (size_t s = 0; s < r->sizes.count && rc == 0; s++) {
		uint64_t bytes = r->sizes.values[s];

		rc = check_size(r, bytes, err);
		if (rc < 0)
			break;
		add_needs(bench, bytes);
		if (r->workload == HF_BENCH_POOL)
			rc = add_growing(bench, bytes, err);
		else if (r->workload == HF_BENCH_FORKFAULT)
			rc = add_loops(bench, bytes, err);
		else
			rc = add_threads(bench, bytes, err);
	}
	return rc;
}

void hf_bench_free(struct hf_bench *bench)
{
	for (size_t i = 0; i < bench->ncases; i++) {
		free(bench->cases[i].samples);
		free(bench->cases[i].latency);
	}
	free(bench->cases);
	bench->cases = NULL;
	bench->ncases = 0;
}
