/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release_parts - the rooms of release, not for others: planning (release.c), files (release_files.c), files
 * that nobody holds (release_stale.c). */
#ifndef HF_RELEASE_PARTS_H
#define HF_RELEASE_PARTS_H

#include "release.h"

/* Where the file's pages, or those of the punched range, lie: into step->wanted; where that cannot be told,
 * on the first node. What of them the mount's min_size= will reserve again: into step->set_aside. */
void hf_release_measure(struct hf_release *r, struct hf_release_step *step) _nonnull(1, 2);

/* A file that somebody has open or mapped: EBUSY with the holders. */
int hf_release_refuse_held(struct hf_release *r, const struct hf_place *place,
			   struct hf_err *err) _must_check;

/* Removes or punches, and sets step->freed and step->set_aside. */
int hf_release_file(struct hf_release *r, struct hf_release_step *step, struct hf_err *err) _must_check;

/* Whether nothing is on the mount but files that this call removes; in a captured tree: true. */
bool hf_release_is_emptied(const struct hf_release *r, const struct hf_release_step *step);

/* Unmounts when empty. */
int hf_release_umount(struct hf_release *r, struct hf_release_step *step, struct hf_err *err) _must_check;

struct hf_release_step *hf_release_add(struct hf_release *r, enum hf_release_action action,
				       struct hf_err *err);

/* A step for each file that nobody holds. */
int hf_release_plan_stale(struct hf_release *r, struct hf_err *err) _must_check;

/* Nobody holds the file, and until *fd is closed (-1: there is no lease) nobody can open it: 1.
 * 0: it is held, or is not the one that was planned with. */
int hf_release_claim(struct hf_release *r, const struct hf_place *place, int dirfd, int *fd,
		     struct hf_err *err) _must_check;
/* Nobody waits for the lease to end. */
bool hf_release_is_claimed(int fd);

#endif
