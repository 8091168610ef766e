/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "alloc.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct alloc_opts *o = state->input;

	if (key == ARGP_KEY_END && o->common->format.json && !o->dry_run)
		argp_error(state,
			   "--json needs --dry-run: standard output is the command's\n"
			   "hint: hugefill alloc --json makes the files, hugefill free gives them back");
	if (key == ARGP_KEY_END && (!o->run->command || !*o->run->command))
		argp_error(state, "a command is missing: write -- and the command after the SPECs");
	return alloc_parse(key, arg, state);
}

/* The path of the file, if it is one. */
static const char *only_file(const struct hf_apply *apply)
{
	const char *path = NULL;

	for (size_t i = 0; i < apply->plan->ntargets; i++) {
		const struct hf_target *t = &apply->plan->targets[i];

		if (t->action == HF_ACTION_POOL || t->action == HF_ACTION_SKIP)
			continue;
		if (path)
			return NULL;
		path = apply->places[t->spec].path;
	}
	return path;
}

static int run_and_give_back(struct alloc_opts *o, struct hf_apply *apply)
{
	int status;

	hf_signals_no_deadline(o->common->stop);
	status = run_command(o->common, o->run, only_file(apply));
	hf_apply_give_back(apply);
	if (status < 0)
		return HF_EXIT_FAILED;
	if (apply->left)
		hf_print_note(o->common, "the command has ended with %d; not everything could be given back",
			      status);
	else if (o->common->verbose)
		hf_print_note(o->common, "the command has ended with %d; everything is given back", status);
	return status || !apply->left ? status : HF_EXIT_FAILED;
}

static bool asks_for_help(int argc, char **argv)
{
	static const char *const options[] = { "--help", "-?", "--usage", "--version", "-V" };

	for (int i = 1; i < argc; i++)
		for (size_t o = 0; o < HF_LENGTH(options); o++)
			if (strcmp(argv[i], options[o]) == 0)
				return true;
	return false;
}

/* The first "--": what is after it are the command's words. */
static int split(int argc, char **argv, struct run_opts *run)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) {
			run->command = argv + i + 1;
			return i;
		}
	return argc;
}

int hf_cmd_run(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] =
		"Allocates as alloc does, runs a command, and gives everything back when it ends."
		"\vReturns the command's exit status; 128+N when signal N killed it, 127 when it was not "
		"found, "
		"126 when it cannot be executed. HUGEFILL_FILE is the path of the file, where there is one.";
	const struct argp_child children[] = { { &request_argp, 0, NULL, 0 },
					       { &hf_common_argp, 0, NULL, 50 },
					       { 0 } };
	const struct argp argp = { alloc_options, parse, "[SPEC...] -- COMMAND [ARGUMENT...]", doc, children,
				   alloc_help,    NULL };
	struct run_opts run = { 0 };
	struct alloc_opts opts = { .common = common, .then = run_and_give_back, .run = &run };
	int status;

	request_init(&opts.in, common);
	argc = split(argc, argv, &run);
	/* That is to be told, not that an option of the command's is none of these. */
	if (!run.command && !asks_for_help(argc, argv))
		argc = 1;
	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	hf_policy_save(&run.policy);
	getrlimit(RLIMIT_NOFILE, &run.descriptors);
	status = opts.dry_run ? 0 : run_find(common, &run);
	if (status == 0)
		status = alloc_carry_out(&opts);
	free(run.program);
	/* A shell ends its script, or its loop, at ^C only when what it waited for died of it. */
	if (run.died_of == SIGINT && status == HF_EXIT_SIGNAL + SIGINT)
		hf_signals_die(SIGINT);
	return hf_signals_exit(common, status);
}
