/* SPDX-License-Identifier: GPL-2.0-or-later */
/* release_parts - the rooms of release, not for others: planning (release.c), files (release_files.c). */
#ifndef HF_RELEASE_PARTS_H
#define HF_RELEASE_PARTS_H

#include "release.h"

/* Where the file's pages, or those of the punched range, lie: into step->wanted. */
int hf_release_measure(struct hf_release *r, struct hf_release_step *step, struct hf_err *err) _must_check;

/* A file that somebody has open or mapped: EBUSY with the holders. */
int hf_release_refuse_held(struct hf_release *r, const struct hf_place *place,
			   struct hf_err *err) _must_check;

/* Removes or punches, and sets step->freed. */
int hf_release_file(struct hf_release *r, struct hf_release_step *step, struct hf_err *err) _must_check;

/* Unmounts when empty. */
int hf_release_umount(struct hf_release *r, struct hf_release_step *step, struct hf_err *err) _must_check;

#endif
