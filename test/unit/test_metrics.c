/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/metrics.h"
#include "tap.h"

enum { NAME, SIZE, VALUE };

static const struct hf_column columns[] = {
	[NAME] = { "NAME", HF_TEXT, false, "" },
	[SIZE] = { "SIZE", HF_BYTES, false, "" },
	[VALUE] = { "VALUE", HF_COUNT, false, "" },
};
static const struct hf_metric_label labels[] = { { NAME, "name", "sum" }, { SIZE, "size", NULL } };
static const struct hf_metric metrics[] = {
	{ VALUE, "x_pages", "pages", "Of each.", false, false },
	{ VALUE, "x_total", NULL, "A counter.", true, false },
	{ NAME, "x_info", NULL, "That it is there.", false, false },
	{ VALUE, "x_all_pages", "pages", "Of all.", false, true },
};
static const struct hf_metric_set set = { labels, HF_LENGTH(labels), metrics, HF_LENGTH(metrics) };

static void add(struct hf_table *table, const char *name, uint64_t size, uint64_t value)
{
	hf_table_row(table);
	hf_table_text(table, NAME, name);
	if (size)
		hf_table_u64(table, SIZE, size);
	if (value)
		hf_table_u64(table, VALUE, value);
}

/* What is printed, malloc'd. */
static char *print(const struct hf_table *table, int want)
{
	struct hf_err err = { 0 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	ok(hf_metrics_print(table, &set, out, &err) == want, "printing returns %d", want);
	fclose(out);
	return text;
}

static void test_samples(void)
{
	struct hf_table *table = hf_table_new("x", columns, HF_LENGTH(columns));
	char *text;

	add(table, "a", 4096, UINT64_MAX);
	add(table, "no value", 4096, 0);
	add(table, NULL, 0, 3);
	add(table, "sum", 0, 7);
	text = print(table, 0);
	is_text(text,
		"# HELP x_pages Of each.\n"
		"# TYPE x_pages gauge\n"
		"# UNIT x_pages pages\n"
		"x_pages{name=\"a\",size=\"4096\"} 18446744073709551615\n"
		"x_pages 3\n"
		"# HELP x_total A counter.\n"
		"x_total{name=\"a\",size=\"4096\"} 18446744073709551615\n"
		"x_total 3\n"
		"# HELP x_info That it is there.\n"
		"# TYPE x_info gauge\n"
		"x_info{name=\"a\",size=\"4096\"} 1\n"
		"x_info{name=\"no value\",size=\"4096\"} 1\n"
		"# HELP x_all_pages Of all.\n"
		"# TYPE x_all_pages gauge\n"
		"# UNIT x_all_pages pages\n"
		"x_all_pages 7\n",
		"families one after the other, unset cells left out, the sum apart");
	free(text);
	hf_table_free(table);
}

static void test_nothing(void)
{
	struct hf_table *table = hf_table_new("x", columns, HF_LENGTH(columns));
	char *text = print(table, 0);

	is_text(text, "", "a table without rows gives nothing");
	free(text);
	add(table, "sum", 0, 7);
	text = print(table, 0);
	ok(strncmp(text, "# HELP x_all_pages ", 19) == 0, "a metric without samples has no head");
	free(text);
	hf_table_bool(table, VALUE, true);
	text = print(table, -EINVAL);
	is_text(text, "", "what went wrong in the table is told here");
	free(text);
	hf_table_free(table);
}

static void test_escape(void)
{
	struct hf_table *table = hf_table_new("x", columns, HF_LENGTH(columns));
	char name[1001], *text;

	memset(name, '\xff', sizeof(name) - 1);
	name[0] = '"';
	name[sizeof(name) - 1] = '\0';
	add(table, name, 0, 1);
	text = print(table, 0);
	has_text(text, "x_pages{name=\"\\\"\\\\xff\\\\xff", "a quote and bytes that are no UTF-8");
	is_u64(strcspn(strstr(text, "x_pages{"), "}"), strlen("x_pages{name=\"\\\"") + 999 * 5 + 1,
	       "nothing is cut");
	free(text);
	hf_table_free(table);
}

int main(void)
{
	test_samples();
	test_nothing();
	test_escape();
	return tap_done();
}
