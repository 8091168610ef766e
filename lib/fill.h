/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fill - the engine: every missing page of several files, by node-bound workers, all nodes at once.
 *
 * Kernel facts: faults do not take the inode lock, so MADV_POPULATE_WRITE (Linux 5.14) by many
 * threads on one file runs in parallel, and so does touching; fallocate on one file runs one call
 * at a time. Pages come from the node that the faulting thread's policy binds it to, whatever the
 * file. A populate fails with EFAULT when the bound node's pool is empty, although the page was
 * reserved, and when the cgroup's limit is reached; touching raises SIGBUS then.
 */
#ifndef HF_FILL_H
#define HF_FILL_H

#include "hugefile.h"
#include "plan.h"
#include "stats.h"
#include "stop.h"

struct hf_fill_file {
	struct hf_hugefile *file; /* mapped */
	const struct hf_target *target;
	/* Pages that were there before are left alone: by target's place. */
};

/* What was measured of one file on one node. */
struct hf_fill_part {
	size_t file, node;
	uint64_t pages;            /* filled */
	unsigned threads;          /* that filled some of them */
	uint64_t begin_ns, end_ns; /* monotonic: first page begun, last one done; 0: none */
	uint64_t busy_ns;          /* CPU time of the workers on it, summed: a worker that waits for a
				    * lock or for a CPU is not busy */
	struct hf_stats per_gib;   /* seconds per GiB, a value per worker */
};

struct hf_fill {
	const struct hf_plan *plan;
	const struct hf_fill_file *files;
	size_t nfiles;
	const struct hf_stop *stop;
	/* From the calling thread, about ten times a second. */
	void (*progress)(void *arg, uint64_t done_bytes);
	void *arg;

	size_t nparts; /* results: freed by hf_fill_free */
	struct hf_fill_part *parts;
	size_t failed_part; /* after a failure: the part it happened in; SIZE_MAX: none */
	const char *method; /* the one that was used: "populate", "touch", "fallocate" */
};

/*
 * Fills. -ECANCELED: stop was requested. A page that could not be had: -ENOMEM with the file and
 * node. After a failure some pages are filled: the caller undoes.
 */
int hf_fill_run(struct hf_fill *fill, struct hf_err *err) _must_check _nonnull(1, 2);
void hf_fill_free(struct hf_fill *fill);

/*
 * Counts the file's pages by node, where they lie, into on[nnodes]; *elsewhere, when layout is
 * given, is how many lie on another node than laid out. Maps what is in the page cache, allocates
 * nothing. A page that is not there: -EIO.
 */
int hf_fill_where(const struct hf_hugefile *file, const struct hf_topology *topo,
		  const struct hf_layout *layout, uint64_t *on, uint64_t *elsewhere,
		  struct hf_err *err) _must_check _nonnull(1, 2, 4, 6);

/* Whether this process has mapped the page: true of all that a worker populated. */
bool hf_fill_is_present(const struct hf_hugefile *file, uint64_t page);

/* populate where the kernel has it, else touch. */
enum hf_method hf_fill_method(enum hf_method wanted);
const char *hf_fill_method_name(enum hf_method method);

#endif
