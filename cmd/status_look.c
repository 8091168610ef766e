/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>

#include "status.h"

bool status_wants(const struct status_view *view, uint64_t page_size)
{
	return !view->page_size || view->page_size == page_size;
}

/* Who holds what costs a look at every process: only where it is asked for, or a pool is used up. */
static bool needs_holders(const struct status_view *view)
{
	const struct status_opts *o = view->opts;
	const struct hf_pools *pools = &view->machine.pools;

	if (o->asked[STATUS_FILES] || o->asked[STATUS_PROCESSES])
		return true;
	if (o->metrics)
		return false;
	for (size_t i = 0; o->asked[STATUS_POOLS] && i < pools->count; i++)
		if (status_wants(view, pools->pools[i].page_size) && status_is_short(&pools->pools[i]))
			return view->machine.root.live;
	return false;
}

static int read_filters(struct status_view *view, struct hf_err *err)
{
	const struct status_opts *o = view->opts;
	struct hf_spec_rules rules;
	int rc;

	view->all_nodes = !o->nodes;
	view->nodes = view->machine.topo.memory;
	if (o->page_size) {
		rc = hf_option_page_size(&view->machine, o->page_size, &view->page_size, err);
		if (rc < 0)
			return rc;
	}
	if (!o->nodes)
		return 0;
	hf_machine_rules(&view->machine, NULL, &rules);
	return hf_spec_parse_nodes(o->nodes, strlen(o->nodes), &rules, &view->nodes, err);
}

/* Each filesystem that the files lie on. */
static dev_t *list_devices(const struct hf_files *files, size_t *count)
{
	dev_t *devices = calloc(files->count + 1, sizeof(*devices));

	*count = 0;
	for (size_t i = 0; devices && i < files->count; i++) {
		size_t at = 0;

		while (at < *count && devices[at] != files->files[i].dev)
			at++;
		if (at == *count)
			devices[(*count)++] = files->files[i].dev;
	}
	return devices;
}

static int read_processes(struct status_view *view, bool open, struct hf_err *err)
{
	const struct status_opts *o = view->opts;
	_cleanup_free_ dev_t *devices = NULL;
	struct hf_processes_request request = {
		.root = &view->machine.root,
		.topo = &view->machine.topo,
		.page_sizes = view->machine.page_sizes,
		.npage_sizes = view->machine.pools.count,
		.pids = o->pids,
		.npids = o->npids,
		.open = open,
	};

	if (o->asked[STATUS_FILES]) {
		devices = list_devices(&view->files, &request.ndevices);
		if (!devices)
			return hf_err_nomem(err);
		request.devices = devices;
	}
	return hf_processes_read(&request, &view->processes, err);
}

static int account(struct status_view *view, struct hf_err *err)
{
	const struct hf_pools *pools = &view->machine.pools;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < pools->count; i++)
		rc = hf_account_pages(&view->files, &view->processes, pools->pools[i].page_size,
				      &view->accounts[i], err);
	return rc;
}

/* Used pages that no file and no mapping explains. */
static bool lacks_holders(const struct status_view *view)
{
	const struct hf_pools *pools = &view->machine.pools;

	for (size_t i = 0; i < pools->count; i++)
		if (status_wants(view, pools->pools[i].page_size) &&
		    hf_account_sum(&view->accounts[i]) < status_used(&pools->pools[i]))
			return true;
	return false;
}

static int read_files(struct status_view *view, struct hf_err *err)
{
	const struct hf_topology *topo = view->opts->asked[STATUS_FILES] ? &view->machine.topo : NULL;

	if (!view->machine.root.live)
		return 0;
	return hf_files_read(&view->machine.root, &view->machine.mounts, view->page_size, topo, &view->files,
			     err);
}

/* A look at every descriptor of every process costs most: files of their own, --pid, or pages that
 * are not explained otherwise are worth it. */
static int read_holders(struct status_view *view, struct hf_err *err)
{
	const struct status_opts *o = view->opts;
	bool open = (o->asked[STATUS_FILES] && view->files.count) || o->npids;
	int rc = read_processes(view, open, err);

	if (rc == 0)
		rc = account(view, err);
	if (rc < 0 || open || !view->machine.root.live || !lacks_holders(view))
		return rc;
	hf_processes_free(&view->processes);
	rc = read_processes(view, true, err);
	return rc < 0 ? rc : account(view, err);
}

int status_look(const struct status_opts *opts, struct status_view *view, struct hf_err *err)
{
	int rc;

	*view = (struct status_view){ .opts = opts };
	view->notes = hf_table_new("notes", status_note_columns, status_nnote_columns);
	if (!view->notes)
		return hf_err_nomem(err);
	rc = hf_machine_read(opts->common->sysroot, &view->machine, err);
	if (rc == 0)
		rc = read_filters(view, err);
	if (rc < 0 || !needs_holders(view))
		return rc;
	view->accounts = calloc(view->machine.pools.count + 1, sizeof(*view->accounts));
	if (!view->accounts)
		return hf_err_nomem(err);
	rc = read_files(view, err);
	if (rc == 0)
		rc = read_holders(view, err);
	view->has_holders = rc == 0;
	return rc;
}

void status_view_free(struct status_view *view)
{
	hf_processes_free(&view->processes);
	hf_files_free(&view->files);
	hf_table_free(view->notes);
	free(view->accounts);
	hf_machine_free(&view->machine);
}
