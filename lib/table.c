/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <string.h>

#include "size.h"

#define CELL_TEXT 384 /* DBL_MAX has 309 digits */
#define RAW_ROWS 4096

struct hf_table {
	const char *name;
	const struct hf_column *columns;
	size_t ncolumns;
	size_t nrows, room; /* rows */
	struct hf_cell *cells;
	const char **titles; /* [ncolumns], NULL: the name; NULL: no titles at all */
	int failed;
};

struct hf_table *hf_table_new(const char *name, const struct hf_column *columns, size_t ncolumns)
{
	struct hf_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->name = name;
	table->columns = columns;
	table->ncolumns = ncolumns;
	return table;
}

void hf_table_free(struct hf_table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->nrows * table->ncolumns; i++)
		if (table->columns[i % table->ncolumns].type == HF_TEXT)
			free(table->cells[i].text);
	free(table->cells);
	free(table->titles);
	free(table);
}

static void fail(struct hf_table *table, int error)
{
	if (!table->failed)
		table->failed = error;
}

void hf_table_title(struct hf_table *table, size_t column, const char *title)
{
	if (!table->titles)
		table->titles = calloc(table->ncolumns, sizeof(*table->titles));
	if (!table->titles || column >= table->ncolumns)
		fail(table, table->titles ? -EINVAL : -ENOMEM);
	else
		table->titles[column] = title;
}

