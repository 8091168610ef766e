/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "request.h"

#include <errno.h>
#include <string.h>

enum {
	KEY_LAYOUT = 0x200,
	KEY_AVAILABLE,
	KEY_DROP_CACHES,
	KEY_HEADROOM,
	KEY_NO_GROW,
	KEY_NO_MOUNT,
	KEY_MODE,
	KEY_OWNER,
	KEY_FROM,
	KEY_METHOD,
	KEY_GROW,
	KEY_RESIZE,
	KEY_BEST_EFFORT,
};

#define HEADROOM "3%"
#define MOST_THREADS 65536

static const char *const layouts[] = { "interleave", "block", NULL };
static const char *const engines[] = { "auto", "sysfs", "parallel", NULL };
static const char *const methods[] = { "auto", "populate", "touch", "fallocate", NULL };

static const struct argp_option options[] = {
	{ "size", 's', "SIZE", 0, "one file of SIZE (any AMOUNT[@NODES][,...])", 1 },
	{ "file", 'f', "NAME", 0, "the name of the file of --size (hugefill)", 1 },
	{ "page-size", 'p', "SIZE", 0, "page size for bare names and --size (the kernel's default)", 1 },
	{ "nodes", 'N', "NODES", 0, "nodes for specs without @: 0-3+6, or all", 1 },
	{ "from", KEY_FROM, "FILE", 0, "specs from FILE, one a line, # comments; - is standard input", 1 },
	{ "threads", 't', "N", 0,
	  "workers in all (every CPU of the nodes meant, 64 MiB of work each at least)", 2 },
	{ "layout", KEY_LAYOUT, "HOW", 0,
	  "interleave a file over its nodes page by page (the default), or block", 2 },
	{ "method", KEY_METHOD, "HOW", 0,
	  "fill by populate, touch or fallocate; auto: populate, touch before Linux 5.14", 2 },
	{ "grow", KEY_GROW, "HOW", 0,
	  "grow pools by sysfs (the kernel, serially) or parallel; auto: by what a page costs", 2 },
	{ "available", KEY_AVAILABLE, NULL, 0,
	  "pool amounts count available pages (free less reserved), not the total", 3 },
	{ "headroom", KEY_HEADROOM, "SIZE|%", 0,
	  "memory that pool growth must leave available (" HEADROOM ")", 3 },
	{ "drop-caches", KEY_DROP_CACHES, NULL, 0, "drop clean caches when a pool falls short", 3 },
	{ "no-grow", KEY_NO_GROW, NULL, 0, "fail rather than grow a pool", 3 },
	{ "no-mount", KEY_NO_MOUNT, NULL, 0, "fail rather than mount a hugetlbfs", 3 },
	{ "best-effort", KEY_BEST_EFFORT, NULL, 0,
	  "keep what could be had; exit 64 when that is less than asked", 3 },
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

static error_t parse_how(int key, const char *arg, struct argp_state *state, struct request_opts *o)
{
	int index = 0;

	switch (key) {
	case KEY_LAYOUT:
		set_choice("--layout", arg, layouts, &index, state);
		o->request.block = index == 1;
		return 0;
	case KEY_METHOD:
		set_choice("--method", arg, methods, &index, state);
		o->request.method = (enum hf_method)index;
		return 0;
	case KEY_GROW:
		set_choice("--grow", arg, engines, &index, state);
		o->request.engine = (enum hf_engine)index;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_value(int key, const char *arg, struct argp_state *state, struct request_opts *o)
{
	struct hf_err err = { 0 };
	int r;

	switch (key) {
	case 't':
		r = hf_option_u64("--threads", arg, 1, MOST_THREADS, &o->request.threads, &err);
		break;
	case KEY_MODE:
		o->mode = arg;
		o->request.mode_given = true;
		r = hf_option_mode("--mode", arg, 0777, &o->request.mode, &err);
		break;
	case KEY_OWNER:
		o->owner = arg;
		r = hf_option_owner("--owner", arg, &o->request.uid, &o->request.gid, &err);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (r < 0)
		hf_option_fail(state, &err);
	return 0;
}

static error_t parse_text(int key, const char *arg, struct request_opts *o)
{
	const struct {
		int key;
		const char **text;
	} texts[] = {
		{ 's', &o->size },  { 'f', &o->file },      { 'p', &o->page_size },
		{ 'N', &o->nodes }, { KEY_FROM, &o->from }, { KEY_HEADROOM, &o->headroom },
	};

	for (size_t i = 0; i < HF_LENGTH(texts); i++)
		if (texts[i].key == key) {
			*texts[i].text = arg;
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_flag(int key, struct hf_request *request)
{
	const struct {
		int key;
		bool *flag;
	} flags[] = {
		{ KEY_AVAILABLE, &request->available }, { KEY_DROP_CACHES, &request->drop_caches },
		{ KEY_NO_GROW, &request->no_grow },     { KEY_NO_MOUNT, &request->no_mount },
		{ KEY_RESIZE, &request->resize },       { KEY_BEST_EFFORT, &request->best_effort },
	};

	for (size_t i = 0; i < HF_LENGTH(flags); i++)
		if (flags[i].key == key) {
			*flags[i].flag = true;
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request_opts *o = state->input;

	switch (key) {
	case ARGP_KEY_ARGS:
		o->specs = state->argv + state->next;
		o->nspecs = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (!o->size && o->file)
			argp_error(state, "--file needs --size");
		return 0;
	default:
		if (parse_text(key, arg, o) == 0 || parse_flag(key, &o->request) == 0 ||
		    parse_how(key, arg, state, o) == 0)
			return 0;
		return parse_value(key, arg, state, o);
	}
}

const struct argp request_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

void request_init(struct request_opts *opts, const struct hf_common *common)
{
	*opts = (struct request_opts){ .common = common, .request = { .uid = (uid_t)-1, .gid = (gid_t)-1 } };
}

bool request_is_given(const struct request_opts *opts)
{
	return opts->size || opts->from || opts->nspecs;
}

static int read_specs(struct request_opts *o, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		      struct hf_err *err)
{
	int r = o->size ? hf_option_file(o->file, o->size, rules, list, err) : 0;

	for (size_t i = 0; i < o->nspecs && r == 0; i++)
		r = hf_spec_parse(o->specs[i], rules, list, err);
	o->first_from = list->count;
	if (r == 0 && o->from)
		r = hf_option_from(o->common, o->from, rules, list, err);
	if (r == 0 && !list->count)
		r = hf_err_usage(err, o->from ? o->from : "", "holds no spec");
	return r;
}

int request_read(struct request_opts *o, const struct hf_machine *machine, struct hf_spec_list *specs,
		 uint64_t *page_size, struct hf_err *err)
{
	struct hf_spec_rules rules;
	struct hf_nodeset nodes;
	int r = hf_option_page_size(machine, o->page_size, page_size, err);

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
	o->request.specs = specs;
	return read_specs(o, &rules, specs, err);
}

/* systemd splits at blanks, takes quotes and backslashes away, and expands % and $. */
static void put_option(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=", name);
	if (strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@+,-%") ==
	    strlen(value)) {
		for (; *value; value++)
			fprintf(out, "%s%c", *value == '%' ? "%" : "", *value);
		return;
	}
	fputc('"', out);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '%' || c == '$')
			fprintf(out, "%c%c", c, c);
		else if (c < ' ' || c == '"' || c == '\\' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_options(FILE *out, const struct request_opts *o)
{
	const struct hf_request *request = &o->request;
	const struct {
		const char *name, *value;
	} values[] = {
		{ "--layout", request->block ? layouts[1] : NULL },
		{ "--method", request->method ? methods[request->method] : NULL },
		{ "--grow", request->engine ? engines[request->engine] : NULL },
		{ "--headroom", o->headroom },
		{ "--mode", o->mode },
		{ "--owner", o->owner },
	};
	const struct {
		const char *name;
		bool is_set;
	} flags[] = {
		{ "--available", request->available }, { "--drop-caches", request->drop_caches },
		{ "--no-grow", request->no_grow },     { "--no-mount", request->no_mount },
		{ "--resize", request->resize },       { "--best-effort", request->best_effort },
	};

	if (request->threads)
		fprintf(out, " --threads=%llu", (unsigned long long)request->threads);
	for (size_t i = 0; i < HF_LENGTH(values); i++)
		if (values[i].value)
			put_option(out, values[i].name, values[i].value);
	for (size_t i = 0; i < HF_LENGTH(flags); i++)
		if (flags[i].is_set)
			fprintf(out, " %s", flags[i].name);
}

char *request_repeat(const struct request_opts *opts, bool for_free)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (opts->page_size)
		put_option(out, "--page-size", opts->page_size);
	if (opts->nodes)
		put_option(out, "--nodes", opts->nodes);
	if (!for_free)
		put_options(out, opts);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
