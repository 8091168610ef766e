/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * overcommit - a pool's limit of surplus pages, raised for a while.
 *
 * A limit that stays raised lets anybody take memory as huge pages. So its way back is in the undo
 * log, and a process of its own lowers it when this one is killed: all signals but SIGKILL are
 * blocked there. The limit is one number without an owner: what others have written meanwhile is left
 * as it is. Under the lock (lock.h), one thread.
 */
#ifndef HF_OVERCOMMIT_H
#define HF_OVERCOMMIT_H

#include <sys/types.h>

#include "machine.h"
#include "undo.h"

/* Belongs to the undo log. */
struct hf_overcommit {
	struct hf_machine *machine;
	uint64_t page_size;
	bool lost; /* others have written it while it was raised */

	/* private; shared with the guard */
	uint64_t before, ours; /* pages */
	bool raised;
	pid_t guard;
};

/* Pushes the way back, while nothing is raised yet. */
int hf_overcommit_remember(struct hf_machine *machine, uint64_t page_size, struct hf_undo *undo,
			   struct hf_overcommit **limit, struct hf_err *err) _must_check _nonnull(1, 3, 4, 5);

/* At least so many surplus pages. Where it is as high as that nothing is written. */
int hf_overcommit_raise(struct hf_overcommit *limit, uint64_t pages, struct hf_err *err) _must_check
	_nonnull(1, 3);

/* As it was. To be called after a failed raise, too. */
int hf_overcommit_lower(struct hf_overcommit *limit, struct hf_err *err) _must_check _nonnull(1, 2);

/* After the last lower: ends the guard. */
void hf_overcommit_end(struct hf_overcommit *limit) _nonnull(1);

#endif
