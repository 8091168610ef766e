/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats - the arithmetic of the tables. Pure; values are caller-owned.
 *
 * stdev is the sample standard deviation (n - 1); of fewer than two values it is NAN, which tables
 * show as blank.
 */
#ifndef HF_STATS_H
#define HF_STATS_H

#include <stddef.h>
#include <stdint.h>

/* Running mean and variance (Welford), for values that come one by one. Zeroed: no value yet. */
struct hf_stats {
	uint64_t count;
	double mean;
	double m2; /* sum of squared distances from the mean */
	double min, max;
};

void hf_stats_add(struct hf_stats *stats, double value);
double hf_stats_stdev(const struct hf_stats *stats);

/* Sorts values in place. Of an even count the mean of the middle two; of none NAN. */
double hf_stats_median(double *values, size_t count);

/* baseline / time: how many times as fast. NAN where either is not positive. */
double hf_stats_speedup(double baseline, double time);

#endif
