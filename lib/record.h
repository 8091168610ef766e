/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record - what was applied from a file of specs, so that what has left the file since can be named.
 *
 * Two files of specs in run/hugefill, root's, mode 0600, named after the file's path: NAME.applied holds the
 * targets of the last call, NAME.left those of earlier calls that are in the file no more and still there;
 * `hugefill free --from' takes the latter. A pool's line there keeps the amount as it was written, of which
 * as much is given back as can be had.
 */
#ifndef HF_RECORD_H
#define HF_RECORD_H

#include "plan.h"

struct hf_left {
	char *line;
	char *name; /* the target alone: path, or page size */
	enum hf_spec_kind kind;
	uint64_t page_size;
	bool told; /* something of it can be given back */
};

struct hf_record {
	char *name; /* of the files, without what follows the last point */
	char *path; /* of the .left file, as a person would type it */
	char *applied;
	size_t nleft;
	struct hf_left *left;
};

/*
 * Compares the specs from `first` on, which came from `file`, and all others of the plan with what was
 * recorded. 1; 0: nothing is recorded of such a file (no regular file, not root, a captured tree). The caller
 * frees.
 */
int hf_record_compare(const struct hf_machine *machine, const char *file, const struct hf_plan *plan,
		      size_t first, struct hf_record *record, struct hf_err *err) _must_check
	_nonnull(1, 2, 3, 5, 6);
int hf_record_write(const struct hf_machine *machine, const struct hf_record *record,
		    struct hf_err *err) _must_check _nonnull(1, 2, 3);
void hf_record_free(struct hf_record *record);

/* The file is one of ours. */
bool hf_record_is_own(const struct hf_machine *machine, const char *file) _must_check _nonnull(1, 2);

/* Everything in the file was freed: its record goes, or the file itself where it is one of ours. */
int hf_record_remove(const struct hf_machine *machine, const char *file, struct hf_err *err) _must_check
	_nonnull(1, 2, 3);

#endif
