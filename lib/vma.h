/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vma - lines of proc/PID/maps, smaps and numa_maps, as far as huge pages need them.
 *
 * Kernel facts (Documentation/filesystems/proc.rst): the head of an smaps entry is the line of maps,
 * in which a newline of the name is \012 and an unlinked file's name ends in " (deleted)"; VmFlags
 * has "ht" for hugetlb; numa_maps escapes blanks too, counts pages of kernelpagesize_kB, and its
 * "anon" are private copies that are not in the file. Pure, thread safe.
 */
#ifndef HF_VMA_H
#define HF_VMA_H

#include <sys/types.h>

#include "topology.h"

struct hf_vma {
	uint64_t start, end; /* addresses */
	bool shared;         /* MAP_SHARED */
	dev_t dev;
	ino_t ino;        /* of a SysV segment: its shmid */
	const char *path; /* points into the line; "": none */
	bool deleted;     /* the name ended in " (deleted)", which path lacks */

	/* By the fields that follow. */
	bool huge;              /* hugetlb, not a transparent huge page */
	uint64_t page_size;     /* bytes, 0: not told */
	uint64_t shared_bytes;  /* huge pages that others have mapped too */
	uint64_t private_bytes; /* huge pages that only this process has mapped */
};

/* A line of maps, which it changes; the fields are reset. False: it is none. */
bool hf_vma_parse_head(char *line, struct hf_vma *vma) _must_check _nonnull(1, 2);

/* A line "Name: value" of smaps; others are passed over. */
void hf_vma_parse_field(const char *line, struct hf_vma *vma) _nonnull(1, 2);

struct hf_vma_nodes {
	uint64_t start;
	uint64_t anon; /* pages */
	uint64_t *on;  /* [topo->nnodes] pages, the caller's */
};

/* A line of numa_maps, which it changes. False: not of a huge mapping. */
bool hf_vma_parse_nodes(char *line, const struct hf_topology *topo, struct hf_vma_nodes *nodes) _must_check
	_nonnull(1, 2, 3);

#endif
