/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply_parts.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "cause.h"

/* Two descriptors a file; administrators' soft limit is 1024. */
static void raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Ends an unpublished file at once, so that the pool can be given back after it. */
static int close_file(void *arg, struct hf_err *err)
{
	return hf_hugefile_close(arg, err);
}

static int unpublish(void *arg, struct hf_err *err)
{
	struct hf_hugefile *file = arg;
	struct stat st;
	int r = file->held ? 0 : hf_hugefile_unpublish(file, err);

	if (r < 0)
		hf_err_hint(err, "rm %s", file->place->path);
	if (r == 0 && !file->held && fstat(file->fd, &st) == 0 && st.st_nlink) {
		r = hf_err_set(err, EBUSY, file->place->path, "was given another name, under which it stays");
		hf_err_hint(err, "find %s -xdev -inum %llu shows it", file->place->dir,
			    (unsigned long long)st.st_ino);
	}
	return r;
}

/* Pages that this call added are punched out again; those that were there stay. */
static int punch_back(void *arg, struct hf_err *err)
{
	struct hf_hugefile *file = arg;
	const struct hf_place *place = file->place;
	uint64_t page = 0, pages = file->held ? 0 : place->pages;
	int r = 0;

	while (page < pages && r == 0) {
		uint64_t first;

		while (page < pages && hf_place_has(place, page))
			page++;
		first = page;
		while (page < pages && !hf_place_has(place, page))
			page++;
		if (page > first)
			r = hf_hugefile_punch(file, first, page - first, err);
	}
	if (r < 0)
		hf_err_hint(err, "pages that were holes before may be filled now");
	return r;
}

static int resize_back(void *arg, struct hf_err *err)
{
	struct hf_hugefile *file = arg;
	int r = file->held ? 0 : hf_hugefile_resize(file, file->place->size, err);

	if (r < 0)
		hf_err_hint(err, "truncate -s %llu %s", (unsigned long long)file->place->size,
			    file->place->path);
	return r;
}

static int adjust_back(void *arg, struct hf_err *err)
{
	struct hf_hugefile *file = arg;
	const struct hf_place *place = file->place;
	int r = hf_hugefile_adjust(file, place->mode, place->uid, place->gid, err);

	if (r < 0)
		hf_err_hint(err, "chown %u:%u and chmod %04o %s", (unsigned)place->uid, (unsigned)place->gid,
			    (unsigned)place->mode, place->path);
	return r;
}

static int push(struct hf_transaction *t, int (*back)(void *arg, struct hf_err *err),
		struct hf_hugefile *file, struct hf_err *err)
{
	int r = hf_undo_reserve(&t->undo, err);

	if (r == 0)
		hf_undo_push(&t->undo, back, NULL, file);
	return r;
}

static int make_new(struct hf_transaction *t, const struct hf_target *target, struct hf_hugefile *file,
		    struct hf_err *err)
{
	const struct hf_wanted wanted = hf_plan_wanted(t->apply->request, target->spec);
	const struct hf_place *place = hf_plan_place_of(t->apply->plan, target);
	int r = push(t, close_file, file, err);

	if (r < 0)
		return r;
	return hf_hugefile_create(file, place, target->pages * place->page_size,
				  wanted.has_mode ? wanted.mode : 0600, wanted.uid, wanted.gid, err);
}

static int open_old(struct hf_transaction *t, const struct hf_target *target, struct hf_hugefile *file,
		    struct hf_err *err)
{
	const struct hf_place *place = hf_plan_place_of(t->apply->plan, target);
	int r = push(t, close_file, file, err);

	if (r == 0)
		r = hf_hugefile_open(file, place, err);
	if (r == 0)
		r = push(t, punch_back, file, err);
	if (r == 0 && target->action == HF_ACTION_EXTEND)
		r = push(t, resize_back, file, err);
	if (r == 0 && target->action == HF_ACTION_EXTEND)
		r = hf_hugefile_resize(file, target->pages * place->page_size, err);
	return r;
}

static int adjust(struct hf_transaction *t, size_t spec, struct hf_hugefile *file, struct hf_err *err)
{
	const struct hf_wanted wanted = hf_plan_wanted(t->apply->request, spec);
	int r;

	if (!hf_plan_adjusts(t->apply->request, spec))
		return 0;
	r = push(t, adjust_back, file, err);
	t->apply->changed = true;
	return r < 0 ? r
		     : hf_hugefile_adjust(file, wanted.has_mode ? wanted.mode : file->place->mode, wanted.uid,
					  wanted.gid, err);
}

static int prepare_file(struct hf_transaction *t, size_t index, struct hf_err *err)
{
	const struct hf_target *target = &t->apply->plan->targets[index];
	struct hf_hugefile *file = &t->files[index];
	int r;

	if (target->action == HF_ACTION_CREATE)
		r = make_new(t, target, file, err);
	else
		r = open_old(t, target, file, err);
	if (r == 0 && file->existed)
		r = adjust(t, target->spec, file, err);
	if (r < 0 || target->action == HF_ACTION_ADJUST)
		return r;
	t->fill_files[t->fill.nfiles++] = (struct hf_fill_file){ file, target };
	return hf_hugefile_map(file, target->pages * file->place->page_size,
			       file->existed ? file->place->size : 0, err);
}

