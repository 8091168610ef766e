/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alloc.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "../lib/doc.h"
#include "../lib/size.h"
#include "report.h"

enum { TARGET, NODE, PAGESIZE, REQUESTED, FILLED, THREADS, TIME, RATE, SPEEDUP, STDEV, PAGES, ACTION };

const struct hf_column alloc_columns[] = {
	[TARGET] = { "TARGET", HF_TEXT, false, "pool, or path of the file" },
	[NODE] = { "NODE", HF_COUNT, false, "NUMA node" },
	[PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[REQUESTED] = { "REQUESTED", HF_BYTES, false, "asked for on this node; of a pool: its total" },
	[FILLED] = { "FILLED", HF_BYTES, false, "there now, measured where the pages lie" },
	[THREADS] = { "THREADS", HF_COUNT, false, "workers that filled" },
	[TIME] = { "TIME", HF_SECONDS, false, "seconds of the fill on this node" },
	[RATE] = { "RATE", HF_RATE, false, "bytes per second" },
	[SPEEDUP] = { "SPEEDUP", HF_REAL, false, "busy time of the workers over TIME" },
	[STDEV] = { "STDEV", HF_REAL, false, "of the workers' seconds per GiB" },
	[PAGES] = { "PAGES", HF_COUNT, true, "FILLED in pages" },
	[ACTION] = { "ACTION", HF_TEXT, true, "pool, keep, create, fill, extend, cut, adjust, skip" },
};
const size_t alloc_ncolumns = HF_LENGTH(alloc_columns);

enum { P_ACTION, P_TARGET, P_NODE, P_PAGESIZE, P_FROM, P_TO, P_PAGES, P_THREADS };

const struct hf_column alloc_plan_columns[] = {
	[P_ACTION] = { "ACTION", HF_TEXT, false,
		       "grow, mount, create, fill, extend, cut, adjust, keep, skip" },
	[P_TARGET] = { "TARGET", HF_TEXT, false, "pool, mount point or path" },
	[P_NODE] = { "NODE", HF_COUNT, false, "NUMA node" },
	[P_PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[P_FROM] = { "FROM", HF_BYTES, false, "size before" },
	[P_TO] = { "TO", HF_BYTES, false, "size after" },
	[P_PAGES] = { "PAGES", HF_COUNT, false, "pages to add" },
	[P_THREADS] = { "THREADS", HF_COUNT, false, "workers that will fill on this node" },
};
const size_t alloc_nplan_columns = HF_LENGTH(alloc_plan_columns);

static const char *action_name(enum hf_action action)
{
	static const char *const names[] = { "pool",   "keep", "create", "fill",
					     "extend", "cut",  "adjust", "skip" };

	return names[action];
}

static void target_text(const struct hf_plan *plan, const struct hf_target *t, char *buf, size_t size)
{
	char page_size[HF_SIZE_TEXT];

	if (t->action == HF_ACTION_POOL)
		snprintf(buf, size, "%s",
			 hf_size_exact(plan->machine->pools.pools[t->pool].page_size, page_size));
	else
		snprintf(buf, size, "%s", plan->request->places[t->spec].path);
}

static void fill_row(struct hf_table *table, const struct hf_apply *apply, const struct hf_row *row)
{
	const struct hf_plan *plan = apply->plan;
	const struct hf_target *t = &plan->targets[row->target];
	uint64_t page_size = plan->machine->pools.pools[t->pool].page_size;
	char text[4200];

	target_text(plan, t, text, sizeof(text));
	hf_table_row(table);
	hf_table_text(table, TARGET, text);
	hf_table_u64(table, NODE, plan->machine->topo.nodes[row->node].id);
	hf_table_u64(table, PAGESIZE, page_size);
	hf_table_u64(table, REQUESTED, row->requested * page_size);
	hf_table_u64(table, FILLED, row->filled * page_size);
	hf_table_u64(table, PAGES, row->filled);
	hf_table_text(table, ACTION, action_name(t->action));
	if (row->threads)
		hf_table_u64(table, THREADS, row->threads);
	hf_table_real(table, TIME, row->seconds);
	hf_table_real(table, RATE, row->rate);
	hf_table_real(table, SPEEDUP, row->speedup);
	hf_table_real(table, STDEV, row->stdev);
}

enum { G_PAGESIZE, G_ENGINE, G_WHY, G_PAGES, G_TIME };

static const struct hf_column growth_columns[] = {
	[G_PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[G_ENGINE] = { "ENGINE", HF_TEXT, false, "sysfs or parallel" },
	[G_WHY] = { "WHY", HF_TEXT, false, "it was chosen" },
	[G_PAGES] = { "PAGES", HF_COUNT, false, "that were to be added" },
	[G_TIME] = { "TIME", HF_SECONDS, false, "seconds" },
};

/* How pools were grown, which no row of a target can tell. */
static void add_growth(struct hf_doc *doc, const struct hf_plan *plan)
{
	const struct hf_format all = { .json = true };
	struct hf_table *table = hf_table_new("growth", growth_columns, HF_LENGTH(growth_columns));

	for (size_t i = 0; table && i < plan->machine->pools.count; i++) {
		const struct hf_plan_pool *p = &plan->pools[i];

		if (!p->engine)
			continue;
		hf_table_row(table);
		hf_table_u64(table, G_PAGESIZE, plan->machine->page_sizes[i]);
		hf_table_text(table, G_ENGINE, p->engine);
		hf_table_text(table, G_WHY, p->why);
		hf_table_u64(table, G_PAGES, p->grow);
		hf_table_real(table, G_TIME, (double)p->grow_ns / 1e9);
	}
	if (table)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
}

enum { L_TARGET, L_FREE };

static const struct hf_column left_columns[] = {
	[L_TARGET] = { "TARGET", HF_TEXT, false, "pool, or path of the file" },
	[L_FREE] = { "FREE", HF_TEXT, false, "the spec file for free --from" },
};

static void add_left(struct hf_doc *doc, const struct hf_record *record)
{
	const struct hf_format all = { .json = true };
	struct hf_table *table = hf_table_new("left", left_columns, HF_LENGTH(left_columns));

	for (size_t i = 0; table && i < record->nleft; i++) {
		if (!record->left[i].told)
			continue;
		hf_table_row(table);
		hf_table_text(table, L_TARGET, record->left[i].name);
		hf_table_text(table, L_FREE, record->path);
	}
	if (table)
		hf_doc_table(doc, table, &all);
	hf_table_free(table);
}

static void add_phases(struct hf_doc *doc, const struct hf_apply *apply)
{
	for (int i = 0; i < HF_PHASES; i++) {
		char key[64];

		snprintf(key, sizeof(key), "phases.%s", hf_phase_name((enum hf_phase)i));
		hf_doc_real(doc, key, (double)apply->phase_ns[i] / 1e9);
	}
}

static const char *command_name(const struct alloc_opts *opts)
{
	return opts->then ? "run" : "alloc";
}

/* Standard output is the command's. */
static int print_aside(const struct alloc_opts *opts, const struct hf_table *table, struct hf_err *err)
{
	if (!table)
		return hf_err_nomem(err);
	return opts->common->verbose ? hf_table_print(table, &opts->common->format, stderr, err) : 0;
}

int alloc_report_result(const struct alloc_opts *opts, const struct hf_apply *apply, struct hf_err *err)
{
	struct hf_table *table = hf_table_new("targets", alloc_columns, alloc_ncolumns);
	struct hf_doc *doc = NULL;
	int r;

	for (size_t i = 0; table && i < apply->nrows; i++)
		fill_row(table, apply, &apply->rows[i]);
	if (table && opts->common->format.json) {
		doc = report_doc("alloc", apply->changed);
		if (doc) {
			hf_doc_bool(doc, "partly", apply->partly);
			hf_doc_table(doc, table, &opts->common->format);
			report_findings(doc, apply->plan);
			add_growth(doc, apply->plan);
			if (opts->in.from)
				add_left(doc, &opts->record);
			hf_doc_text(doc, "method", apply->method);
			add_phases(doc, apply);
		}
	}
	r = opts->then ? print_aside(opts, table, err) : report_print(opts->common, table, doc, err);
	hf_doc_free(doc);
	hf_table_free(table);
	return r;
}

static void plan_row(struct hf_table *table, const char *action, const char *target, uint64_t page_size)
{
	hf_table_row(table);
	hf_table_text(table, P_ACTION, action);
	hf_table_text(table, P_TARGET, target);
	hf_table_u64(table, P_PAGESIZE, page_size);
}

static void plan_growth(struct hf_table *table, const struct hf_plan *plan, size_t index)
{
	const struct hf_pool *pool = &plan->machine->pools.pools[index];
	const struct hf_plan_pool *p = &plan->pools[index];
	char size[HF_SIZE_TEXT];

	for (size_t n = 0; n < pool->nnodes; n++) {
		if (!p->write[n])
			continue;
		plan_row(table, "grow", hf_size_exact(pool->page_size, size), pool->page_size);
		hf_table_u64(table, P_NODE, plan->machine->topo.nodes[n].id);
		hf_table_u64(table, P_FROM, pool->nodes[n].nr * pool->page_size);
		hf_table_u64(table, P_TO, p->want[n] * pool->page_size);
		hf_table_u64(table, P_PAGES, p->want[n] - pool->nodes[n].nr);
	}
}

static void plan_file(struct hf_table *table, const struct hf_plan *plan, const struct hf_target *t)
{
	const struct hf_place *place = &plan->request->places[t->spec];

	if (!t->missing || t->action == HF_ACTION_SKIP) {
		plan_row(table, action_name(t->action), place->path, place->page_size);
		hf_table_u64(table, P_FROM, place->size);
		hf_table_u64(table, P_TO, t->pages * place->page_size);
		hf_table_u64(table, P_PAGES, 0);
		return;
	}
	for (size_t n = 0; n < plan->machine->topo.nnodes; n++) {
		if (!t->missing_on[n])
			continue;
		plan_row(table, action_name(t->action), place->path, place->page_size);
		hf_table_u64(table, P_NODE, plan->machine->topo.nodes[n].id);
		hf_table_u64(table, P_PAGES, t->missing_on[n]);
		hf_table_u64(table, P_TO, hf_layout_count(&t->layout, n) * place->page_size);
		hf_table_u64(table, P_FROM,
			     (hf_layout_count(&t->layout, n) - t->missing_on[n]) * place->page_size);
		if (plan->threads[n])
			hf_table_u64(table, P_THREADS, plan->threads[n]);
	}
}

int alloc_report_plan(const struct alloc_opts *opts, const struct hf_plan *plan, struct hf_err *err)
{
	struct hf_table *table = hf_table_new("plan", alloc_plan_columns, alloc_nplan_columns);
	struct hf_doc *doc = NULL;
	int r;

	for (size_t i = 0; table && i < plan->machine->pools.count; i++)
		plan_growth(table, plan, i);
	for (size_t i = 0; table && i < plan->nmounts; i++)
		plan_row(table, "mount", plan->mounts[i].target, plan->mounts[i].page_size);
	for (size_t i = 0; table && i < plan->ntargets; i++)
		if (plan->targets[i].action != HF_ACTION_POOL)
			plan_file(table, plan, &plan->targets[i]);
	if (table && opts->common->format.json) {
		doc = report_doc(command_name(opts), false);
		if (doc) {
			hf_doc_bool(doc, "dry_run", true);
			hf_doc_bool(doc, "would_change", hf_plan_changes(plan));
			hf_doc_table(doc, table, &opts->common->format);
			report_findings(doc, plan);
			if (opts->in.from)
				add_left(doc, &opts->record);
		}
	}
	if (table && !hf_table_rows(table) && !doc)
		hf_print_at(opts->common, HF_LEVEL_INFO, "nothing to do");
	for (size_t i = 0; i < plan->nfindings; i++)
		hf_print_finding(opts->common, &plan->findings[i]);
	r = table && !hf_table_rows(table) && !doc ? hf_print_flush(err)
						   : report_print(opts->common, table, doc, err);
	hf_doc_free(doc);
	hf_table_free(table);
	return r;
}

int alloc_report_failure(const struct alloc_opts *opts, const struct hf_apply *apply,
			 const struct hf_err *failed)
{
	int status = HF_EXIT_FAILED;
	struct hf_err err = { 0 };
	struct hf_doc *doc;

	for (size_t i = 0; i < apply->plan->nfindings; i++)
		hf_print_finding(opts->common, &apply->plan->findings[i]);
	if (failed)
		status = hf_print_err(opts->common, failed);
	if (!opts->common->format.json || ferror(stdout) || status == HF_EXIT_USAGE)
		return status;
	doc = report_doc(command_name(opts), apply->changed);
	if (doc) {
		if (opts->dry_run)
			hf_doc_bool(doc, "dry_run", true);
		report_error(doc, failed);
		report_findings(doc, apply->plan);
		hf_doc_u64(doc, "not_undone", apply->left);
		add_phases(doc, apply);
		if (report_print(opts->common, NULL, doc, &err) < 0)
			hf_print_err(opts->common, &err);
	}
	hf_doc_free(doc);
	return status;
}
