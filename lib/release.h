/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * release - the way back: files removed or punched, pool pages given back, empty mounts unmounted.
 *
 * What is removed cannot be had back, so that everything is checked before the first step: files
 * are there and nobody holds them, amounts are to be had. Pools are shrunk last, under the lock,
 * never below what is used or reserved. Nothing is cleared on the way, so that it takes milliseconds.
 */
#ifndef HF_RELEASE_H
#define HF_RELEASE_H

#include "machine.h"
#include "place.h"
#include "stop.h"

enum hf_release_action {
	HF_RELEASE_ABSENT, /* a spec's file that is not there: nothing to do */
	HF_RELEASE_REMOVE,
	HF_RELEASE_PUNCH,
	HF_RELEASE_SHRINK,
	HF_RELEASE_UMOUNT,
};

struct hf_release_step {
	enum hf_release_action action;
	size_t place;            /* files: index into places */
	size_t pool;             /* index in machine->pools */
	uint64_t first, count;   /* punch: pages of the file */
	bool files;              /* shrink: give back what this call's files free of the pool */
	bool everything;         /* shrink: all that is neither used nor reserved */
	uint64_t *asked;         /* [nnodes] shrink: pages that pool specs name; NULL: none does */
	bool strict;             /* shrink: no other node may make up */
	uint64_t *wanted;        /* [nnodes] pages to free */
	uint64_t *freed;         /* [nnodes] pages, measured */
	uint64_t set_aside;      /* files: pages of these that min_size= of their mount keeps; measured */
	char *mount;             /* umount: the mount point */
	char *elsewhere;         /* absent: a file of that bare name on another hugetlbfs; NULL: none */
	uint64_t elsewhere_size; /* its page size */
	int directory_left;      /* umount: errno of removing the default place; 0: gone, or to stay */
	bool done;               /* umount: it was empty and is unmounted; dry run: would be so */
	bool stale;              /* remove: only if still nobody holds it */
	bool kept;               /* stale: somebody has taken it meanwhile */
	uint64_t ns;             /* time it took */
};

struct hf_release_request {
	const struct hf_spec_list *specs;
	uint64_t page_size; /* for bare names */
	bool shrink, umount, force, dry_run;
	bool lenient;             /* of the pools' amounts, as much as can be had */
	bool stale;               /* every file that nobody holds; specs is empty then */
	uint64_t stale_page_size; /* only those on mounts of this size; 0: all */
	bool punch;               /* one PATH; the rest are the range in bytes */
	uint64_t punch_offset, punch_length;
};

struct hf_release {
	struct hf_machine *machine;
	const struct hf_release_request *request;
	const struct hf_stop *stop;
	void (*waiting)(void *arg); /* somebody else holds the lock; may be NULL */
	void *arg;

	size_t nplaces; /* results: hf_release_free */
	struct hf_place *places;
	size_t nsteps;
	struct hf_release_step *steps;
	bool changed;
	size_t held;    /* stale: files that stay, because somebody holds them */
	size_t skipped; /* stale: directories and read-only mounts that were not looked at */
	bool no_lease;  /* no leases could be had: a process that opens a file just then is not seen */
	bool unsure;    /* besides, some processes could not be looked into */
};

/*
 * Plans, and unless dry_run carries out. Errors before the first step leave everything as it was:
 * EBUSY (a file is held: the holders are in the hint; an amount is more than can be had), ENOENT (a
 * PATH that is not there). An error later names the step; the steps show what was done.
 *
 * stale: root only (EPERM). Whether a file is held is asked of the kernel by a lease (fcntl F_SETLEASE),
 * which it refuses while anybody has the file open or mapped, whoever and in whatever namespace, the
 * kernel itself too; the file is removed under the lease. A process that has looked the name up before,
 * and opens after that, gets the file without a name: that window remains. Where hugetlbfs has no
 * leases the processes are looked through (holders.h), and the window lasts from then until the removal;
 * where not all can be looked into, nothing is stale, and a file that was named goes, with unsure set.
 */
int hf_release_run(struct hf_release *release, struct hf_err *err) _must_check _nonnull(1, 2);
void hf_release_free(struct hf_release *release);

#endif
