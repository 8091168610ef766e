/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mounts - hugetlbfs mounts, by libmount: read from proc/self/mountinfo (live or captured), made,
 * removed. The only file that includes libmount.h. Not thread safe.
 */
#ifndef HF_MOUNTS_H
#define HF_MOUNTS_H

#include <sys/types.h>

#include "sysroot.h"

#define HF_MOUNTS_NONE UINT64_MAX /* no size=, min_size= or nr_inodes= */

struct hf_mount {
	char *target;
	uint64_t page_size;  /* bytes; the default size where the options name none */
	uint64_t size_limit; /* bytes of size=, or HF_MOUNTS_NONE */
	uint64_t min_size;   /* bytes of min_size=, or HF_MOUNTS_NONE */
	uint64_t nr_inodes;  /* or HF_MOUNTS_NONE */
	mode_t mode;         /* of the root directory, as the options say; 0755 where they do not */
	uid_t uid;
	gid_t gid;
	bool read_only;
	bool hidden;   /* something else is mounted over it, at the same place or above */
	char *options; /* as the kernel shows them, VFS and filesystem, comma separated */
};

struct hf_mounts {
	size_t count;
	struct hf_mount *mounts; /* hugetlbfs only, in the kernel's order */
	void *table;             /* libmount's table of all mounts; private to mounts.c */
};

/* default_page_size is for mounts whose options name none (the kernel always shows pagesize=).
 * A line that is no mountinfo is an error (EBADMSG), not passed over: a mount that is missed would
 * put files into the wrong place. */
int hf_mounts_read(const struct hf_sysroot *root, uint64_t default_page_size, struct hf_mounts *mounts,
		   struct hf_err *err) _must_check _nonnull(1, 3, 4);
void hf_mounts_free(struct hf_mounts *mounts);

/* The filesystem type on top of exactly this directory, or NULL: nothing is mounted there.
 * Borrowed from mounts. */
const char *hf_mounts_type_at(const struct hf_mounts *mounts, const char *target);

/* The hugetlbfs on top of exactly this directory, or NULL. */
const struct hf_mount *hf_mounts_at(const struct hf_mounts *mounts, const char *target);

/* The visible hugetlbfs mount that holds this absolute path (found as the kernel walks it, from mount
 * to mount; NULL when the mount that holds it is of another type). Here and above paths are
 * canonical: no "." or "..", no double slash, no symbolic link. */
const struct hf_mount *hf_mounts_holding(const struct hf_mounts *mounts, const char *path);

/*
 * Where the cgroup hierarchy of a v1 controller ("hugetlb"), or of v2 (controller NULL), is mounted:
 * target and the hierarchy's path that is seen there ("/", or more in a container); *option: it has
 * this option (v2's memory_hugetlb_accounting). False: not mounted. Borrowed from mounts.
 */
bool hf_mounts_cgroup(const struct hf_mounts *mounts, const char *controller, const char **target,
		      const char **root, const char *option, bool *has_option);

struct hf_mount_request {
	const char *target;
	uint64_t page_size;
	uint64_t size_limit, min_size, nr_inodes; /* HF_MOUNTS_NONE: not given */
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/* mount -t hugetlbfs -o pagesize=,mode=,uid=,gid=,nosuid,nodev: no helper programs, no fstab, no
 * mtab. The directory must be there. EPERM: names CAP_SYS_ADMIN. */
int hf_mounts_mount(const struct hf_mount_request *request, struct hf_err *err) _must_check _nonnull(1, 2);

/* Unmounts the hugetlbfs on top of target; never lazily, never following a symbolic link. EBUSY:
 * held; EINVAL: something else is on top, or nothing is mounted there. */
int hf_mounts_umount(const char *target, struct hf_err *err) _must_check _nonnull(1, 2);

/* Of the libmount that is loaded. */
const char *hf_mounts_version(void);

/* As fstab writes words: blanks, newlines and backslashes as \ooo. malloc'd; NULL: no memory. */
char *hf_mounts_mangle(const char *text) _must_check _nonnull(1);
char *hf_mounts_unmangle(const char *text) _must_check _nonnull(1);

#endif
