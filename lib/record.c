/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "plan_parts.h"

#define FOLDER "run/hugefill/"

/* As systemd escapes paths: "/etc/hugefill.conf" is "etc-hugefill.conf". NULL: no such regular file, or no
 * memory. */
static char *escape_path(const char *file)
{
	_cleanup_free_ char *real = realpath(file, NULL);
	char *name, *to;
	struct stat st;

	if (!real || stat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	name = malloc(4 * strlen(real) + 1);
	if (!name)
		return NULL;
	to = name;
	for (const char *from = real + 1; *from; from++) {
		unsigned char c = (unsigned char)*from;

		if (c == '/')
			*to++ = '-';
		else if (isascii(c) && (isalnum(c) || strchr("_:.", c)))
			*to++ = (char)c;
		else
			to += sprintf(to, "\\x%02x", c);
	}
	*to = '\0';
	return name;
}

static bool is_recorded(const struct hf_machine *machine)
{
	return machine->root.live && geteuid() == 0;
}

/* The line that free reads: a file by its path, a pool as it was written. */
static char *make_line(const struct hf_plan *plan, size_t spec)
{
	const struct hf_spec *s = &plan->request->specs->specs[spec];
	const struct hf_target *t = &plan->targets[spec];
	char nodes[256] = "", *line = NULL;
	_cleanup_free_ char *word = NULL;

	if (s->kind == HF_SPEC_FILE) {
		word = hf_mounts_mangle(plan->request->places[spec].path);
		if (!word ||
		    asprintf(&line, "%s=%lluB", word,
			     (unsigned long long)(t->pages * hf_plan_pool_of(plan, t)->page_size)) < 0)
			return NULL;
		return line;
	}
	if (s->parts[0].placed && !strchr(s->text, '@'))
		hf_nodeset_format(&s->parts[0].nodes, '+', nodes, sizeof(nodes));
	return asprintf(&line, "%s%s%s", s->text, *nodes ? "@" : "", nodes) < 0 ? NULL : line;
}

static int put_applied(const struct hf_plan *plan, size_t first, struct hf_record *record, struct hf_err *err)
{
	record->applied = strdup("");
	for (size_t i = first; i < plan->ntargets && record->applied; i++) {
		_cleanup_free_ char *line = NULL;
		char *all = NULL;

		if (plan->targets[i].action == HF_ACTION_SKIP)
			continue;
		line = make_line(plan, i);
		if (!line)
			return hf_err_nomem(err);
		if (asprintf(&all, "%s%s\n", record->applied, line) < 0)
			return hf_err_nomem(err);
		free(record->applied);
		record->applied = all;
	}
	return record->applied ? 0 : hf_err_nomem(err);
}

static bool is_wanted(const struct hf_plan *plan, const struct hf_spec *old)
{
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_spec *s = &plan->request->specs->specs[i];

		if (s->kind == old->kind &&
		    (s->kind == HF_SPEC_POOL ? s->page_size == old->page_size
					     : strcmp(plan->request->places[i].path, old->name) == 0))
			return true;
	}
	return false;
}

/* *page_size: its pages. */
static bool is_there(const struct hf_machine *machine, const struct hf_spec *old, uint64_t *page_size)
{
	const struct hf_pool *pool = hf_pools_find(&machine->pools, old->page_size);
	struct hf_place place = { 0 };
	struct hf_err ignored = { 0 };
	bool exists;

	*page_size = old->page_size;
	if (old->kind == HF_SPEC_POOL)
		return pool && hf_pool_persistent(pool);
	exists = hf_place_find(machine, old->name, 0, false, &place, &ignored) == 0 && place.exists;
	*page_size = place.page_size;
	hf_place_free(&place);
	return exists;
}

static char *make_left_line(const struct hf_spec *old)
{
	const char *amounts = strrchr(old->text, '=');
	_cleanup_free_ char *word = NULL;
	char *line = NULL;

	if (old->kind == HF_SPEC_POOL)
		return strdup(old->text);
	word = hf_mounts_mangle(old->name);
	return !word || asprintf(&line, "%s%s", word, amounts ? amounts : "") < 0 ? NULL : line;
}

static int add_left(struct hf_record *record, const struct hf_spec *old, uint64_t page_size,
		    struct hf_err *err)
{
	char size[HF_SIZE_TEXT];
	const char *name = old->kind == HF_SPEC_FILE ? old->name : hf_size_exact(page_size, size);
	struct hf_left *left;

	for (size_t i = 0; i < record->nleft; i++)
		if (strcmp(record->left[i].name, name) == 0)
			return 0;
	left = reallocarray(record->left, record->nleft + 1, sizeof(*left));
	if (!left)
		return hf_err_nomem(err);
	record->left = left;
	left += record->nleft++;
	*left = (struct hf_left){ make_left_line(old), strdup(name), old->kind, page_size, true };
	return left->line && left->name ? 0 : hf_err_nomem(err);
}

static bool brings_pages(const struct hf_record *record, uint64_t page_size)
{
	for (size_t i = 0; i < record->nleft; i++)
		if (record->left[i].kind == HF_SPEC_FILE && record->left[i].page_size == page_size)
			return true;
	return false;
}

