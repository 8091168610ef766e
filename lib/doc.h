/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doc - the one JSON document of a call, by json-c: several tables and single values in one object,
 * which libsmartcols' JSON output cannot hold. The only file that includes json-c. Not thread safe.
 */
#ifndef HF_DOC_H
#define HF_DOC_H

#include "table.h"

struct hf_doc;

struct hf_doc *hf_doc_new(void) _must_check; /* NULL: no memory */
void hf_doc_free(struct hf_doc *doc);

/* Keys in the order they were set. A dot nests: "phases.fill". NAN becomes null. Text that is no
 * valid UTF-8 has its bad bytes replaced by U+FFFD. Failures of memory are reported by print. */
void hf_doc_text(struct hf_doc *doc, const char *key, const char *value); /* NULL: null */
void hf_doc_u64(struct hf_doc *doc, const char *key, uint64_t value);
void hf_doc_real(struct hf_doc *doc, const char *key, double value);
void hf_doc_bool(struct hf_doc *doc, const char *key, bool value);

/* An array of objects under the table's name; the columns that format selects. */
void hf_doc_table(struct hf_doc *doc, const struct hf_table *table, const struct hf_format *format);

/* Pretty, a newline at the end. */
int hf_doc_print(struct hf_doc *doc, FILE *out, struct hf_err *err) _must_check _nonnull(1, 2, 3);

/* A document that was written before. in is read to its end, at most 64 MiB. EINVAL: no JSON object. */
int hf_doc_read(FILE *in, const char *name, struct hf_doc **doc, struct hf_err *err) _must_check
	_nonnull(1, 2, 3, 4);
/* Rows of a table; 0 also where there is none. */
size_t hf_doc_rows(const struct hf_doc *doc, const char *table) _nonnull(1, 2);
/* One value: of a table's row, or of the document where table is NULL. Borrowed; NULL and NAN where
 * there is none of that kind. */
const char *hf_doc_get_text(const struct hf_doc *doc, const char *table, size_t row, const char *key)
	_nonnull(1, 4);
double hf_doc_get_real(const struct hf_doc *doc, const char *table, size_t row, const char *key)
	_nonnull(1, 4);

/* Of the json-c that is loaded. */
const char *hf_doc_version(void);

#endif
