/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <string.h>

enum { KEY_NOHEADINGS = 0x500, KEY_OUTPUT_ALL, KEY_PROGRESS, KEY_SYSROOT };

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "Common options:", 50 },
	{ "json", 'J', NULL, 0, "one JSON document on standard output", 0 },
	{ "raw", 'r', NULL, 0, "columns separated by one blank, blanks inside escaped", 0 },
	{ "noheadings", KEY_NOHEADINGS, NULL, 0, "no line of column names", 0 },
	{ "bytes", 'b', NULL, 0, "sizes in plain bytes", 0 },
	{ "output", 'o', "COLS", 0, "these columns, in this order; +COL adds to the usual ones", 0 },
	{ "output-all", KEY_OUTPUT_ALL, NULL, 0, "all columns", 0 },
	{ "progress", KEY_PROGRESS, "WHEN", 0,
	  "auto, always or never; auto: on a terminal a line on standard error, elsewhere one each 10 s", 0 },
	{ "quiet", 'q', NULL, 0, "nothing but errors, and the result only as --json or --raw", 0 },
	{ "verbose", 'v', NULL, 0, "say what is being done", 0 },
	{ "sysroot", KEY_SYSROOT, "DIR", 0,
	  "read the captured system files below DIR instead of this machine's; nothing is changed", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const when[] = { "auto", "always", "never", NULL };
	struct hf_common *c = state->input;
	struct hf_err err = { 0 };
	int choice;

	switch (key) {
	case 'J':
		c->format.json = true;
		return 0;
	case 'r':
		c->format.raw = true;
		return 0;
	case 'b':
		c->format.bytes = true;
		return 0;
	case 'o':
		c->format.columns = arg;
		return 0;
	case 'q':
		c->quiet = true;
		return 0;
	case 'v':
		c->verbose++;
		return 0;
	case KEY_NOHEADINGS:
		c->format.noheadings = true;
		return 0;
	case KEY_OUTPUT_ALL:
		c->format.all = true;
		return 0;
	case KEY_SYSROOT:
		if (!*arg)
			argp_error(state, "--sysroot needs a directory");
		c->sysroot = arg;
		return 0;
	case KEY_PROGRESS:
		if (hf_option_choice("--progress", arg, when, &choice, &err) < 0)
			hf_option_fail(state, &err);
		c->progress = (enum hf_progress_mode)choice;
		return 0;
	case ARGP_KEY_END:
		if (c->format.json && c->format.raw)
			argp_error(state, "--json and --raw exclude each other");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp hf_common_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

char *hf_columns_help(const char *text, const struct hf_column *columns, size_t count)
{
	char *help = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&help, &size);

	if (!out)
		return (char *)(uintptr_t)text;
	if (text)
		fprintf(out, "%s\n", text);
	fputs("Columns:\n", out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "  %-12s %s%s\n", columns[i].name, columns[i].help,
			columns[i].hidden ? " (on request)" : "");
	if (fclose(out) == 0)
		return help;
	free(help);
	return (char *)(uintptr_t)text;
}
