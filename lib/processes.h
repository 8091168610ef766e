/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processes - which process holds which huge pages.
 *
 * Kernel facts: HugetlbPages in proc/PID/status counts what a process has mapped and costs little, so
 * that only those with some are read further (smaps, numa_maps), which takes the right to look into
 * them. Anonymous, SysV and memfd pages are files on mounts that the kernel keeps for itself, one for
 * each page size; every shared memory segment, memfd and anonymous mapping is an inode there. An
 * unlinked file lives on while it is open or mapped. A process that ends while it is read is none.
 */
#ifndef HF_PROCESSES_H
#define HF_PROCESSES_H

#include <sys/types.h>

#include "topology.h"

enum hf_object_kind {
	HF_OBJECT_FILE,     /* has a name on a hugetlbfs, perhaps in another namespace */
	HF_OBJECT_UNLINKED, /* has lost it */
	HF_OBJECT_MEMFD,
	HF_OBJECT_SYSV,
	HF_OBJECT_ANONYMOUS,
};
const char *hf_object_kind_name(enum hf_object_kind kind);

/* One object in one process; counts are pages of page_size. */
struct hf_holding {
	pid_t pid;
	char command[32]; /* proc/PID/comm */
	uid_t uid;        /* effective */
	enum hf_object_kind kind;
	uint64_t page_size;
	char *name; /* path; memfd's name; SysV: the key in eight hexadecimal digits; "" */
	dev_t dev;
	ino_t ino; /* SysV: the segment's id */
	bool mapped, open;
	uint64_t shared;    /* mapped here and elsewhere */
	uint64_t exclusive; /* mapped here only */
	uint64_t anon;      /* of both: private copies, which are not in the file */
	uint64_t *nodes;    /* [topo->nnodes] of both; NULL: not told */
	bool has_filled;
	uint64_t filled; /* pages in the file, mapped or not */
};

struct hf_processes {
	size_t count;
	struct hf_holding *holdings; /* by pid, kind, page size, object */
	size_t seen;                 /* processes that were there */
	size_t hidden; /* processes that could not be looked into although they may hold pages */
};

struct hf_processes_request {
	const struct hf_sysroot *root;
	const struct hf_topology *topo;
	const uint64_t *page_sizes;
	size_t npage_sizes;
	const pid_t *pids; /* only these; npids 0: all */
	size_t npids;
	bool open;            /* files that are open: takes a look at every descriptor */
	const dev_t *devices; /* mappings of these are found also where no page is touched; takes a */
	size_t ndevices;      /* look at every mapping */
};

int hf_processes_read(const struct hf_processes_request *request, struct hf_processes *processes,
		      struct hf_err *err) _must_check _nonnull(1, 2, 3);
void hf_processes_free(struct hf_processes *processes);

#endif
