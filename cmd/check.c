/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <string.h>

#include "../lib/advice.h"
#include "../lib/apply.h"
#include "../lib/doc.h"
#include "../lib/survey.h"
#include "report.h"
#include "request.h"

enum { KEY_PERSIST = 0x100 };

struct check_opts {
	struct hf_common *common;
	struct request_opts in;
	bool persist;
};

/* What is found out; check_free. */
struct check {
	struct hf_machine machine;
	struct hf_spec_list specs;
	struct hf_place *places;
	struct hf_plan plan;
	struct hf_survey survey;
	struct hf_advice advice;
};

static const struct argp_option options[] = {
	{ "persist", KEY_PERSIST, NULL, 0,
	  "print how to make it last: kernel arguments and a systemd unit, for the SPECs or the pools as "
	  "they are",
	  5 },
	{ 0 },
};

enum { SEVERITY, ID, OBJECT, NODE, WANTED, GOT, TEXT, HINT };

static const struct hf_column columns[] = {
	[SEVERITY] = { "SEVERITY", HF_TEXT, false, "error, warning or info" },
	[ID] = { "ID", HF_TEXT, false, "what it is about, for programs" },
	[OBJECT] = { "OBJECT", HF_TEXT, false, "pool, mount, file or part of the machine" },
	[NODE] = { "NODE", HF_COUNT, false, "NUMA node" },
	[WANTED] = { "WANTED", HF_BYTES, false, "requested, or a limit" },
	[GOT] = { "GOT", HF_BYTES, false, "free, left, or there" },
	[TEXT] = { "TEXT", HF_TEXT, false, "in words" },
	[HINT] = { "HINT", HF_TEXT, true, "next step" },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_opts *o = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->in;
		state->child_inputs[1] = o->common;
		return 0;
	case KEY_PERSIST:
		o->persist = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key == ARGP_KEY_HELP_EXTRA)
		return hf_columns_help(NULL, columns, HF_LENGTH(columns));
	return (char *)(uintptr_t)text;
}

static void add_row(struct hf_table *table, const struct hf_finding *f)
{
	hf_table_row(table);
	hf_table_text(table, SEVERITY, hf_survey_severity(f));
	hf_table_text(table, ID, f->id);
	hf_table_text(table, OBJECT, f->object);
	if (f->node >= 0)
		hf_table_u64(table, NODE, (uint64_t)f->node);
	if (f->wanted)
		hf_table_u64(table, WANTED, f->wanted);
	if (f->wanted || f->got)
		hf_table_u64(table, GOT, f->got);
	hf_table_text(table, TEXT, f->text);
	hf_table_text(table, HINT, f->hint[0] ? f->hint : NULL);
}

static struct hf_doc *make_doc(const struct check_opts *o, const struct check *c,
			       const struct hf_table *table)
{
	struct hf_doc *doc = hf_doc_new();

	if (!doc)
		return NULL;
	hf_doc_text(doc, "hugefill", HF_VERSION);
	hf_doc_text(doc, "command", "check");
	hf_doc_bool(doc, "ok", !hf_survey_is_fatal(&c->survey));
	hf_doc_table(doc, table, &o->common->format);
	if (o->persist) {
		hf_doc_text(doc, "persist.kernel_arguments", c->advice.arguments);
		hf_doc_text(doc, "persist.conf", c->advice.conf);
		hf_doc_text(doc, "persist.unit", c->advice.unit);
	}
	return doc;
}

/* Next steps, each with the finding that it belongs to. */
static void print_hints(const struct hf_survey *survey)
{
	for (size_t i = 0; i < survey->nfindings; i++) {
		const struct hf_finding *f = &survey->findings[i];
		char object[4 * sizeof(f->object)], hint[4 * sizeof(f->hint)];

		if (f->hint[0])
			fprintf(stderr, "%shint: %s %s: %s\n", hf_journal_level(hf_print_level(f)), f->id,
				hf_err_escape(f->object, object, sizeof(object)),
				hf_err_printable(f->hint, hint, sizeof(hint)));
	}
}

static const char *verdict(const struct hf_survey *survey)
{
	if (hf_survey_is_fatal(survey))
		return "it would not succeed";
	/* Errors come first, then warnings. */
	if (survey->nfindings && !survey->findings[0].notice)
		return "it would succeed, if the warnings do not come true";
	return "it would succeed";
}

static int print_table(const struct check_opts *o, const struct check *c, const struct hf_table *table,
		       struct hf_err *err)
{
	const struct hf_common *common = o->common;
	int r = report_print(common, table, NULL, err);

	if (r < 0 || common->quiet || common->format.raw)
		return r;
	print_hints(&c->survey);
	if (request_is_given(&o->in))
		hf_print_at(common, hf_survey_is_fatal(&c->survey) ? HF_LEVEL_ERROR : HF_LEVEL_INFO, "%s",
			    verdict(&c->survey));
	return 0;
}

