/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <string.h>

#include "../lib/record.h"
#include "../lib/release.h"
#include "../lib/size.h"
#include "report.h"

enum { KEY_FROM = 0x100, KEY_SHRINK, KEY_PUNCH, KEY_FORCE, KEY_UMOUNT, KEY_STALE };

struct free_opts {
	struct hf_common *common;
	const char *size, *file, *page_size, *nodes, *from, *punch;
	size_t nspecs;
	char **specs; /* borrowed from argv */
	struct hf_release_request request;
};

static const struct argp_option options[] = {
	{ "size", 's', "SIZE", 0, "the file that `alloc --size' made", 1 },
	{ "file", 'f', "NAME", 0, "the name of the file of --size (hugefill)", 1 },
	{ "page-size", 'p', "SIZE", 0, "page size for bare names and --size (the kernel's default)", 1 },
	{ "nodes", 'N', "NODES", 0, "nodes for specs without @: 0-3+6, or all", 1 },
	{ "from", KEY_FROM, "FILE", 0, "specs from FILE, as alloc reads them", 1 },
	{ "dry-run", 'n', NULL, 0, "print what would be done, change nothing", 2 },
	{ "shrink", KEY_SHRINK, NULL, 0, "also give the files' pages back to the system", 2 },
	{ "punch", KEY_PUNCH, "OFFSET:LENGTH", 0, "free this range of one PATH and keep the file", 2 },
	{ "force", KEY_FORCE, NULL, 0, "remove files that processes have open or mapped", 2 },
	{ "stale", KEY_STALE, NULL, 0,
	  "remove every file that no process has open or mapped, of --page-size or of all", 2 },
	{ "umount", KEY_UMOUNT, NULL, 0, "also unmount what is empty then", 2 },
	{ 0 },
};

enum { TARGET, NODE, PAGESIZE, ACTION, REQUESTED, FREED, TIME, PAGES };

