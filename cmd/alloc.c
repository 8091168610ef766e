/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "alloc.h"

#include <errno.h>
#include <string.h>

#include "../lib/clock.h"
#include "../lib/doc.h"

enum {
	KEY_LAYOUT = 0x100,
	KEY_AVAILABLE,
	KEY_DEADLINE,
	KEY_DROP_CACHES,
	KEY_HEADROOM,
	KEY_NO_GROW,
	KEY_NO_MOUNT,
	KEY_MODE,
	KEY_OWNER,
	KEY_FROM,
	KEY_METHOD,
	KEY_RESIZE,
	KEY_BEST_EFFORT,
};

#define HEADROOM "3%"
#define MOST_THREADS 65536

static const struct argp_option options[] = {
	{ "size", 's', "SIZE", 0, "one file of SIZE (any AMOUNT[@NODES][,...])", 1 },
	{ "file", 'f', "NAME", 0, "the name of the file of --size (hugefill)", 1 },
	{ "page-size", 'p', "SIZE", 0, "page size for bare names and --size (the kernel's default)", 1 },
	{ "nodes", 'N', "NODES", 0, "nodes for specs without @: 0-3+6, or all", 1 },
	{ "from", KEY_FROM, "FILE", 0, "specs from FILE, one a line, # comments; - is standard input", 1 },
	{ "dry-run", 'n', NULL, 0, "print the plan that would be carried out, change nothing", 2 },
	{ "threads", 't', "N", 0,
	  "workers in all (every CPU of the nodes meant, 64 MiB of work each at least)", 2 },
	{ "layout", KEY_LAYOUT, "HOW", 0,
	  "interleave a file over its nodes page by page (the default), or block", 2 },
	{ "method", KEY_METHOD, "HOW", 0,
	  "fill by populate, touch or fallocate; auto: populate, touch before Linux 5.14", 2 },
	{ "available", KEY_AVAILABLE, NULL, 0,
	  "pool amounts count available pages (free less reserved), not the total", 3 },
	{ "headroom", KEY_HEADROOM, "SIZE|%", 0,
	  "memory that pool growth must leave available (" HEADROOM ")", 3 },
	{ "drop-caches", KEY_DROP_CACHES, NULL, 0, "drop clean caches when a pool falls short", 3 },
	{ "no-grow", KEY_NO_GROW, NULL, 0, "fail rather than grow a pool", 3 },
	{ "no-mount", KEY_NO_MOUNT, NULL, 0, "fail rather than mount a hugetlbfs", 3 },
	{ "best-effort", KEY_BEST_EFFORT, NULL, 0,
	  "keep what could be had; exit 64 when that is less than asked", 3 },
	{ "deadline", KEY_DEADLINE, "TIME", 0, "give up, and undo, after TIME (90, 500ms, 5m)", 3 },
	{ "mode", KEY_MODE, "MODE", 0, "of files, octal (0600)", 4 },
	{ "owner", KEY_OWNER, "USER[:GROUP]", 0, "of files, and of a mount made for them (the caller)", 4 },
	{ "resize", KEY_RESIZE, NULL, 0, "change the size of a file that is there with another", 4 },
	{ 0 },
};

static int set_choice(const char *option, const char *text, const char *const *names, int *index,
		      struct argp_state *state)
{
	struct hf_err err = { 0 };

	if (hf_option_choice(option, text, names, index, &err) < 0)
		hf_option_fail(state, &err);
	return 0;
}

static error_t parse_how(int key, const char *arg, struct argp_state *state, struct alloc_opts *o)
{
	static const char *const layouts[] = { "interleave", "block", NULL };
	static const char *const methods[] = { "auto", "populate", "touch", "fallocate", NULL };
	struct hf_err err = { 0 };
	int index, r = 0;

	switch (key) {
	case 't':
		r = hf_option_u64("--threads", arg, 1, MOST_THREADS, &o->request.threads, &err);
		break;
	case KEY_LAYOUT:
		set_choice("--layout", arg, layouts, &index, state);
		o->request.block = index == 1;
		break;
	case KEY_METHOD:
		set_choice("--method", arg, methods, &index, state);
		o->request.method = (enum hf_method)index;
		break;
	case KEY_DEADLINE:
		r = hf_option_seconds("--deadline", arg, &o->deadline, &err);
		break;
	case KEY_MODE:
		o->request.mode_given = true;
		r = hf_option_mode("--mode", arg, &o->request.mode, &err);
		break;
	case KEY_OWNER:
		r = hf_option_owner("--owner", arg, &o->request.uid, &o->request.gid, &err);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (r < 0)
		hf_option_fail(state, &err);
	return 0;
}

static error_t parse_flag(int key, struct alloc_opts *o)
{
	switch (key) {
	case 'n':
		o->dry_run = true;
		return 0;
	case KEY_AVAILABLE:
		o->request.available = true;
		return 0;
	case KEY_DROP_CACHES:
		o->request.drop_caches = true;
		return 0;
	case KEY_NO_GROW:
		o->request.no_grow = true;
		return 0;
	case KEY_NO_MOUNT:
		o->request.no_mount = true;
		return 0;
	case KEY_RESIZE:
		o->request.resize = true;
		return 0;
	case KEY_BEST_EFFORT:
		o->request.best_effort = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct alloc_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o->common;
		return 0;
	case 's':
		o->size = arg;
		return 0;
	case 'f':
		o->file = arg;
		return 0;
	case 'p':
		o->page_size = arg;
		return 0;
	case 'N':
		o->nodes = arg;
		return 0;
	case KEY_FROM:
		o->from = arg;
		return 0;
	case KEY_HEADROOM:
		o->headroom = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->specs = state->argv + state->next;
		o->nspecs = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (!o->size && o->file)
			argp_error(state, "--file needs --size");
		if (!o->size && !o->from && !o->nspecs)
			argp_error(state, "nothing is asked for: give a SPEC, --size or --from");
		return 0;
	default:
		if (parse_flag(key, o) == 0)
			return 0;
		return parse_how(key, arg, state, o);
	}
}

static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key == ARGP_KEY_HELP_EXTRA)
		return hf_columns_help(NULL, alloc_columns, alloc_ncolumns);
	return (char *)(uintptr_t)text;
}

