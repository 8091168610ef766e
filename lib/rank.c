/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rank.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define EXACT_MOST 20 /* values a side */

const char *hf_rank_method_name(enum hf_rank_method method)
{
	static const char *const names[] = { "too few runs", "exact", "normal" };

	return names[method];
}

/* How many ways there are to choose k of n. */
static double choose(size_t n, size_t k)
{
	double ways = 1;

	for (size_t i = 1; i <= k; i++)
		ways *= (double)(n - k + i) / (double)i;
	return ways;
}

static double count_u(const double *a, size_t na, const double *b, size_t nb)
{
	double u = 0;

	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
	return u;
}

/*
 * ways[k][s]: how many sets of k of the ranks 1 to n have the sum s. Of the sets of na ranks, those
 * whose sum is as far from the middle as u's.
 */
static int exact(size_t na, size_t nb, double u, double *p)
{
	size_t n = na + nb, sums = n * (n + 1) / 2 + 1, sum = (size_t)u + na * (na + 1) / 2;
	_cleanup_free_ double *ways = calloc((na + 1) * sums, sizeof(*ways));
	double below = 0, above = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t k = rank < na ? rank : na; k > 0; k--)
			for (size_t s = sums - 1; s >= rank; s--)
				ways[k * sums + s] += ways[(k - 1) * sums + s - rank];
	for (size_t s = 0; s < sums; s++) {
		below += s <= sum ? ways[na * sums + s] : 0;
		above += s >= sum ? ways[na * sums + s] : 0;
	}
	*p = fmin(1, 2 * fmin(below, above) / choose(n, na));
	return 0;
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

/* The sum of t^3 - t over the groups of t equal values. */
static double count_ties(double *all, size_t n)
{
	double sum = 0;

	qsort(all, n, sizeof(*all), by_value);
	for (size_t i = 0, j; i < n; i = j) {
		double t;

		for (j = i; j < n && all[j] == all[i]; j++)
			;
		t = (double)(j - i);
		sum += t * t * t - t;
	}
	return sum;
}

static double normal(size_t na, size_t nb, double u, double ties)
{
	double n = (double)(na + nb), product = (double)na * (double)nb;
	double variance = product / 12 * (n + 1 - ties / (n * (n - 1)));
	double distance = fabs(u - product / 2) - 0.5;

	if (variance <= 0 || distance <= 0)
		return 1;
	return erfc(distance / sqrt(variance) / sqrt(2));
}

static int rank_them(const double *a, size_t na, const double *b, size_t nb, struct hf_rank *rank)
{
	_cleanup_free_ double *all = calloc(na + nb, sizeof(*all));
	double ties;

	if (!all)
		return -ENOMEM;
	memcpy(all, a, na * sizeof(*a));
	memcpy(all + na, b, nb * sizeof(*b));
	ties = count_ties(all, na + nb);
	rank->u = count_u(a, na, b, nb);
	if (ties == 0 && na <= EXACT_MOST && nb <= EXACT_MOST) {
		rank->method = HF_RANK_EXACT;
		return exact(na, nb, rank->u, &rank->p);
	}
	rank->method = HF_RANK_NORMAL;
	rank->p = normal(na, nb, rank->u, ties);
	return 0;
}

int hf_rank_compare(const double *a, size_t na, const double *b, size_t nb, struct hf_rank *rank)
{
	*rank = (struct hf_rank){ .method = HF_RANK_TOO_FEW, .u = NAN, .p = NAN };
	if (!na || !nb || 2 / choose(na + nb, na) > HF_RANK_LEVEL)
		return 0;
	return rank_them(a, na, b, nb, rank);
}
