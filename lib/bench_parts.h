/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_parts - the rooms of bench, not for others: the frame (bench.c), its cases (bench_cases.c),
 * mappings (bench_map.c), threads (bench_crew.c), processes (bench_fork.c), pools (bench_pool.c).
 */
#ifndef HF_BENCH_PARTS_H
#define HF_BENCH_PARTS_H

#include "bench.h"
#include "undo.h"

struct hf_bench_map {
	int fd; /* -1: anonymous */
	char *map;
	uint64_t bytes;
};

/* An unnamed file of this length. Returns the descriptor. */
int hf_bench_file(uint64_t page_size, uint64_t bytes, struct hf_err *err) _must_check;
/* A new mapping, its pages reserved, none of them there. The caller closes, also after an error. */
int hf_bench_map(enum hf_bench_mapping kind, uint64_t page_size, uint64_t bytes, struct hf_bench_map *map,
		 struct hf_err *err) _must_check;
void hf_bench_unmap(struct hf_bench_map *map);

/* Threads that make the pages of a mapping present. */
struct hf_bench_job {
	struct hf_bench *bench;
	const struct hf_bench_map *map;
	enum hf_method method;
	uint64_t threads;
	uint64_t step; /* touch: bytes from one write to the next */
	bool slices;   /* each thread has one part of the mapping; else they take chunks as alloc does */
	struct hf_histogram *latency; /* per page, or per write; NULL: not asked for */
	uint64_t ns;                  /* result */
};

int hf_bench_job_run(struct hf_bench_job *job, struct hf_err *err) _must_check;

/* Growth of the pool, as alloc's, into the undo log. */
struct hf_bench_growth {
	uint64_t pages;
	bool more; /* by so many; else until so many are available */
	enum hf_engine engine;
	uint64_t threads; /* 0: as alloc takes them */
	uint64_t ns;      /* results */
	bool parallel;
	char why[256];
};

int hf_bench_grow(struct hf_bench *bench, struct hf_bench_growth *growth, struct hf_undo *undo,
		  struct hf_err *err) _must_check;
/* Undoes, with no signal in between; an error when something is left. *ns may be NULL. */
int hf_bench_undo(struct hf_bench *bench, struct hf_undo *undo, uint64_t *ns, struct hf_err *err) _must_check;

/* One run of one case: *value is the sample. */
int hf_bench_time_fill(struct hf_bench *bench, struct hf_bench_case *c, double *value,
		       struct hf_err *err) _must_check;
int hf_bench_time_fault(struct hf_bench *bench, struct hf_bench_case *c, double *value,
			struct hf_err *err) _must_check;
int hf_bench_time_pool(struct hf_bench *bench, struct hf_bench_case *c, double *value,
		       struct hf_err *err) _must_check;
int hf_bench_time_free(struct hf_bench *bench, struct hf_bench_case *c, double *value,
		       struct hf_err *err) _must_check;
/* value[1] is that of the case after it, where that is measured with it. */
int hf_bench_time_fork(struct hf_bench *bench, struct hf_bench_case *c, double *value,
		       struct hf_err *err) _must_check;

/* Forkfault's file. */
void hf_bench_drop(struct hf_bench *bench);

/* Something has been done of what is measured now: bytes. */
void hf_bench_show(struct hf_bench *bench, uint64_t bytes);

#endif
