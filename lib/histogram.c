/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "histogram.h"

#include <inttypes.h>
#include <math.h>

#define LABEL_COLUMNS 16
#define LABEL_TEXT 32
#define COUNT_COLUMNS 8
#define BAR_COLUMNS 52

static unsigned bucket_of(uint64_t ns)
{
	return ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;
}

void hf_histogram_add(struct hf_histogram *histogram, uint64_t ns)
{
	if (histogram->count == 0 || ns < histogram->min)
		histogram->min = ns;
	if (histogram->count == 0 || ns > histogram->max)
		histogram->max = ns;
	histogram->buckets[bucket_of(ns)]++;
	histogram->count++;
	histogram->sum += ns;
}

void hf_histogram_merge(struct hf_histogram *into, const struct hf_histogram *from)
{
	if (from->count == 0)
		return;
	if (into->count == 0 || from->min < into->min)
		into->min = from->min;
	if (into->count == 0 || from->max > into->max)
		into->max = from->max;
	for (unsigned i = 0; i < HF_HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	into->count += from->count;
	into->sum += from->sum;
}

double hf_histogram_percentile(const struct hf_histogram *histogram, double percent)
{
	double rank = fmin(fmax(percent, 0), 100) / 100 * (double)histogram->count;
	double below = 0, low, high;
	unsigned i = 0;

	if (histogram->count == 0)
		return NAN;
	while (histogram->buckets[i] == 0 || below + (double)histogram->buckets[i] < rank) {
		/* Rounding of huge counts must not lead past the last bucket in use. */
		if (i == bucket_of(histogram->max))
			return (double)histogram->max;
		below += (double)histogram->buckets[i++];
	}
	low = fmax(i ? ldexp(1, (int)i - 1) : 0, (double)histogram->min);
	high = fmin(i ? ldexp(1, (int)i) : 0, (double)histogram->max);
	return low + (high - low) * ((rank - below) / (double)histogram->buckets[i]);
}

/* 2^power as bpftrace writes it: "512", "1K", "16E". */
static const char *limit_text(unsigned power, char buf[static 8])
{
	static const char units[][2] = { "", "K", "M", "G", "T", "P", "E" };

	snprintf(buf, 8, "%u%s", 1U << power % 10, units[power / 10]);
	return buf;
}

static void bucket_text(unsigned i, char buf[static LABEL_TEXT])
{
	char low[8], high[8];

	if (i < 2)
		snprintf(buf, LABEL_TEXT, "[%u]", i);
	else
		snprintf(buf, LABEL_TEXT, "[%s, %s)", limit_text(i - 1, low), limit_text(i, high));
}

void hf_histogram_print(const struct hf_histogram *histogram, FILE *out)
{
	static const char bar[] = "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";
	unsigned first = bucket_of(histogram->min), last = bucket_of(histogram->max);
	char label[LABEL_TEXT];
	uint64_t fullest = 0;
	int width;

	_Static_assert(sizeof(bar) == BAR_COLUMNS + 1, "a full bar");
	if (histogram->count == 0)
		return;
	for (unsigned i = first; i <= last; i++)
		if (histogram->buckets[i] > fullest)
			fullest = histogram->buckets[i];
	width = snprintf(NULL, 0, "%" PRIu64, fullest);
	if (width < COUNT_COLUMNS)
		width = COUNT_COLUMNS;
	for (unsigned i = first; i <= last; i++) {
		uint64_t n = histogram->buckets[i];
		int columns = (int)((long double)n * BAR_COLUMNS / (long double)fullest);

		bucket_text(i, label);
		fprintf(out, "%-*s%*" PRIu64 " |%-*.*s|\n", LABEL_COLUMNS, label, width, n, BAR_COLUMNS,
			columns, bar);
	}
}
