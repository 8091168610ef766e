/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "../lib/mountpoint.h"
#include "../lib/place.h"
#include "../lib/size.h"
#include "report.h"

enum { KEY_MIN_SIZE = 0x100, KEY_NR_INODES, KEY_MODE, KEY_OWNER, KEY_FORCE };

struct mount_opts {
	struct hf_common *common;
	const char *page_size, *size, *min_size, *nr_inodes, *dir;
	unsigned given;
	bool dry_run, force;
	struct hf_mount_request request;
};

static const struct argp_option mount_options[] = {
	{ "page-size", 'p', "SIZE", 0, "page size of the mount (the kernel's default)", 1 },
	{ "size", 's', "SIZE", 0, "the most that its files may hold together", 1 },
	{ "min-size", KEY_MIN_SIZE, "SIZE", 0, "reserved for it at once, out of the pool", 1 },
	{ "nr-inodes", KEY_NR_INODES, "N", 0, "the most files, its root counted", 1 },
	{ "mode", KEY_MODE, "MODE", 0, "of its root directory, octal (0755)", 1 },
	{ "owner", KEY_OWNER, "USER[:GROUP]", 0, "of its root directory (the caller)", 1 },
	{ "dry-run", 'n', NULL, 0, "say what would be done, change nothing", 2 },
	{ 0 },
};

static const struct argp_option umount_options[] = {
	{ "page-size", 'p', "SIZE", 0, "without DIR: the default place of this page size", 1 },
	{ "force", KEY_FORCE, NULL, 0, "although there are files on it, which are gone then", 1 },
	{ "dry-run", 'n', NULL, 0, "say what would be done, change nothing", 2 },
	{ 0 },
};

enum { TARGET, PAGESIZE, SIZE, MIN_SIZE, INODES, MODE, OWNER, CHANGED };

static const struct hf_column columns[] = {
	[TARGET] = { "TARGET", HF_TEXT, false, "mount point" },
	[PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[SIZE] = { "SIZE", HF_BYTES, false, "limit of its files together" },
	[MIN_SIZE] = { "MIN_SIZE", HF_BYTES, false, "reserved for it" },
	[INODES] = { "INODES", HF_COUNT, false, "limit of files, the root counted" },
	[MODE] = { "MODE", HF_TEXT, false, "of the root directory" },
	[OWNER] = { "OWNER", HF_TEXT, false, "of the root directory, uid:gid" },
	[CHANGED] = { "CHANGED", HF_BOOL, false, "it was mounted, or unmounted, by this call" },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct mount_opts *o = state->input;
	struct hf_err err = { 0 };
	int r = 0;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o->common;
		return 0;
	case 'p':
		o->page_size = arg;
		return 0;
	case 's':
		o->size = arg;
		return 0;
	case 'n':
		o->dry_run = true;
		return 0;
	case KEY_FORCE:
		o->force = true;
		return 0;
	case KEY_MIN_SIZE:
		o->min_size = arg;
		return 0;
	case KEY_NR_INODES:
		r = hf_option_u64("--nr-inodes", arg, 2, INT64_MAX, &o->request.nr_inodes, &err);
		break;
	case KEY_MODE:
		r = hf_option_mode("--mode", arg, 01777, &o->request.mode, &err);
		o->given |= HF_MOUNTPOINT_MODE;
		break;
	case KEY_OWNER:
		r = hf_option_owner("--owner", arg, &o->request.uid, &o->request.gid, &err);
		o->given |= o->request.uid != (uid_t)-1 ? HF_MOUNTPOINT_UID : 0;
		o->given |= o->request.gid != (gid_t)-1 ? HF_MOUNTPOINT_GID : 0;
		break;
	case ARGP_KEY_ARG:
		if (o->dir)
			argp_error(state, "more than one DIR");
		if (!*arg)
			argp_error(state, "DIR is empty");
		o->dir = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (r < 0)
		hf_option_fail(state, &err);
	return 0;
}

static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	if (key == ARGP_KEY_HELP_EXTRA)
		return hf_columns_help(NULL, columns, HF_LENGTH(columns));
	return (char *)(uintptr_t)text;
}

static int limit(const char *option, const char *text, uint64_t page_size, uint64_t *bytes,
		 struct hf_err *err)
{
	char size[HF_SIZE_TEXT];
	int r;

