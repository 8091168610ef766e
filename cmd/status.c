/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>

enum { KEY_POOLS = 0x100, KEY_MOUNTS, KEY_FILES, KEY_PROCESSES, KEY_CGROUPS, KEY_PID, KEY_FORMAT, KEY_WATCH };

static const struct argp_option options[] = {
	{ "pools", KEY_POOLS, NULL, 0, "pools by page size and node; what is shown without any of these", 1 },
	{ "mounts", KEY_MOUNTS, NULL, 0, "hugetlbfs mounts, their limits and what of those is used", 1 },
	{ "files", KEY_FILES, NULL, 0, "files on the mounts, where their pages lie and who holds them", 1 },
	{ "processes", KEY_PROCESSES, NULL, 0, "what each process holds, and of what kind it is", 1 },
	{ "cgroups", KEY_CGROUPS, NULL, 0, "cgroups with a limit, usage or failures", 1 },
	{ "page-size", 'p', "SIZE", 0, "only this page size", 2 },
	{ "nodes", 'N', "NODES", 0, "only these nodes' pools, and what has pages there: 0-3+6, or all", 2 },
	{ "pid", KEY_PID, "PID[,PID]...", 0, "only these processes, and files that they hold", 2 },
	{ "format", KEY_FORMAT, "FORMAT", 0,
	  "openmetrics: pools, mounts and cgroups as metrics, for Prometheus and its node_exporter", 3 },
	{ "watch", KEY_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
	  "again and again (every 2 seconds); on a terminal in place", 3 },
	{ 0 },
};

static int parse_pids(struct status_opts *o, const char *text, struct hf_err *err)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *one;

	if (!copy)
		return hf_err_nomem(err);
	while ((one = strsep(&rest, ",")) != NULL) {
		pid_t *pids = reallocarray(o->pids, o->npids + 1, sizeof(*pids));
		uint64_t pid;
		int rc;

		if (!pids)
			return hf_err_nomem(err);
		o->pids = pids;
		rc = hf_option_u64("--pid", one, 1, INT_MAX, &pid, err);
		if (rc < 0)
			return rc;
		pids[o->npids++] = (pid_t)pid;
	}
	return 0;
}

static int parse_value(struct status_opts *o, int key, char *arg, struct hf_err *err)
{
	static const char *const formats[] = { "openmetrics", NULL };
	int choice;

	if (key == KEY_PID)
		return parse_pids(o, arg, err);
	if (key == KEY_FORMAT) {
		o->metrics = true;
		return hf_option_choice("--format", arg, formats, &choice, err);
	}
	o->watch = true;
	o->interval = 2;
	return arg ? hf_option_seconds("--watch", arg, &o->interval, err) : 0;
}

static void check_metrics(struct status_opts *o, const struct argp_state *state)
{
	const struct hf_format *format = &o->common->format;
	bool any = false;

	if (format->json || format->raw)
		argp_error(state, "--format, --json and --raw exclude each other");
	if (format->columns || format->all)
		argp_error(state, "--format has no columns for --output and --output-all");
	if (o->watch)
		argp_error(state, "--format is one look at the machine, not with --watch");
	for (size_t i = 0; i < STATUS_SECTIONS; i++) {
		if (o->asked[i] && !status_parts[i]->metrics)
			argp_error(state, "--%s has no metrics", status_parts[i]->name);
		any |= o->asked[i];
	}
	for (size_t i = 0; !any && i < STATUS_SECTIONS; i++)
		o->asked[i] = status_parts[i]->metrics != NULL;
}

