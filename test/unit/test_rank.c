/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "../../lib/rank.h"
#include "tap.h"

static bool near(double got, double want)
{
	return fabs(got - want) < 5e-5;
}

#define MOST 24

/* p of untied small sets: counted by hand from the number of orders; the others by the formula. */
static const struct {
	const char *name;
	size_t na, nb;
	double a[MOST], b[MOST];
	enum hf_rank_method method;
	double u, p;
} cases[] = {
	{ "4 and 4 apart: 2 of 70 orders", 4, 4, { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, HF_RANK_EXACT, 0, 2.0 / 70 },
	{ "the other way round", 4, 4, { 5, 6, 7, 8 }, { 1, 2, 3, 4 }, HF_RANK_EXACT, 16, 2.0 / 70 },
	{ "one step nearer: 4 of 70", 4, 4, { 1, 2, 3, 5 }, { 4, 6, 7, 8 }, HF_RANK_EXACT, 1, 4.0 / 70 },
	{ "5 and 5 apart: 2 of 252",
	  5,
	  5,
	  { 1, 2, 3, 4, 5 },
	  { 6, 7, 8, 9, 10 },
	  HF_RANK_EXACT,
	  0,
	  2.0 / 252 },
	{ "in the middle", 4, 4, { 1, 4, 5, 8 }, { 2, 3, 6, 7 }, HF_RANK_EXACT, 8, 1 },
	{ "3 and 5: 2 of 56", 3, 5, { 1, 2, 3 }, { 4, 5, 6, 7, 8 }, HF_RANK_EXACT, 0, 2.0 / 56 },
	{ "3 and 3 can never tell", 3, 3, { 1, 2, 3 }, { 4, 5, 6 }, HF_RANK_TOO_FEW, NAN, NAN },
	{ "1 and 20 neither", 1, 20, { 1 }, { 2 }, HF_RANK_TOO_FEW, NAN, NAN },
	{ "none", 0, 5, { 0 }, { 1, 2, 3, 4, 5 }, HF_RANK_TOO_FEW, NAN, NAN },
	/* variance 16/12 * (9 - 6/56) = 11.857, z = (8 - 0 - 0.5) / 3.4434 */
	{ "a tie: normal", 4, 4, { 1, 2, 3, 3 }, { 5, 6, 7, 8 }, HF_RANK_NORMAL, 0, 0.029401 },
	{ "all equal", 4, 4, { 1, 1, 1, 1 }, { 1, 1, 1, 1 }, HF_RANK_NORMAL, 8, 1 },
	/* 21 values a side: mean 220.5, variance 441 * 43 / 12 */
	{ "many: normal",
	  21,
	  21,
	  { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21 },
	  { 8.5,  9.5,  10.5, 11.5, 12.5, 13.5, 14.5, 15.5, 16.5, 17.5, 18.5,
	    19.5, 20.5, 21.5, 22.5, 23.5, 24.5, 25.5, 26.5, 27.5, 28.5 },
	  HF_RANK_NORMAL,
	  91,
	  0.001175 },
};

int main(void)
{
	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		struct hf_rank rank;
		int r = hf_rank_compare(cases[i].a, cases[i].na, cases[i].b, cases[i].nb, &rank);

		ok(r == 0 && rank.method == cases[i].method, "%s: method", cases[i].name);
		if (cases[i].method == HF_RANK_TOO_FEW) {
			ok(isnan(rank.p), "%s: no p", cases[i].name);
			continue;
		}
		ok(rank.u == cases[i].u, "%s: u %g", cases[i].name, rank.u);
		ok(near(rank.p, cases[i].p), "%s: p %.6f, want %.6f", cases[i].name, rank.p, cases[i].p);
	}
	is_text(hf_rank_method_name(HF_RANK_TOO_FEW), "too few runs", "name");
	is_text(hf_rank_method_name(HF_RANK_EXACT), "exact", "name");
	is_text(hf_rank_method_name(HF_RANK_NORMAL), "normal", "name");
	return tap_done();
}
