/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table - one table of columns and rows, for people (libsmartcols), for shells (--raw) and, through
 * doc.h, as JSON. The only file that includes libsmartcols.h. Not thread safe.
 *
 * A command declares its columns once: that array gives the text table, the raw table, the JSON
 * keys (the name in lower case) and the list of columns in --help.
 */
#ifndef HF_TABLE_H
#define HF_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

enum hf_type {
	HF_TEXT,  /* string, left aligned; escaped for terminals by libsmartcols */
	HF_COUNT, /* uint64 */
	HF_BYTES, /* uint64 bytes: "4G" for people, a plain number with --bytes and in JSON */
	HF_GIB, /* uint64 bytes: "200", "0.0625" for people, who read the unit in the title; else as HF_BYTES
		 */
	HF_SECONDS, /* double: "1.234" (milliseconds shown); JSON: seconds as a number */
	HF_FINE,    /* double: microseconds shown below ten seconds, fewer digits above; JSON: number */
	HF_RATE,    /* double, bytes per second: "8.5G/s"; plain number with --bytes and in JSON */
	HF_REAL,    /* double: two decimals; JSON: number */
	HF_BOOL,    /* "yes" or "no"; JSON true or false */
};

struct hf_column {
	const char *name; /* "PAGESIZE": upper case */
	enum hf_type type;
	bool hidden; /* shown only on request: -o, --output-all */
	const char *help;
};

struct hf_format {
	bool json, raw, noheadings, bytes, all;
	const char *columns; /* -o: "A,B" in this order, or "+C" for the default ones and C; NULL */
};

struct hf_table;

/* name: the JSON key of the table. columns are borrowed for the table's life. NULL: no memory. */
struct hf_table *hf_table_new(const char *name, const struct hf_column *columns, size_t ncolumns) _must_check;
void hf_table_free(struct hf_table *table);

/* A heading for people instead of the column's name: "min time (s)". Not with --raw or --bytes. Borrowed. */
void hf_table_title(struct hf_table *table, size_t column, const char *title);

/* Starts a row; the setters fill the last one. An unset cell is blank, "-" in raw (so that awk and
 * read count the same columns in every line; empty text too), null in JSON. Failures of memory, and
 * setters that do not fit the column's type, are kept inside and reported by print, so that callers
 * stay plain. */
void hf_table_row(struct hf_table *table);
void hf_table_text(struct hf_table *table, size_t column, const char *text); /* copied; NULL: unset */
void hf_table_u64(struct hf_table *table, size_t column, uint64_t value);
void hf_table_real(struct hf_table *table, size_t column, double value); /* NAN, infinite: unset */
void hf_table_bool(struct hf_table *table, size_t column, bool value);
size_t hf_table_rows(const struct hf_table *table);

/* Checks format->columns against the columns (case does not matter). Usage error: names the unknown
 * one and lists all. To be called before anything is done. */
int hf_table_check(const struct hf_column *columns, size_t ncolumns, const struct hf_format *format,
		   struct hf_err *err) _must_check _nonnull(1, 3, 4);

/*
 * Text or raw, to out; the caller checks the stream. Nothing where there are no rows. No cell is cut
 * to a terminal's width. Text: control bytes, bytes that are no character of LC_CTYPE and the
 * backslash of "\x" are \xNN. Raw: blanks, backslash and all that is not printable are \xNN, one
 * blank between columns; a text "-" looks like an unset cell, only JSON tells them apart. Numbers
 * are right aligned in text.
 */
int hf_table_print(const struct hf_table *table, const struct hf_format *format, FILE *out,
		   struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);

/* For doc.c: the cells as they are. */
struct hf_cell {
	bool set;
	union { /* by the column's type */
		char *text;
		uint64_t u64;
		double real;
		bool boolean;
	};
};
const char *hf_table_name(const struct hf_table *table);
int hf_table_failed(const struct hf_table *table); /* what was kept inside: 0, -ENOMEM or -EINVAL */
/* The JSON key of a column: its name in lower case, cut at size. Returns buf. */
char *hf_table_key(const struct hf_column *column, char *buf, size_t size);
const struct hf_column *hf_table_columns(const struct hf_table *table, size_t *count);
const struct hf_cell *hf_table_cell(const struct hf_table *table, size_t row, size_t column);
/* Column indexes to show for this format, in order, into which[ncolumns]; returns how many. JSON
 * without -o shows all of them, and "+C" adds to what is shown without it. all outweighs columns.
 * A column named twice is shown once, at its first place; unknown names are passed over. */
size_t hf_table_selection(const struct hf_table *table, const struct hf_format *format, size_t *which);

/* Of the libsmartcols that is loaded. */
const char *hf_table_version(void);

#endif
