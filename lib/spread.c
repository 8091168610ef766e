/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spread.h"

#include <stdbool.h>

void hf_spread_even(uint64_t total, size_t count, uint64_t *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = total / count + (i < total % count);
}

static uint64_t room(const uint64_t *level, const uint64_t *limit, size_t i)
{
	if (!limit)
		return UINT64_MAX - level[i];
	return limit[i] > level[i] ? limit[i] - level[i] : 0;
}

uint64_t hf_spread_rise(uint64_t total, size_t count, uint64_t *level, const uint64_t *limit)
{
	while (total) {
		uint64_t lowest = UINT64_MAX, above = UINT64_MAX, step;
		size_t members = 0;

		for (size_t i = 0; i < count; i++)
			if (room(level, limit, i) && level[i] < lowest)
				lowest = level[i];
		if (lowest == UINT64_MAX)
			return total;
		/* Everybody at the lowest level rises to the next level, or to the first limit. */
		for (size_t i = 0; i < count; i++) {
			uint64_t stop = level[i];

			if (!room(level, limit, i))
				continue;
			if (level[i] == lowest) {
				members++;
				stop += room(level, limit, i);
			}
			if (stop < above)
				above = stop;
		}
		step = total / members < above - lowest ? total / members : above - lowest;
		for (size_t i = 0; i < count && total; i++) {
			uint64_t add = step ? step : 1;

			if (level[i] != lowest || !room(level, limit, i))
				continue;
			level[i] += add;
			total -= add;
		}
	}
	return 0;
}

struct weighted {
	uint64_t total;
	unsigned __int128 sum;
	const uint64_t *weight;
};

/* What is left of i's exact share after its whole units; nothing once it got more than those. */
static unsigned __int128 owed(const struct weighted *w, size_t i, uint64_t given)
{
	unsigned __int128 exact = (unsigned __int128)w->total * w->weight[i];

	return given > (uint64_t)(exact / w->sum) ? 0 : exact % w->sum;
}

/* The index that is owed most and has room; a tie: the lower one; count: nobody has room. */
static size_t most_owed(const struct weighted *w, size_t count, const uint64_t *out)
{
	size_t best = count;

	for (size_t i = 0; i < count; i++)
		if (out[i] < w->weight[i] && (best == count || owed(w, i, out[i]) > owed(w, best, out[best])))
			best = i;
	return best;
}

/* The units that were given to those who would get none come from the largest; returns what is left. */
static uint64_t pay_back(const struct weighted *w, size_t count, uint64_t *out)
{
	uint64_t given = 0;

	for (size_t i = 0; i < count; i++)
		given += out[i];
	while (given > w->total) {
		size_t largest = 0;

		for (size_t i = 1; i < count; i++)
			if (out[i] > out[largest])
				largest = i;
		out[largest]--;
		given--;
	}
	return w->total - given;
}

void hf_spread_weighted(uint64_t total, size_t count, const uint64_t *weight, uint64_t *out)
{
	struct weighted w = { .total = total, .weight = weight };
	size_t busy = 0, next;
	uint64_t left;

	for (size_t i = 0; i < count; i++) {
		w.sum += weight[i];
		busy += weight[i] != 0;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t whole = w.sum ? (uint64_t)((unsigned __int128)total * weight[i] / w.sum) : 0;

		out[i] = whole || !weight[i] || total < busy ? whole : 1;
		if (out[i] > weight[i])
			out[i] = weight[i];
	}
	left = pay_back(&w, count, out);
	while (left-- && (next = most_owed(&w, count, out)) < count)
		out[next]++;
}