static void check(struct status_opts *o, const struct argp_state *state)
{
	size_t count = 0;

	if (o->metrics)
		check_metrics(o, state);
	for (size_t i = 0; i < STATUS_SECTIONS; i++)
		count += o->asked[i];
	if (!count)
		o->asked[STATUS_POOLS] = true;
	if (count > 1 && o->common->format.columns && !o->common->format.all)
		argp_error(state, "--output needs one table: give one of --pools, --mounts, --files, "
				  "--processes and --cgroups");
	if (o->pids && !o->asked[STATUS_PROCESSES] && !o->asked[STATUS_FILES])
		argp_error(state, "--pid needs --processes or --files");
	if (o->asked[STATUS_FILES] && o->common->sysroot)
		argp_error(state, "--files needs the running machine: a captured tree holds no files");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct status_opts *o = state->input;
	struct hf_err err = { 0 };

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o->common;
		return 0;
	case KEY_POOLS ... KEY_CGROUPS:
		o->asked[key - KEY_POOLS] = true;
		return 0;
	case 'p':
		o->page_size = arg;
		return 0;
	case 'N':
		o->nodes = arg;
		return 0;
	case KEY_PID:
	case KEY_FORMAT:
	case KEY_WATCH:
		if (parse_value(o, key, arg, &err) < 0)
			hf_option_fail(state, &err);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "\"%s\": no arguments are expected", arg);
		return 0;
	case ARGP_KEY_END:
		check(o, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* All sections' columns, one list after the other. */
static char *help_filter(int key, const char *text, void *input)
{
	char *help = NULL, *list = NULL;

	(void)input;
	if (key != ARGP_KEY_HELP_EXTRA)
		return (char *)(uintptr_t)text;
	for (size_t i = 0; i < STATUS_SECTIONS; i++) {
		char *before = help;

		list = hf_columns_help(NULL, status_parts[i]->columns, status_parts[i]->ncolumns);
		if (!list || asprintf(&help, "%s%sWith --%s:\n%s", before ? before : "", before ? "\n" : "",
				      status_parts[i]->name, list) < 0)
			help = NULL;
		free(before);
		free(list);
	}
	return help;
}

/* Over what was there before, each line to its end, so that nothing flickers. */
static void redraw(const char *text)
{
	fputs("\033[H", stdout);
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\033[K", stdout);
		putchar(*text);
	}
	fputs("\033[J", stdout);
}

static int draw_again(const struct status_screen *screen, struct hf_err *err)
{
	if (fflush(screen->out) != 0)
		return hf_err_nomem(err);
	if (screen->terminal) {
		redraw(screen->text);
	} else {
		if (!screen->first)
			putchar('\n');
		fputs(screen->text, stdout);
	}
	return hf_print_flush(err);
}

static int show_again(const struct status_opts *o, bool terminal, bool first, struct hf_err *err)
{
	struct status_screen screen = { .draw = draw_again, .terminal = terminal, .first = first };
	int rc;

	screen.out = open_memstream(&screen.text, &screen.size);
	if (!screen.out)
		return hf_err_nomem(err);
	rc = status_show(o, &screen, err);
	fclose(screen.out);
	free(screen.text);
	return rc;
}

/* Until the time is over or a signal has come, however early: it is let in only while this waits. */
static void wait_for(const struct status_opts *o)
{
	struct timespec left = { .tv_sec = (time_t)o->interval };
	sigset_t stops, before;

	left.tv_nsec = (long)((o->interval - (double)left.tv_sec) * 1e9);
	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &before);
	if (!hf_stop_requested(o->common->stop))
		pselect(0, NULL, NULL, NULL, &left, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int watch(const struct status_opts *o, struct hf_err *err)
{
	bool terminal = isatty(STDOUT_FILENO) && !o->common->format.json && !o->common->format.raw;
	int rc = 0;

	if (terminal)
		fputs("\033[2J", stdout);
	for (bool first = true; rc == 0 && !hf_stop_requested(o->common->stop); first = false) {
		rc = show_again(o, terminal, first, err);
		if (rc == 0)
			wait_for(o);
	}
	return rc;
}

static int draw_once(const struct status_screen *screen, struct hf_err *err)
{
	(void)screen;
	return hf_print_flush(err);
}

static int run(const struct status_opts *o)
{
	const struct status_screen once = { .out = stdout, .draw = draw_once };
	struct hf_err err = { 0 };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < STATUS_SECTIONS; i++)
		if (o->asked[i])
			rc = hf_table_check(status_parts[i]->columns, status_parts[i]->ncolumns,
					    &o->common->format, &err);
	if (rc == 0 && o->watch)
		rc = watch(o, &err);
	else if (rc == 0)
		rc = status_show(o, &once, &err);
	return rc < 0 ? hf_print_err(o->common, &err) : HF_EXIT_DONE;
}

int hf_cmd_status(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] = "Shows where every huge page is and who holds it.\v"
				  "Counts are pages, sizes are bytes.";
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 50 }, { 0 } };
	const struct argp argp = { options, parse, NULL, doc, children, help_filter, NULL };
	struct status_opts opts = { .common = common };
	int status = HF_EXIT_USAGE;

	if (argp_parse(&argp, argc, argv, 0, NULL, &opts) == 0) {
		hf_signals_catch(common->stop);
		status = hf_signals_exit(common, run(&opts));
	}
	free(opts.pids);
	return status;
}
