/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <math.h>

#include "../lib/facts.h"
#include "report.h"

#define NEAR_BEST 0.05

static const struct hf_column sample_columns[] = {
	{ "CASE", HF_TEXT, false, "as in results" },
	{ "RUN", HF_COUNT, false, "from 1" },
	{ "VALUE", HF_REAL, false, "seconds, or per second" },
};

static const struct hf_column bucket_columns[] = {
	{ "CASE", HF_TEXT, false, "as in results" },
	{ "FROM_NS", HF_COUNT, false, "the least value of the bucket" },
	{ "TO_NS", HF_COUNT, false, "the first one beyond it" },
	{ "COUNT", HF_COUNT, false, "pages, or writes" },
};

static const struct hf_column kernel_columns[] = {
	{ "FUNCTION", HF_TEXT, false, "of the kernel" },
	{ "FROM_NS", HF_COUNT, false, "the least value of the bucket" },
	{ "TO_NS", HF_COUNT, false, "the first one beyond it" },
	{ "COUNT", HF_COUNT, false, "calls" },
	{ "WHY", HF_TEXT, false, "it was not traced" },
};

static const struct hf_column enough_columns[] = {
	{ "TEST", HF_TEXT, false, "as in results" },
	{ "SIZE", HF_BYTES, false, "as in results" },
	{ "NTHREAD", HF_COUNT, false, "the fewest within 5 % of the best time" },
	{ "BEST_SPEEDUP", HF_REAL, false, "over one thread, of any count" },
};

bool bench_has_threads(const struct hf_bench *bench)
{
	return bench->request->workload == HF_BENCH_FILL || bench->request->workload == HF_BENCH_FAULT;
}

bool bench_is_first(const struct hf_bench *bench, size_t index)
{
	const struct hf_bench_case *c = &bench->cases[index];

	for (size_t i = 0; i < index; i++)
		if (bench->cases[i].kind == c->kind && bench->cases[i].bytes == c->bytes)
			return false;
	return true;
}

int bench_find_enough(const struct hf_bench *bench, size_t index, struct bench_enough *enough,
		      struct hf_err *err)
{
	const struct hf_bench_case *c = &bench->cases[index];
	uint64_t counts[HF_BENCH_LIST];
	double times[HF_BENCH_LIST];

	*enough = (struct bench_enough){ .best = NAN, .speedup = NAN };
	for (size_t i = index; i < bench->ncases && enough->counts < HF_BENCH_LIST; i++) {
		struct hf_bench_sum sum;

		if (bench->cases[i].kind != c->kind || bench->cases[i].bytes != c->bytes)
			continue;
		if (hf_bench_sum(bench, i, &sum, err) < 0)
			return -err->errnum;
		counts[enough->counts] = bench->cases[i].count;
		times[enough->counts++] = sum.min;
		enough->best = fmin(enough->best, sum.min);
		enough->speedup = fmax(enough->speedup, sum.speedup);
		enough->spread = fmax(enough->spread, sum.max / sum.min - 1);
	}
	enough->threads = hf_bench_enough(counts, times, enough->counts, NEAR_BEST);
	return 0;
}

static void add_machine(struct hf_doc *doc, const struct hf_bench *bench)
{
	struct hf_facts f;

	hf_facts_read(bench->machine, &f);
	hf_doc_text(doc, "machine.kernel", f.kernel);
	hf_doc_text(doc, "machine.cpu", f.cpu[0] ? f.cpu : NULL);
	hf_doc_u64(doc, "machine.cpus", f.cpus);
	hf_doc_u64(doc, "machine.nodes", f.nodes);
	hf_doc_u64(doc, "machine.memory_nodes", f.memory_nodes);
	hf_doc_u64(doc, "machine.memory", f.memory);
	hf_doc_text(doc, "machine.page_sizes", f.page_sizes);
	hf_doc_bool(doc, "machine.hvo", f.hvo);
	if (f.init_told)
		hf_doc_bool(doc, "machine.init_on_alloc", f.init_on_alloc);
	else
		hf_doc_text(doc, "machine.init_on_alloc", NULL);
	hf_doc_text(doc, "machine.governor", f.governor[0] ? f.governor : NULL);
}

static void add_settings(struct hf_doc *doc, const struct bench_opts *o)
{
	const struct hf_bench_request *q = &o->request;
	char nodes[256];

	hf_doc_text(doc, "workload", hf_bench_workload_name(q->workload));
	hf_doc_text(doc, "unit", q->workload == HF_BENCH_FORKFAULT ? "per second" : "seconds");
	hf_doc_u64(doc, "settings.page_size", q->page_size);
	hf_doc_text(doc, "settings.nodes", hf_nodeset_format(&q->nodes, '+', nodes, sizeof(nodes)));
	hf_doc_u64(doc, "settings.runs", q->runs);
	hf_doc_u64(doc, "settings.warmup", q->warmup);
	hf_doc_bool(doc, "settings.histogram", q->histogram);
	hf_doc_real(doc, "settings.seconds", q->workload == HF_BENCH_FORKFAULT ? q->seconds : NAN);
	hf_doc_text(doc, "compared_with", o->compare);
}

