/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place - where a file lies: its mount, its directory, and what is there now.
 *
 * Which mount (man page, MOUNTS): a path lies on the hugetlbfs that holds its directory. A bare
 * name lies on the mount of the wanted page size: the one on /dev/hugepages first, else the first
 * in the kernel's order that is neither hidden nor read-only. Where there is none, one is to be
 * made: on /dev/hugepages for the default page size when nothing is mounted there, else on
 * /dev/hugepages<SIZE>. Nothing is ever mounted on top of a mount. A path below one of these
 * default places counts as on it, although it is not mounted yet.
 *
 * Only looks; changes nothing. On a captured tree no file exists.
 */
#ifndef HF_PLACE_H
#define HF_PLACE_H

#include <sys/types.h>

#include "machine.h"

struct hf_place {
	char *path;           /* of the file, as messages show it */
	char *dir;            /* its directory */
	const char *name;     /* its last component, inside path */
	char *mount;          /* mount point */
	uint64_t page_size;   /* bytes */
	bool to_mount;        /* nothing is mounted on `mount` yet */
	ino_t dir_ino;        /* of the directory, when mounted and live */
	dev_t dev;            /* of the directory, when mounted and live */
	uint64_t mount_limit; /* bytes of the mount's size=, or HF_MOUNTS_NONE */
	uint64_t mount_left;  /* bytes of it that are neither used nor reserved; only with a limit */
	uint64_t inodes_left; /* or HF_MOUNTS_NONE */
	uint64_t min_size;    /* bytes of the mount's min_size=, 0: none */
	uint64_t min_used;    /* bytes that count against it (minimum.h) */

	bool exists; /* a regular file, not a symbolic link */
	ino_t ino;
	mode_t mode; /* permission bits */
	uid_t uid;
	gid_t gid;
	bool untrusted;         /* others can write to the directory, and it belongs neither to this process's
				 * user nor to the directory's owner: it may have been put there on purpose */
	uint64_t size;          /* bytes */
	uint64_t filled;        /* pages that are allocated */
	uint64_t pages;         /* pages that `size` covers */
	unsigned char *present; /* [pages / 8 + 1] a bit per page, when exists with holes; else NULL:
				 * all present, or none */
};

/*
 * Fills *place, which the caller zeroed and frees. page_size: for bare names, and for a mount that
 * is to be made. Errors: a directory that is not there or not on hugetlbfs (lists the mounts there
 * are), a default place that carries something else, a symbolic link, directory or special file in
 * the file's place. with_holes: also find out which pages are missing (needs write permission).
 */
int hf_place_find(const struct hf_machine *machine, const char *name, uint64_t page_size, bool with_holes,
		  struct hf_place *place, struct hf_err *err) _must_check _nonnull(1, 2, 5, 6);
/* The same for a bare name on the mount `mount`, NULL for the usual one: it is to be of page_size
 * (EEXIST), and where nothing is mounted it is to be made. */
int hf_place_find_on(const struct hf_machine *machine, const char *mount, const char *name,
		     uint64_t page_size, bool with_holes, struct hf_place *place,
		     struct hf_err *err) _must_check _nonnull(1, 3, 6, 7);
void hf_place_free(struct hf_place *place);

static inline bool hf_place_has(const struct hf_place *place, uint64_t page)
{
	if (page >= place->pages)
		return false;
	return !place->present ? place->filled == place->pages : place->present[page / 8] >> (page % 8) & 1;
}

/* "/dev/hugepages" for the default size where free, "/dev/hugepages1G" and so on otherwise: malloc'd. */
char *hf_place_default(const struct hf_machine *machine, uint64_t page_size) _must_check;

/* The path of a file that two of places[count] are about, under whatever names (hard links, bind
 * mounts), or NULL; also NULL when memory is out. */
const char *hf_place_find_twice(const struct hf_place *places, size_t count);

/* One of the places above: hugefill may make and remove this directory. */
bool hf_place_is_default(const struct hf_machine *machine, const char *dir);

#endif
