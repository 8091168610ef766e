/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply_parts.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "holders.h"
#include "lease.h"

int hf_apply_refuse_cut(const struct hf_plan *plan, struct hf_err *err)
{
	for (size_t i = 0; i < plan->ntargets; i++) {
		if (plan->targets[i].action != HF_ACTION_CUT)
			continue;
		hf_err_set(err, EINVAL, hf_plan_place_of(plan, &plan->targets[i])->path,
			   "would be made smaller, which could not be given back");
		hf_err_hint(err, "make it smaller before, with hugefill alloc --resize");
		return -EINVAL;
	}
	return 0;
}

/* Which the end of the command gives back. */
static bool is_changed(const struct hf_target *t)
{
	return hf_target_is_filled(t) || t->action == HF_ACTION_ADJUST;
}

int hf_apply_settle(struct hf_transaction *t, struct hf_err *err)
{
	for (size_t i = 0; i < t->nfiles; i++) {
		struct hf_hugefile *file = &t->files[i];

		if (file->map && munmap(file->map, file->length) < 0)
			return hf_err_sys(err, errno, file->place->path, "cannot unmap it");
		file->map = NULL;
		if (!is_changed(&t->apply->plan->targets[i]) && hf_hugefile_close(file, err) < 0)
			return -err->errnum;
	}
	return 0;
}

/* Others have it, too. If not, nobody can have it until its descriptor is closed. Without a name it is
 * theirs alone already. */
static bool is_held(const struct hf_apply *a, const struct hf_hugefile *file, struct hf_holders *holders)
{
	struct hf_err ignored = { 0 };
	struct stat st;
	int r = hf_lease_take(file->fd);

	if (r == 0 || fstat(file->fd, &st) < 0 || !st.st_nlink)
		return false;
	if (hf_holders_find(&a->machine->root, st.st_dev, st.st_ino, holders, &ignored) < 0)
		return true;
	/*
	 * Where there are no leases, a process that cannot be looked into may be the one. It would lose what
	 * it has in pages that are taken out; a name that goes takes nothing from it.
	 */
	return hf_lease_is_refused(r) || holders->count || (holders->hidden && file->existed);
}

/* Where there are no leases, it may only be. */
static void tell_held(struct hf_apply *a, const struct hf_hugefile *file, const struct hf_holders *holders)
{
	bool sure = holders->count || !holders->hidden;
	char path[HF_ERR_SHELL];
	struct hf_err err = { 0 };

	hf_err_set(&err, EBUSY, file->place->path,
		   !file->existed ? "stays: it is held"
		   : sure         ? "stays as it is now: it is held"
				  : "stays as it is now: it may be held");
	hf_holders_hint(holders, &err);
	if (!holders->count)
		hf_err_hint(&err, sure ? "its holder cannot be seen from here"
				       : "not every process can be looked into from here");
	if (file->existed)
		hf_err_hint(&err, "its size before: %llu bytes, of which %llu pages were there",
			    (unsigned long long)file->place->size, (unsigned long long)file->place->filled);
	else
		hf_err_hint(&err, "when it is no longer used: hugefill free %s",
			    hf_err_shell(file->place->path, path, sizeof(path)));
	a->left++;
	if (a->hooks->left)
		a->hooks->left(&err, a->hooks->arg);
}

static void find_held(struct hf_transaction *t)
{
	for (size_t i = 0; i < t->nfiles; i++) {
		struct hf_holders holders = { 0 };
		struct hf_hugefile *file = &t->files[i];

		if (file->fd < 0 || !hf_target_is_filled(&t->apply->plan->targets[i]))
			continue;
		file->held = is_held(t->apply, file, &holders);
		if (file->held)
			tell_held(t->apply, file, &holders);
		hf_holders_free(&holders);
	}
}

void hf_apply_give_back(struct hf_apply *a)
{
	if (!a->kept)
		return;
	find_held(a->kept);
	hf_apply_undo(a->kept);
	hf_apply_end(a->kept);
	a->kept = NULL;
}
