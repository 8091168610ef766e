/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * undo - what was changed, and how to change it back.
 *
 * Each step that changed something pushes its inverse; a failure, the deadline and signals run them
 * in reverse order, all of them: one that fails is remembered and the rest still runs. A step whose
 * inverse could not be pushed for lack of memory must not be made: reserve first, then act, then
 * push, which cannot fail. One thread only.
 */
#ifndef HF_UNDO_H
#define HF_UNDO_H

#include "err.h"

struct hf_undo_step {
	/* Changes one thing back. On failure err says what is left, and its hint the command that
	 * would mend it. */
	int (*back)(void *arg, struct hf_err *err);
	void (*drop)(void *arg); /* frees arg; also when the step is kept; may be NULL */
	void *arg;
};

struct hf_undo {
	size_t count, room;
	struct hf_undo_step *steps;
};

/* Room for one more step. */
int hf_undo_reserve(struct hf_undo *undo, struct hf_err *err) _must_check _nonnull(1, 2);

/* After hf_undo_reserve. The log owns arg from here on. */
void hf_undo_push(struct hf_undo *undo, int (*back)(void *arg, struct hf_err *err), void (*drop)(void *arg),
		  void *arg) _nonnull(1, 2);

/*
 * Runs and empties the log, last step first. left(err, arg) is called for each step that failed.
 * Returns how many failed.
 */
size_t hf_undo_run(struct hf_undo *undo, void (*left)(const struct hf_err *err, void *arg), void *arg)
	_nonnull(1);

/* Keeps everything: forgets the steps. */
void hf_undo_forget(struct hf_undo *undo);

#endif