	*bytes = HF_MOUNTS_NONE;
	if (!text)
		return 0;
	r = hf_size_parse(text, bytes, err);
	if (r < 0)
		return hf_option_blame(option, err);
	/* The kernel would round it down. */
	if (!*bytes || *bytes % page_size)
		return hf_err_usage(err, option, "\"%s\" is no multiple of the page size, %s", text,
				    hf_size_exact(page_size, size));
	return 0;
}

/* The hugetlbfs of that page size on a default place, or the place where it would be. */
static char *default_dir(const struct hf_machine *machine, uint64_t page_size)
{
	for (size_t i = 0; i < machine->mounts.count; i++) {
		const struct hf_mount *mount = &machine->mounts.mounts[i];

		if (mount->page_size == page_size && !mount->hidden &&
		    hf_place_is_default(machine, mount->target))
			return strdup(mount->target);
	}
	return hf_place_default(machine, page_size);
}

/* An absolute path without links and dots, also of a directory that is not there yet. */
static char *absolute(const char *dir, struct hf_err *err)
{
	char *real = realpath(dir, NULL), *slash, *parent, *path = NULL;
	char copy[PATH_MAX];

	if (real || errno != ENOENT || strlen(dir) >= sizeof(copy)) {
		if (!real)
			hf_err_sys(err, errno == ENOENT ? ENAMETOOLONG : errno, dir,
				   "cannot use it as a mount point");
		return real;
	}
	snprintf(copy, sizeof(copy), "%s", dir);
	while (strlen(copy) > 1 && copy[strlen(copy) - 1] == '/')
		copy[strlen(copy) - 1] = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	parent = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	if (!parent)
		hf_err_sys(err, errno, dir, "the directory to make it in cannot be used");
	else if (asprintf(&path, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, slash ? slash + 1 : copy) <
		 0)
		hf_err_nomem(err);
	free(parent);
	return path;
}

static int prepare(struct mount_opts *o, struct hf_machine *machine, char **dir, struct hf_err *err)
{
	int r = hf_table_check(columns, HF_LENGTH(columns), &o->common->format, err);

	if (r == 0 && o->common->sysroot && !o->dry_run)
		r = hf_err_usage(err, "--sysroot", "a captured tree cannot be changed; add --dry-run");
	if (r == 0)
		r = hf_machine_read(o->common->sysroot, machine, err);
	if (r == 0)
		r = hf_option_page_size(machine, o->page_size, &o->request.page_size, err);
	if (r == 0)
		r = limit("--size", o->size, o->request.page_size, &o->request.size_limit, err);
	if (r == 0)
		r = limit("--min-size", o->min_size, o->request.page_size, &o->request.min_size, err);
	if (r < 0)
		return r;
	if (!o->dir)
		*dir = default_dir(machine, o->request.page_size);
	else if (o->common->sysroot)
		*dir = strdup(o->dir);
	else
		*dir = absolute(o->dir, err);
	o->request.target = *dir;
	return *dir ? 0 : err->errnum ? -err->errnum : hf_err_nomem(err);
}

static void add_row(struct hf_table *table, const struct mount_opts *o, const struct hf_mount *mount,
		    bool changed)
{
	const struct hf_mount_request *request = &o->request;
	char text[64];

	hf_table_row(table);
	hf_table_text(table, TARGET, request->target);
	hf_table_u64(table, PAGESIZE, mount->page_size);
	if (mount->size_limit != HF_MOUNTS_NONE)
		hf_table_u64(table, SIZE, mount->size_limit);
	if (mount->min_size != HF_MOUNTS_NONE)
		hf_table_u64(table, MIN_SIZE, mount->min_size);
	if (mount->nr_inodes != HF_MOUNTS_NONE)
		hf_table_u64(table, INODES, mount->nr_inodes);
	snprintf(text, sizeof(text), "%04o", (unsigned)mount->mode);
	hf_table_text(table, MODE, text);
	snprintf(text, sizeof(text), "%u:%u", (unsigned)mount->uid, (unsigned)mount->gid);
	hf_table_text(table, OWNER, text);
	hf_table_bool(table, CHANGED, changed);
}

static int report(const struct mount_opts *o, const char *command, const struct hf_mount *mount, bool changed,
		  struct hf_err *err)
{
	struct hf_table *table = hf_table_new("mounts", columns, HF_LENGTH(columns));
	struct hf_doc *doc = NULL;
	int r;

	if (table && mount)
		add_row(table, o, mount, changed);
	if (table && o->common->format.json) {
		doc = report_doc(command, changed && !o->dry_run);
		if (doc) {
			if (o->dry_run)
				hf_doc_bool(doc, "dry_run", true);
			hf_doc_table(doc, table, &o->common->format);
		}
	}
	r = report_print(o->common, table, doc, err);
	hf_doc_free(doc);
	hf_table_free(table);
	return r;
}

