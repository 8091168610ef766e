/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const struct hf_column bench_columns[] = {
	[TEST] = { "TEST", HF_TEXT, false, "method, mapping, loop, engine or action" },
	[MAPPING] = { "MAPPING", HF_TEXT, false, "fault, forkfault: what is mapped" },
	[NTHREAD] = { "NTHREAD", HF_COUNT, false, "threads" },
	[INSTANCES] = { "INSTANCES", HF_COUNT, false, "forkfault: processes; combined: of each kind" },
	[WORKERS] = { "WORKERS", HF_COUNT, false, "pool: per node; blank: as alloc takes them" },
	[SPEEDUP] = { "SPEEDUP", HF_REAL, false, "MIN_TIME of one thread over this one" },
	[SIZE] = { "SIZE", HF_GIB, false, "bytes filled, faulted, grown or freed" },
	[STRIDE] = { "STRIDE", HF_BYTES, false, "fault: from one write to the next" },
	[MIN_TIME] = { "MIN_TIME", HF_FINE, false, "seconds, of the fastest run" },
	[STDEV] = { "STDEV", HF_FINE, false, "of the runs (n-1), seconds; forkfault: per second" },
	[MEDIAN] = { "MEDIAN", HF_FINE, false, "seconds, of the runs" },
	[MAX_TIME] = { "MAX_TIME", HF_FINE, false, "seconds, of the slowest run" },
	[MEAN] = { "MEAN", HF_FINE, false, "seconds, of the runs" },
	[RATE] = { "RATE", HF_RATE, false, "SIZE over MIN_TIME" },
	[PER_SEC] = { "PER_SEC", HF_REAL, false, "forkfault: all instances together, median of the runs" },
	[PER_INSTANCE] = { "PER_INSTANCE", HF_REAL, false, "PER_SEC over INSTANCES" },
	[RUNS] = { "RUNS", HF_COUNT, false, "that count" },
	[P50] = { "P50", HF_COUNT, false, "--histogram: ns that half of the pages took at most" },
	[P90] = { "P90", HF_COUNT, false, "--histogram: ns, 90 %" },
	[P99] = { "P99", HF_COUNT, false, "--histogram: ns, 99 %" },
	[MAX] = { "MAX", HF_COUNT, false, "--histogram: ns of the slowest page" },
	[BASELINE] = { "BASELINE", HF_FINE, false, "--compare: MIN_TIME there; forkfault: PER_SEC" },
	[CHANGE] = { "CHANGE", HF_REAL, false, "--compare: percent, from there to here" },
	[PVALUE] = { "PVALUE", HF_SECONDS, false, "--compare: chance of such a difference by noise alone" },
	[RANKED] = { "RANKED", HF_TEXT, false, "--compare: how PVALUE was found: exact or normal" },
	[VERDICT] = { "VERDICT", HF_TEXT, false, "--compare: better, worse, within noise, too few runs" },
	[WHY] = { "WHY", HF_TEXT, false, "there is no time" },
	[CASE] = { "CASE", HF_TEXT, false, "what --compare matches by" },
};

static bool is_rate(const struct hf_bench *bench)
{
	return bench->request->workload == HF_BENCH_FORKFAULT;
}

static void add_what(struct hf_table *table, const struct hf_bench *bench, const struct hf_bench_case *c)
{
	enum hf_bench_workload workload = bench->request->workload;
	char key[HF_BENCH_KEY];

	hf_table_row(table);
	hf_table_text(table, TEST, hf_bench_test_name(bench, c));
	if (workload == HF_BENCH_FAULT || workload == HF_BENCH_FORKFAULT)
		hf_table_text(table, MAPPING, hf_bench_mapping_name(c->mapping));
	if (workload == HF_BENCH_FORKFAULT)
		hf_table_u64(table, INSTANCES, c->count);
	else if (workload == HF_BENCH_POOL && c->count)
		hf_table_u64(table, WORKERS, c->count);
	else if (workload != HF_BENCH_POOL)
		hf_table_u64(table, NTHREAD, c->count);
	hf_table_u64(table, SIZE, c->bytes);
	if (c->stride)
		hf_table_u64(table, STRIDE, c->stride);
	hf_table_text(table, WHY, c->why[0] ? c->why : NULL);
	hf_table_text(table, CASE, hf_bench_key(bench, c, key));
}

static void add_latency(struct hf_table *table, const struct hf_histogram *h)
{
	if (!h || !h->count)
		return;
	hf_table_u64(table, P50, (uint64_t)hf_histogram_percentile(h, 50));
	hf_table_u64(table, P90, (uint64_t)hf_histogram_percentile(h, 90));
	hf_table_u64(table, P99, (uint64_t)hf_histogram_percentile(h, 99));
	hf_table_u64(table, MAX, h->max);
}