int hf_apply_create(struct hf_transaction *t, struct hf_err *err)
{
	const struct hf_plan *plan = t->apply->plan;

	raise_descriptors();
	t->files = calloc(plan->ntargets + 1, sizeof(*t->files));
	t->fill_files = calloc(plan->ntargets + 1, sizeof(*t->fill_files));
	if (!t->files || !t->fill_files)
		return hf_err_nomem(err);
	t->nfiles = plan->ntargets;
	for (size_t i = 0; i < t->nfiles; i++)
		t->files[i] = (struct hf_hugefile)HF_HUGEFILE_INIT;
	for (size_t i = 0; i < t->nfiles; i++) {
		int r = 0;

		if (hf_target_is_filled(&plan->targets[i]) || plan->targets[i].action == HF_ACTION_ADJUST)
			r = prepare_file(t, i, err);
		if (r == -ENOMEM && t->files[i].fd >= 0 && !t->files[i].map)
			hf_cause_of_refusal(t->apply->machine, t->apply->plan, t->files[i].place,
					    plan->targets[i].pool, SIZE_MAX, plan->targets[i].missing);
		if (r < 0)
			return r;
	}
	return 0;
}

static void fill_progress(void *arg, uint64_t done_bytes)
{
	const struct hf_apply *a = arg;

	if (a->hooks->progress)
		a->hooks->progress(a->hooks->arg, done_bytes);
}

/* What can be kept of a file that could not be filled whole: its first pages, as far as they are there. */
static int keep_prefix(struct hf_transaction *t, const struct hf_fill_file *f, struct hf_err *err)
{
	struct hf_target *target = (struct hf_target *)(uintptr_t)f->target;
	uint64_t size = f->file->place->page_size, page = 0, there;

	while (page < target->pages && hf_fill_is_present(f->file, page))
		page++;
	there = page;
	if (there == target->pages)
		return 0;
	if (target->action != HF_ACTION_CREATE || !there)
		return -ENOMEM;
	if (munmap(f->file->map, f->file->length) < 0)
		return hf_err_sys(err, errno, f->file->place->path, "cannot unmap it");
	f->file->map = NULL;
	target->pages = there;
	if (hf_hugefile_resize(f->file, there * size, err) < 0)
		return -err->errnum;
	t->apply->partly = true;
	return hf_hugefile_map(f->file, there * size, 0, err);
}

static int keep_prefixes(struct hf_transaction *t, struct hf_err *err)
{
	struct hf_err first = *err;
	int r = 0;

	*err = (struct hf_err){ 0 };
	for (size_t i = 0; i < t->fill.nfiles && r == 0; i++)
		r = keep_prefix(t, &t->fill_files[i], err);
	if (r < 0 && !err->errnum)
		*err = first;
	return r;
}

int hf_apply_fill(struct hf_transaction *t, struct hf_err *err)
{
	struct hf_apply *a = t->apply;
	int r;

	t->fill.plan = t->apply->plan;
	t->fill.files = t->fill_files;
	t->fill.stop = t->apply->stop;
	t->fill.progress = fill_progress;
	t->fill.arg = t->apply;
	t->apply->changed = true;
	r = hf_fill_run(&t->fill, err);
	a->method = t->fill.method;
	if (r == -ENOMEM && t->fill.failed_part != SIZE_MAX) {
		const struct hf_fill_part *part = &t->fill.parts[t->fill.failed_part];
		const struct hf_fill_file *f = &t->fill_files[part->file];

		hf_cause_of_refusal(a->machine, a->plan, f->file->place, f->target->pool, part->node,
				    f->target->missing);
		if (a->request->best_effort)
			r = keep_prefixes(t, err);
	}
	return r;
}

/* Every page is there. Where they lie is measured for the rows. */
int hf_apply_verify(struct hf_transaction *t, struct hf_err *err)
{
	for (size_t i = 0; i < t->fill.nfiles; i++) {
		const struct hf_hugefile *file = t->fill_files[i].file;
		uint64_t wanted = t->fill_files[i].target->pages, got;
		struct stat st;

		if (fstat(file->fd, &st) < 0)
			return hf_err_sys(err, errno, file->place->path, "cannot look at the filled file");
		got = (uint64_t)st.st_blocks * 512 / file->place->page_size;
		if (got < wanted)
			return hf_err_set(err, EIO, file->place->path,
					  "was filled, but has %llu of %llu pages", (unsigned long long)got,
					  (unsigned long long)wanted);
	}
	return hf_apply_rows(t, err);
}

/* What a cut took away cannot be had back. */
static int cannot_uncut(void *arg, struct hf_err *err)
{
	const struct hf_hugefile *file = arg;

	return hf_err_set(err, EIO, file->place->path,
			  "was cut from %llu bytes already; what lay beyond is lost",
			  (unsigned long long)file->place->size);
}

/* The last step of all. */
static int cut(struct hf_transaction *t, struct hf_hugefile *file, uint64_t pages, struct hf_err *err)
{
	int r = hf_undo_reserve(&t->undo, err);

	if (r == 0)
		r = hf_hugefile_resize(file, pages * file->place->page_size, err);
	if (r == 0)
		hf_undo_push(&t->undo, cannot_uncut, NULL, file);
	t->apply->changed = true;
	return r;
}

int hf_apply_publish(struct hf_transaction *t, struct hf_err *err)
{
	const struct hf_plan *plan = t->apply->plan;
	int r = 0;

	for (size_t i = 0; i < t->nfiles && r == 0; i++) {
		if (plan->targets[i].action != HF_ACTION_CREATE)
			continue;
		r = hf_undo_reserve(&t->undo, err);
		if (r == 0)
			r = hf_hugefile_publish(&t->files[i], err);
		if (r == 0)
			hf_undo_push(&t->undo, unpublish, NULL, &t->files[i]);
	}
	for (size_t i = 0; i < t->nfiles && r == 0; i++) {
		const struct hf_target *target = &plan->targets[i];

		if (target->action == HF_ACTION_CUT)
			r = cut(t, &t->files[i], target->pages, err);
	}
	return r;
}
