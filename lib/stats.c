/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats.h"

#include <math.h>
#include <stdlib.h>

void hf_stats_add(struct hf_stats *stats, double value)
{
	double delta = value - stats->mean;

	if (stats->count == 0 || value < stats->min)
		stats->min = value;
	if (stats->count == 0 || value > stats->max)
		stats->max = value;
	stats->count++;
	stats->mean += delta / (double)stats->count;
	stats->m2 += delta * (value - stats->mean);
}

double hf_stats_stdev(const struct hf_stats *stats)
{
	if (stats->count < 2)
		return NAN;
	return sqrt(stats->m2 / (double)(stats->count - 1));
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double hf_stats_median(double *values, size_t count)
{
	if (count == 0)
		return NAN;
	qsort(values, count, sizeof(*values), compare);
	if (count % 2)
		return values[count / 2];
	/* Halved first: the sum of two large values could overflow. */
	return values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

double hf_stats_speedup(double baseline, double time)
{
	return baseline > 0 && time > 0 ? baseline / time : NAN;
}
