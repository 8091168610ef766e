/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <string.h>

#include "../lib/clock.h"

/* What the hooks need. */
struct told {
	struct bench_opts *opts;
	struct hf_progress progress;
	uint64_t run, start_ns;
	char phase[96];
};

static void begin_phase(struct told *t, const char *phase, uint64_t total)
{
	snprintf(t->phase, sizeof(t->phase), "%s", phase);
	hf_progress_begin(&t->progress, t->phase, total, hf_clock_ns());
}

/* Loops last as long as they were told to: their run and the time that is left. */
static void show_loops(struct told *t, uint64_t run, uint64_t runs)
{
	const struct hf_bench_request *q = &t->opts->request;
	double each =
		(double)q->kinds.count * 3 * (double)q->counts.count * (double)q->sizes.count * q->seconds;
	double left = each * (double)runs - (double)(hf_clock_ns() - t->start_ns) / 1e9;
	uint64_t seconds = left > 0 ? (uint64_t)left : 0;

	if (t->run == run) {
		hf_progress_update(&t->progress, 0, hf_clock_ns());
		return;
	}
	t->run = run;
	if (t->progress.phase)
		hf_progress_end(&t->progress, 0, hf_clock_ns());
	snprintf(t->phase, sizeof(t->phase), "run %llu of %llu, ETA %llu:%02llu", (unsigned long long)run,
		 (unsigned long long)runs, (unsigned long long)seconds / 60,
		 (unsigned long long)seconds % 60);
	hf_progress_begin(&t->progress, t->phase, 0, hf_clock_ns());
}

static void show_progress(void *arg, uint64_t run, uint64_t runs, uint64_t done, uint64_t total)
{
	struct told *t = arg;

	if (!t->start_ns) {
		t->start_ns = hf_clock_ns();
		if (total)
			begin_phase(t, hf_bench_workload_name(t->opts->request.workload), total);
	}
	if (total)
		hf_progress_update(&t->progress, done, hf_clock_ns());
	else
		show_loops(t, run, runs);
}

static void waiting(void *arg)
{
	struct told *t = arg;

	hf_print_note(t->opts->common, "waiting for another hugefill that changes pools");
}

static void tell_left(const struct hf_err *err, void *arg)
{
	struct told *t = arg;

	fprintf(stderr, "%s: could not be undone:\n", t->opts->common->name);
	hf_print_err(t->opts->common, err);
}

static int measure(struct bench_opts *o, struct told *told, struct hf_bench *bench,
		   const struct bench_baseline *baseline)
{
	struct hf_err err = { 0 };
	int r;

	hf_progress_init(&told->progress, stderr, o->common->quiet ? HF_PROGRESS_NEVER : o->common->progress,
			 o->common->label);
	r = hf_bench_run(bench, &err);
	if (told->start_ns)
		hf_progress_end(&told->progress, told->progress.total, hf_clock_ns());
	if (r == 0)
		r = bench_report(o, bench, baseline, &err);
	if (r == 0 && o->plot)
		r = bench_plot(o, bench, &err);
	return r < 0 ? bench_report_failure(o, &err) : HF_EXIT_DONE;
}

/* Everything that can be wrong with the request, before anything is touched. */
static int prepare(struct bench_opts *o, struct hf_machine *machine, struct hf_bench *bench,
		   struct bench_baseline *baseline, struct hf_err *err)
{
	int r;

	if (o->common->sysroot && !o->dry_run)
		return hf_err_usage(err, "--sysroot", "a captured tree cannot be measured; add --dry-run");
	r = hf_table_check(bench_columns, BENCH_COLUMNS, &o->common->format, err);
	if (r == 0)
		r = hf_machine_read(o->common->sysroot, machine, err);
	if (r == 0)
		r = bench_read(o, machine, err);
	if (r == 0 && o->plot)
		r = bench_plot_check(o, err);
	if (r == 0 && o->compare)
		r = bench_baseline_open(o->compare, o->request.workload, baseline, err);
	if (r == 0)
		r = hf_bench_plan(bench, err);
	return r;
}

static int run(struct bench_opts *o)
{
	struct hf_machine machine = { 0 };
	struct bench_baseline baseline = { 0 };
	struct told told = { .opts = o };
	struct hf_bench bench = { .request = &o->request,
				  .machine = &machine,
				  .stop = o->common->stop,
				  .progress = show_progress,
				  .waiting = waiting,
				  .left = tell_left,
				  .arg = &told };
	struct hf_err err = { 0 };
	int status = HF_EXIT_DONE, r;

	bench.tracer = o->kernel ? &o->tracer : NULL;
	r = prepare(o, &machine, &bench, &baseline, &err);

	if (r == 0 && o->dry_run)
		r = bench_report(o, &bench, &baseline, &err);
	if (r == 0)
		r = hf_bench_check(&bench, &err);
	if (r < 0)
		status = o->dry_run ? hf_print_err(o->common, &err) : bench_report_failure(o, &err);
	else if (!o->dry_run)
		status = measure(o, &told, &bench, &baseline);
	bench_baseline_close(&baseline);
	hf_bench_free(&bench);
	hf_machine_free(&machine);
	return status;
}

static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key == ARGP_KEY_HELP_EXTRA)
		return hf_columns_help(NULL, bench_columns, BENCH_COLUMNS);
	return (char *)(uintptr_t)text;
}

int hf_cmd_bench(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] =
		"Measures what work on huge pages is judged by, and leaves nothing."
		"\vWORKLOAD is fill (usual): a file is filled; fault: a mapping is faulted; forkfault: "
		"faults "
		"beside forks; pool: a pool grows; free: files and pool pages are freed. LIST is one value "
		"or several, separated by commas.";
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 50 }, { 0 } };
	const struct argp argp = {
		bench_options, bench_parse, "[WORKLOAD]", doc, children, help_filter, NULL
	};
	struct bench_opts opts = { .common = common };

	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, run(&opts));
}
