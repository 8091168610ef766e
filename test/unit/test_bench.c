/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arithmetic of bench's tables, on the numbers of tables that were published. */
#include <errno.h>
#include <math.h>

#include "../../lib/bench_sum.h"
#include "../../lib/facts.h"
#include "tap.h"

#define GIB (1ULL << 30)
#define SECONDS 6

/* Times by 1, 2, 4, 8 and 16 threads, and the speedups printed beside them. */
static const struct {
	const char *name;
	double times[5];
	const char *speedups[5];
} published[] = {
	{ "Xeon E7-8895 v3, 200 GiB",
	  { 127.53, 41.30, 22.29, 13.50, 13.09 },
	  { "nan", "3.09", "5.72", "9.45", "9.74" } },
	{ "Xeon E7-8895 v3, 400 GiB",
	  { 193.09, 90.31, 50.32, 37.75, 31.54 },
	  { "nan", "2.14", "3.84", "5.11", "6.12" } },
	{ "SPARC T7-4, 100 GiB",
	  { 15.55, 8.08, 4.38, 2.65, 2.41 },
	  { "nan", "1.92", "3.55", "5.87", "6.45" } },
	{ "SPARC T7-4, 400 GiB",
	  { 62.18, 31.36, 17.52, 11.25, 9.40 },
	  { "nan", "1.98", "3.55", "5.53", "6.61" } },
};

static const uint64_t threads[] = { 1, 2, 4, 8, 16 };

/* Beside the minimum a slower run, which must not count for the speedup. */
static void check_speedups(void)
{
	for (size_t p = 0; p < HF_LENGTH(published); p++) {
		double samples[5][2];
		struct hf_bench_case cases[5];
		struct hf_bench bench = { .ncases = 5, .cases = cases };

		for (size_t i = 0; i < 5; i++) {
			samples[i][0] = published[p].times[i] + 3;
			samples[i][1] = published[p].times[i];
			cases[i] = (struct hf_bench_case){
				.count = threads[i], .bytes = 200 * GIB, .nsamples = 2, .samples = samples[i]
			};
		}
		for (size_t i = 0; i < 5; i++) {
			struct hf_err err = { 0 };
			struct hf_bench_sum sum;
			char text[32];

			ok(hf_bench_sum(&bench, i, &sum, &err) == 0, "%s: sum", published[p].name);
			snprintf(text, sizeof(text), "%.2f", sum.speedup);
			is_text(text, published[p].speedups[i], "%s: speedup of %d", published[p].name,
				(int)threads[i]);
			ok(sum.min == published[p].times[i], "%s: minimum", published[p].name);
		}
	}
}

/* A baseline is of the same kind, size and stride only. */
static void check_baseline(void)
{
	double one = 8, other = 4, two = 2;
	struct hf_bench_case cases[] = {
		{ .kind = 1, .count = 1, .bytes = GIB, .nsamples = 1, .samples = &one },
		{ .kind = 1, .count = 1, .bytes = 2 * GIB, .nsamples = 1, .samples = &other },
		{ .kind = 2, .count = 2, .bytes = GIB, .nsamples = 1, .samples = &two },
		{ .kind = 1, .count = 2, .bytes = 2 * GIB, .nsamples = 1, .samples = &two },
		{ .kind = 1, .count = 2, .bytes = 2 * GIB, .stride = 4096, .nsamples = 1, .samples = &two },
	};
	const struct hf_bench bench = { .ncases = HF_LENGTH(cases), .cases = cases };
	struct hf_bench_sum sum;
	struct hf_err err = { 0 };

	ok(hf_bench_sum(&bench, 2, &sum, &err) == 0 && isnan(sum.speedup), "another kind is no baseline");
	ok(hf_bench_sum(&bench, 3, &sum, &err) == 0 && sum.speedup == 2, "of the same size: 4 s / 2 s");
	ok(hf_bench_sum(&bench, 4, &sum, &err) == 0 && isnan(sum.speedup), "another stride is no baseline");
	ok(isnan(sum.stdev) && sum.runs == 1, "one run has no stdev");
}

