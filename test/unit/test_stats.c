/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "../../lib/stats.h"
#include "../../lib/util.h"
#include "tap.h"

static bool near(double got, double want)
{
	if (isnan(want))
		return isnan(got);
	return fabs(got - want) <= 1e-9 * fmax(1, fabs(want));
}

static const struct {
	const char *name;
	double values[8];
	size_t count;
	double mean, stdev, median, min, max;
} samples[] = {
	{ "one value", { 3 }, 1, 3, NAN, 3, 3, 3 },
	{ "two values", { 4, 2 }, 2, 3, M_SQRT2, 3, 2, 4 },
	{ "equal values", { 7, 7, 7 }, 3, 7, 0, 7, 7, 7 },
	{ "odd, unsorted", { 9, 1, 5 }, 3, 5, 4, 5, 1, 9 },
	{ "even, unsorted", { 2, 9, 4, 7, 5, 4, 5, 4 }, 8, 5, 2.1380899352993952, 4.5, 2, 9 },
	{ "below zero", { -1, -3 }, 2, -2, M_SQRT2, -2, -3, -1 },
	/* The naive sum of squares loses the variance of these. */
	{ "large offset",
	  { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 },
	  4,
	  1e9 + 10,
	  5.4772255750516612,
	  1e9 + 10,
	  1e9 + 4,
	  1e9 + 16 },
	{ "largest", { 1.7e308, 1.7e308 }, 2, 1.7e308, 0, 1.7e308, 1.7e308, 1.7e308 },
};

static void test_samples(void)
{
	for (size_t i = 0; i < HF_LENGTH(samples); i++) {
		struct hf_stats stats = { 0 };
		double values[8];

		memcpy(values, samples[i].values, sizeof(values));
		for (size_t v = 0; v < samples[i].count; v++)
			hf_stats_add(&stats, values[v]);
		is_u64(stats.count, samples[i].count, "%s: count", samples[i].name);
		ok(near(stats.mean, samples[i].mean), "%s: mean %g", samples[i].name, stats.mean);
		ok(near(hf_stats_stdev(&stats), samples[i].stdev), "%s: stdev %.17g", samples[i].name,
		   hf_stats_stdev(&stats));
		ok(near(stats.min, samples[i].min) && near(stats.max, samples[i].max), "%s: min %g, max %g",
		   samples[i].name, stats.min, stats.max);
		ok(near(hf_stats_median(values, samples[i].count), samples[i].median), "%s: median",
		   samples[i].name);
	}
}

static void test_nothing(void)
{
	struct hf_stats stats = { 0 };
	double values[] = { 3, 1, 2 };

	ok(isnan(hf_stats_stdev(&stats)), "stdev of nothing is NAN");
	ok(isnan(hf_stats_median(values, 0)), "median of nothing is NAN");
	hf_stats_median(values, 3);
	ok(values[0] < values[1] && values[1] < values[2], "median leaves the values sorted");
}

static void test_speedup(void)
{
	static const struct {
		double baseline, time, want;
	} cases[] = {
		{ 8, 2, 4 },    { 2, 8, 0.25 }, { 0, 2, NAN },   { 2, 0, NAN },   { 0, 0, NAN },
		{ -1, 2, NAN }, { 2, -1, NAN }, { NAN, 2, NAN }, { 2, NAN, NAN },
	};

	for (size_t i = 0; i < HF_LENGTH(cases); i++)
		ok(near(hf_stats_speedup(cases[i].baseline, cases[i].time), cases[i].want), "speedup %g / %g",
		   cases[i].baseline, cases[i].time);
}

int main(void)
{
	test_samples();
	test_nothing();
	test_speedup();
	return tap_done();
}
