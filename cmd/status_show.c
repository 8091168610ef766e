/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "status.h"

const struct status_part *const status_parts[STATUS_SECTIONS] = {
	[STATUS_POOLS] = &status_pools,     [STATUS_MOUNTS] = &status_mounts,
	[STATUS_FILES] = &status_files,     [STATUS_PROCESSES] = &status_processes,
	[STATUS_CGROUPS] = &status_cgroups,
};

static int fill_tables(struct status_view *view, struct hf_table **tables, struct hf_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < STATUS_SECTIONS; i++) {
		if (!view->opts->asked[i])
			continue;
		tables[i] = hf_table_new(status_parts[i]->name, status_parts[i]->columns,
					 status_parts[i]->ncolumns);
		rc = tables[i] ? status_parts[i]->fill(view, tables[i], err) : hf_err_nomem(err);
	}
	return rc;
}

static int print_doc(const struct status_view *view, struct hf_table **tables, const struct hf_err *failed,
		     FILE *out, struct hf_err *err)
{
	struct hf_doc *doc = report_doc("status", false);
	const struct hf_format all = { .json = true };
	int rc;

	if (!doc)
		return hf_err_nomem(err);
	if (failed)
		report_error(doc, failed);
	for (size_t i = 0; i < STATUS_SECTIONS; i++)
		if (tables[i])
			hf_doc_table(doc, tables[i], &view->opts->common->format);
	if (view->notes)
		hf_doc_table(doc, view->notes, &all);
	rc = hf_doc_print(doc, out, err);
	hf_doc_free(doc);
	return rc;
}

static int print_tables(const struct hf_common *common, struct hf_table **tables, FILE *out,
			struct hf_err *err)
{
	bool first = true;
	int rc = 0;

	if (common->quiet && !common->format.raw)
		return 0;
	for (size_t i = 0; rc == 0 && i < STATUS_SECTIONS; i++) {
		if (!tables[i] || !hf_table_rows(tables[i]))
			continue;
		if (!first)
			fputc('\n', out);
		first = false;
		rc = hf_table_print(tables[i], &common->format, out, err);
	}
	return rc;
}

static int print_metrics(struct hf_table **tables, FILE *out, struct hf_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < STATUS_SECTIONS; i++)
		if (tables[i])
			rc = hf_metrics_print(tables[i], status_parts[i]->metrics, out, err);
	if (rc == 0)
		hf_metrics_end(out);
	return rc;
}

static void print_notes(const struct status_view *view)
{
	for (size_t i = 0; view->notes && i < hf_table_rows(view->notes); i++)
		hf_print_note(view->opts->common, "%s: %s",
			      hf_table_cell(view->notes, i, STATUS_NOTE_OBJECT)->text,
			      hf_table_cell(view->notes, i, STATUS_NOTE_TEXT)->text);
}

static int print(const struct status_view *view, struct hf_table **tables, const struct hf_err *failed,
		 FILE *out, struct hf_err *err)
{
	if (view->opts->common->format.json)
		return print_doc(view, tables, failed, out, err);
	if (view->opts->metrics)
		return failed ? 0 : print_metrics(tables, out, err);
	return failed ? 0 : print_tables(view->opts->common, tables, out, err);
}

int status_show(const struct status_opts *o, const struct status_screen *screen, struct hf_err *err)
{
	struct hf_table *tables[STATUS_SECTIONS] = { NULL };
	struct hf_err second = { 0 };
	struct status_view view;
	int rc = status_look(o, &view, err), printed = 0;

	if (rc == 0)
		rc = fill_tables(&view, tables, err);
	if (rc == 0)
		rc = status_note_all(&view, err);
	/* A failure is told in the document, too. */
	if (rc == 0 || !err->usage)
		printed = print(&view, tables, rc < 0 ? err : NULL, screen->out, &second);
	if (printed == 0)
		printed = screen->draw(screen, &second);
	if (rc == 0 && printed == 0)
		print_notes(&view);
	if (rc == 0 && printed < 0)
		*err = second;
	for (size_t i = 0; i < STATUS_SECTIONS; i++)
		hf_table_free(tables[i]);
	status_view_free(&view);
	return rc < 0 ? rc : printed;
}
