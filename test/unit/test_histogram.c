/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "../../lib/histogram.h"
#include "tap.h"

#define BAR_FULL "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define BAR_HALF "@@@@@@@@@@@@@@@@@@@@@@@@@@                          "
#define BAR_NONE "                                                    "

static void add_many(struct hf_histogram *histogram, uint64_t ns, unsigned times)
{
	while (times--)
		hf_histogram_add(histogram, ns);
}

static void test_buckets(void)
{
	static const struct {
		uint64_t ns;
		unsigned bucket;
	} cases[] = {
		{ 0, 0 },    { 1, 1 },     { 2, 2 },     { 3, 2 },           { 4, 3 },           { 511, 9 },
		{ 512, 10 }, { 1023, 10 }, { 1024, 11 }, { 1ULL << 63, 64 }, { UINT64_MAX, 64 },
	};

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		struct hf_histogram histogram = { 0 };

		hf_histogram_add(&histogram, cases[i].ns);
		is_u64(histogram.buckets[cases[i].bucket], 1, "%llu ns is in bucket %u",
		       (unsigned long long)cases[i].ns, cases[i].bucket);
		ok(hf_histogram_percentile(&histogram, 50) == (double)cases[i].ns,
		   "one value is every percentile");
	}
}

static void test_merge(void)
{
	struct hf_histogram a = { 0 }, b = { 0 }, all = { 0 }, sum = { 0 };

	add_many(&a, 100, 3);
	add_many(&b, 7, 2);
	add_many(&b, 5000, 1);
	add_many(&all, 100, 3);
	add_many(&all, 7, 2);
	add_many(&all, 5000, 1);
	hf_histogram_merge(&sum, &a);
	hf_histogram_merge(&sum, &b);
	ok(memcmp(&sum, &all, sizeof(sum)) == 0, "merging is as adding to one");
	is_u64(sum.min, 7, "min of both");
	is_u64(sum.max, 5000, "max of both");
	is_u64(sum.sum, 5314, "sum of both");
	b = (struct hf_histogram){ 0 };
	hf_histogram_merge(&sum, &b);
	ok(memcmp(&sum, &all, sizeof(sum)) == 0, "merging an empty one changes nothing");
	is_u64(a.count, 3, "what was merged stays as it was");
}

static void test_percentile(void)
{
	struct hf_histogram histogram = { 0 };
	static const struct {
		double percent, want;
	} cases[] = {
		/* 50 values in [512, 1024), 40 in [1024, 2048), 10 in [4096, 8192), seen 600 to 5000 */
		{ 0, 600 },   { 25, 812 },   { 50, 1024 }, { 70, 1536 },  { 90, 2048 },
		{ 95, 4548 }, { 100, 5000 }, { -5, 600 },  { 200, 5000 },
	};

	ok(isnan(hf_histogram_percentile(&histogram, 50)), "no percentile of nothing");
	add_many(&histogram, 600, 25);
	add_many(&histogram, 1000, 25);
	add_many(&histogram, 1500, 40);
	add_many(&histogram, 5000, 10);
	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		double got = hf_histogram_percentile(&histogram, cases[i].percent);

		ok(fabs(got - cases[i].want) < 1e-6, "percentile %g is %g", cases[i].percent, got);
	}
}

static void test_percentile_huge(void)
{
	struct hf_histogram histogram = { 0 };

	histogram.buckets[3] = UINT64_MAX / 2;
	histogram.buckets[10] = 1;
	histogram.count = UINT64_MAX / 2 + 1;
	histogram.min = 5;
	histogram.max = 700;
	ok(hf_histogram_percentile(&histogram, 100) <= 700, "counts beyond a double's digits");
	histogram.count = UINT64_MAX;
	ok(hf_histogram_percentile(&histogram, 100) == 700,
	   "a count that does not add up ends at the largest");
}

static const char *printed(const struct hf_histogram *histogram, char *buf, size_t size)
{
	FILE *out = fmemopen(buf, size, "w");

	buf[0] = '\0';
	hf_histogram_print(histogram, out);
	fclose(out);
	return buf;
}

static void test_print(void)
{
	struct hf_histogram histogram = { 0 };
	char buf[8192];

	is_text(printed(&histogram, buf, sizeof(buf)), "", "nothing of nothing");
	add_many(&histogram, 300, 2);
	add_many(&histogram, 1500, 4);
	is_text(printed(&histogram, buf, sizeof(buf)),
		"[256, 512)             2 |" BAR_HALF "|\n"
		"[512, 1K)              0 |" BAR_NONE "|\n"
		"[1K, 2K)               4 |" BAR_FULL "|\n",
		"first to last bucket in use, those between too");
	histogram = (struct hf_histogram){ 0 };
	add_many(&histogram, 0, 1);
	add_many(&histogram, 1, 200);
	add_many(&histogram, 2, 100);
	is_text(printed(&histogram, buf, sizeof(buf)),
		"[0]                    1 |" BAR_NONE "|\n"
		"[1]                  200 |" BAR_FULL "|\n"
		"[2, 4)               100 |" BAR_HALF "|\n",
		"0 and 1 stand alone; a bar below half a column is none");
}

static void test_print_wide(void)
{
	struct hf_histogram histogram = { 0 };
	char buf[8192];

	add_many(&histogram, 600ULL << 20, 1);
	add_many(&histogram, UINT64_MAX, 1);
	has_text(printed(&histogram, buf, sizeof(buf)), "[512M, 1G)             1 |" BAR_FULL "|\n",
		 "a bucket over a unit's limit");
	has_text(buf, "[8E, 16E)              1 |" BAR_FULL "|\n", "the last bucket");
	histogram = (struct hf_histogram){ 0 };
	add_many(&histogram, 4, 1);
	add_many(&histogram, 8, 1);
	histogram.buckets[4] = 12345678901;
	is_text(printed(&histogram, buf, sizeof(buf)),
		"[4, 8)                    1 |" BAR_NONE "|\n"
		"[8, 16)         12345678901 |" BAR_FULL "|\n",
		"counts of many digits keep the bars aligned");
	histogram.buckets[3] = histogram.buckets[4] = UINT64_MAX;
	has_text(printed(&histogram, buf, sizeof(buf)),
		 "[8, 16)         18446744073709551615 |" BAR_FULL "|\n", "the largest count");
}

int main(void)
{
	test_buckets();
	test_merge();
	test_percentile();
	test_percentile_huge();
	test_print();
	test_print_wide();
	return tap_done();
}
