/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_sum.h"

#include <math.h>

#include "stats.h"

static double least(const struct hf_bench_case *c)
{
	double min = NAN;

	for (size_t i = 0; i < c->nsamples; i++)
		min = fmin(min, c->samples[i]); /* of a number and NAN the number */
	return min;
}

const struct hf_bench_case *hf_bench_like(const struct hf_bench *bench, const struct hf_bench_case *c,
					  unsigned kind, uint64_t count)
{
	for (size_t i = 0; i < bench->ncases; i++) {
		const struct hf_bench_case *other = &bench->cases[i];

		if (other->kind == kind && other->mapping == c->mapping && other->bytes == c->bytes &&
		    other->stride == c->stride && other->count == count)
			return other;
	}
	return NULL;
}

int hf_bench_sum(const struct hf_bench *bench, size_t index, struct hf_bench_sum *sum, struct hf_err *err)
{
	const struct hf_bench_case *c = &bench->cases[index], *one;
	_cleanup_free_ double *sorted = calloc(c->nsamples + 1, sizeof(*sorted));
	struct hf_stats stats = { 0 };

	if (!sorted)
		return hf_err_nomem(err);
	for (size_t i = 0; i < c->nsamples; i++) {
		if (isnan(c->samples[i]))
			continue;
		sorted[stats.count] = c->samples[i];
		hf_stats_add(&stats, c->samples[i]);
	}
	*sum = (struct hf_bench_sum){ .runs = stats.count,
				      .min = stats.count ? stats.min : NAN,
				      .median = hf_stats_median(sorted, stats.count),
				      .max = stats.count ? stats.max : NAN,
				      .mean = stats.count ? stats.mean : NAN,
				      .stdev = hf_stats_stdev(&stats),
				      .speedup = NAN };
	one = c->count > 1 ? hf_bench_like(bench, c, c->kind, 1) : NULL;
	if (one)
		sum->speedup = hf_stats_speedup(least(one), sum->min);
	return 0;
}

uint64_t hf_bench_enough(const uint64_t *counts, const double *times, size_t n, double share)
{
	double best = NAN;
	uint64_t enough = 0;

	for (size_t i = 0; i < n; i++)
		best = fmin(best, times[i]);
	for (size_t i = 0; i < n; i++)
		if (times[i] <= best * (1 + share) && (!enough || counts[i] < enough))
			enough = counts[i];
	return enough;
}

double hf_bench_saved(double before, double after)
{
	return before > 0 ? (before - after) / before * 100 : NAN;
}

double hf_bench_change(double before, double after)
{
	return before > 0 ? (after - before) / before * 100 : NAN;
}