static void add_sum(struct hf_table *table, const struct hf_bench *bench, const struct hf_bench_case *c,
		    const struct hf_bench_sum *sum)
{
	hf_table_u64(table, RUNS, sum->runs);
	hf_table_real(table, STDEV, sum->stdev);
	if (is_rate(bench)) {
		hf_table_real(table, PER_SEC, sum->median);
		hf_table_real(table, PER_INSTANCE, sum->median / (double)c->count);
		return;
	}
	hf_table_real(table, SPEEDUP, sum->speedup);
	hf_table_real(table, MIN_TIME, sum->min);
	hf_table_real(table, MEDIAN, sum->median);
	hf_table_real(table, MAX_TIME, sum->max);
	hf_table_real(table, MEAN, sum->mean);
	hf_table_real(table, RATE, sum->min > 0 ? (double)c->bytes / sum->min : NAN);
	add_latency(table, c->latency);
}

struct hf_table *bench_results(const struct hf_bench *bench, const struct bench_baseline *baseline,
			       struct hf_err *err)
{
	struct hf_table *table = hf_table_new("results", bench_columns, BENCH_COLUMNS);
	int r = table ? 0 : hf_err_nomem(err);

	for (size_t i = 0; i < bench->ncases && r == 0; i++) {
		const struct hf_bench_case *c = &bench->cases[i];
		struct hf_bench_sum sum;

		add_what(table, bench, c);
		if (!c->nsamples)
			continue;
		r = hf_bench_sum(bench, i, &sum, err);
		if (r == 0)
			add_sum(table, bench, c, &sum);
		if (r == 0 && baseline->doc)
			r = bench_compare(bench, c, &sum, baseline, table, err);
	}
	if (r == 0)
		return table;
	hf_table_free(table);
	return NULL;
}

const char *bench_selection(const struct bench_opts *o, const char *asked, char *buf, size_t size)
{
	static const char *const usual[] = {
		[HF_BENCH_FILL] = "NTHREAD,SPEEDUP,SIZE,MIN_TIME,STDEV",
		[HF_BENCH_FAULT] = "NTHREAD,SIZE,STRIDE,MIN_TIME,SPEEDUP",
		[HF_BENCH_FORKFAULT] = "TEST,INSTANCES,SIZE,PER_SEC,STDEV",
		[HF_BENCH_POOL] = "TEST,WORKERS,SIZE,MIN_TIME,STDEV",
		[HF_BENCH_FREE] = "TEST,NTHREAD,SPEEDUP,SIZE,MIN_TIME,STDEV",
	};
	static const char *const planned[] = {
		[HF_BENCH_FILL] = "TEST,NTHREAD,SIZE",
		[HF_BENCH_FAULT] = "MAPPING,NTHREAD,SIZE,STRIDE",
		[HF_BENCH_FORKFAULT] = "TEST,INSTANCES,SIZE",
		[HF_BENCH_POOL] = "TEST,WORKERS,SIZE",
		[HF_BENCH_FREE] = "TEST,SIZE",
	};
	enum hf_bench_workload workload = o->request.workload;
	const char *first = "";

	if (o->common->format.json || o->common->format.all || (asked && *asked != '+'))
		return asked;
	/* Several methods or mappings side by side are told apart. */
	if (!o->dry_run && o->request.kinds.count > 1 && workload != HF_BENCH_FREE)
		first = workload == HF_BENCH_FORKFAULT ? "MAPPING," : "TEST,";
	snprintf(buf, size, "%s%s%s%s%s", first, o->dry_run ? planned[workload] : usual[workload],
		 o->compare && !o->dry_run ? ",BASELINE,CHANGE,PVALUE,VERDICT" : "", asked ? "," : "",
		 asked ? asked + 1 : "");
	return buf;
}

void bench_titles(const struct hf_bench *bench, struct hf_table *table)
{
	enum hf_bench_workload workload = bench->request->workload;

	hf_table_title(table, TEST,
		       workload == HF_BENCH_FILL    ? "method"
		       : workload == HF_BENCH_FAULT ? "mapping"
						    : "test");
	hf_table_title(table, MAPPING, "mapping");
	hf_table_title(table, NTHREAD, workload == HF_BENCH_FAULT ? "threads" : "nthread");
	hf_table_title(table, INSTANCES, "instances");
	hf_table_title(table, WORKERS, "workers");
	hf_table_title(table, SPEEDUP, "speedup");
	hf_table_title(table, SIZE, "size (GiB)");
	hf_table_title(table, STRIDE, "stride");
	hf_table_title(table, MIN_TIME, "min time (s)");
	hf_table_title(table, STDEV, "stdev");
	hf_table_title(table, PER_SEC, "per sec");
	hf_table_title(table, BASELINE, is_rate(bench) ? "baseline" : "baseline (s)");
	hf_table_title(table, CHANGE, "change (%)");
	hf_table_title(table, PVALUE, "p");
	hf_table_title(table, VERDICT, "verdict");
}

