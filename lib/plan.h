/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan - what has to be done for a list of specs, and whether it can be.
 *
 * A pure function of the request and one snapshot: --dry-run, check and the real run share it, and
 * the real run makes it once more under the lock. Pages are counts of the pool's page size; nodes
 * are topology indexes. A plan borrows from its request and machine and is read-only once made.
 */
#ifndef HF_PLAN_H
#define HF_PLAN_H

#include "layout.h"
#include "machine.h"
#include "place.h"

enum hf_method { HF_METHOD_AUTO, HF_METHOD_POPULATE, HF_METHOD_TOUCH, HF_METHOD_FALLOCATE };

enum hf_engine { HF_ENGINE_AUTO, HF_ENGINE_SYSFS, HF_ENGINE_PARALLEL };

struct hf_request {
	const struct hf_spec_list *specs;
	const struct hf_place *places; /* [specs->count]; zeroed for pools */
	uint64_t threads;              /* 0: as many as serve */
	uint64_t headroom;             /* bytes that pool growth must leave available */
	bool block;                    /* --layout=block */
	bool available;                /* pool amounts count free less reserved pages */
	bool no_grow, no_mount, resize, best_effort, drop_caches;
	bool mode_given;
	mode_t mode;
	uid_t uid; /* (uid_t)-1: the caller's */
	gid_t gid;
	enum hf_method method;
	enum hf_engine engine; /* how pools grow */
};

enum hf_action {
	HF_ACTION_POOL, /* a pool spec */
	HF_ACTION_KEEP, /* the file is there, of this size and full */
	HF_ACTION_CREATE,
	HF_ACTION_FILL,   /* there, with holes */
	HF_ACTION_EXTEND, /* there, smaller; --resize */
	HF_ACTION_CUT,    /* there, larger; --resize */
	HF_ACTION_ADJUST, /* as keep, but mode or owner are to change */
	HF_ACTION_SKIP,   /* --best-effort: nothing could be had for it */
};

struct hf_target {
	size_t spec; /* index in the request */
	enum hf_action action;
	size_t pool; /* index in machine->pools */
	bool strict; /* no node may make up for another */
	bool uneven; /* amounts per node were written: always laid out in blocks */
	size_t nshares;
	struct hf_share *asked;  /* as asked for, by node; pools: the node's total wanted */
	struct hf_share *shares; /* the same, as it is to be done: other nodes make up, or less is had */
	uint64_t pages;          /* sum of shares; files: their whole length */
	uint64_t missing;        /* files: pages to fill */
	struct hf_layout layout; /* files that are filled */
	uint64_t *missing_on;    /* [nnodes] files that are filled: pages to fill, by node */
};

struct hf_plan_pool {
	bool used;          /* some target is about this pool */
	bool grows;         /* some node's persistent count is to rise */
	uint64_t grow;      /* new pages, all nodes */
	uint64_t total;     /* nr that all nodes together must reach */
	uint64_t take;      /* free pages that this call's files take */
	uint64_t *want;     /* [nnodes] nr to aim at */
	uint64_t *must;     /* [nnodes] nr below which a strict placement fails */
	const char *engine; /* that grew it, once it was done: "sysfs", "parallel"; NULL: nothing grew */
	char why[256];      /* the engine was chosen, or refused */
	uint64_t grow_ns;   /* how long the growth took, once it was done */
	uint64_t *write;    /* [nnodes] persistent count to bring the node to; 0: leave it */
	uint64_t *take_on;  /* [nnodes] of take: strictly placed on this node */
};

struct hf_plan_mount {
	const char *target; /* borrowed from the place */
	uint64_t page_size;
	size_t spec; /* the first that wants it: mode and owner are its */
};

/* Something that the plan found out about its chances. */
struct hf_finding {
	const char *id;       /* "headroom", "no-grow": stable, for programs */
	bool fatal;           /* the allocation would not succeed */
	bool notice;          /* nothing stands against it: good to know */
	int node;             /* id, or -1 */
	uint64_t wanted, got; /* bytes; both 0: no numbers apply */
	char object[HF_ERR_OBJECT];
	char text[384];
	char hint[384]; /* "" for none */
};

struct hf_plan {
	const struct hf_request *request;
	const struct hf_machine *machine;
	size_t ntargets;
	struct hf_target *targets;  /* one per spec, in their order */
	struct hf_plan_pool *pools; /* [machine->pools.count] */
	size_t nmounts;
	struct hf_plan_mount *mounts;
	uint64_t *threads; /* [nnodes] workers whose first node this is */
	uint64_t nthreads; /* in all; 0: nothing is filled */
	bool grown;        /* the pools have grown: their counts are no longer expected, but true */
	size_t nfindings;
	struct hf_finding *findings;
};

/* Errors are those of the request alone (usage) and of memory. What the machine lacks is a finding,
 * and the plan is complete nevertheless. The caller frees, also after an error. */
int hf_plan_make(const struct hf_request *request, const struct hf_machine *machine, struct hf_plan *plan,
		 struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);
void hf_plan_free(struct hf_plan *plan);

/*
 * Lays out anew the files that are not there yet, by what the pools really have now that they have
 * grown; with --best-effort, files get shorter to fit pool, mount and cgroup, or are skipped.
 */
int hf_plan_fit(struct hf_plan *plan, struct hf_err *err) _must_check _nonnull(1, 2);

/* The plan would change a pool: it needs the lock. */
bool hf_plan_changes_pools(const struct hf_plan *plan);
/* It would change anything. */
bool hf_plan_changes(const struct hf_plan *plan);
bool hf_plan_is_fatal(const struct hf_plan *plan);

/* Pages to fill, all files; and their bytes. */
uint64_t hf_plan_fill_bytes(const struct hf_plan *plan);

/* Appends a finding and returns it for the caller to word; NULL when memory is out. */
struct hf_finding *hf_plan_find(struct hf_plan *plan, const char *id, bool fatal, int node,
				const char *object);

#endif
