/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int bench_baseline_open(const char *file, enum hf_bench_workload workload, struct bench_baseline *baseline,
			struct hf_err *err)
{
	_cleanup_fclose_ FILE *in = fopen(file, "re");
	const char *command, *there;
	int r;

	if (!in) {
		hf_err_sys(err, errno, file, "cannot open the earlier result");
		err->usage = true;
		return -err->errnum;
	}
	r = hf_doc_read(in, file, &baseline->doc, err);
	if (r < 0) {
		err->usage = true;
		return r;
	}
	baseline->file = file;
	command = hf_doc_get_text(baseline->doc, NULL, 0, "command");
	there = hf_doc_get_text(baseline->doc, NULL, 0, "workload");
	if (!command || strcmp(command, "bench") != 0 || !there || !hf_doc_rows(baseline->doc, "samples"))
		return hf_err_usage(err, file, "is no result of `hugefill bench --json'");
	if (strcmp(there, hf_bench_workload_name(workload)) != 0)
		return hf_err_usage(err, file, "is a result of workload %s, not of %s", there,
				    hf_bench_workload_name(workload));
	return 0;
}

void bench_baseline_close(struct bench_baseline *baseline)
{
	hf_doc_free(baseline->doc);
	baseline->doc = NULL;
}

/* The samples of the case, in the order of the runs; *count 0: it was not measured there. */
static int find_samples(const struct bench_baseline *baseline, const char *key, double **samples,
			size_t *count, struct hf_err *err)
{
	size_t rows = hf_doc_rows(baseline->doc, "samples");

	*count = 0;
	*samples = calloc(rows + 1, sizeof(**samples));
	if (!*samples)
		return hf_err_nomem(err);
	for (size_t i = 0; i < rows; i++) {
		const char *there = hf_doc_get_text(baseline->doc, "samples", i, "case");
		double value = hf_doc_get_real(baseline->doc, "samples", i, "value");

		if (there && strcmp(there, key) == 0 && !isnan(value))
			(*samples)[(*count)++] = value;
	}
	return 0;
}

static size_t real_samples(const struct hf_bench_case *c, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < c->nsamples; i++)
		if (!isnan(c->samples[i]))
			values[count++] = c->samples[i];
	return count;
}

/* rate: more is better; else it is a time. u: of the baseline over this. */
static const char *verdict(const struct hf_rank *rank, size_t na, size_t nb, bool rate)
{
	bool baseline_above = rank->u > (double)na * (double)nb / 2;

	if (rank->method == HF_RANK_TOO_FEW)
		return "too few runs";
	if (rank->p >= HF_RANK_LEVEL)
		return "within noise";
	return baseline_above != rate ? "better" : "worse";
}

int bench_compare(const struct hf_bench *bench, const struct hf_bench_case *c, const struct hf_bench_sum *sum,
		  const struct bench_baseline *baseline, struct hf_table *table, struct hf_err *err)
{
	bool rate = bench->request->workload == HF_BENCH_FORKFAULT;
	_cleanup_free_ double *before = NULL;
	_cleanup_free_ double *now = calloc(c->nsamples + 1, sizeof(*now));
	struct hf_bench_case there = { 0 };
	const struct hf_bench alone = { .ncases = 1, .cases = &there };
	struct hf_bench_sum then;
	struct hf_rank rank;
	char key[HF_BENCH_KEY];
	size_t nbefore, nnow;
	double was, is;
	int r = find_samples(baseline, hf_bench_key(bench, c, key), &before, &nbefore, err);

	if (r < 0 || !now)
		return r < 0 ? r : hf_err_nomem(err);
	nnow = real_samples(c, now);
	if (!nbefore || !nnow) {
		hf_table_text(table, VERDICT, "no baseline");
		return 0;
	}
	there.samples = before;
	there.nsamples = nbefore;
	r = hf_bench_sum(&alone, 0, &then, err);
	if (r < 0 || hf_rank_compare(before, nbefore, now, nnow, &rank) < 0)
		return r < 0 ? r : hf_err_nomem(err);
	was = rate ? then.median : then.min;
	is = rate ? sum->median : sum->min;
	hf_table_real(table, BASELINE, was);
	hf_table_real(table, CHANGE, hf_bench_change(was, is));
	hf_table_real(table, PVALUE, rank.p);
	if (rank.method != HF_RANK_TOO_FEW)
		hf_table_text(table, RANKED, hf_rank_method_name(rank.method));
	hf_table_text(table, VERDICT, verdict(&rank, nbefore, nnow, rate));
	return 0;
}