static void check_sum(void)
{
	double samples[SECONDS] = { 4, NAN, 2, 4, 4, 6 };
	struct hf_bench_case c = { .count = 1, .nsamples = SECONDS, .samples = samples };
	const struct hf_bench bench = { .ncases = 1, .cases = &c };
	struct hf_bench_sum sum;
	struct hf_err err = { 0 };

	ok(hf_bench_sum(&bench, 0, &sum, &err) == 0, "sum");
	is_u64(sum.runs, 5, "a sample that is none does not count");
	ok(sum.min == 2 && sum.median == 4 && sum.max == 6 && sum.mean == 4, "min, median, max, mean");
	ok(fabs(sum.stdev - sqrt(2)) < 1e-12, "stdev by n - 1: sqrt(8 / 4)");
	ok(samples[0] == 4 && samples[2] == 2, "the samples keep their order");
	c.nsamples = 0;
	ok(hf_bench_sum(&bench, 0, &sum, &err) == 0 && isnan(sum.min) && isnan(sum.median), "no samples");
}

static void check_enough(void)
{
	const double near[] = { 127.53, 41.30, 22.29, 13.50, 13.09 }, far[] = { 8, 4, 2, 1, 0.5 };
	const double nothing[] = { NAN, NAN };
	const uint64_t backwards[] = { 16, 8, 4, 2, 1 };
	const double flat[] = { 1, 1.04, 1.06, 1.02, 1.05 };

	is_u64(hf_bench_enough(threads, near, 5, 0.05), 8, "13.50 is within 5 %% of 13.09");
	is_u64(hf_bench_enough(threads, near, 5, 0.01), 16, "but not within 1 %%");
	is_u64(hf_bench_enough(threads, far, 5, 0.05), 16, "the best itself");
	is_u64(hf_bench_enough(backwards, flat, 5, 0.05), 1, "the smallest count, wherever it stands");
	is_u64(hf_bench_enough(threads, nothing, 2, 0.05), 0, "no times");
	is_u64(hf_bench_enough(threads, nothing, 0, 0.05), 0, "no counts");
}

static void check_percent(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f", hf_bench_saved(1943, 716));
	is_text(text, "63.15", "1943 ms, then 716");
	snprintf(text, sizeof(text), "%.1f", hf_bench_saved(3336, 1051));
	is_text(text, "68.5", "3336 ms, then 1051");
	ok(hf_bench_saved(100, 150) == -50, "lost");
	ok(hf_bench_change(100, 150) == 50 && hf_bench_change(100, 50) == -50, "change");
	ok(isnan(hf_bench_saved(0, 1)) && isnan(hf_bench_change(NAN, 1)), "of nothing");
}

static void check_init(void)
{
	static const struct {
		const char *cmdline;
		int value;
	} lines[] = {
		{ "", -1 },
		{ "ro quiet", -1 },
		{ "ro init_on_alloc=1 quiet", 1 },
		{ "init_on_alloc=0", 0 },
		{ "init_on_alloc=on", 1 },
		{ "init_on_alloc=off\n", 0 },
		{ "init_on_alloc=1 init_on_alloc=0", 0 },
		{ "my.init_on_alloc=1", -1 },
		{ "init_on_alloc=", -1 },
		{ "init_on_alloc=maybe", -1 },
	};

	for (size_t i = 0; i < HF_LENGTH(lines); i++)
		ok(hf_facts_init_on_alloc(lines[i].cmdline) == lines[i].value, "\"%s\": %d", lines[i].cmdline,
		   lines[i].value);
}

static void plan(struct hf_bench_request *request, const char *object, size_t ncases, uint64_t need,
		 uint64_t extra, const char *name)
{
	struct hf_bench bench = { .request = request };
	struct hf_err err = { 0 };
	int r;

	request->page_size = 2 << 20;
	request->runs = 3;
	hf_nodeset_add(&request->nodes, 0);
	hf_nodeset_add(&request->nodes, 1);
	r = hf_bench_plan(&bench, &err);
	if (object) {
		ok(r == -EINVAL && err.usage, "%s: refused", name);
		is_text(err.object, object, "%s: because of", name);
	} else {
		ok(r == 0, "%s: planned", name);
		is_u64(bench.ncases, ncases, "%s: cases", name);
		is_u64(bench.need, need, "%s: need", name);
		is_u64(bench.extra, extra, "%s: extra", name);
	}
	hf_bench_free(&bench);
}