static const struct hf_column columns[] = {
	[TARGET] = { "TARGET", HF_TEXT, false, "path, pool or mount point" },
	[NODE] = { "NODE", HF_COUNT, false, "NUMA node" },
	[PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[ACTION] = { "ACTION", HF_TEXT, false, "remove, punch, shrink, umount, absent, keep" },
	[REQUESTED] = { "REQUESTED", HF_BYTES, false, "to be freed on this node" },
	[FREED] = { "FREED", HF_BYTES, false, "freed, measured; files: to the pool, pools: to the system" },
	[TIME] = { "TIME", HF_SECONDS, false, "seconds of the whole step" },
	[PAGES] = { "PAGES", HF_COUNT, true, "FREED in pages" },
};

static int parse_punch(const char *text, struct hf_release_request *request, struct hf_err *err)
{
	const char *colon = strchr(text, ':');
	_cleanup_free_ char *offset = colon ? strndup(text, (size_t)(colon - text)) : NULL;
	int r;

	if (!colon)
		return hf_err_usage(err, "--punch", "\"%s\" is no OFFSET:LENGTH; write 0:1G or 512M:64M",
				    text);
	if (!offset)
		return hf_err_nomem(err);
	request->punch = true;
	r = hf_size_parse(offset, &request->punch_offset, err);
	if (r == 0)
		r = hf_size_parse(colon + 1, &request->punch_length, err);
	return r < 0 ? hf_option_blame("--punch", err) : 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct free_opts *o = state->input;

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
	case 'n':
		o->request.dry_run = true;
		return 0;
	case KEY_FROM:
		o->from = arg;
		return 0;
	case KEY_SHRINK:
		o->request.shrink = true;
		return 0;
	case KEY_PUNCH:
		o->punch = arg;
		return 0;
	case KEY_FORCE:
		o->request.force = true;
		return 0;
	case KEY_UMOUNT:
		o->request.umount = true;
		return 0;
	case KEY_STALE:
		o->request.stale = true;
		return 0;
	case ARGP_KEY_ARGS:
		o->specs = state->argv + state->next;
		o->nspecs = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_END:
		if (!o->size && o->file)
			argp_error(state, "--file needs --size");
		if (o->request.stale && (o->size || o->from || o->nspecs || o->punch || o->request.force))
			argp_error(state,
				   "--stale goes by itself: without SPEC, PATH, --size, --from, --punch and "
				   "--force");
		if (!o->request.stale && !o->size && !o->from && !o->nspecs)
			argp_error(state, "nothing is named: give a SPEC, a PATH, --size or --from");
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

static const char *action_name(const struct hf_release_step *step)
{
	static const char *const names[] = { "absent", "remove", "punch", "shrink", "umount" };

	/* A mount that was to go when empty, and is not. */
	if (step->action == HF_RELEASE_UMOUNT && !step->done)
		return "keep";
	if (step->kept)
		return "keep";
	return names[step->action];
}

static void add_row(struct hf_table *table, const struct hf_release *r, const struct hf_release_step *step,
		    const char *target)
{
	hf_table_row(table);
	hf_table_text(table, TARGET, target);
	hf_table_u64(table, PAGESIZE, r->machine->page_sizes[step->pool]);
	hf_table_text(table, ACTION, action_name(step));
	if (!r->request->dry_run && step->ns)
		hf_table_real(table, TIME, (double)step->ns / 1e9);
}

static void add_node(struct hf_table *table, const struct hf_release *r, const struct hf_release_step *step,
		     size_t n)
{
	uint64_t page_size = r->machine->page_sizes[step->pool];

	hf_table_u64(table, NODE, r->machine->topo.nodes[n].id);
	hf_table_u64(table, REQUESTED, step->wanted[n] * page_size);
	if (r->request->dry_run)
		return;
	hf_table_u64(table, FREED, step->freed[n] * page_size);
	hf_table_u64(table, PAGES, step->freed[n]);
}

static void add_rows(struct hf_table *table, const struct hf_release *r, const struct hf_release_step *step)
{
	char size[HF_SIZE_TEXT];
	const char *target = step->mount;
	size_t rows = 0;

	if (step->action == HF_RELEASE_SHRINK)
		target = hf_size_exact(r->machine->page_sizes[step->pool], size);
	else if (!target)
		target = r->places[step->place].path;
	for (size_t n = 0; n < r->machine->topo.nnodes; n++) {
		if (!step->wanted[n] && !step->freed[n])
			continue;
		add_row(table, r, step, target);
		add_node(table, r, step, n);
		rows++;
	}
	if (!rows)
		add_row(table, r, step, target);
}

/* Freed pages that the pool cannot give back. */
static void tell_set_aside(const struct free_opts *o, const struct hf_release *r)
{
	for (size_t i = 0; i < r->nsteps && o->request.shrink; i++) {
		const struct hf_release_step *step = &r->steps[i];
		char size[HF_SIZE_TEXT];

		if (step->set_aside)
			hf_print_note(
				o->common, "%s: %s stays in the pool: min_size= of %s keeps it",
				r->places[step->place].path,
				hf_size_exact(step->set_aside * r->machine->page_sizes[step->pool], size),
				r->places[step->place].mount);
	}
}

static int report(const struct free_opts *o, const struct hf_release *r, const struct hf_err *failed,
		  struct hf_err *err)
{
	struct hf_table *table = hf_table_new("targets", columns, HF_LENGTH(columns));
	struct hf_doc *doc = NULL;
	int rc;

	for (size_t i = 0; table && i < r->nsteps && (!failed || r->changed); i++)
		add_rows(table, r, &r->steps[i]);
	if (table && o->common->format.json) {
		doc = report_doc("free", r->changed);
		if (doc) {
			if (o->request.dry_run)
				hf_doc_bool(doc, "dry_run", true);
			if (failed)
				report_error(doc, failed);
			hf_doc_table(doc, table, &o->common->format);
		}
	}
	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].directory_left)
			hf_print_note(o->common, "%s: the empty directory stays: %s", r->steps[i].mount,
				      strerror(r->steps[i].directory_left));
	tell_set_aside(o, r);
	rc = report_print(o->common, table, doc, err);
	hf_doc_free(doc);
	hf_table_free(table);
	return rc;
}

static int read_specs(const struct free_opts *o, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		      struct hf_err *err)
{
	struct hf_spec_rules short_form = *rules;
	int r = 0;

	short_form.amount_optional = false;
	if (o->size)
		r = hf_option_file(o->file, o->size, &short_form, list, err);
	for (size_t i = 0; i < o->nspecs && r == 0; i++)
		r = hf_spec_parse(o->specs[i], rules, list, err);
	if (r == 0 && o->from)
		r = hf_option_from(o->common, o->from, rules, list, err);
	if (r == 0 && o->punch && (list->count != 1 || list->specs[0].kind != HF_SPEC_FILE))
		r = hf_err_usage(err, "--punch", "needs exactly one PATH");
	return r;
}

static int prepare(struct free_opts *o, struct hf_machine *machine, struct hf_spec_list *list,
		   struct hf_err *err)
{
	struct hf_spec_rules rules;
	struct hf_nodeset nodes;
	int r;

