/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "undo.h"

int hf_undo_reserve(struct hf_undo *undo, struct hf_err *err)
{
	size_t room = undo->room ? undo->room * 2 : 16;
	struct hf_undo_step *steps;

	if (undo->count < undo->room)
		return 0;
	steps = reallocarray(undo->steps, room, sizeof(*steps));
	if (!steps)
		return hf_err_nomem(err);
	undo->steps = steps;
	undo->room = room;
	return 0;
}

void hf_undo_push(struct hf_undo *undo, int (*back)(void *arg, struct hf_err *err), void (*drop)(void *arg),
		  void *arg)
{
	undo->steps[undo->count++] = (struct hf_undo_step){ back, drop, arg };
}

size_t hf_undo_run(struct hf_undo *undo, void (*left)(const struct hf_err *err, void *arg), void *arg)
{
	size_t failed = 0;

	while (undo->count) {
		struct hf_undo_step *step = &undo->steps[--undo->count];
		struct hf_err err = { 0 };

		if (step->back(step->arg, &err) < 0) {
			failed++;
			if (left)
				left(&err, arg);
		}
		if (step->drop)
			step->drop(step->arg);
	}
	hf_undo_forget(undo);
	return failed;
}

void hf_undo_forget(struct hf_undo *undo)
{
	for (size_t i = 0; i < undo->count; i++)
		if (undo->steps[i].drop)
			undo->steps[i].drop(undo->steps[i].arg);
	free(undo->steps);
	*undo = (struct hf_undo){ 0 };
}