static void check_plan(void)
{
	struct hf_bench_request fill = { .workload = HF_BENCH_FILL,
					 .sizes = { 2, { GIB, 2 * GIB } },
					 .counts = { 3, { 1, 2, 4 } },
					 .kinds = { 2, { HF_METHOD_POPULATE, HF_METHOD_TOUCH } } };
	struct hf_bench_request forks = { .workload = HF_BENCH_FORKFAULT,
					  .sizes = { 1, { GIB } },
					  .counts = { 2, { 1, 24 } },
					  .kinds = { 1, { HF_BENCH_SHARED_FILE } } };
	struct hf_bench_request pool = { .workload = HF_BENCH_POOL,
					 .sizes = { 1, { GIB } },
					 .counts = { 5, { 1, 2, 3, 4, 5 } } };
	struct hf_bench_request frees = { .workload = HF_BENCH_FREE,
					  .sizes = { 1, { GIB } },
					  .kinds = { 2, { HF_BENCH_PUNCH, HF_BENCH_SHRINK } } };
	struct hf_bench_request odd = fill, small = fill, stride = fill;

	plan(&fill, NULL, 12, 2 * GIB, 0, "fill");
	plan(&forks, NULL, 8, GIB, 0, "forkfault");
	plan(&pool, NULL, 7, 0, GIB, "pool");
	plan(&frees, NULL, 2, GIB, GIB, "free");
	odd.sizes.values[1] = 3 << 20;
	plan(&odd, "--size", 0, 0, 0, "no multiple of the page size");
	small.sizes.values[0] = 2 << 20;
	plan(&small, "--size", 0, 0, 0, "a page for two nodes");
	stride.workload = HF_BENCH_FAULT;
	stride.stride = 4 * GIB;
	plan(&stride, "--stride", 0, 0, 0, "a stride beyond the size");
}

static void check_keys(void)
{
	const struct hf_bench_request request = { .workload = HF_BENCH_FAULT, .page_size = 2 << 20 };
	const struct hf_bench bench = { .request = &request };
	const struct hf_bench_case c = {
		.mapping = HF_BENCH_PRIVATE_ANON, .count = 64, .bytes = 48 * GIB, .stride = 16 << 20
	};
	char key[HF_BENCH_KEY];

	is_text(hf_bench_key(&bench, &c, key),
		"fault/private-anon/private-anon/count=64/size=51539607552/stride=16777216/page=2097152",
		"key");
}

static void check_fits(void)
{
	struct hf_pool_node node = { .nr = 64, .free = 64 };
	struct hf_pool pool = { .page_size = 2 << 20, .nr = 64, .free = 64, .nnodes = 1, .nodes = &node };
	struct hf_machine machine = { .topo = { .mem_available = 3 * GIB }, .pools = { 1, &pool } };
	struct hf_bench_request request = { .page_size = 2 << 20, .headroom = GIB };
	struct hf_bench bench = { .request = &request, .machine = &machine };
	struct hf_err err = { 0 };

	bench.need = 2 * GIB + 64 * (2 << 20);
	ok(hf_bench_check(&bench, &err) == 0, "what the pool has and memory beside the headroom");
	bench.need += 2 << 20;
	ok(hf_bench_check(&bench, &err) == -ENOMEM, "a page more");
	has_text(err.what, "2176M", "names the largest size");
	bench.need = 0;
	bench.extra = 2 * GIB;
	err = (struct hf_err){ 0 };
	ok(hf_bench_check(&bench, &err) == 0, "growth by all of it");
	bench.extra += 2 << 20;
	ok(hf_bench_check(&bench, &err) == -ENOMEM, "growth finds nothing in the pool");
	has_text(err.what, "2G", "names the largest growth");
}

int main(void)
{
	check_speedups();
	check_baseline();
	check_sum();
	check_enough();
	check_percent();
	check_init();
	check_plan();
	check_keys();
	check_fits();
	return tap_done();
}