static int fail(const struct mount_opts *o, const char *command, const struct hf_err *failed)
{
	int status = hf_print_err(o->common, failed);
	struct hf_err err = { 0 };
	struct hf_doc *doc;

	if (!o->common->format.json || status == HF_EXIT_USAGE || ferror(stdout))
		return status;
	doc = report_doc(command, false);
	if (doc)
		report_error(doc, failed);
	if (report_print(o->common, NULL, doc, &err) < 0)
		hf_print_err(o->common, &err);
	hf_doc_free(doc);
	return status;
}

/* What is asked for, in the words of what is. */
static struct hf_mount as_mount(const struct hf_mount_request *r)
{
	return (struct hf_mount){ .page_size = r->page_size,
				  .size_limit = r->size_limit,
				  .min_size = r->min_size,
				  .nr_inodes = r->nr_inodes,
				  .mode = r->mode,
				  .uid = r->uid,
				  .gid = r->gid };
}

static void tell_left(const struct hf_err *err, void *arg)
{
	hf_print_err(arg, err);
}

static int mount_it(struct mount_opts *o, struct hf_machine *machine, struct hf_err *err)
{
	const struct hf_mount *there = hf_mounts_at(&machine->mounts, o->request.target);
	int r = hf_mountpoint_compare(machine, &o->request, o->given, err);
	struct hf_undo undo = { 0 };
	struct hf_mount made;

	if (r < 0)
		return r;
	if (r > 0)
		return report(o, "mount", there, false, err);
	if (o->request.uid == (uid_t)-1)
		o->request.uid = getuid();
	if (o->request.gid == (gid_t)-1)
		o->request.gid = getgid();
	r = o->dry_run ? 0 : hf_mountpoint_make(&machine->root, &undo, &o->request, err);
	made = as_mount(&o->request);
	if (r == 0)
		r = report(o, "mount", &made, true, err);
	if (r < 0)
		hf_undo_run(&undo, tell_left, o->common);
	else
		hf_undo_forget(&undo);
	return r;
}

static int umount_it(struct mount_opts *o, struct hf_machine *machine, struct hf_err *err)
{
	const struct hf_mount *there = hf_mounts_at(&machine->mounts, o->request.target);
	int r = 0;

	/* Nothing mounted on a default place, or on DIR: already as asked for. */
	if (!hf_mounts_type_at(&machine->mounts, o->request.target))
		return report(o, "umount", NULL, false, err);
	r = hf_mountpoint_remove(machine, o->request.target, o->force, o->dry_run, err);
	return r < 0 ? r : report(o, "umount", there, true, err);
}

static int run(const char *command, struct mount_opts *o,
	       int (*act)(struct mount_opts *o, struct hf_machine *machine, struct hf_err *err))
{
	struct hf_machine machine = { 0 };
	_cleanup_free_ char *dir = NULL;
	struct hf_err err = { 0 };
	int status = HF_EXIT_DONE;

	if (prepare(o, &machine, &dir, &err) < 0 || act(o, &machine, &err) < 0)
		status = fail(o, command, &err);
	hf_machine_free(&machine);
	return status;
}

int hf_cmd_mount(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] =
		"Mounts hugetlbfs with nosuid,nodev, if it is not mounted like that already."
		"\vWithout DIR it is a default place: MOUNTS in hugefill(8). Nothing is mounted on top of a "
		"mount.";
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 50 }, { 0 } };
	const struct argp argp = { mount_options, parse, "[DIR]", doc, children, help_filter, NULL };
	struct mount_opts opts = { .common = common };

	opts.request = (struct hf_mount_request){
		.nr_inodes = HF_MOUNTS_NONE, .mode = 0755, .uid = (uid_t)-1, .gid = (gid_t)-1
	};
	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, run("mount", &opts, mount_it));
}

int hf_cmd_umount(int argc, char **argv, struct hf_common *common)
{
	static const char doc[] =
		"Unmounts a hugetlbfs that nobody uses.\vWithout DIR it is the default place.";
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 50 }, { 0 } };
	const struct argp argp = { umount_options, parse, "[DIR]", doc, children, help_filter, NULL };
	struct mount_opts opts = { .common = common };

	if (argp_parse(&argp, argc, argv, 0, NULL, &opts))
		return HF_EXIT_USAGE;
	hf_signals_catch(common->stop);
	return hf_signals_exit(common, run("umount", &opts, umount_it));
}
