/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mountpoint - a hugetlbfs mounted as asked for, once: made with its directory, or found as it is.
 */
#ifndef HF_MOUNTPOINT_H
#define HF_MOUNTPOINT_H

#include "machine.h"
#include "undo.h"

/*
 * Makes the directory if it is not there (its parents must be) and mounts on it. Each of the two
 * goes into the undo log. A symbolic link or a file in its place is refused.
 */
int hf_mountpoint_make(const struct hf_sysroot *root, struct hf_undo *undo,
		       const struct hf_mount_request *request, struct hf_err *err) _must_check
	_nonnull(1, 2, 3, 4);

enum hf_mountpoint_given {
	HF_MOUNTPOINT_MODE = 1,
	HF_MOUNTPOINT_UID = 2,
	HF_MOUNTPOINT_GID = 4,
};

/*
 * What is on top of request->target already: 0 nothing, 1 a hugetlbfs that is as asked for. Another
 * filesystem, or a hugetlbfs that differs in its page size or in an option that was given (limits
 * that are not HF_MOUNTS_NONE, and what `given` says): -EEXIST with every difference.
 */
int hf_mountpoint_compare(const struct hf_machine *machine, const struct hf_mount_request *request,
			  unsigned given, struct hf_err *err) _must_check _nonnull(1, 2, 4);

/*
 * Unmounts a hugetlbfs. -EBUSY with the holders when a process has a file, a directory or a mapping
 * on it. -ENOTEMPTY when it holds files and force is not set: they would be gone with it.
 */
int hf_mountpoint_remove(const struct hf_machine *machine, const char *target, bool force, bool dry_run,
			 struct hf_err *err) _must_check _nonnull(1, 2, 5);

#endif