/* A pool whose pages are all in use can give nothing back, unless files that have left bring some. */
static int mute_used_pools(const struct hf_machine *machine, struct hf_record *record, struct hf_err *err)
{
	struct hf_pools now = { 0 };
	int r = hf_pools_read(&machine->root, &machine->topo, &now, err);

	for (size_t i = 0; i < record->nleft && r == 0; i++) {
		struct hf_left *left = &record->left[i];
		const struct hf_pool *pool = hf_pools_find(&now, left->page_size);

		if (left->kind == HF_SPEC_POOL)
			left->told = (pool && hf_pool_persistent(pool) && hf_pool_available(pool)) ||
				     brings_pages(record, left->page_size);
	}
	hf_pools_free(&now);
	return r;
}

static void ignore_line(const struct hf_err *err, void *arg)
{
	(void)err;
	(void)arg;
}

/* What the file names holds, as far as it is still there and not wanted now. One that cannot be read, as
 * after a page size has gone, is passed over. */
static int compare_with(const struct hf_machine *machine, const struct hf_plan *plan, const char *suffix,
			struct hf_record *record, struct hf_err *err)
{
	_cleanup_fclose_ FILE *in = NULL;
	struct hf_spec_list old = { 0 };
	struct hf_err ignored = { 0 };
	struct hf_spec_rules rules;
	uint64_t page_size;
	int fd = hf_sysroot_fd(&machine->root, O_RDONLY | O_NOFOLLOW, NULL, FOLDER "%s.%s", record->name,
			       suffix);
	int r = 0;

	if (fd < 0)
		return 0;
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return hf_err_nomem(err);
	}
	hf_machine_rules(machine, NULL, &rules);
	rules.bad_line = ignore_line;
	if (hf_spec_read(in, record->name, &rules, &old, &ignored) == -ENOMEM)
		r = hf_err_nomem(err);
	for (size_t i = 0; i < old.count && r == 0; i++)
		if (!is_wanted(plan, &old.specs[i]) && is_there(machine, &old.specs[i], &page_size))
			r = add_left(record, &old.specs[i], page_size, err);
	hf_spec_list_free(&old);
	return r;
}

int hf_record_compare(const struct hf_machine *machine, const char *file, const struct hf_plan *plan,
		      size_t first, struct hf_record *record, struct hf_err *err)
{
	int r;

	*record = (struct hf_record){ .name = is_recorded(machine) ? escape_path(file) : NULL };
	if (!record->name)
		return 0;
	record->path = hf_sysroot_path(&machine->root, FOLDER "%s.left", record->name);
	r = record->path ? put_applied(plan, first, record, err) : hf_err_nomem(err);
	if (r == 0)
		r = compare_with(machine, plan, "applied", record, err);
	if (r == 0)
		r = compare_with(machine, plan, "left", record, err);
	if (r == 0)
		r = mute_used_pools(machine, record, err);
	return r < 0 ? r : 1;
}

int hf_record_write(const struct hf_machine *machine, const struct hf_record *record, struct hf_err *err)
{
	_cleanup_free_ char *left = strdup("");
	int r;

	for (size_t i = 0; i < record->nleft && left; i++) {
		char *all = NULL;

		if (asprintf(&all, "%s%s\n", left, record->left[i].line) < 0)
			return hf_err_nomem(err);
		free(left);
		left = all;
	}
	if (!left)
		return hf_err_nomem(err);
	/* First what would be forgotten. */
	if (*left)
		r = hf_sysroot_replace(&machine->root, left, err, FOLDER "%s.left", record->name);
	else
		r = hf_sysroot_remove(&machine->root, err, FOLDER "%s.left", record->name);
	return r < 0 ? r
		     : hf_sysroot_replace(&machine->root, record->applied, err, FOLDER "%s.applied",
					  record->name);
}

void hf_record_free(struct hf_record *record)
{
	for (size_t i = 0; i < record->nleft; i++) {
		free(record->left[i].line);
		free(record->left[i].name);
	}
	free(record->left);
	free(record->applied);
	free(record->path);
	free(record->name);
	*record = (struct hf_record){ 0 };
}

bool hf_record_is_own(const struct hf_machine *machine, const char *file)
{
	_cleanup_free_ char *real = is_recorded(machine) ? realpath(file, NULL) : NULL;
	_cleanup_free_ char *folder = hf_sysroot_path(&machine->root, FOLDER);

	return real && folder && strncmp(real, folder, strlen(folder)) == 0;
}

int hf_record_remove(const struct hf_machine *machine, const char *file, struct hf_err *err)
{
	_cleanup_free_ char *name = is_recorded(machine) ? escape_path(file) : NULL;
	_cleanup_free_ char *real = name ? realpath(file, NULL) : NULL;

	if (!name || !real)
		return 0;
	if (hf_record_is_own(machine, file))
		return hf_sysroot_remove(&machine->root, err, "%s", real + 1);
	return hf_sysroot_remove(&machine->root, err, FOLDER "%s.applied", name);
}
