/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodeset - a set of small numbers: NUMA nodes, and CPUs.
 *
 * Plain values, copied freely; zero-initialised is the empty set. Thread safe as values are.
 */
#ifndef HF_NODESET_H
#define HF_NODESET_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define HF_NODESET_MAX 8192 /* CONFIG_NR_CPUS of the largest x86 kernels; nodes end at 1024 */

struct hf_nodeset {
	uint64_t bits[HF_NODESET_MAX / 64];
};

/*
 * A list of numbers and ranges separated by `separator`: '+' in specs ("0-3+6"), ',' in the
 * kernel's files ("0-3,6"; an empty text is the empty set there, an error for '+'). Exactly len
 * bytes, a trailing newline is accepted for ','. Errors (usage): no number, a reversed range,
 * a number over HF_NODESET_MAX-1, a node named twice (for '+').
 */
int hf_nodeset_parse(const char *text, size_t len, char separator, struct hf_nodeset *out,
		     struct hf_err *err) _must_check _nonnull(1, 4, 5);

/* "0-3,6"; "" when empty. Cut at size. Returns buf. */
char *hf_nodeset_format(const struct hf_nodeset *set, char separator, char *buf, size_t size);

void hf_nodeset_add(struct hf_nodeset *set, unsigned id);
void hf_nodeset_remove(struct hf_nodeset *set, unsigned id);
bool hf_nodeset_has(const struct hf_nodeset *set, unsigned id);
unsigned hf_nodeset_count(const struct hf_nodeset *set);
bool hf_nodeset_is_empty(const struct hf_nodeset *set);
bool hf_nodeset_is_equal(const struct hf_nodeset *a, const struct hf_nodeset *b);

/* The smallest member >= from, or -1: for (int n = hf_nodeset_next(&s, 0); n >= 0; n = hf_nodeset_next(&s, n
 * + 1)) */
int hf_nodeset_next(const struct hf_nodeset *set, unsigned from);

/* a and b, into out (which may be either). */
void hf_nodeset_and(const struct hf_nodeset *a, const struct hf_nodeset *b, struct hf_nodeset *out);

#endif
