/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_sum - what a bench's samples come to. Pure arithmetic, thread safe.
 *
 * stdev is the sample standard deviation (n - 1). Speedup is by minimum times, over the case that
 * differs only by its count, which is 1. Samples that are NAN count as none.
 */
#ifndef HF_BENCH_SUM_H
#define HF_BENCH_SUM_H

#include "bench.h"

struct hf_bench_sum {
	size_t runs; /* samples that count */
	double min, median, max, mean, stdev;
	double speedup; /* NAN: of count 1, or nothing to compare with */
};

int hf_bench_sum(const struct hf_bench *bench, size_t index, struct hf_bench_sum *sum,
		 struct hf_err *err) _must_check _nonnull(1, 3, 4);

/* The case of the same kind, mapping, bytes and stride with this count; NULL: there is none. */
const struct hf_bench_case *hf_bench_like(const struct hf_bench *bench, const struct hf_bench_case *c,
					  unsigned kind, uint64_t count);

/* The smallest count whose time is within `share` (0.05) of the best; 0 where there are no times. */
uint64_t hf_bench_enough(const uint64_t *counts, const double *times, size_t n, double share);

/* (before - after) / before, in percent; NAN where before is not positive. */
double hf_bench_saved(double before, double after);
/* (after - before) / before, in percent. */
double hf_bench_change(double before, double after);

#endif
