/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply_parts - the rooms of apply, not for others: the transaction (apply.c), its files
 * (apply_files.c), its mounts (apply_mounts.c), its result rows (apply_rows.c), its end when it was kept
 * (apply_back.c).
 */
#ifndef HF_APPLY_PARTS_H
#define HF_APPLY_PARTS_H

#include "apply.h"
#include "plan_parts.h"

struct hf_transaction {
	struct hf_apply *apply;
	struct hf_undo undo;
	int lock; /* -1: not held */
	size_t nfiles;
	struct hf_hugefile *files; /* [plan ntargets]; by target index */
	struct hf_fill fill;
	struct hf_fill_file *fill_files; /* files that are filled */
};

/* Everything back, in reverse; pools under the lock. */
void hf_apply_undo(struct hf_transaction *t);
void hf_apply_end(struct hf_transaction *t);

/* For a long time without the caller: no mappings, and open only what is to be undone. */
int hf_apply_settle(struct hf_transaction *t, struct hf_err *err) _must_check;

int hf_apply_mounts(struct hf_transaction *t, struct hf_err *err) _must_check;
int hf_apply_create(struct hf_transaction *t, struct hf_err *err) _must_check;
int hf_apply_fill(struct hf_transaction *t, struct hf_err *err) _must_check;
int hf_apply_verify(struct hf_transaction *t, struct hf_err *err) _must_check;
int hf_apply_publish(struct hf_transaction *t, struct hf_err *err) _must_check;
int hf_apply_rows(struct hf_transaction *t, struct hf_err *err) _must_check;

#endif
