/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files - the regular files on the hugetlbfs mounts that can be seen from here.
 *
 * By walking the mounts, without following symbolic links and without leaving a mount. Not seen:
 * unlinked files (processes.h), mounts of other mount namespaces, what another mount covers. Where
 * the pages lie is asked without allocating any (minor.h). Live systems only.
 */
#ifndef HF_FILES_H
#define HF_FILES_H

#include "mounts.h"
#include "topology.h"

struct hf_file {
	char *path; /* the first of several names */
	uint64_t page_size;
	uint64_t size;   /* bytes */
	uint64_t filled; /* pages that it has */
	uint64_t links;
	dev_t dev;
	ino_t ino;
	uint64_t *nodes; /* [topo->nnodes] pages; NULL: not asked, or the kernel or rights do not allow it */
};

struct hf_files {
	size_t count;
	struct hf_file *files; /* by path */
	size_t skipped;        /* directories that could not be read */
};

/* topo: the pages' nodes are wanted; else NULL. page_size: only mounts of this size; 0: all. */
int hf_files_read(const struct hf_sysroot *root, const struct hf_mounts *mounts, uint64_t page_size,
		  const struct hf_topology *topo, struct hf_files *files, struct hf_err *err) _must_check
	_nonnull(1, 2, 5, 6);
void hf_files_free(struct hf_files *files);

/* By device and inode; NULL: none of them. */
const struct hf_file *hf_files_find(const struct hf_files *files, dev_t dev, ino_t ino);

/* Counts the pages of a range of the hugetlbfs file fd (open for reading and writing) by node; those that
 * are not there stay holes. filled: pages that the whole file has. -errno: cannot be told; -E2BIG: the
 * holes are too many to ask for each page. */
int hf_files_where(int fd, uint64_t page_size, uint64_t first, uint64_t pages, uint64_t filled,
		   const struct hf_topology *topo, uint64_t *nodes) _must_check _nonnull(6, 7);

/* What a mount counts itself, which it does only where it has a limit (statfs). */
struct hf_mount_usage {
	uint64_t used;   /* bytes of size= that are used or reserved; HF_MOUNTS_NONE: not told */
	uint64_t inodes; /* in use; HF_MOUNTS_NONE: not told */
};
void hf_mount_usage(const struct hf_sysroot *root, const struct hf_mount *mount, struct hf_mount_usage *usage)
	_nonnull(1, 2, 3);

#endif
