/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "status.h"

enum { PATH, PAGESIZE, SIZE, FILLED, NODES, LINKS, HOLDERS, COMMANDS, FILLED_BYTES, INODE, DEVICE };

static const struct hf_column file_columns[] = {
	[PATH] = { "PATH", HF_TEXT, false, "file, by the first of its names" },
	[PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[SIZE] = { "SIZE", HF_BYTES, false, "its length" },
	[FILLED] = { "FILLED", HF_COUNT, false, "pages that it has" },
	[NODES] = { "NODES", HF_TEXT, false, "node=pages,...: where they lie" },
	[LINKS] = { "LINKS", HF_COUNT, false, "names that it has" },
	[HOLDERS] = { "HOLDERS", HF_TEXT, false, "processes that have it open or mapped" },
	[COMMANDS] = { "COMMANDS", HF_TEXT, true, "HOLDERS by name" },
	[FILLED_BYTES] = { "FILLED_BYTES", HF_BYTES, true, "FILLED in bytes" },
	[INODE] = { "INODE", HF_COUNT, true, "inode number" },
	[DEVICE] = { "DEVICE", HF_TEXT, true, "major:minor of the filesystem" },
};

/* "0=512,1=3". False: none of the nodes that are wanted has a page; what is not known may have. */
static bool set_nodes(const struct status_view *view, struct hf_table *table, size_t column,
		      const uint64_t *nodes)
{
	const struct hf_topology *topo = &view->machine.topo;
	bool wanted = view->all_nodes || !nodes;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out = nodes ? open_memstream(&text, &size) : NULL;

	for (size_t n = 0; nodes && n < topo->nnodes; n++) {
		if (!nodes[n])
			continue;
		wanted |= hf_nodeset_has(&view->nodes, topo->nodes[n].id);
		if (out)
			fprintf(out, "%s%u=%llu", ftell(out) ? "," : "", topo->nodes[n].id,
				(unsigned long long)nodes[n]);
	}
	if (out && fclose(out) == 0 && size && table)
		hf_table_text(table, column, text);
	return wanted;
}

static void set_inode(struct hf_table *table, size_t inode, size_t device, ino_t ino, dev_t dev)
{
	char text[32];

	snprintf(text, sizeof(text), "%u:%u", major(dev), minor(dev));
	hf_table_u64(table, inode, ino);
	hf_table_text(table, device, text);
}

/* True where one of the processes in view holds it. */
static bool set_holders(const struct status_view *view, struct hf_table *table, const struct hf_file *file)
{
	_cleanup_free_ char *pids = NULL;
	_cleanup_free_ char *commands = NULL;
	size_t npids = 0, ncommands = 0;
	FILE *pid_out = open_memstream(&pids, &npids), *command_out = open_memstream(&commands, &ncommands);
	bool found = false;

	for (size_t i = 0; pid_out && command_out && i < view->processes.count; i++) {
		const struct hf_holding *holding = &view->processes.holdings[i];

		if (holding->dev != file->dev || holding->ino != file->ino)
			continue;
		fprintf(pid_out, "%s%d", found ? "," : "", (int)holding->pid);
		fprintf(command_out, "%s%s", found ? "," : "", holding->command);
		found = true;
	}
	if (pid_out)
		fclose(pid_out);
	if (command_out)
		fclose(command_out);
	if (found && table) {
		hf_table_text(table, HOLDERS, pids);
		hf_table_text(table, COMMANDS, commands);
	}
	return found;
}

static int fill_files(struct status_view *view, struct hf_table *table, struct hf_err *err)
{
	(void)err;
	for (size_t i = 0; i < view->files.count; i++) {
		const struct hf_file *file = &view->files.files[i];

		if (!set_nodes(view, NULL, NODES, file->nodes) ||
		    (view->opts->npids && !set_holders(view, NULL, file)))
			continue;
		hf_table_row(table);
		hf_table_text(table, PATH, file->path);
		hf_table_u64(table, PAGESIZE, file->page_size);
		hf_table_u64(table, SIZE, file->size);
		hf_table_u64(table, FILLED, file->filled);
		set_nodes(view, table, NODES, file->nodes);
		hf_table_u64(table, LINKS, file->links);
		set_holders(view, table, file);
		status_bytes(table, FILLED_BYTES, file->filled, file->page_size);
		set_inode(table, INODE, DEVICE, file->ino, file->dev);
	}
	return 0;
}

const struct status_part status_files = { "files", file_columns, HF_LENGTH(file_columns), fill_files, NULL };

enum {
	PID,
	COMMAND,
	USER,
	P_PAGESIZE,
	KIND,
	OBJECT,
	SHARED,
	PRIVATE,
	P_FILLED,
	P_NODES,
	HELD,
	SHARED_BYTES,
	PRIVATE_BYTES,
	P_FILLED_BYTES,
	P_INODE,
	P_DEVICE
};

static const struct hf_column process_columns[] = {
	[PID] = { "PID", HF_COUNT, false, "process" },
	[COMMAND] = { "COMMAND", HF_TEXT, false, "its name" },
	[USER] = { "USER", HF_TEXT, false, "its effective user" },
	[P_PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[KIND] = { "KIND", HF_TEXT, false, "file, unlinked, memfd, sysv or anonymous" },
	[OBJECT] = { "OBJECT", HF_TEXT, false, "path, memfd's name, shmid and key" },
	[SHARED] = { "SHARED", HF_COUNT, false, "pages that it has mapped, and others too" },
	[PRIVATE] = { "PRIVATE", HF_COUNT, false, "pages that it alone has mapped" },
	[P_FILLED] = { "FILLED", HF_COUNT, false, "pages of the object, mapped or not; blank: not told" },
	[P_NODES] = { "NODES", HF_TEXT, false, "node=pages,...: where the mapped pages lie" },
	[HELD] = { "HELD", HF_TEXT, true, "mapped; open: by a descriptor alone" },
	[SHARED_BYTES] = { "SHARED_BYTES", HF_BYTES, true, "SHARED in bytes" },
	[PRIVATE_BYTES] = { "PRIVATE_BYTES", HF_BYTES, true, "PRIVATE in bytes" },
	[P_FILLED_BYTES] = { "FILLED_BYTES", HF_BYTES, true, "FILLED in bytes" },
	[P_INODE] = { "INODE", HF_COUNT, true, "the object's inode number; blank for anonymous" },
	[P_DEVICE] = { "DEVICE", HF_TEXT, true, "major:minor of its filesystem; blank for anonymous" },
};

static uint64_t mapped_pages(const struct hf_holding *holding)
{
	return holding->shared + holding->exclusive;
}

/* Pages must be held: a file that has a name needs no process for that. */
static bool is_told(const struct status_view *view, const struct hf_holding *holding)
{
	bool keeps = holding->kind == HF_OBJECT_UNLINKED || holding->kind == HF_OBJECT_MEMFD ||
		     holding->kind == HF_OBJECT_SYSV;

	if (!holding->page_size || !status_wants(view, holding->page_size) ||
	    (!mapped_pages(holding) && (!keeps || !holding->filled)))
		return false;
	return set_nodes(view, NULL, 0, holding->nodes);
}

/* Anonymous mappings have no name to tell them apart: a process has one row for all of a size. */
static bool is_same_row(const struct hf_holding *a, const struct hf_holding *b)
{
	return a->kind == HF_OBJECT_ANONYMOUS && b->kind == HF_OBJECT_ANONYMOUS && a->pid == b->pid &&
	       a->page_size == b->page_size;
}

static void set_user(const struct status_view *view, struct hf_table *table, uid_t uid)
{
	const struct passwd *user = view->machine.root.live ? getpwuid(uid) : NULL;
	char text[16];

	snprintf(text, sizeof(text), "%u", (unsigned)uid);
	hf_table_text(table, USER, user ? user->pw_name : text);
}

/* The kernel shows a file that was made unnamed and published as "#INODE (deleted)". */
static const char *file_name(const struct status_view *view, const struct hf_holding *holding)
{
	const struct hf_file *file = hf_files_find(&view->files, holding->dev, holding->ino);

	return file ? file->path : holding->name;
}

static void set_object(const struct status_view *view, struct hf_table *table,
		       const struct hf_holding *holding)
{
	char text[64];

	hf_table_text(table, KIND, hf_object_kind_name(holding->kind));
	if (holding->kind == HF_OBJECT_ANONYMOUS)
		return;
	snprintf(text, sizeof(text), "shmid=%llu,key=0x%.8s", (unsigned long long)holding->ino,
		 holding->name);
	if (holding->kind == HF_OBJECT_SYSV)
		hf_table_text(table, OBJECT, text);
	else
		hf_table_text(table, OBJECT, file_name(view, holding));
	if (holding->has_filled) {
		hf_table_u64(table, P_FILLED, holding->filled);
		status_bytes(table, P_FILLED_BYTES, holding->filled, holding->page_size);
	}
	set_inode(table, P_INODE, P_DEVICE, holding->ino, holding->dev);
}

static void add_row(const struct status_view *view, struct hf_table *table, const struct hf_holding *holding)
{
	hf_table_row(table);
	hf_table_u64(table, PID, (uint64_t)holding->pid);
	hf_table_text(table, COMMAND, holding->command);
	set_user(view, table, holding->uid);
	hf_table_u64(table, P_PAGESIZE, holding->page_size);
	set_object(view, table, holding);
	hf_table_u64(table, SHARED, holding->shared);
	hf_table_u64(table, PRIVATE, holding->exclusive);
	set_nodes(view, table, P_NODES, holding->nodes);
	hf_table_text(table, HELD, holding->mapped ? "mapped" : "open");
	status_bytes(table, SHARED_BYTES, holding->shared, holding->page_size);
	status_bytes(table, PRIVATE_BYTES, holding->exclusive, holding->page_size);
}

/* The sum of a row's holdings [first, end), without names. nodes[] is the caller's. */
static void add_up(const struct status_view *view, size_t first, size_t end, uint64_t *nodes,
		   struct hf_holding *sum)
{
	size_t nnodes = view->machine.topo.nnodes;

	*sum = view->processes.holdings[first];
	sum->nodes = nodes;
	sum->shared = sum->exclusive = 0;
	memset(nodes, 0, nnodes * sizeof(*nodes));
	for (size_t i = first; i < end; i++) {
		const struct hf_holding *holding = &view->processes.holdings[i];

		sum->shared += holding->shared;
		sum->exclusive += holding->exclusive;
		if (!holding->nodes && mapped_pages(holding))
			sum->nodes = NULL;
		for (size_t n = 0; holding->nodes && n < nnodes; n++)
			nodes[n] += holding->nodes[n];
	}
}

static int fill_processes(struct status_view *view, struct hf_table *table, struct hf_err *err)
{
	_cleanup_free_ uint64_t *nodes = calloc(view->machine.topo.nnodes + 1, sizeof(*nodes));
	const struct hf_processes *processes = &view->processes;
	size_t end;

	if (!nodes)
		return hf_err_nomem(err);
	for (size_t i = 0; i < processes->count; i = end) {
		struct hf_holding row;

		for (end = i + 1; end < processes->count &&
				  is_same_row(&processes->holdings[i], &processes->holdings[end]);)
			end++;
		add_up(view, i, end, nodes, &row);
		if (is_told(view, &row))
			add_row(view, table, &row);
	}
	return 0;
}

const struct status_part status_processes = { "processes", process_columns, HF_LENGTH(process_columns),
					      fill_processes, NULL };
