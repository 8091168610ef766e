/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hugefile - one file on a hugetlbfs: made unnamed, reserved, published; and which pages it has.
 *
 * Kernel facts: O_TMPFILE works on hugetlbfs, linkat() of it is atomic and fails with EEXIST; mmap
 * (MAP_SHARED) reserves every page that the file lacks and fails with ENOMEM where pool, mount or
 * rsvd limit are short; SEEK_HOLE reports no holes and st_blocks only how many pages there are, so
 * which pages there are is asked of userfaultfd: UFFDIO_CONTINUE (Linux 5.13, hugetlb) maps a page
 * that is in the page cache and fails with EFAULT where there is none, allocating nothing.
 */
#ifndef HF_HUGEFILE_H
#define HF_HUGEFILE_H

#include <sys/types.h>

#include "place.h"

struct hf_hugefile {
	const struct hf_place *place; /* borrowed */
	int dirfd;                    /* O_PATH */
	int fd;
	bool existed;
	bool held;       /* by others, so that it is not given back */
	char *hidden;    /* name while unpublished, where O_TMPFILE is refused; else NULL */
	char *map;       /* whole file, shared; NULL: not mapped */
	uint64_t length; /* bytes mapped */
};

#define HF_HUGEFILE_INIT              \
	{                             \
		.dirfd = -1, .fd = -1 \
	}

/*
 * Opens the directory and checks that it is still the hugetlbfs that was planned with (device,
 * filesystem type, page size), then makes an unnamed file of `bytes`, with mode and owner already
 * right ((uid_t)-1, (gid_t)-1: the caller's). The caller closes.
 */
int hf_hugefile_create(struct hf_hugefile *file, const struct hf_place *place, uint64_t bytes, mode_t mode,
		       uid_t uid, gid_t gid, struct hf_err *err) _must_check _nonnull(1, 2, 7);

/* Opens the file that was there at planning time; another one since: ESTALE. */
int hf_hugefile_open(struct hf_hugefile *file, const struct hf_place *place, struct hf_err *err) _must_check
	_nonnull(1, 2, 3);

/* fchown and fchmod; (uid_t)-1 and (gid_t)-1 leave. */
int hf_hugefile_adjust(struct hf_hugefile *file, mode_t mode, uid_t uid, gid_t gid,
		       struct hf_err *err) _must_check _nonnull(1, 5);

/* ftruncate. Growing reserves nothing; shrinking frees pages at once. */
int hf_hugefile_resize(struct hf_hugefile *file, uint64_t bytes, struct hf_err *err) _must_check
	_nonnull(1, 3);

/*
 * Maps all of the file's `bytes`, and reserves what lacks from byte `from` on: ENOMEM when that is
 * not to be had. What existed before is not reserved: the kernel gives a hole's reservation back
 * only by a truncation (measured on 6.18), so that it could not be undone; its pages are taken from
 * the free ones as they are faulted. From a thread with the default memory policy: with a bound one
 * the kernel counts only those nodes.
 */
int hf_hugefile_map(struct hf_hugefile *file, uint64_t bytes, uint64_t from, struct hf_err *err) _must_check
	_nonnull(1, 4);

/* Gives the file its name, which must be free: EEXIST. */
int hf_hugefile_publish(struct hf_hugefile *file, struct hf_err *err) _must_check _nonnull(1, 2);

/* Takes the name away again, if it still is this file. */
int hf_hugefile_unpublish(struct hf_hugefile *file, struct hf_err *err) _must_check _nonnull(1, 2);

/* Frees pages [first, first + count) of page_size bytes. */
int hf_hugefile_punch(struct hf_hugefile *file, uint64_t first, uint64_t count,
		      struct hf_err *err) _must_check _nonnull(1, 4);

/* Unmaps and closes; an unpublished file is gone with its pages. First failure wins. */
int hf_hugefile_close(struct hf_hugefile *file, struct hf_err *err) _nonnull(1, 2);

/*
 * Sets place->present for a file that exists with holes. EACCES without write permission; ENOSYS,
 * EINVAL where the kernel has no userfaultfd for hugetlb: then no hole is ever filled, since it
 * could not be undone.
 */
int hf_hugefile_holes(struct hf_place *place, int dirfd, struct hf_err *err) _must_check _nonnull(1, 3);

#endif