	if (o->common->sysroot && !o->request.dry_run)
		return hf_err_usage(err, "--sysroot", "a captured tree cannot be changed; add --dry-run");
	r = hf_table_check(columns, HF_LENGTH(columns), &o->common->format, err);
	if (r == 0 && o->punch)
		r = parse_punch(o->punch, &o->request, err);
	if (r == 0)
		r = hf_machine_read(o->common->sysroot, machine, err);
	if (r == 0)
		r = hf_option_page_size(machine, o->page_size, &o->request.page_size, err);
	if (r < 0)
		return r;
	o->request.stale_page_size = o->page_size ? o->request.page_size : 0;
	hf_machine_rules(machine, NULL, &rules);
	if (o->nodes) {
		r = hf_spec_parse_nodes(o->nodes, strlen(o->nodes), &rules, &nodes, err);
		if (r < 0)
			return hf_option_blame("--nodes", err);
		hf_machine_rules(machine, &nodes, &rules);
	}
	rules.amount_optional = true;
	/* What has left a spec file may be in use by what is still in it. */
	o->request.lenient = o->from && !o->nspecs && !o->size && !hf_option_is_stdin(o->from) &&
			     hf_record_is_own(machine, o->from);
	return read_specs(o, &rules, list, err);
}

/* What --stale has left alone. */
static void tell_stale(const struct free_opts *o, const struct hf_release *r)
{
	if (!o->request.stale)
		return;
	if (r->held)
		hf_print_note(o->common, "%zu file%s held%s and stay%s", r->held,
			      r->held == 1 ? " is" : "s are", r->unsure ? ", or may be," : "",
			      r->held == 1 ? "s" : "");
	if (r->held)
		hf_print_note_hint(o->common, "hugefill status --files tells which, and by whom");
	if (r->skipped)
		hf_print_note(o->common, "%zu director%s or file%s could not be looked at, or are read only",
			      r->skipped, r->skipped == 1 ? "y" : "ies", r->skipped == 1 ? "" : "s");
	if (r->no_lease)
		hf_print_note(o->common, "no leases could be had: a process that opened a file at this very "
					 "moment was not seen");
	if (r->unsure)
		hf_print_note(o->common,
			      "not every process can be looked into from here: what it may hold stays");
}

/* What was named went, though it could not be told whether somebody holds it. */
static void tell_unsure(const struct free_opts *o, const struct hf_release *r)
{
	if (r->unsure && !o->request.stale && (r->changed || o->request.dry_run))
		hf_print_note(o->common,
			      "not every process can be looked into from here, and no lease could be had: "
			      "pages that one of them holds come back when it ends");
}

static void tell_absent(const struct free_opts *o, const struct hf_release *r)
{
	char path[4 * HF_ERR_OBJECT], size[HF_SIZE_TEXT];

	for (size_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].action == HF_RELEASE_ABSENT && r->steps[i].elsewhere)
			hf_print_note(o->common, "%s: is there, and stays: it is of --page-size=%s",
				      hf_err_escape(r->steps[i].elsewhere, path, sizeof(path)),
				      hf_size_exact(r->steps[i].elsewhere_size, size));
}

static void waiting(void *arg)
{
	const struct free_opts *o = arg;

	hf_print_note(o->common, "waiting for another hugefill that changes pools");
}

/* The file's record is of what is there no more. */
static void drop_record(const struct free_opts *o, const struct hf_machine *machine)
{
	struct hf_err err = { 0 };

	if (o->from && !hf_option_is_stdin(o->from) && !o->request.dry_run && !o->punch &&
	    hf_record_remove(machine, o->from, &err) < 0)
		hf_print_note(o->common, "%s: %s: %s", err.object, err.what, strerror(err.errnum));
}

static int run(struct free_opts *o)
{
	struct hf_machine machine = { 0 };
	struct hf_spec_list specs = { 0 };
	struct hf_release release = { .machine = &machine,
				      .request = &o->request,
				      .stop = o->common->stop,
				      .waiting = waiting,
				      .arg = o };
	struct hf_err err = { 0 }, second = { 0 };
	int status = HF_EXIT_DONE;

	o->request.specs = &specs;
	if (prepare(o, &machine, &specs, &err) < 0 || hf_release_run(&release, &err) < 0)
		status = hf_print_err(o->common, &err);
	if ((status == HF_EXIT_DONE || release.changed ||
	     (o->common->format.json && status != HF_EXIT_USAGE)) &&
	    report(o, &release, err.errnum ? &err : NULL, &second) < 0)
		status = hf_print_err(o->common, &second);
	if (status == HF_EXIT_DONE)
		drop_record(o, &machine);
	tell_stale(o, &release);
	tell_unsure(o, &release);
	if (status == HF_EXIT_DONE)
		tell_absent(o, &release);
	hf_release_free(&release);
	hf_spec_list_free(&specs);
	hf_machine_free(&machine);
	return status;
}

int hf_cmd_free(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] = "Removes or punches files, gives pool pages back to the system."
				  "\vPATH is removed. POOL gives back all that is neither used nor reserved, "
				  "POOL=AMOUNT[@NODES] that much.";
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 50 }, { 0 } };
	const struct argp argp = { options, parse, "[SPEC|PATH...]", doc, children, help_filter, NULL };
	struct free_opts opts = { .common = common };

	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, run(&opts));
}
