/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "processes.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "processes_parts.h"

#define STATUS_TEXT 16384

struct hf_holding *hf_scan_add(struct hf_scan *scan)
{
	struct hf_processes *found = scan->found;
	struct hf_holding *all;

	/* Grown by doubling, at the powers of two. */
	if ((found->count & (found->count - 1)) == 0) {
		all = reallocarray(found->holdings, found->count ? found->count * 2 : 1, sizeof(*all));
		if (!all)
			return NULL;
		found->holdings = all;
	}
	all = &found->holdings[found->count++];
	*all = (struct hf_holding){ .pid = scan->pid, .uid = scan->uid };
	return all;
}

static int by_object(const void *a, const void *b)
{
	const struct hf_holding *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static void free_holding(struct hf_holding *holding)
{
	free(holding->name);
	free(holding->nodes);
}

static uint64_t mapped_pages(const struct hf_holding *holding)
{
	return holding->shared + holding->exclusive;
}

/* Nodes are known of the sum when they are of both parts; no pages need none. */
static void add_nodes(size_t nnodes, struct hf_holding *to, struct hf_holding *from)
{
	uint64_t *nodes;

	if (!mapped_pages(from) && to->nodes)
		return;
	if (!mapped_pages(to)) {
		nodes = to->nodes;
		to->nodes = from->nodes;
		from->nodes = nodes;
		return;
	}
	for (size_t n = 0; to->nodes && from->nodes && n < nnodes; n++)
		to->nodes[n] += from->nodes[n];
	if (!from->nodes && mapped_pages(from)) {
		free(to->nodes);
		to->nodes = NULL;
	}
}

/* Frees from. */
static void merge(size_t nnodes, struct hf_holding *to, struct hf_holding *from)
{
	add_nodes(nnodes, to, from);
	to->shared += from->shared;
	to->exclusive += from->exclusive;
	to->anon += from->anon;
	to->mapped |= from->mapped;
	to->open |= from->open;
	if (from->has_filled)
		to->filled = from->filled;
	to->has_filled |= from->has_filled;
	if (!to->page_size)
		to->page_size = from->page_size;
	free_holding(from);
}

/* One process may map an object in many pieces. */
static void merge_objects(struct hf_scan *scan, size_t first)
{
	struct hf_holding *all = scan->found->holdings;
	size_t kept = first;

	if (scan->found->count == first)
		return;
	qsort(all + first, scan->found->count - first, sizeof(*all), by_object);
	for (size_t i = first; i < scan->found->count; i++) {
		if (kept > first && by_object(&all[kept - 1], &all[i]) == 0)
			merge(scan->request->topo->nnodes, &all[kept - 1], &all[i]);
		else
			all[kept++] = all[i];
	}
	/* The room of a count in between is at least what hf_scan_add() takes it for. */
	scan->found->count = kept;
}

static bool parse_status(struct hf_scan *scan, const char *text)
{
	const char *uid = strstr(text, "\nUid:"), *state = strstr(text, "\nState:\t");
	unsigned effective = 0;

	/* A zombie holds nothing any more, and lets nobody look. */
	if (state && (state[8] == 'Z' || state[8] == 'X'))
		return false;

	scan->huge_bytes = 0;
	/* Kernel threads have no such line. */
	if (hf_sysroot_parse_kib(text, "HugetlbPages", &scan->huge_bytes) < 0)
		scan->huge_bytes = 0;
	if (uid && sscanf(uid + 1, "Uid: %*u %u", &effective) == 1)
		scan->uid = effective;
	return uid != NULL;
}

/* False: it has ended, or is none. */
static bool begin(struct hf_scan *scan, pid_t pid)
{
	const struct hf_sysroot *root = scan->request->root;
	char text[STATUS_TEXT];

	scan->pid = pid;
	scan->uid = 0;
	scan->denied = false;
	return hf_sysroot_read(root, text, sizeof(text), NULL, NULL, "proc/%d/status", (int)pid) == 0 &&
	       parse_status(scan, text);
}

/* Only of those that hold something: most do not. */
static void name_command(const struct hf_scan *scan, size_t first)
{
	struct hf_holding *all = scan->found->holdings;
	char command[sizeof(all->command)];
	size_t len = 0;

	if (scan->found->count == first)
		return;
	if (hf_sysroot_read(scan->request->root, command, sizeof(command), &len, NULL, "proc/%d/comm",
			    (int)scan->pid) < 0)
		snprintf(command, sizeof(command), "?");
	else if (len && command[len - 1] == '\n')
		command[len - 1] = '\0';
	for (size_t i = first; i < scan->found->count; i++)
		memcpy(all[i].command, command, sizeof(command));
}

static int look_into(struct hf_scan *scan, pid_t pid)
{
	size_t first = scan->found->count;
	int rc = 0;

	if ((scan->request->root->live && pid == getpid()) || !begin(scan, pid))
		return 0;
	scan->found->seen++;
	if (scan->huge_bytes)
		rc = hf_scan_mapped(scan);
	else if (scan->request->ndevices)
		rc = hf_scan_untouched(scan);
	if (rc == 0 && scan->request->open)
		rc = hf_scan_open(scan);
	merge_objects(scan, first);
	name_command(scan, first);
	scan->found->hidden += scan->denied;
	return rc;
}

static int look_at_name(const char *name, void *arg)
{
	char *end;
	long pid;

	if (*name < '1' || *name > '9')
		return 0;
	errno = 0;
	pid = strtol(name, &end, 10);
	return *end || errno || pid > INT_MAX ? 0 : look_into(arg, (pid_t)pid);
}

int hf_processes_read(const struct hf_processes_request *request, struct hf_processes *processes,
		      struct hf_err *err)
{
	struct hf_scan scan = { .request = request, .found = processes };
	int rc;

	*processes = (struct hf_processes){ 0 };
	rc = hf_scan_internal(&scan);
	for (size_t i = 0; rc == 0 && i < request->npids; i++)
		rc = look_into(&scan, request->pids[i]);
	if (rc == 0 && !request->npids)
		rc = hf_sysroot_list(request->root, look_at_name, &scan, err, "proc");
	free(scan.internal);
	if (rc == -ENOMEM)
		hf_err_nomem(err);
	if (rc < 0) {
		hf_processes_free(processes);
		return rc;
	}
	if (processes->count)
		qsort(processes->holdings, processes->count, sizeof(*processes->holdings), by_object);
	return 0;
}

void hf_processes_free(struct hf_processes *processes)
{
	for (size_t i = 0; i < processes->count; i++)
		free_holding(&processes->holdings[i]);
	free(processes->holdings);
	*processes = (struct hf_processes){ 0 };
}