/* Only the advice is on standard output: it is to be copied from there. */
static int print_advice(const struct check_opts *o, const struct check *c, struct hf_err *err)
{
	const struct hf_advice *a = &c->advice;

	for (size_t i = 0; i < c->survey.nfindings && request_is_given(&o->in); i++)
		if (!c->survey.findings[i].notice)
			hf_print_finding(o->common, &c->survey.findings[i]);
	if (o->common->quiet)
		return 0;
	if (!*a->arguments && !*a->conf)
		hf_print_note(o->common, "no pool has pages: give SPECs for those that it is to have");
	printf("# Kernel arguments, in force from the next boot on. Gigantic pages and large pools are best "
	       "made so:\n"
	       "%s%s\n"
	       "# The same by a unit, files too, as systemd starts it. /etc/hugefill.conf:\n"
	       "%s\n"
	       "# /etc/systemd/system/hugefill.service; then: systemctl enable --now hugefill\n"
	       "%s",
	       a->arguments, *a->arguments ? "\n" : "", a->conf, a->unit);
	return hf_print_flush(err);
}

static int report(const struct check_opts *o, const struct check *c, struct hf_err *err)
{
	struct hf_table *table = hf_table_new("findings", columns, HF_LENGTH(columns));
	struct hf_doc *doc = NULL;
	int r;

	for (size_t i = 0; table && i < c->survey.nfindings; i++)
		add_row(table, &c->survey.findings[i]);
	if (!table) {
		r = hf_err_nomem(err);
	} else if (o->common->format.json) {
		doc = make_doc(o, c, table);
		r = report_print(o->common, NULL, doc, err);
	} else if (o->persist) {
		r = print_advice(o, c, err);
	} else {
		r = print_table(o, c, table, err);
	}
	hf_doc_free(doc);
	hf_table_free(table);
	return r;
}

/* The request's own failure: nothing could be found out. */
static int fail(const struct check_opts *o, const struct hf_err *failed)
{
	int status = hf_print_err(o->common, failed);
	struct hf_err err = { 0 };
	struct hf_doc *doc;

	if (!o->common->format.json || status == HF_EXIT_USAGE || ferror(stdout))
		return status;
	doc = hf_doc_new();
	if (doc) {
		hf_doc_text(doc, "hugefill", HF_VERSION);
		hf_doc_text(doc, "command", "check");
		hf_doc_bool(doc, "ok", false);
		report_error(doc, failed);
	}
	if (report_print(o->common, NULL, doc, &err) < 0)
		hf_print_err(o->common, &err);
	hf_doc_free(doc);
	return status;
}

static int check_specs(struct check_opts *o, struct check *c, struct hf_err *err)
{
	uint64_t page_size;
	int r = request_read(&o->in, &c->machine, &c->specs, &page_size, err);

	if (r < 0)
		return r;
	c->places = calloc(c->specs.count, sizeof(*c->places));
	if (!c->places)
		return hf_err_nomem(err);
	o->in.request.places = c->places;
	r = hf_apply_places(&c->machine, &c->specs, page_size, c->places, err);
	if (r == 0)
		r = hf_plan_make(&o->in.request, &c->machine, &c->plan, err);
	return r < 0 ? r : hf_survey_plan(&c->plan, &c->survey, err);
}

static int advise(const struct check_opts *o, struct check *c, struct hf_err *err)
{
	_cleanup_free_ char *start = request_repeat(&o->in, false), *stop = request_repeat(&o->in, true);

	if (!start || !stop)
		return hf_err_nomem(err);
	return hf_advice_make(&c->machine, request_is_given(&o->in) ? &c->plan : NULL, start, stop,
			      &c->advice, err);
}

static int check(struct check_opts *o, struct check *c, struct hf_err *err)
{
	int r = hf_table_check(columns, HF_LENGTH(columns), &o->common->format, err);

	if (r == 0)
		r = hf_machine_read(o->common->sysroot, &c->machine, err);
	if (r == 0)
		r = request_is_given(&o->in) ? check_specs(o, c, err)
					     : hf_survey_machine(&c->machine, &c->survey, err);
	if (r == 0 && o->persist)
		r = advise(o, c, err);
	return r == 0 ? report(o, c, err) : r;
}

static void check_free(struct check *c)
{
	hf_advice_free(&c->advice);
	hf_survey_free(&c->survey);
	hf_plan_free(&c->plan);
	for (size_t i = 0; c->places && i < c->specs.count; i++)
		hf_place_free(&c->places[i]);
	free(c->places);
	hf_spec_list_free(&c->specs);
	hf_machine_free(&c->machine);
}

static int run(struct check_opts *o)
{
	struct check c = { 0 };
	struct hf_err err = { 0 };
	int status;

	if (check(o, &c, &err) < 0)
		status = fail(o, &err);
	else
		status = hf_survey_is_fatal(&c.survey) ? HF_EXIT_FAILED : HF_EXIT_DONE;
	check_free(&c);
	return status;
}

int hf_cmd_check(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] = "Tells before anything is touched whether an allocation would succeed, and "
				  "what stands against it."
				  "\vWith SPECs, as for alloc: exit 0 it would succeed, 1 it would not. "
				  "Without: what is to be said about "
				  "the machine.";
	const struct argp_child children[] = { { &request_argp, 0, NULL, 0 },
					       { &hf_common_argp, 0, NULL, 50 },
					       { 0 } };
	const struct argp argp = { options, parse, "[SPEC...]", doc, children, help_filter, NULL };
	struct check_opts opts = { .common = common };

	request_init(&opts.in, common);
	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, run(&opts));
}
