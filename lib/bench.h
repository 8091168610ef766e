/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench - timed runs of what hugetlb is judged by: filling, faulting, faulting beside fork, growing
 * pools, freeing.
 *
 * A bench is a list of cases, each measured in every run; runs go over all cases in turn, so that
 * drift of the machine favours none. Files are unnamed ones on the kernel's own hugetlbfs mount
 * (memfd): no directory is needed and nothing can be left. The pool grows by what lacks before the
 * first run and is as it was after the last, whatever happens; the lock is held from end to end.
 * Times are wall clock: of threads from the first one's beginning to the last one's end.
 */
#ifndef HF_BENCH_H
#define HF_BENCH_H

#include "histogram.h"
#include "plan.h"
#include "stop.h"
#include "tracer.h"

enum hf_bench_workload {
	HF_BENCH_FILL,      /* kinds: enum hf_method */
	HF_BENCH_FAULT,     /* kinds: enum hf_bench_mapping */
	HF_BENCH_FORKFAULT, /* kinds: enum hf_bench_mapping; a case's kind is an enum hf_bench_loop */
	HF_BENCH_POOL,      /* a case's kind is an enum hf_bench_growing */
	HF_BENCH_FREE,      /* kinds: enum hf_bench_freeing */
};

enum hf_bench_mapping {
	HF_BENCH_PRIVATE_ANON,
	HF_BENCH_SHARED_ANON,
	HF_BENCH_PRIVATE_FILE,
	HF_BENCH_SHARED_FILE,
};

/* What an instance does over and over. Combined: both kinds of instances at once, as many of each. */
enum hf_bench_loop {
	HF_BENCH_FAULTS, /* map, write to every page, unmap */
	HF_BENCH_FORKS,  /* map, write to a few pages, fork, wait for the child's exit, unmap */
	HF_BENCH_COMBINED_FAULTS,
	HF_BENCH_COMBINED_FORKS,
};

enum hf_bench_growing {
	HF_BENCH_SERIAL,   /* engine sysfs */
	HF_BENCH_PARALLEL, /* engine parallel, with as many workers as alloc takes */
	HF_BENCH_WORKERS,  /* engine parallel, count workers per node */
};

enum hf_bench_freeing { HF_BENCH_REMOVE, HF_BENCH_PUNCH, HF_BENCH_SHRINK };

#define HF_BENCH_LIST 64

struct hf_bench_list {
	size_t count;
	uint64_t values[HF_BENCH_LIST];
};

struct hf_bench_request {
	enum hf_bench_workload workload;
	uint64_t page_size;
	struct hf_nodeset nodes;     /* ids, of nodes with memory; sizes are spread evenly over them */
	bool strict;                 /* pages come from these nodes only */
	struct hf_bench_list sizes;  /* bytes */
	struct hf_bench_list counts; /* threads (fill, fault), instances, workers per node (pool) */
	struct hf_bench_list kinds;
	uint64_t stride; /* fault: bytes from one write to the next */
	double seconds;  /* forkfault: of each run of each case */
	uint64_t runs, warmup;
	uint64_t headroom; /* bytes that pool growth must leave available */
	bool histogram;    /* fill, fault: pages one by one, and the time of each */
};

struct hf_bench_case {
	unsigned kind;
	enum hf_bench_mapping mapping; /* fault, forkfault */
	uint64_t count;                /* threads, instances, workers per node; 0: does not apply */
	uint64_t bytes, stride;
	bool with_previous; /* measured with the case before it: combined loops */
	size_t nsamples;
	double *samples; /* [runs] seconds; forkfault: per second, all instances together; NAN: why */
	struct hf_histogram *latency; /* of all runs, or NULL */
	char why[256];                /* there is nothing to measure */
};

struct hf_bench {
	const struct hf_bench_request *request;
	struct hf_machine *machine;
	struct hf_stop *stop;
	struct hf_tracer *tracer; /* runs while runs count; NULL: none */
	/* run counts the warm-up runs too; done and total are bytes of all runs, 0 where there are
	 * none. Often. */
	void (*progress)(void *arg, uint64_t run, uint64_t runs, uint64_t done, uint64_t total);
	void (*waiting)(void *arg);
	void (*left)(const struct hf_err *err, void *arg); /* what could not be undone */
	void *arg;

	size_t ncases; /* hf_bench_plan makes them, hf_bench_free frees them */
	struct hf_bench_case *cases;
	uint64_t need;             /* bytes that must be available in the pool */
	uint64_t extra;            /* bytes that it grows by besides, for a moment */
	uint64_t run;              /* present run, from 1 */
	uint64_t done;             /* bytes of what is over */
	struct hf_bench_map *kept; /* forkfault's file, between cases */
};

/* The cases. Checks sizes and stride: usage errors. */
int hf_bench_plan(struct hf_bench *bench, struct hf_err *err) _must_check _nonnull(1, 2);
void hf_bench_free(struct hf_bench *bench);

/* More than memory allows: ENOMEM with the largest size that fits. Only looks. */
int hf_bench_check(const struct hf_bench *bench, struct hf_err *err) _must_check _nonnull(1, 2);

/*
 * Measures. -ECANCELED: stop was requested. Whatever it returns, pools are as they were, or left()
 * was told and it is an error.
 */
int hf_bench_run(struct hf_bench *bench, struct hf_err *err) _must_check _nonnull(1, 2);

const char *hf_bench_workload_name(enum hf_bench_workload workload);
const char *hf_bench_mapping_name(enum hf_bench_mapping mapping);
const char *hf_bench_freeing_name(enum hf_bench_freeing freeing);
/* "populate", "private-anon", "faults per sec", "serial", "remove". */
const char *hf_bench_test_name(const struct hf_bench *bench, const struct hf_bench_case *c);

/* What tells a case from others, in any bench: "fill/populate/count=2/size=1073741824/...". */
#define HF_BENCH_KEY 160
char *hf_bench_key(const struct hf_bench *bench, const struct hf_bench_case *c,
		   char buf[static HF_BENCH_KEY]);

#endif
