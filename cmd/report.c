/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report.h"

#include <errno.h>
#include <string.h>

enum { ID, FATAL, OBJECT, NODE, WANTED, GOT, TEXT, HINT };

static const struct hf_column finding_columns[] = {
	[ID] = { "ID", HF_TEXT, false, "what it is about" },
	[FATAL] = { "FATAL", HF_BOOL, false, "the allocation would not succeed" },
	[OBJECT] = { "OBJECT", HF_TEXT, false, "pool, mount or file" },
	[NODE] = { "NODE", HF_COUNT, false, "NUMA node" },
	[WANTED] = { "WANTED", HF_BYTES, false, "requested" },
	[GOT] = { "GOT", HF_BYTES, false, "obtained, or there" },
	[TEXT] = { "TEXT", HF_TEXT, false, "in words" },
	[HINT] = { "HINT", HF_TEXT, false, "next step" },
};

struct hf_doc *report_doc(const char *command, bool changed)
{
	struct hf_doc *doc = hf_doc_new();

	if (!doc)
		return NULL;
	hf_doc_text(doc, "hugefill", HF_VERSION);
	hf_doc_text(doc, "command", command);
	hf_doc_bool(doc, "changed", changed);
	return doc;
}

void report_error(struct hf_doc *doc, const struct hf_err *failed)
{
	if (!failed || !failed->errnum) {
		hf_doc_text(doc, "error", NULL);
		return;
	}
	hf_doc_text(doc, "error.object", failed->object);
	hf_doc_text(doc, "error.message", failed->what);
	hf_doc_text(doc, "error.errno", strerrorname_np(failed->errnum));
	hf_doc_text(doc, "error.hint", failed->hint[0] ? failed->hint : NULL);
}

void report_findings(struct hf_doc *doc, const struct hf_plan *plan)
{
	const struct hf_format all = { .json = true };
	struct hf_table *table = hf_table_new("findings", finding_columns, HF_LENGTH(finding_columns));

	for (size_t i = 0; table && i < plan->nfindings; i++) {
		const struct hf_finding *f = &plan->findings[i];

		hf_table_row(table);
		hf_table_text(table, ID, f->id);
		hf_table_bool(table, FATAL, f->fatal);
		hf_table_text(table, OBJECT, f->object);
		if (f->node >= 0)
			hf_table_u64(table, NODE, (uint64_t)f->node);
		if (f->wanted || f->got) {
			hf_table_u64(table, WANTED, f->wanted);
			hf_table_u64(table, GOT, f->got);
		}
		hf_table_text(table, TEXT, f->text);
		hf_table_text(table, HINT, f->hint[0] ? f->hint : NULL);
	}
	if (table)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
}

int report_print(const struct hf_common *common, const struct hf_table *table, struct hf_doc *doc,
		 struct hf_err *err)
{
	int r = 0;

	if (common->format.json)
		r = doc ? hf_doc_print(doc, stdout, err) : hf_err_nomem(err);
	else if (!common->quiet || common->format.raw)
		r = table ? hf_table_print(table, &common->format, stdout, err) : hf_err_nomem(err);
	return r < 0 ? r : hf_print_flush(err);
}
