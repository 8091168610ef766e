/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics - tables as metrics: text that is good Prometheus text (format 0.0.4, which node_exporter's
 * textfile collector reads) and good OpenMetrics 1.0 at once. Not thread safe.
 *
 * Where the two differ: OpenMetrics wants "# UNIT", "# EOF" and no other comments, which Prometheus
 * text passes over. A counter's TYPE line names the samples in the one and the name without "_total" in
 * the other: counters have none, and both formats take them as of unknown type. Of the labels of a
 * name no two sets may be alike, so that the rows of a table must differ in their labels' columns.
 */
#ifndef HF_METRICS_H
#define HF_METRICS_H

#include "table.h"

struct hf_metric_label {
	size_t column; /* HF_TEXT, or a number that is printed in plain digits */
	const char *name;
	const char *total; /* rows with this text sum up the others; NULL: none do */
};

struct hf_metric {
	size_t column;    /* a uint64; HF_TEXT counts as 1. Unset cells give no sample */
	const char *name; /* ends in its unit */
	const char *unit; /* "pages", "bytes"; NULL: none */
	const char *help; /* without quotes, backslash or newline */
	bool counter;     /* its name ends in "_total" */
	bool of_total;    /* taken from rows that sum up, without the label that says so, and from no other */
};

struct hf_metric_set {
	const struct hf_metric_label *labels;
	size_t nlabels;
	const struct hf_metric *metrics;
	size_t nmetrics;
};

/* Each metric of the set that has samples. Text in labels is escaped as hf_err_escape() does it, so that
 * it is UTF-8 whatever the bytes are, and different names stay different. The caller checks the stream. */
int hf_metrics_print(const struct hf_table *table, const struct hf_metric_set *set, FILE *out,
		     struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);

/* The line that ends it all. */
void hf_metrics_end(FILE *out) _nonnull(1);

#endif
