/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes_parts - the rooms of processes, not for others: one process after the other
 * (processes.c), its mappings (processes_maps.c), its descriptors (processes_open.c), which object
 * it is (processes_object.c).
 */
#ifndef HF_PROCESSES_PARTS_H
#define HF_PROCESSES_PARTS_H

#include "processes.h"

struct hf_scan {
	const struct hf_processes_request *request;
	struct hf_processes *found;
	dev_t *internal; /* [npage_sizes] the kernel's own mounts; 0: not known */

	/* The process that is being read. */
	pid_t pid;
	uid_t uid;
	uint64_t huge_bytes; /* HugetlbPages */
	bool denied;
};

/* -errno is out of memory only; what a process does not let be read sets denied. */
int hf_scan_mapped(struct hf_scan *scan) _must_check;
int hf_scan_untouched(struct hf_scan *scan) _must_check;
int hf_scan_open(struct hf_scan *scan) _must_check;

/* A holding of the present process, zeroed but for pid and uid. NULL: no memory. */
struct hf_holding *hf_scan_add(struct hf_scan *scan);

/* Finds the kernel's own mounts, where there is a live system. */
int hf_scan_internal(struct hf_scan *scan) _must_check;

/*
 * Sets kind and name of a holding whose dev is set, by its name as the kernel shows it, without
 * " (deleted)". links: the file's link count, or -1 where only the name tells.
 */
int hf_scan_object(const struct hf_scan *scan, struct hf_holding *holding, const char *path, bool deleted,
		   int64_t links) _must_check;

#endif
