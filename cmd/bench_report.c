/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "../lib/facts.h"
#include "report.h"

#define NO_SPEEDUP 1.1
#define NOISY 0.15 /* from the shortest run to the longest, of the shortest */

char *bench_describe(const struct hf_bench *bench, const struct hf_bench_case *c, char *buf, size_t size)
{
	char bytes[HF_SIZE_TEXT];

	snprintf(buf, size, "%s, %llu thread%s, %s", hf_bench_test_name(bench, c),
		 (unsigned long long)c->count, c->count == 1 ? "" : "s", hf_size_exact(c->bytes, bytes));
	return buf;
}

static int print_enough(const struct hf_bench *bench, FILE *out, struct hf_err *err)
{
	for (size_t i = 0; i < bench->ncases && bench_has_threads(bench); i++) {
		const struct hf_bench_case *c = &bench->cases[i];
		char size[HF_SIZE_TEXT];
		struct bench_enough e;

		if (!bench_is_first(bench, i))
			continue;
		if (bench_find_enough(bench, i, &e, err) < 0)
			return -err->errnum;
		if (e.counts < 2)
			continue;
		hf_size_exact(c->bytes, size);
		fprintf(out,
			"%s, %s: --threads=%llu is the smallest count within 5 %% of the best (%.3f s)\n",
			hf_bench_test_name(bench, c), size, (unsigned long long)e.threads, e.best);
		if (e.spread > NOISY)
			fprintf(out,
				"%s, %s: runs of the same case are up to %.0f %% apart: something else may "
				"have run\n",
				hf_bench_test_name(bench, c), size, e.spread * 100);
		if (!(e.speedup < NO_SPEEDUP))
			continue;
		fprintf(out, "%s, %s: no speedup by threads, %.2f at best%s\n", hf_bench_test_name(bench, c),
			size, e.speedup,
			bench->request->workload == HF_BENCH_FILL && c->kind == HF_METHOD_FALLOCATE
				? ": the kernel runs the calls on one file one after the other"
				: "");
	}
	return 0;
}

static void print_facts(const struct bench_opts *o, const struct hf_bench *bench, FILE *out)
{
	char memory[HF_SIZE_TEXT], page[HF_SIZE_TEXT];
	struct hf_facts f;

	hf_facts_read(bench->machine, &f);
	fprintf(out, "Machine: %s%s%u CPU%s, %u node%s, %s memory, Linux %s, HVO %s, init_on_alloc %s\n",
		f.cpu, f.cpu[0] ? ", " : "", f.cpus, f.cpus == 1 ? "" : "s", f.memory_nodes,
		f.memory_nodes == 1 ? "" : "s", hf_size_human(f.memory, memory), f.kernel,
		f.hvo ? "on" : "off",
		!f.init_told      ? "not told"
		: f.init_on_alloc ? "on"
				  : "off");
	fprintf(out, "Test:    %s, %s pages, %llu run%s after %llu to warm up\n\n",
		hf_bench_workload_name(o->request.workload), hf_size_exact(o->request.page_size, page),
		(unsigned long long)o->request.runs, o->request.runs == 1 ? "" : "s",
		(unsigned long long)o->request.warmup);
}

static void print_whys(const struct hf_bench *bench, FILE *out)
{
	bool first = true;

	for (size_t i = 0; i < bench->ncases; i++) {
		const struct hf_bench_case *c = &bench->cases[i];
		char size[HF_SIZE_TEXT];

		if (!c->why[0])
			continue;
		fprintf(out, "%s%s", first ? "\n" : "", hf_bench_test_name(bench, c));
		if (c->count)
			fprintf(out, " %llu", (unsigned long long)c->count);
		fprintf(out, ", %s: %s\n", hf_size_exact(c->bytes, size), c->why);
		first = false;
	}
}

static void print_histograms(const struct hf_bench *bench, FILE *out)
{
	char text[128];

	for (size_t i = 0; i < bench->ncases; i++) {
		const struct hf_bench_case *c = &bench->cases[i];

		if (!c->latency || !c->latency->count)
			continue;
		fprintf(out, "\n@ns[%s]:\n", bench_describe(bench, c, text, sizeof(text)));
		hf_histogram_print(c->latency, out);
	}
}

static void print_kernel(const struct bench_opts *o, FILE *out)
{
	for (size_t i = 0; i < o->tracer.count; i++) {
		const struct hf_traced *f = &o->tracer.functions[i];

		if (f->why[0])
			fprintf(out, "\n%s: %s\n", f->name, f->why);
		else if (!f->times.count)
			fprintf(out, "\n%s: was not called\n", f->name);
		else
			fprintf(out, "\n@%s:\n", f->name);
		hf_histogram_print(&f->times, out);
	}
}

/* The pool's own tables, unless columns are asked for. */
static int print_pool(const struct bench_opts *o, const struct hf_bench *bench, struct hf_err *err)
{
	struct hf_format format = o->common->format;
	struct bench_multiplier room;
	struct hf_table *pool = bench_pool_table(bench, err), *multiplier;
	int r = pool ? hf_table_print(pool, &format, stdout, err) : -err->errnum;

	hf_table_free(pool);
	if (r < 0 || !o->request.counts.count)
		return r;
	multiplier = bench_multiplier_table(bench, &room, err);
	putchar('\n');
	r = multiplier ? hf_table_print(multiplier, &format, stdout, err) : -err->errnum;
	hf_table_free(multiplier);
	return r;
}

static int print_text(const struct bench_opts *o, const struct hf_bench *bench, struct hf_table *results,
		      struct hf_err *err)
{
	struct hf_format format = o->common->format;
	bool people = !format.raw && !format.noheadings;
	char selection[1024];
	int r;

	if (o->common->quiet && !format.raw)
		return 0;
	format.columns = bench_selection(o, format.columns, selection, sizeof(selection));
	bench_titles(bench, results);
	if (people && !o->dry_run)
		print_facts(o, bench, stdout);
	if (o->request.workload == HF_BENCH_POOL && !o->common->format.columns && !format.all &&
	    !o->compare && !o->dry_run)
		r = print_pool(o, bench, err);
	else
		r = hf_table_print(results, &format, stdout, err);
	if (r < 0 || !people || o->dry_run)
		return r;
	if ((bench_has_threads(bench) && o->request.counts.count > 1) || o->compare)
		putchar('\n');
	r = print_enough(bench, stdout, err);
	print_whys(bench, stdout);
	if (o->compare)
		fputs("p: two-sided Mann-Whitney U test; below 0.05 the difference is beyond the noise\n",
		      stdout);
	print_histograms(bench, stdout);
	print_kernel(o, stdout);
	return r;
}

int bench_report(const struct bench_opts *o, const struct hf_bench *bench,
		 const struct bench_baseline *baseline, struct hf_err *err)
{
	struct hf_table *results = bench_results(bench, baseline, err);
	int r;

	if (!results)
		return -err->errnum;
	r = o->common->format.json ? bench_print_json(o, bench, results, err)
				   : print_text(o, bench, results, err);
	hf_table_free(results);
	return r < 0 ? r : hf_print_flush(err);
}

int bench_report_failure(const struct bench_opts *o, const struct hf_err *failed)
{
	int status = hf_print_err(o->common, failed);
	struct hf_err err = { 0 };
	struct hf_doc *doc;

	if (!o->common->format.json || status == HF_EXIT_USAGE || ferror(stdout))
		return status;
	doc = report_doc("bench", false);
	if (doc)
		report_error(doc, failed);
	if (report_print(o->common, NULL, doc, &err) < 0)
		hf_print_err(o->common, &err);
	hf_doc_free(doc);
	return status;
}
