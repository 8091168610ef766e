/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rank - whether two sets of measurements differ by more than their noise: the Mann-Whitney U test,
 * two-sided. It asks nothing of how the times are distributed. Pure.
 */
#ifndef HF_RANK_H
#define HF_RANK_H

#include <stdbool.h>

#include "util.h"

/* Below this probability of chance a difference counts as one. */
#define HF_RANK_LEVEL 0.05

enum hf_rank_method {
	HF_RANK_TOO_FEW, /* not even two sets without any overlap would reach the level */
	HF_RANK_EXACT,   /* every order of the values counted: up to 20 a side, no two equal */
	HF_RANK_NORMAL,  /* normal approximation, corrected for ties and continuity */
};

struct hf_rank {
	enum hf_rank_method method;
	double u; /* how often a value of a is above one of b; equal ones count half */
	double p; /* probability of such a difference, or a larger one, by chance; NAN: too few */
};

/* "exact", "normal"; "too few runs". */
const char *hf_rank_method_name(enum hf_rank_method method);

/* -ENOMEM, or 0. */
int hf_rank_compare(const double *a, size_t na, const double *b, size_t nb, struct hf_rank *rank) _must_check
	_nonnull(5);

#endif