static void add_samples(struct hf_doc *doc, const struct hf_bench *bench)
{
	struct hf_table *table = hf_table_new("samples", sample_columns, HF_LENGTH(sample_columns));
	const struct hf_format all = { .json = true };
	char key[HF_BENCH_KEY];

	for (size_t i = 0; table && i < bench->ncases; i++)
		for (size_t run = 0; run < bench->cases[i].nsamples; run++) {
			hf_table_row(table);
			hf_table_text(table, 0, hf_bench_key(bench, &bench->cases[i], key));
			hf_table_u64(table, 1, run + 1);
			hf_table_real(table, 2, bench->cases[i].samples[run]);
		}
	if (table)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
}

static void add_histograms(struct hf_doc *doc, const struct hf_bench *bench)
{
	struct hf_table *table = hf_table_new("histogram", bucket_columns, HF_LENGTH(bucket_columns));
	const struct hf_format all = { .json = true };
	char key[HF_BENCH_KEY];

	for (size_t i = 0; table && i < bench->ncases; i++) {
		const struct hf_histogram *h = bench->cases[i].latency;

		for (unsigned b = 0; h && b < HF_HISTOGRAM_BUCKETS - 1; b++) {
			if (!h->buckets[b])
				continue;
			hf_table_row(table);
			hf_table_text(table, 0, hf_bench_key(bench, &bench->cases[i], key));
			hf_table_u64(table, 1, b ? 1ULL << (b - 1) : 0);
			hf_table_u64(table, 2, 1ULL << b);
			hf_table_u64(table, 3, h->buckets[b]);
		}
	}
	if (table)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
}

static int add_enough(struct hf_doc *doc, const struct hf_bench *bench, struct hf_err *err)
{
	struct hf_table *table = hf_table_new("enough", enough_columns, HF_LENGTH(enough_columns));
	const struct hf_format all = { .json = true };
	int r = table ? 0 : hf_err_nomem(err);

	for (size_t i = 0; i < bench->ncases && bench_has_threads(bench) && r == 0; i++) {
		struct bench_enough e;

		if (!bench_is_first(bench, i))
			continue;
		r = bench_find_enough(bench, i, &e, err);
		if (r < 0)
			break;
		hf_table_row(table);
		hf_table_text(table, 0, hf_bench_test_name(bench, &bench->cases[i]));
		hf_table_u64(table, 1, bench->cases[i].bytes);
		if (e.threads)
			hf_table_u64(table, 2, e.threads);
		hf_table_real(table, 3, e.speedup);
	}
	if (r == 0)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
	return r;
}

static void add_kernel(struct hf_doc *doc, const struct bench_opts *o)
{
	struct hf_table *table = hf_table_new("kernel", kernel_columns, HF_LENGTH(kernel_columns));
	const struct hf_format all = { .json = true };

	for (size_t i = 0; table && i < o->tracer.count; i++) {
		const struct hf_traced *f = &o->tracer.functions[i];

		if (f->why[0]) {
			hf_table_row(table);
			hf_table_text(table, 0, f->name);
			hf_table_text(table, 4, f->why);
		}
		for (unsigned b = 0; b < HF_HISTOGRAM_BUCKETS - 1; b++) {
			if (!f->times.buckets[b])
				continue;
			hf_table_row(table);
			hf_table_text(table, 0, f->name);
			hf_table_u64(table, 1, b ? 1ULL << (b - 1) : 0);
			hf_table_u64(table, 2, 1ULL << b);
			hf_table_u64(table, 3, f->times.buckets[b]);
		}
	}
	if (table)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
}

int bench_print_json(const struct bench_opts *o, const struct hf_bench *bench, const struct hf_table *results,
		     struct hf_err *err)
{
	struct hf_doc *doc = report_doc("bench", false);
	int r = doc ? 0 : hf_err_nomem(err);

	if (r == 0) {
		if (o->dry_run)
			hf_doc_bool(doc, "dry_run", true);
		add_settings(doc, o);
		add_machine(doc, bench);
		hf_doc_table(doc, results, &o->common->format);
		add_samples(doc, bench);
		add_histograms(doc, bench);
		add_kernel(doc, o);
		r = add_enough(doc, bench, err);
	}
	if (r == 0 && o->request.workload == HF_BENCH_POOL) {
		const struct hf_format all = { .json = true };
		struct hf_table *pool = bench_pool_table(bench, err);

		if (pool)
			hf_doc_table(doc, pool, &all);
		r = pool ? 0 : -err->errnum;
		hf_table_free(pool);
	}
	if (r == 0)
		r = hf_doc_print(doc, stdout, err);
	hf_doc_free(doc);
	return r;
}
