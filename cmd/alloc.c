/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alloc.h"

#include <errno.h>
#include <string.h>

#include "../lib/clock.h"
#include "../lib/doc.h"

enum { KEY_DEADLINE = 0x100 };

const struct argp_option alloc_options[] = {
	{ "dry-run", 'n', NULL, 0, "print the plan that would be carried out, change nothing", 2 },
	{ "deadline", KEY_DEADLINE, "TIME", 0, "give up, and undo, after TIME (90, 500ms, 5m)", 3 },
	{ 0 },
};

error_t alloc_parse(int key, char *arg, struct argp_state *state)
{
	struct alloc_opts *o = state->input;
	struct hf_err err = { 0 };

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->in;
		state->child_inputs[1] = o->common;
		return 0;
	case 'n':
		o->dry_run = true;
		return 0;
	case KEY_DEADLINE:
		if (hf_option_seconds("--deadline", arg, &o->deadline, &err) < 0)
			hf_option_fail(state, &err);
		return 0;
	case ARGP_KEY_END:
		if (!request_is_given(&o->in))
			argp_error(state, "nothing is asked for: give a SPEC, --size or --from");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

char *alloc_help(int key, const char *text, void *input)
{
	(void)input;
	if (key == ARGP_KEY_HELP_EXTRA)
		return hf_columns_help(NULL, alloc_columns, alloc_ncolumns);
	return (char *)(uintptr_t)text;
}

static const struct hf_apply_hooks quiet_hooks;

/* What the hooks need. */
struct told {
	struct alloc_opts *opts;
	struct hf_apply *apply;
	struct hf_progress progress;
	bool left; /* something was told that could not be undone */
};

static void begin_phase(void *arg, enum hf_phase phase, uint64_t total)
{
	struct told *t = arg;

	if (t->opts->common->verbose)
		hf_print_at(t->opts->common, HF_LEVEL_INFO, "%s", hf_phase_name(phase));
	hf_progress_begin(&t->progress, hf_phase_name(phase), total, hf_clock_ns());
}

static void show_progress(void *arg, uint64_t done)
{
	struct told *t = arg;

	hf_progress_update(&t->progress, done, hf_clock_ns());
}

static void end_phase(void *arg, enum hf_phase phase)
{
	struct told *t = arg;

	(void)phase;
	hf_progress_end(&t->progress, t->progress.total, hf_clock_ns());
}

static void tell_note(void *arg, const char *text)
{
	struct told *t = arg;

	hf_print_note(t->opts->common, "%s", text);
}

static void tell_left(const struct hf_err *err, void *arg)
{
	struct told *t = arg;

	if (!t->left)
		fprintf(stderr, "%s: could not be undone:\n", t->opts->common->name);
	t->left = true;
	hf_print_err(t->opts->common, err);
}

/* What an earlier call made from the same file, and the file does not want any more. */
static int look_at_record(struct alloc_opts *o, const struct hf_apply *apply, struct hf_err *err)
{
	char file[HF_ERR_SHELL];
	bool told = false;
	int r;

	if (!o->in.from || hf_option_is_stdin(o->in.from) || o->then)
		return 0;
	r = hf_record_compare(apply->machine, o->in.from, apply->plan, o->in.first_from, &o->record, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < o->record.nleft; i++) {
		char name[4 * HF_ERR_OBJECT];

		if (!o->record.left[i].told)
			continue;
		hf_print_note(o->common, "%s: is no longer in %s, and stays",
			      hf_err_escape(o->record.left[i].name, name, sizeof(name)),
			      hf_err_escape(o->in.from, file, sizeof(file)));
		told = true;
	}
	if (told && !o->dry_run)
		hf_print_note_hint(o->common,
				   "to free what the file does not want any more: hugefill free --from=%s",
				   hf_err_shell(o->record.path, file, sizeof(file)));
	return 0;
}

/* Without it the next call cannot name what has left the file: no reason to undo anything. */
static void keep_record(const struct alloc_opts *o, const struct hf_apply *apply)
{
	struct hf_err err = { 0 };

	if (o->record.name && hf_record_write(apply->machine, &o->record, &err) < 0)
		hf_print_note(o->common, "%s: %s: %s", err.object, err.what, strerror(err.errnum));
}

static int commit(void *arg, struct hf_err *err)
{
	struct told *t = arg;
	const struct hf_plan *plan = t->apply->plan;

	if (look_at_record(t->opts, t->apply, err) < 0)
		return -err->errnum;
	for (size_t i = 0; i < plan->nfindings; i++)
		hf_print_finding(t->opts->common, &plan->findings[i]);
	return alloc_report_result(t->opts, t->apply, err);
}

/* Returns the exit status. */
static int finish(struct alloc_opts *o, struct hf_apply *apply)
{
	if (o->then)
		return o->then(o, apply);
	keep_record(o, apply);
	if (!apply->changed && !apply->partly)
		hf_print_at(o->common, HF_LEVEL_INFO, "nothing to do: all is as asked for");
	return apply->partly ? HF_EXIT_PARTLY : HF_EXIT_DONE;
}

static int carry_out(struct alloc_opts *o, struct hf_apply *apply)
{
	struct told told = { .opts = o, .apply = apply };
	const struct hf_apply_hooks hooks = { .begin = begin_phase,
					      .progress = show_progress,
					      .end = end_phase,
					      .note = tell_note,
					      .commit = commit,
					      .left = tell_left,
					      .arg = &told };
	struct hf_err err = { 0 };
	int r;

	hf_progress_init(&told.progress, stderr, o->common->quiet ? HF_PROGRESS_NEVER : o->common->progress,
			 o->common->label);
	apply->hooks = &hooks;
	apply->keep = o->then;
	r = hf_apply_run(apply, &err);
	if (r == 0)
		r = finish(o, apply);
	apply->hooks = &quiet_hooks;
	if (r >= 0)
		return r;
	if (atomic_load(&o->common->stop->deadline) && !atomic_load(&o->common->stop->signal))
		hf_err_hint(&err, "--deadline has passed");
	if (!apply->left)
		hf_err_hint(&err, "everything is as before");
	return alloc_report_failure(o, apply, &err);
}

static int plan_and_run(struct alloc_opts *o, struct hf_apply *apply)
{
	struct hf_err err = { 0 };
	int r = hf_apply_places(apply->machine, o->in.request.specs, apply->page_size, apply->places, &err);

	if (r == 0)
		r = hf_plan_make(&o->in.request, apply->machine, apply->plan, &err);
	if (r < 0)
		return alloc_report_failure(o, apply, &err);
	if (o->then && hf_apply_refuse_cut(apply->plan, &err) < 0)
		return alloc_report_failure(o, apply, &err);
	if (o->dry_run) {
		if (look_at_record(o, apply, &err) < 0)
			return hf_print_err(o->common, &err);
		r = alloc_report_plan(o, apply->plan, &err);
		if (r < 0)
			return hf_print_err(o->common, &err);
		if (hf_plan_is_fatal(apply->plan))
			return HF_EXIT_FAILED;
		/* With --best-effort what stands against the plan makes less of it. */
		return apply->plan->nfindings ? HF_EXIT_PARTLY : HF_EXIT_DONE;
	}
	if (hf_plan_is_fatal(apply->plan))
		return alloc_report_failure(o, apply, NULL);
	return carry_out(o, apply);
}

/* Everything that can be wrong with the request, before anything is touched. */
static int prepare(struct alloc_opts *o, struct hf_machine *machine, struct hf_spec_list *list,
		   uint64_t *page_size, struct hf_err *err)
{
	int r;

	if (o->common->sysroot && !o->dry_run)
		return hf_err_usage(err, "--sysroot", "a captured tree cannot be changed; add --dry-run");
	r = hf_table_check(o->dry_run ? alloc_plan_columns : alloc_columns,
			   o->dry_run ? alloc_nplan_columns : alloc_ncolumns, &o->common->format, err);
	if (r == 0)
		r = hf_machine_read(o->common->sysroot, machine, err);
	if (r == 0)
		r = request_read(&o->in, machine, list, page_size, err);
	if (r == 0 && o->deadline > 0)
		r = hf_signals_deadline(o->deadline, err);
	return r;
}

int alloc_carry_out(struct alloc_opts *o)
{
	struct hf_machine machine = { 0 };
	struct hf_spec_list specs = { 0 };
	struct hf_plan plan = { 0 };
	struct hf_apply apply = { .machine = &machine,
				  .request = &o->in.request,
				  .plan = &plan,
				  .hooks = &quiet_hooks,
				  .stop = o->common->stop };
	struct hf_err err = { 0 };
	int status;

	if (prepare(o, &machine, &specs, &apply.page_size, &err) < 0) {
		status = alloc_report_failure(o, &apply, &err);
	} else if (!(apply.places = calloc(specs.count, sizeof(*apply.places)))) {
		hf_err_nomem(&err);
		status = alloc_report_failure(o, &apply, &err);
	} else {
		o->in.request.specs = &specs;
		o->in.request.places = apply.places;
		status = plan_and_run(o, &apply);
	}
	hf_apply_free(&apply);
	hf_record_free(&o->record);
	hf_plan_free(&plan);
	for (size_t i = 0; apply.places && i < specs.count; i++)
		hf_place_free(&apply.places[i]);
	free(apply.places);
	hf_spec_list_free(&specs);
	hf_machine_free(&machine);
	return status;
}

int hf_cmd_alloc(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] =
		"Grows pools, mounts hugetlbfs if needed, creates files and fills them: all or nothing."
		"\vSPEC is TARGET=AMOUNT[@NODES][,AMOUNT@NODES]..., TARGET a page size (a pool) or a file:\n"
		"  2M=400G   1G=16p@0,48p@1   vm0=16G@0   /dev/hugepages/db=100G@0,300G@1";
	const struct argp_child children[] = { { &request_argp, 0, NULL, 0 },
					       { &hf_common_argp, 0, NULL, 50 },
					       { 0 } };
	const struct argp argp = { alloc_options, alloc_parse, "[SPEC...]", doc, children, alloc_help, NULL };
	struct alloc_opts opts = { .common = common };

	request_init(&opts.in, common);
	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, alloc_carry_out(&opts));
}