void hf_table_row(struct hf_table *table)
{
	size_t row_size = table->ncolumns * sizeof(*table->cells);

	if (table->nrows == table->room) {
		size_t room = table->room ? table->room * 2 : 8;
		struct hf_cell *cells = reallocarray(table->cells, room, row_size);

		if (!cells) {
			fail(table, -ENOMEM);
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	memset(table->cells + table->nrows * table->ncolumns, 0, row_size);
	table->nrows++;
}

static bool is_number(enum hf_type type)
{
	return type != HF_TEXT && type != HF_BOOL;
}

static bool is_real(enum hf_type type)
{
	return type == HF_SECONDS || type == HF_FINE || type == HF_RATE || type == HF_REAL;
}

/* The cell of the last row, or NULL after noting why there is none. */
static struct hf_cell *last_cell(struct hf_table *table, size_t column)
{
	if (table->nrows == 0 || column >= table->ncolumns) {
		fail(table, -EINVAL);
		return NULL;
	}
	return &table->cells[(table->nrows - 1) * table->ncolumns + column];
}

static struct hf_cell *typed_cell(struct hf_table *table, size_t column, bool fits)
{
	struct hf_cell *cell = last_cell(table, column);

	if (cell && !fits) {
		fail(table, -EINVAL);
		return NULL;
	}
	return cell;
}

/* HF_TEXT where there is no such column: last_cell() notes that. */
static enum hf_type type_of(const struct hf_table *table, size_t column)
{
	return column < table->ncolumns ? table->columns[column].type : HF_TEXT;
}

void hf_table_text(struct hf_table *table, size_t column, const char *text)
{
	struct hf_cell *cell = typed_cell(table, column, type_of(table, column) == HF_TEXT);

	if (!cell)
		return;
	free(cell->text);
	cell->text = text ? strdup(text) : NULL;
	cell->set = cell->text != NULL;
	if (text && !cell->text)
		fail(table, -ENOMEM);
}

void hf_table_u64(struct hf_table *table, size_t column, uint64_t value)
{
	enum hf_type type = type_of(table, column);
	bool fits = type == HF_COUNT || type == HF_BYTES || type == HF_GIB;
	struct hf_cell *cell = typed_cell(table, column, fits);

	if (!cell)
		return;
	cell->u64 = value;
	cell->set = true;
}

void hf_table_real(struct hf_table *table, size_t column, double value)
{
	struct hf_cell *cell = typed_cell(table, column, is_real(type_of(table, column)));

	if (!cell)
		return;
	cell->real = value;
	cell->set = isfinite(value);
}

void hf_table_bool(struct hf_table *table, size_t column, bool value)
{
	struct hf_cell *cell = typed_cell(table, column, type_of(table, column) == HF_BOOL);

	if (!cell)
		return;
	cell->boolean = value;
	cell->set = true;
}

size_t hf_table_rows(const struct hf_table *table)
{
	return table->nrows;
}

const char *hf_table_name(const struct hf_table *table)
{
	return table->name;
}

int hf_table_failed(const struct hf_table *table)
{
	return table->failed;
}

const struct hf_column *hf_table_columns(const struct hf_table *table, size_t *count)
{
	*count = table->ncolumns;
	return table->columns;
}

const struct hf_cell *hf_table_cell(const struct hf_table *table, size_t row, size_t column)
{
	if (row >= table->nrows || column >= table->ncolumns)
		return NULL;
	return &table->cells[row * table->ncolumns + column];
}

/* By hand: tolower() leaves 'I' alone in a Turkish locale. */
static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

char *hf_table_key(const struct hf_column *column, char *buf, size_t size)
{
	size_t at = 0;

	for (const char *c = column->name; *c && at + 1 < size; c++)
		buf[at++] = lower(*c);
	if (size)
		buf[at] = '\0';
	return buf;
}

static bool is_named(const struct hf_column *column, const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (lower(column->name[i]) != lower(name[i]))
			return false;
	return column->name[len] == '\0';
}

/* ncolumns where there is none. */
static size_t find_column(const struct hf_column *columns, size_t ncolumns, const char *name, size_t len)
{
	size_t i = 0;

	while (i < ncolumns && !is_named(&columns[i], name, len))
		i++;
	return i;
}

static int unknown_column(const struct hf_column *columns, size_t ncolumns, const char *name, size_t len,
			  struct hf_err *err)
{
	char list[HF_ERR_TEXT / 2] = "";
	char object[HF_ERR_OBJECT];
	size_t at = 0;

	for (size_t i = 0; i < ncolumns && at < sizeof(list); i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", i ? ", " : "", columns[i].name);
	snprintf(object, sizeof(object), "%.*s", len < sizeof(object) ? (int)len : (int)sizeof(object) - 1,
		 name);
	if (len == 0)
		return hf_err_usage(err, "--output", "a column name is missing; the columns are %s", list);
	return hf_err_usage(err, object, "no such column; the columns are %s", list);
}

int hf_table_check(const struct hf_column *columns, size_t ncolumns, const struct hf_format *format,
		   struct hf_err *err)
{
	const char *name = format->columns;

	if (!name)
		return 0;
	name += *name == '+';
	for (;;) {
		size_t len = strcspn(name, ",");

		if (find_column(columns, ncolumns, name, len) == ncolumns)
			return unknown_column(columns, ncolumns, name, len, err);
		if (!name[len])
			return 0;
		name += len + 1;
	}
}

static size_t add_once(size_t *which, size_t count, size_t column)
{
	for (size_t i = 0; i < count; i++)
		if (which[i] == column)
			return count;
	which[count] = column;
	return count + 1;
}

size_t hf_table_selection(const struct hf_table *table, const struct hf_format *format, size_t *which)
{
	const char *name = format->all ? NULL : format->columns;
	size_t count = 0;

	if (!name || *name == '+')
		for (size_t i = 0; i < table->ncolumns; i++)
			if (format->all || format->json || !table->columns[i].hidden)
				which[count++] = i;
	while (name && *name) {
		size_t len, column;

		name += *name == '+';
		len = strcspn(name, ",");
		column = find_column(table->columns, table->ncolumns, name, len);
		if (column < table->ncolumns)
			count = add_once(which, count, column);
		name += len + (name[len] == ',');
	}
	return count;
}

/* What rounds to zero has no sign. */
static void real_text(double value, int decimals, char buf[static CELL_TEXT])
{
	snprintf(buf, CELL_TEXT, "%.*f", decimals, value);
	if (buf[strspn(buf, "-0.")] == '\0')
		snprintf(buf, CELL_TEXT, "%.*f", decimals, 0.0);
}

static int fine_decimals(double value)
{
	double size = fabs(value);

	return size < 10 ? 6 : size < 100 ? 4 : size < 10000 ? 3 : 1;
}

static void rate_text(double rate, bool bytes, char buf[static CELL_TEXT])
{
	/* Beyond what hf_size_human() takes, and below 0, the plain number is all there is. */
	if (bytes || !(rate >= 0 && rate < (double)INT64_MAX)) {
		real_text(rate, 0, buf);
	} else {
		hf_size_human((uint64_t)(rate + 0.5), buf);
		strcat(buf, "/s");
	}
}

/* NULL: the cell is unset. buf may be left unused. */
static const char *cell_text(const struct hf_cell *cell, enum hf_type type, bool bytes,
			     char buf[static CELL_TEXT])
{
	if (!cell->set)
		return NULL;
	switch (type) {
	case HF_TEXT:
		return cell->text;
	case HF_BOOL:
		return cell->boolean ? "yes" : "no";
	case HF_SECONDS:
		real_text(cell->real, 3, buf);
		break;
	case HF_FINE:
		real_text(cell->real, fine_decimals(cell->real), buf);
		break;
	case HF_REAL:
		real_text(cell->real, 2, buf);
		break;
	case HF_RATE:
		rate_text(cell->real, bytes, buf);
		break;
	case HF_GIB:
		if (!bytes) {
			snprintf(buf, CELL_TEXT, "%.10g", (double)cell->u64 / (double)(1ULL << 30));
			break;
		}
		__attribute__((fallthrough));
	case HF_BYTES:
		if (!bytes)
			return hf_size_human(cell->u64, buf);
		__attribute__((fallthrough));
	case HF_COUNT:
		snprintf(buf, CELL_TEXT, "%" PRIu64, cell->u64);
	}
	return buf;
}

static void unref_table(struct libscols_table **out)
{
	scols_unref_table(*out);
}

static int add_line(const struct hf_table *table, size_t row, const struct hf_format *format,
		    const size_t *which, size_t count, struct libscols_table *out)
{
	struct libscols_line *line = scols_table_new_line(out, NULL);
	char buf[CELL_TEXT];
	int ret = line ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && ret == 0; i++) {
		const char *text = cell_text(hf_table_cell(table, row, which[i]),
					     table->columns[which[i]].type, format->bytes, buf);

		if (format->raw && (!text || !*text))
			text = "-";
		if (text)
			ret = scols_line_set_data(line, i, text);
	}
	return ret;
}

static int add_columns(const struct hf_table *table, const struct hf_format *format, const size_t *which,
		       size_t count, struct libscols_table *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct hf_column *column = &table->columns[which[i]];
		const char *title = NULL;

		if (table->titles && !format->raw && !format->bytes)
			title = table->titles[which[i]];
		if (!scols_table_new_column(out, title ? title : column->name, 0,
					    is_number(column->type) ? SCOLS_FL_RIGHT : 0))
			return -ENOMEM;
	}
	return 0;
}

/* The rows from begin to before end; the heading is the first one's. */
static int print_lines(const struct hf_table *table, const struct hf_format *format, const size_t *which,
		       size_t count, size_t begin, size_t end, FILE *out)
{
	struct libscols_table *lines __attribute__((cleanup(unref_table))) = scols_new_table();
	int ret;

	if (!lines)
		return -ENOMEM;
	scols_table_enable_raw(lines, format->raw);
	scols_table_enable_noheadings(lines, format->noheadings || begin);
	scols_table_set_stream(lines, out);
	/* Only for what it takes to be a terminal does the library shorten columns. */
	scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER);
	ret = add_columns(table, format, which, count, lines);
	for (size_t row = begin; row < end && ret == 0; row++)
		ret = add_line(table, row, format, which, count, lines);
	if (ret)
		return ret;
	/* A cell that the library found no memory for is left out: only malloc's errno tells. */
	errno = 0;
	ret = scols_print_table(lines);
	return ret == 0 && errno == ENOMEM ? -ENOMEM : ret;
}

