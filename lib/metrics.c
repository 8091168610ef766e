/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool is_total(const struct hf_metric_label *label, const struct hf_cell *cell)
{
	return label->total && cell->set && strcmp(cell->text, label->total) == 0;
}

/* The cell that is the metric's sample in this row, or NULL. */
static const struct hf_cell *sample_of(const struct hf_table *table, const struct hf_metric_set *set,
				       const struct hf_metric *metric, size_t row)
{
	const struct hf_cell *cell = hf_table_cell(table, row, metric->column);
	bool total = false;

	for (size_t i = 0; i < set->nlabels; i++)
		total |= is_total(&set->labels[i], hf_table_cell(table, row, set->labels[i].column));
	return cell->set && total == metric->of_total ? cell : NULL;
}

/* Of what the formats want escaped, hf_err_escape() leaves quotes, and makes backslashes. */
static int print_text(const char *text, FILE *out)
{
	size_t size = (strlen(text) + 2) * 4;
	_cleanup_free_ char *shown = malloc(size);

	if (!shown)
		return -ENOMEM;
	hf_err_escape(text, shown, size);
	for (const char *s = shown; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', out);
		putc(*s, out);
	}
	return 0;
}

static int print_labels(const struct hf_table *table, const struct hf_metric_set *set, size_t row, FILE *out)
{
	size_t count;
	const struct hf_column *columns = hf_table_columns(table, &count);
	const char *separator = "{";
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < set->nlabels; i++) {
		const struct hf_metric_label *label = &set->labels[i];
		const struct hf_cell *cell = hf_table_cell(table, row, label->column);

		if (!cell->set || is_total(label, cell))
			continue;
		fprintf(out, "%s%s=\"", separator, label->name);
		if (columns[label->column].type == HF_TEXT)
			rc = print_text(cell->text, out);
		else
			fprintf(out, "%" PRIu64, cell->u64);
		putc('"', out);
		separator = ",";
	}
	if (*separator == ',')
		putc('}', out);
	return rc;
}

static void print_head(const struct hf_metric *metric, FILE *out)
{
	fprintf(out, "# HELP %s %s\n", metric->name, metric->help);
	if (!metric->counter)
		fprintf(out, "# TYPE %s gauge\n", metric->name);
	if (metric->unit)
		fprintf(out, "# UNIT %s %s\n", metric->name, metric->unit);
}

static int print_metric(const struct hf_table *table, const struct hf_metric_set *set,
			const struct hf_metric *metric, FILE *out)
{
	size_t count;
	const struct hf_column *columns = hf_table_columns(table, &count);
	bool first = true, is_text = columns[metric->column].type == HF_TEXT;
	int rc = 0;

	for (size_t row = 0; rc == 0 && row < hf_table_rows(table); row++) {
		const struct hf_cell *cell = sample_of(table, set, metric, row);

		if (!cell)
			continue;
		if (first)
			print_head(metric, out);
		first = false;
		fputs(metric->name, out);
		rc = print_labels(table, set, row, out);
		fprintf(out, " %" PRIu64 "\n", is_text ? 1 : cell->u64);
	}
	return rc;
}

int hf_metrics_print(const struct hf_table *table, const struct hf_metric_set *set, FILE *out,
		     struct hf_err *err)
{
	int rc = hf_table_failed(table);

	for (size_t i = 0; rc == 0 && i < set->nmetrics; i++)
		rc = print_metric(table, set, &set->metrics[i], out);
	if (rc == -ENOMEM)
		return hf_err_nomem(err);
	return rc < 0 ? hf_err_set(err, -rc, hf_table_name(table), "cannot be told as metrics") : 0;
}

void hf_metrics_end(FILE *out)
{
	fputs("# EOF\n", out);
}
