/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../lib/spread.h"
#include "../../lib/util.h"
#include "tap.h"

#define MOST 8
#define LARGEST ((uint64_t)INT64_MAX)

/* "4,3,3" */
static const char *show(const uint64_t *values, size_t count, char buf[256])
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < count && used < 224; i++)
		used += (size_t)snprintf(buf + used, 256 - used, "%s%llu", i ? "," : "",
					 (unsigned long long)values[i]);
	return buf;
}

static void test_even(void)
{
	static const struct {
		uint64_t total;
		size_t count;
		const char *want;
	} t[] = {
		{ 0, 3, "0,0,0" },         { 10, 1, "10" },
		{ 10, 2, "5,5" },          { 10, 3, "4,3,3" },
		{ 11, 3, "4,4,3" },        { 2, 4, "1,1,0,0" },
		{ 512, 3, "171,171,170" }, { LARGEST, 2, "4611686018427387904,4611686018427387903" },
	};
	uint64_t out[MOST];
	char buf[256];

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		hf_spread_even(t[i].total, t[i].count, out);
		is_text(show(out, t[i].count, buf), t[i].want, "%llu over %zu",
			(unsigned long long)t[i].total, t[i].count);
	}
}

static void test_rise(void)
{
	static const struct {
		const char *name;
		uint64_t total;
		size_t count;
		uint64_t level[MOST], limit[MOST]; /* limit[0] == UINT64_MAX: none at all */
		const char *want;
		uint64_t rest;
	} t[] = {
		{ "nothing to add", 0, 2, { 5, 1 }, { UINT64_MAX }, "5,1", 0 },
		{ "flat, no limit", 10, 3, { 0 }, { UINT64_MAX }, "4,3,3", 0 },
		{ "the lowest first", 3, 3, { 5, 2, 9 }, { UINT64_MAX }, "5,5,9", 0 },
		{ "then even", 7, 3, { 5, 2, 9 }, { UINT64_MAX }, "7,7,9", 0 },
		{ "the remainder on the lowest index", 8, 3, { 5, 2, 9 }, { UINT64_MAX }, "8,7,9", 0 },
		{ "beyond the highest", 20, 3, { 5, 2, 9 }, { UINT64_MAX }, "12,12,12", 0 },
		{ "a limit is kept", 9, 2, { 0, 0 }, { 2, 100 }, "2,7", 0 },
		{ "limits that differ",
		  512,
		  8,
		  { 0 },
		  { 0, 512, 24, 2048, 0, 3596, 0, 7 },
		  "0,161,24,160,0,160,0,7",
		  0 },
		{ "what finds no room", 10, 3, { 1, 1, 1 }, { 2, 1, 4 }, "2,1,4", 6 },
		{ "no room at all", 5, 2, { 3, 3 }, { 3, 0 }, "3,3", 5 },
		{ "a level above its limit stays", 4, 2, { 9, 0 }, { 3, 10 }, "9,4", 0 },
		{ "a full one does not hold the others", 3, 3, { 0, 5, 5 }, { 0, 9, 9 }, "0,7,6", 0 },
		{ "huge",
		  LARGEST,
		  2,
		  { 0, 0 },
		  { UINT64_MAX },
		  "4611686018427387904,4611686018427387903",
		  0 },
		{ "huge levels", 5, 2, { LARGEST - 4, 0 }, { LARGEST, LARGEST }, "9223372036854775803,5", 0 },
		{ "huge limits",
		  LARGEST,
		  2,
		  { LARGEST - 1, 0 },
		  { LARGEST, 0 },
		  "9223372036854775807,0",
		  LARGEST - 1 },
	};
	uint64_t level[MOST], rest;
	char buf[256];

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		memcpy(level, t[i].level, sizeof(level));
		rest = hf_spread_rise(t[i].total, t[i].count, level,
				      t[i].limit[0] == UINT64_MAX ? NULL : t[i].limit);
		is_text(show(level, t[i].count, buf), t[i].want, "rise: %s", t[i].name);
		is_u64(rest, t[i].rest, "rise: %s, the rest", t[i].name);
	}
}

static void test_weighted(void)
{
	static const struct {
		const char *name;
		uint64_t total;
		size_t count;
		uint64_t weight[MOST];
		const char *want;
	} t[] = {
		{ "even", 8, 2, { 100, 100 }, "4,4" },
		{ "by weight", 8, 2, { 300, 100 }, "6,2" },
		{ "the largest remainder", 10, 3, { 55, 27, 18 }, "5,3,2" },
		{ "a tie: the lower index", 3, 2, { 10, 10 }, "2,1" },
		{ "one", 1, 3, { 5, 9, 5 }, "0,1,0" },
		{ "none for no weight", 7, 3, { 10, 0, 10 }, "4,0,3" },
		{ "all weights nothing", 7, 2, { 0, 0 }, "0,0" },
		{ "nothing to give", 0, 2, { 3, 3 }, "0,0" },
		{ "at least one", 4, 2, { 1000, 1 }, "3,1" },
		{ "at least one, and never more than the total", 3, 3, { 1000, 1, 1 }, "1,1,1" },
		{ "the large share pays for the small ones", 10, 5, { 1000, 1, 1, 1, 1 }, "6,1,1,1,1" },
		{ "the same, the large one last", 4, 3, { 1, 1, 2048 }, "1,1,2" },
		{ "fewer than shares", 2, 3, { 10, 30, 20 }, "0,1,1" },
		{ "no more than the weight", 9, 3, { 2, 1, 3 }, "2,1,3" },
		{ "what one cannot take the others get", 8, 2, { 1, 100 }, "1,7" },
		{ "huge weights", 3, 2, { LARGEST, LARGEST }, "2,1" },
	};
	uint64_t out[MOST];
	char buf[256];

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		memset(out, 0xff, sizeof(out));
		hf_spread_weighted(t[i].total, t[i].count, t[i].weight, out);
		is_text(show(out, t[i].count, buf), t[i].want, "weighted: %s", t[i].name);
	}
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* What holds for every input; the first violation is told. */
static const char *violation(uint64_t total, size_t count, const uint64_t *weight, const uint64_t *out)
{
	uint64_t sum = 0, room = 0;
	size_t busy = 0;

	for (size_t i = 0; i < count; i++) {
		sum += out[i];
		room += weight[i];
		busy += weight[i] != 0;
		if (out[i] > weight[i])
			return "more than the weight";
	}
	for (size_t i = 0; i < count; i++)
		if (total >= busy && weight[i] && !out[i])
			return "nothing for a share";
	if (sum != (total < room ? total : room))
		return "the sum is not the total";
	return NULL;
}

static void test_weighted_always(void)
{
	uint64_t seed = 20, weight[MOST], out[MOST];
	const char *found = NULL;
	char weights[256], outs[256];

	for (unsigned round = 0; round < 20000 && !found; round++) {
		size_t count = 1 + next(&seed) % MOST;
		uint64_t total = next(&seed) % 40;

		for (size_t i = 0; i < count; i++) {
			weight[i] = next(&seed) % (round % 3 ? 5000 : 8);
			if (next(&seed) % 4 == 0)
				weight[i] = next(&seed) % 2;
		}
		hf_spread_weighted(total, count, weight, out);
		found = violation(total, count, weight, out);
		if (found)
			printf("# %llu over %s: %s\n", (unsigned long long)total,
			       show(weight, count, weights), show(out, count, outs));
	}
	ok(!found, "weighted: the rules hold for 20000 inputs%s%s", found ? ": " : "", found ? found : "");
}

int main(void)
{
	test_even();
	test_rise();
	test_weighted();
	test_weighted_always();
	return tap_done();
}