/* Raw columns have no widths, so that the library need not hold every row. */
static int print_blocks(const struct hf_table *table, const struct hf_format *format, const size_t *which,
			size_t count, FILE *out)
{
	size_t block = format->raw ? RAW_ROWS : table->nrows;
	int ret = 0;

	for (size_t row = 0; row < table->nrows && ret == 0; row += block) {
		size_t end = table->nrows - row < block ? table->nrows : row + block;

		ret = print_lines(table, format, which, count, row, end, out);
	}
	return ret;
}

int hf_table_print(const struct hf_table *table, const struct hf_format *format, FILE *out,
		   struct hf_err *err)
{
	_cleanup_free_ size_t *which = calloc(table->ncolumns + 1, sizeof(*which));
	int ret;

	if (table->failed == -EINVAL)
		return hf_err_set(err, EINVAL, table->name,
				  "internal error: a value does not fit its column");
	if (table->failed || !which)
		return hf_err_nomem(err);
	ret = print_blocks(table, format, which, hf_table_selection(table, format, which), out);
	if (ret)
		return hf_err_sys(err, ret < 0 ? -ret : EINVAL, table->name, "cannot print the table");
	return 0;
}

const char *hf_table_version(void)
{
	const char *version = NULL;

	scols_get_library_version(&version);
	return version;
}
