/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench - the rooms of the bench command: options (bench_options.c), the run (bench.c), what it
 * tells (bench_tables.c, bench_report.c, bench_json.c), an earlier result (bench_compare.c), the
 * picture (bench_plot.c).
 */
#ifndef HF_CMD_BENCH_H
#define HF_CMD_BENCH_H

#include "../lib/bench.h"
#include "../lib/bench_sum.h"
#include "../lib/doc.h"
#include "../lib/rank.h"
#include "cmd.h"

struct bench_opts {
	struct hf_common *common;
	/* As written; NULL: not given. */
	const char *workload, *size, *page_size, *nodes, *threads, *method, *mapping, *stride, *instances;
	const char *time, *workers, *action, *runs, *warmup, *headroom;
	const char *compare, *plot, *kernel;
	bool dry_run;
	struct hf_bench_request request;
	struct hf_tracer tracer;
};

extern const struct argp_option bench_options[];
/* Input: struct bench_opts. */
error_t bench_parse(int key, char *arg, struct argp_state *state);
/* The request that the options make, for this machine. */
int bench_read(struct bench_opts *opts, const struct hf_machine *machine, struct hf_err *err) _must_check;

/* --- columns and tables (bench_tables.c) --- */

enum bench_column {
	TEST,
	MAPPING,
	NTHREAD,
	INSTANCES,
	WORKERS,
	SPEEDUP,
	SIZE,
	STRIDE,
	MIN_TIME,
	STDEV,
	MEDIAN,
	MAX_TIME,
	MEAN,
	RATE,
	PER_SEC,
	PER_INSTANCE,
	RUNS,
	P50,
	P90,
	P99,
	MAX,
	BASELINE,
	CHANGE,
	PVALUE,
	RANKED,
	VERDICT,
	WHY,
	CASE,
	BENCH_COLUMNS
};

extern const struct hf_column bench_columns[];

struct bench_baseline;

/* A row per case. NULL: no memory, or err is set. */
struct hf_table *bench_results(const struct hf_bench *bench, const struct bench_baseline *baseline,
			       struct hf_err *err) _must_check;
/* The columns that a workload shows when none are asked for; titles for people. buf holds the text. */
const char *bench_selection(const struct bench_opts *opts, const char *asked, char *buf, size_t size);
void bench_titles(const struct hf_bench *bench, struct hf_table *table);

/* Pool: serial beside parallel, and times by workers per node. columns must outlive the table. */
struct bench_multiplier {
	struct hf_column columns[HF_BENCH_LIST + 1];
	char names[HF_BENCH_LIST][24];
};
struct hf_table *bench_pool_table(const struct hf_bench *bench, struct hf_err *err) _must_check;
struct hf_table *bench_multiplier_table(const struct hf_bench *bench, struct bench_multiplier *room,
					struct hf_err *err) _must_check;

/* --- what is told (bench_report.c) --- */

int bench_report(const struct bench_opts *opts, const struct hf_bench *bench,
		 const struct bench_baseline *baseline, struct hf_err *err) _must_check;
/* Messages, and the document with --json. Returns the exit status. */
int bench_report_failure(const struct bench_opts *opts, const struct hf_err *failed);
int bench_print_json(const struct bench_opts *opts, const struct hf_bench *bench,
		     const struct hf_table *results, struct hf_err *err) _must_check;

/* What was found of all counts of one kind and size; index: the first of these cases. */
struct bench_enough {
	uint64_t threads;     /* the fewest within 5 % of the best */
	double best, speedup; /* seconds; the best speedup of any count */
	double spread;        /* from the shortest run to the longest of a count, of the shortest; the most */
	size_t counts;
};
bool bench_has_threads(const struct hf_bench *bench);
bool bench_is_first(const struct hf_bench *bench, size_t index);
int bench_find_enough(const struct hf_bench *bench, size_t index, struct bench_enough *enough,
		      struct hf_err *err) _must_check;

/* A line about what a case's latencies are of: "populate, 2 threads, 1G". */
char *bench_describe(const struct hf_bench *bench, const struct hf_bench_case *c, char *buf, size_t size);

/* --- an earlier result (bench_compare.c) --- */

struct bench_baseline {
	const char *file;
	struct hf_doc *doc;
};

int bench_baseline_open(const char *file, enum hf_bench_workload workload, struct bench_baseline *baseline,
			struct hf_err *err) _must_check;
void bench_baseline_close(struct bench_baseline *baseline);
/* BASELINE, CHANGE, PVALUE, RANKED, VERDICT of the row that was begun last. */
int bench_compare(const struct hf_bench *bench, const struct hf_bench_case *c, const struct hf_bench_sum *sum,
		  const struct bench_baseline *baseline, struct hf_table *table,
		  struct hf_err *err) _must_check;

/* --- the picture (bench_plot.c) --- */

/* Before anything is measured: the file's kind, that there is something to draw, that it can be written. */
int bench_plot_check(const struct bench_opts *opts, struct hf_err *err) _must_check;
int bench_plot(const struct bench_opts *opts, const struct hf_bench *bench, struct hf_err *err) _must_check;

#endif
