/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <string.h>

#include "../lib/shm.h"
#include "../lib/size.h"
#include "status.h"

#define NOTE_TEXT 1024
#define MOST_SEGMENTS 5

const struct hf_column status_note_columns[] = {
	[STATUS_NOTE_OBJECT] = { "OBJECT", HF_TEXT, false, "pool or section" },
	[STATUS_NOTE_TEXT] = { "TEXT", HF_TEXT, false, "in words" },
};
const size_t status_nnote_columns = HF_LENGTH(status_note_columns);

static void _printf(3, 4) note(struct status_view *view, const char *object, const char *fmt, ...)
{
	char text[NOTE_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	hf_table_row(view->notes);
	hf_table_text(view->notes, STATUS_NOTE_OBJECT, object);
	hf_table_text(view->notes, STATUS_NOTE_TEXT, text);
}

static void _printf(2, 3) append(char *text, const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + len, NOTE_TEXT - len, fmt, ap);
	va_end(ap);
}

static const char *plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

/* Segments nobody has attached live on; the kernel does not tell which have huge pages. */
static int append_segments(const struct status_view *view, uint64_t page_size, char *text, struct hf_err *err)
{
	struct hf_shm_list found;
	int rc = hf_shm_detached(&view->machine.root, page_size, &found, err);

	if (rc < 0 || !found.count)
		return rc;
	append(text, "; SysV segments that no process has attached may be of them:");
	for (size_t i = 0; i < found.count && i < MOST_SEGMENTS; i++) {
		char size[HF_SIZE_TEXT];

		append(text, "%s shmid %llu (%s)", i ? "," : "", (unsigned long long)found.segments[i].id,
		       hf_size_exact(found.segments[i].size, size));
	}
	if (found.count > MOST_SEGMENTS)
		append(text, " and %zu more", found.count - MOST_SEGMENTS);
	append(text, " (`ipcs -m', `ipcrm -m SHMID')");
	hf_shm_free(&found);
	return 0;
}

/* Why pages can be used and nobody be seen to hold them, by what the numbers show. */
static int append_causes(const struct status_view *view, const struct hf_pool *pool, char *text,
			 struct hf_err *err)
{
	int rc;

	if (view->processes.hidden)
		append(text, "; %zu %s may not be looked into%s", view->processes.hidden,
		       plural(view->processes.hidden, "process", "processes"),
		       geteuid() ? ": root sees more" : "");
	if (view->files.skipped)
		append(text, "; %zu %s on the mounts may not be read%s", view->files.skipped,
		       plural(view->files.skipped, "directory", "directories"),
		       geteuid() ? ": root sees more" : "");
	rc = append_segments(view, pool->page_size, text, err);
	if (rc < 0)
		return rc;
	if (pool->surplus)
		append(text, "; %llu of the pool are surplus and go back to the system when they are freed",
		       (unsigned long long)pool->surplus);
	append(text, "; files on mounts of other mount namespaces, processes of outer PID namespaces and the "
		     "kernel itself are not seen");
	return 0;
}

static int note_unseen(struct status_view *view, const struct hf_pool *pool, const struct hf_account *account,
		       const char *object, struct hf_err *err)
{
	uint64_t used = status_used(pool), seen = hf_account_sum(account);
	char text[NOTE_TEXT] = "";
	int rc;

	if (seen >= used)
		return 0;
	append(text, "%llu of %llu used pages %s held by no file and no process that can be seen",
	       (unsigned long long)(used - seen), (unsigned long long)used, plural(used - seen, "is", "are"));
	rc = append_causes(view, pool, text, err);
	if (rc == 0)
		note(view, object, "%s", text);
	return rc;
}

static int note_pool(struct status_view *view, size_t i, struct hf_err *err)
{
	const struct hf_pool *pool = &view->machine.pools.pools[i];
	const struct hf_account *account = view->accounts ? &view->accounts[i] : NULL;
	bool is_short = view->opts->asked[STATUS_POOLS] && status_is_short(pool);
	char object[HF_SIZE_TEXT];

	hf_size_exact(pool->page_size, object);
	if (is_short && pool->free)
		note(view, object,
		     "no page is available: all %llu free pages are reserved, for mappings "
		     "that have not touched them yet",
		     (unsigned long long)pool->free);
	if (is_short && !view->machine.root.live && status_used(pool))
		note(view, object,
		     "no page is available; who holds the %llu used ones cannot be seen in a "
		     "captured tree",
		     (unsigned long long)status_used(pool));
	if (!view->has_holders || !view->machine.root.live || view->opts->npids ||
	    (!is_short && !view->opts->asked[STATUS_PROCESSES]))
		return 0;
	if (is_short && account->unlinked)
		note(view, object,
		     "%llu pages are in unlinked files, which processes still hold: "
		     "`hugefill status --processes' names them",
		     (unsigned long long)account->unlinked);
	return note_unseen(view, pool, account, object, err);
}

/* Who was asked for by its number, and is not there. */
static void note_absent(struct status_view *view)
{
	size_t asked = view->opts->npids, seen = view->processes.seen;

	if (asked > seen)
		note(view, "--pid", "%zu of %zu processes %s not there", asked - seen, asked,
		     plural(asked - seen, "is", "are"));
}

static void note_limits(struct status_view *view)
{
	const struct status_opts *o = view->opts;

	if (o->asked[STATUS_PROCESSES] && !view->machine.root.live && !view->processes.seen)
		note(view, "processes", "the captured tree holds none");
	if ((o->asked[STATUS_FILES] || o->asked[STATUS_PROCESSES]) && view->processes.hidden)
		note(view, "processes", "%zu could not be looked into and %s missing here%s",
		     view->processes.hidden, plural(view->processes.hidden, "is", "are"),
		     geteuid() ? ": root sees all" : "");
	if (o->asked[STATUS_FILES] && view->files.skipped)
		note(view, "files", "%zu %s could not be read", view->files.skipped,
		     plural(view->files.skipped, "directory", "directories"));
	note_absent(view);
}

int status_note_all(struct status_view *view, struct hf_err *err)
{
	const struct hf_pools *pools = &view->machine.pools;
	int rc = 0;

	if (!pools->count)
		note(view, "pools", "this kernel has no huge pages");
	for (size_t i = 0; rc == 0 && !view->opts->metrics && i < pools->count; i++)
		if (status_wants(view, pools->pools[i].page_size))
			rc = note_pool(view, i, err);
	if (rc == 0 && view->has_holders)
		note_limits(view);
	return rc;
}
