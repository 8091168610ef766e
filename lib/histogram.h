/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * histogram - how often an operation took how long, in power-of-two buckets of nanoseconds.
 *
 * Plain values: zeroed is empty, copied freely. No locks: each worker fills its own, they are
 * merged when the workers are done. Workers' structs belong on cache lines of their own.
 */
#ifndef HF_HISTOGRAM_H
#define HF_HISTOGRAM_H

#include <stdint.h>

#include "util.h"

/* Bucket 0 counts the value 0, bucket i the values from 2^(i-1) to 2^i - 1. */
#define HF_HISTOGRAM_BUCKETS 65

struct hf_histogram {
	uint64_t buckets[HF_HISTOGRAM_BUCKETS];
	uint64_t count;
	uint64_t sum;      /* ns; mean = sum / count */
	uint64_t min, max; /* ns; meaningless while count is 0 */
};

void hf_histogram_add(struct hf_histogram *histogram, uint64_t ns) _nonnull(1);

/* Adds what from has seen to into; from stays as it is. */
void hf_histogram_merge(struct hf_histogram *into, const struct hf_histogram *from) _nonnull(1, 2);

/*
 * The time in ns that percent (0 to 100) of the values do not exceed; NAN when empty. An estimate:
 * the bucket that holds the rank percent/100 * count is found, and its values are taken to be
 * spread evenly over it, between its limits or, where tighter, the smallest and largest value
 * seen. 0 and 100 percent are therefore exact; others are off by less than a factor of two.
 */
double hf_histogram_percentile(const struct hf_histogram *histogram, double percent) _nonnull(1);

/*
 * A line per bucket, from the first to the last that is not empty, in the layout of bpftrace's
 * hist(): limits with K, M, G, T, P, E as powers of 1024, count, a bar of 52 columns for the
 * fullest bucket. The caller checks the stream. Nothing when empty.
 */
void hf_histogram_print(const struct hf_histogram *histogram, FILE *out) _nonnull(1, 2);

#endif
