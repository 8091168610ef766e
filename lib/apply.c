/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply.h"

#include <errno.h>
#include <signal.h>

#include "apply_parts.h"
#include "clock.h"
#include "lock.h"
#include "policy.h"

const char *hf_phase_name(enum hf_phase phase)
{
	static const char *const names[] = {
		"lock", "grow", "mount", "reserve", "fill", "verify", "publish"
	};

	return names[phase];
}

static void note(const struct hf_apply *a, const char *text)
{
	if (a->hooks->note)
		a->hooks->note(a->hooks->arg, text);
}

static void progress(void *arg, uint64_t done_bytes)
{
	const struct hf_apply *a = arg;

	if (a->hooks->progress)
		a->hooks->progress(a->hooks->arg, done_bytes);
}

static void waiting(void *arg)
{
	note(arg, "waiting for another hugefill that changes pools");
}

int hf_apply_places(const struct hf_machine *machine, const struct hf_spec_list *specs, uint64_t page_size,
		    struct hf_place *places, struct hf_err *err)
{
	for (size_t i = 0; i < specs->count; i++) {
		const struct hf_spec *spec = &specs->specs[i];
		int r;

		if (spec->kind != HF_SPEC_FILE)
			continue;
		hf_place_free(&places[i]);
		r = hf_place_find_on(machine, spec->with.mount, spec->name,
				     spec->with.page_size ? spec->with.page_size : page_size, true,
				     &places[i], err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Everything once more, now that nobody else changes pools. */
static int plan_again(struct hf_apply *a, struct hf_err *err)
{
	int r = hf_machine_refresh(a->machine, err);

	hf_plan_free(a->plan);
	if (r == 0)
		r = hf_apply_places(a->machine, a->request->specs, a->page_size, a->places, err);
	if (r == 0)
		r = hf_plan_make(a->request, a->machine, a->plan, err);
	if (r == 0 && hf_plan_is_fatal(a->plan))
		return hf_err_set(err, ECANCELED, NULL, "another program changed the machine meanwhile");
	return r == 0 && a->keep ? hf_apply_refuse_cut(a->plan, err) : r;
}

static int take_lock(struct hf_transaction *t, struct hf_err *err)
{
	struct hf_apply *a = t->apply;

	t->lock = hf_lock_take(&a->machine->root, a->stop, waiting, a, err);
	return t->lock < 0 ? t->lock : plan_again(a, err);
}

static void release_lock(struct hf_transaction *t)
{
	hf_lock_release(t->lock);
	t->lock = -1;
}

static int grow_pools(struct hf_transaction *t, struct hf_err *err)
{
	struct hf_apply *a = t->apply;
	struct hf_grow grow = { .machine = a->machine,
				.plan = a->plan,
				.stop = a->stop,
				.undo = &t->undo,
				.progress = progress,
				.arg = a,
				.budget = UINT64_MAX };
	uint64_t available = a->machine->topo.mem_available, keep = a->request->headroom;
	int r;

	if (a->request->best_effort)
		grow.budget = available > keep ? available - keep : 0;
	r = hf_grow_run(&grow, err);
	a->changed = a->changed || grow.changed;
	if (r < 0)
		return r;
	/* Where pages came up decides where files without @ lie. */
	a->plan->grown = true;
	return hf_plan_fit(a->plan, err);
}

static uint64_t grow_bytes(const struct hf_plan *plan)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < plan->machine->pools.count; i++)
		bytes += plan->pools[i].grow * plan->machine->pools.pools[i].page_size;
	return bytes;
}

static int in_phase(struct hf_transaction *t, enum hf_phase phase, uint64_t bytes,
		    int (*step)(struct hf_transaction *t, struct hf_err *err), struct hf_err *err)
{
	struct hf_apply *a = t->apply;
	uint64_t start = hf_clock_ns();
	int r;

	if (hf_stop_requested(a->stop))
		return hf_err_set(err, ECANCELED, NULL, "given up before %s", hf_phase_name(phase));
	if (a->hooks->begin)
		a->hooks->begin(a->hooks->arg, phase, bytes);
	r = step(t, err);
	a->phase_ns[phase] += hf_clock_ns() - start;
	if (a->hooks->end)
		a->hooks->end(a->hooks->arg, phase);
	return r;
}

static int prepare(struct hf_transaction *t, bool locked, struct hf_err *err)
{
	struct hf_apply *a = t->apply;
	int r = locked ? in_phase(t, HF_PHASE_LOCK, 0, take_lock, err) : 0;

	if (r == 0 && hf_plan_changes_pools(a->plan))
		r = in_phase(t, HF_PHASE_GROW, grow_bytes(a->plan), grow_pools, err);
	if (r == 0 && a->plan->nmounts)
		r = in_phase(t, HF_PHASE_MOUNT, 0, hf_apply_mounts, err);
	if (r == 0)
		r = in_phase(t, HF_PHASE_RESERVE, 0, hf_apply_create, err);
	release_lock(t);
	return r;
}

static int fill_and_publish(struct hf_transaction *t, struct hf_err *err)
{
	uint64_t bytes = hf_plan_fill_bytes(t->apply->plan);
	int r = bytes ? in_phase(t, HF_PHASE_FILL, bytes, hf_apply_fill, err) : 0;

	if (r == 0)
		r = in_phase(t, HF_PHASE_VERIFY, 0, hf_apply_verify, err);
	if (r == 0)
		r = in_phase(t, HF_PHASE_PUBLISH, 0, hf_apply_publish, err);
	if (r == 0 && t->apply->keep)
		r = hf_apply_settle(t, err);
	if (r == 0 && t->apply->hooks->commit)
		r = t->apply->hooks->commit(t->apply->hooks->arg, err);
	return r;
}

void hf_apply_undo(struct hf_transaction *t)
{
	struct hf_apply *a = t->apply;
	struct hf_err ignored = { 0 };
	sigset_t all, before;

	if (!t->undo.count) {
		hf_undo_forget(&t->undo);
		return;
	}
	/* Signals that come now wait until it is done: they must not interrupt a write. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	atomic_store(&a->stop->undoing, true);
	if (a->changed && t->lock < 0)
		t->lock = hf_lock_take(&a->machine->root, a->stop, NULL, NULL, &ignored);
	a->left += hf_undo_run(&t->undo, a->hooks->left, a->hooks->arg);
	release_lock(t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	atomic_store(&a->stop->undoing, false);
	a->changed = a->left != 0;
}

void hf_apply_end(struct hf_transaction *t)
{
	struct hf_err ignored = { 0 };

	hf_undo_forget(&t->undo);
	for (size_t i = 0; i < t->nfiles; i++)
		hf_hugefile_close(&t->files[i], &ignored);
	free(t->files);
	free(t->fill_files);
	hf_fill_free(&t->fill);
	free(t);
}

static int attempt(struct hf_apply *a, bool locked, struct hf_err *err)
{
	struct hf_transaction *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return hf_err_nomem(err);
	t->apply = a;
	t->lock = -1;
	r = prepare(t, locked, err);
	if (r == 0)
		r = fill_and_publish(t, err);
	/* Success has been reached already when the request to stop comes too late. */
	if (r < 0)
		hf_apply_undo(t);
	if (r == 0 && a->keep)
		a->kept = t;
	else
		hf_apply_end(t);
	return r;
}

int hf_apply_run(struct hf_apply *a, struct hf_err *err)
{
	bool locked = hf_plan_changes_pools(a->plan);
	int r = -hf_policy_default();

	/* numactl's policy would make reservations count its nodes only, and is not asked for. */
	if (r)
		return hf_err_sys(err, r, NULL, "cannot set the default memory policy");
	if (a->keep && hf_apply_refuse_cut(a->plan, err) < 0)
		return -err->errnum;
	r = attempt(a, locked, err);
	if (r != -ENOMEM || locked || a->left)
		return r;
	/* The pages that the plan counted on were taken meanwhile: again, with the pools locked. */
	*err = (struct hf_err){ 0 };
	return attempt(a, true, err);
}

void hf_apply_free(struct hf_apply *a)
{
	if (a->kept)
		hf_apply_end(a->kept);
	a->kept = NULL;
	free(a->rows);
	a->rows = NULL;
	a->nrows = 0;
}
