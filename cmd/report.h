/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report - what every command's result has in common. */
#ifndef HF_CMD_REPORT_H
#define HF_CMD_REPORT_H

#include "../lib/doc.h"
#include "cmd.h"

/* A document with "hugefill" (the version), "command" and "changed". NULL: no memory. */
struct hf_doc *report_doc(const char *command, bool changed) _must_check;

/* "error": object, message, errno, hints; null where failed is. */
void report_error(struct hf_doc *doc, const struct hf_err *failed);

/* "findings": an array of id, fatal, object, node, wanted, got, text, hint. */
void report_findings(struct hf_doc *doc, const struct hf_plan *plan);

/* Prints doc when there is one, else the table unless --quiet without --raw; flushes. */
int report_print(const struct hf_common *common, const struct hf_table *table, struct hf_doc *doc,
		 struct hf_err *err) _must_check;

#endif
