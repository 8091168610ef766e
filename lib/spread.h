/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread - how a number of pages, or of threads, is divided over nodes. Pure arithmetic on
 * caller-owned arrays; nothing overflows below 2^63.
 */
#ifndef HF_SPREAD_H
#define HF_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* total into out[count], evenly, the remainder on the lowest. count > 0. */
void hf_spread_even(uint64_t total, size_t count, uint64_t *out);

/*
 * Adds `total` to level[count] so that the lowest rise first and end as even as can be, the
 * remainder on the lowest index; no level rises above limit[i] (NULL: no limit). Returns what found
 * no room.
 */
uint64_t hf_spread_rise(uint64_t total, size_t count, uint64_t *level, const uint64_t *limit);

/*
 * `total` units over count shares by weight, largest remainder first (a tie: the lower index), at
 * least one for each weight that is not zero when total allows it, none for a weight of zero, and
 * no more than the weight itself.
 */
void hf_spread_weighted(uint64_t total, size_t count, const uint64_t *weight, uint64_t *out);

#endif