enum { TEST_CASE, SERIAL_MS, PARALLEL_MS, SAVED, POOL_COLUMNS };

static const struct hf_column pool_columns[] = {
	[TEST_CASE] = { "TEST_CASE", HF_TEXT, false, "CPUs, nodes, page size, how much" },
	[SERIAL_MS] = { "SERIAL_MS", HF_REAL, false, "milliseconds, engine sysfs" },
	[PARALLEL_MS] = { "PARALLEL_MS", HF_REAL, false, "milliseconds, engine parallel" },
	[SAVED] = { "SAVED", HF_REAL, false, "percent" },
};

/* "2c(1 node) 2M 4G" */
static void name_case(const struct hf_bench *bench, const struct hf_bench_case *c, char *buf, size_t size)
{
	unsigned nodes = hf_nodeset_count(&bench->request->nodes);
	char page[HF_SIZE_TEXT], bytes[HF_SIZE_TEXT];

	snprintf(buf, size, "%uc(%u node%s) %s %s", hf_nodeset_count(&bench->machine->topo.cpus_allowed),
		 nodes, nodes == 1 ? "" : "s", hf_size_exact(bench->request->page_size, page),
		 hf_size_exact(c->bytes, bytes));
}

/* Of the fastest run; NAN. */
static double least_ms(const struct hf_bench *bench, const struct hf_bench_case *c)
{
	struct hf_bench_sum sum;
	struct hf_err ignored = { 0 };

	if (!c || hf_bench_sum(bench, (size_t)(c - bench->cases), &sum, &ignored) < 0)
		return NAN;
	return sum.min * 1e3;
}

struct hf_table *bench_pool_table(const struct hf_bench *bench, struct hf_err *err)
{
	struct hf_table *table = hf_table_new("pool", pool_columns, POOL_COLUMNS);

	if (!table)
		hf_err_nomem(err);
	for (size_t i = 0; table && i < bench->ncases; i++) {
		const struct hf_bench_case *c = &bench->cases[i];
		double serial, parallel;
		char name[96];

		if (c->kind != HF_BENCH_SERIAL)
			continue;
		serial = least_ms(bench, c);
		parallel = least_ms(bench, hf_bench_like(bench, c, HF_BENCH_PARALLEL, 0));
		name_case(bench, c, name, sizeof(name));
		hf_table_row(table);
		hf_table_text(table, TEST_CASE, name);
		hf_table_real(table, SERIAL_MS, serial);
		hf_table_real(table, PARALLEL_MS, parallel);
		hf_table_real(table, SAVED, hf_bench_saved(serial, parallel));
	}
	if (table) {
		hf_table_title(table, TEST_CASE, "test case");
		hf_table_title(table, SERIAL_MS, "serial (ms)");
		hf_table_title(table, PARALLEL_MS, "parallel (ms)");
		hf_table_title(table, SAVED, "saved (%)");
	}
	return table;
}

struct hf_table *bench_multiplier_table(const struct hf_bench *bench, struct bench_multiplier *room,
					struct hf_err *err)
{
	const struct hf_bench_list *workers = &bench->request->counts;
	struct hf_table *table;

	room->columns[0] = (struct hf_column){ "multiplier", HF_TEXT, false, "size" };
	for (size_t i = 0; i < workers->count; i++) {
		snprintf(room->names[i], sizeof(room->names[i]), "%llu",
			 (unsigned long long)workers->values[i]);
		room->columns[i + 1] = (struct hf_column){ room->names[i], HF_REAL, false, "milliseconds" };
	}
	table = hf_table_new("multiplier", room->columns, workers->count + 1);
	if (!table)
		hf_err_nomem(err);
	for (size_t i = 0; table && i < bench->ncases; i++) {
		const struct hf_bench_case *c = &bench->cases[i];
		char name[96];

		if (c->kind != HF_BENCH_SERIAL)
			continue;
		name_case(bench, c, name, sizeof(name));
		hf_table_row(table);
		hf_table_text(table, 0, name);
		for (size_t w = 0; w < workers->count; w++)
			hf_table_real(table, w + 1,
				      least_ms(bench, hf_bench_like(bench, c, HF_BENCH_WORKERS,
								    workers->values[w])));
	}
	return table;
}