static int read_specs(const struct alloc_opts *o, const struct hf_spec_rules *rules,
		      struct hf_spec_list *list, struct hf_err *err)
{
	int r = o->size ? hf_option_file(o->file, o->size, rules, list, err) : 0;

	for (size_t i = 0; i < o->nspecs && r == 0; i++)
		r = hf_spec_parse(o->specs[i], rules, list, err);
	if (r == 0 && o->from)
		r = hf_option_from(o->from, rules, list, err);
	if (r == 0 && !list->count)
		r = hf_err_usage(err, o->from ? o->from : "", "holds no spec");
	return r;
}

static const struct hf_apply_hooks quiet_hooks;

/* What the hooks need. */
struct told {
	struct alloc_opts *opts;
	struct hf_apply *apply;
	struct hf_progress progress;
};

static void begin_phase(void *arg, enum hf_phase phase, uint64_t total)
{
	struct told *t = arg;

	if (t->opts->common->verbose)
		hf_print_note(t->opts->common, "%s", hf_phase_name(phase));
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

	fprintf(stderr, "%s: could not be undone:\n", t->opts->common->name);
	hf_print_err(t->opts->common, err);
}

static int commit(void *arg, struct hf_err *err)
{
	struct told *t = arg;
	const struct hf_plan *plan = t->apply->plan;

	for (size_t i = 0; i < plan->nfindings; i++)
		hf_print_finding(t->opts->common, &plan->findings[i]);
	return alloc_report_result(t->opts, t->apply, err);
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
			 o->common->name);
	apply->hooks = &hooks;
	r = hf_apply_run(apply, &err);
	apply->hooks = &quiet_hooks;
	if (r == 0 && apply->partly)
		return HF_EXIT_PARTLY;
	if (r == 0)
		return HF_EXIT_DONE;
	if (atomic_load(&o->common->stop->deadline) && !atomic_load(&o->common->stop->signal))
		hf_err_hint(&err, "--deadline has passed; everything was undone");
	return alloc_report_failure(o, apply, &err);
}

static int plan_and_run(struct alloc_opts *o, struct hf_apply *apply)
{
	struct hf_err err = { 0 };
	int r = hf_apply_places(apply->machine, o->request.specs, apply->page_size, apply->places, &err);

	if (r == 0)
		r = hf_plan_make(&o->request, apply->machine, apply->plan, &err);
	if (r < 0)
		return alloc_report_failure(o, apply, &err);
	if (o->dry_run) {
		r = alloc_report_plan(o, apply->plan, &err);
		if (r < 0)
			return hf_print_err(o->common, &err);
		return hf_plan_is_fatal(apply->plan) ? HF_EXIT_FAILED : HF_EXIT_DONE;
	}
	if (hf_plan_is_fatal(apply->plan))
		return alloc_report_failure(o, apply, NULL);
	return carry_out(o, apply);
}

/* Everything that can be wrong with the request, before anything is touched. */
static int prepare(struct alloc_opts *o, struct hf_machine *machine, struct hf_spec_list *list,
		   uint64_t *page_size, struct hf_err *err)
{
	struct hf_spec_rules rules;
	struct hf_nodeset nodes;
	int r;

	if (o->common->sysroot && !o->dry_run)
		return hf_err_usage(err, "--sysroot", "a captured tree cannot be changed; add --dry-run");
	r = hf_table_check(o->dry_run ? alloc_plan_columns : alloc_columns,
			   o->dry_run ? alloc_nplan_columns : alloc_ncolumns, &o->common->format, err);
	if (r == 0)
		r = hf_machine_read(o->common->sysroot, machine, err);
	if (r == 0)
		r = hf_option_page_size(machine, o->page_size, page_size, err);
	if (r == 0)
		r = hf_option_share("--headroom", o->headroom ? o->headroom : HEADROOM,
				    machine->topo.mem_total, &o->request.headroom, err);
	if (r < 0)
		return r;
	hf_machine_rules(machine, NULL, &rules);
	if (o->nodes) {
		r = hf_spec_parse_nodes(o->nodes, strlen(o->nodes), &rules, &nodes, err);
		if (r < 0)
			return hf_option_blame("--nodes", err);
		hf_machine_rules(machine, &nodes, &rules);
	}
	r = read_specs(o, &rules, list, err);
	if (r == 0 && o->deadline > 0)
		r = hf_signals_deadline(o->deadline, err);
	return r;
}

static int run(struct alloc_opts *o)
{
	struct hf_machine machine = { 0 };
	struct hf_spec_list specs = { 0 };
	struct hf_plan plan = { 0 };
	struct hf_apply apply = { .machine = &machine,
				  .request = &o->request,
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
		o->request.specs = &specs;
		o->request.places = apply.places;
		status = plan_and_run(o, &apply);
	}
	hf_apply_free(&apply);
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
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 50 }, { 0 } };
	const struct argp argp = { options, parse, "[SPEC...]", doc, children, help_filter, NULL };
	struct alloc_opts opts = { .common = common };

	opts.request.uid = (uid_t)-1;
	opts.request.gid = (gid_t)-1;
	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, run(&opts));
}
