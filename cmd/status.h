/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status - the rooms of the status command: options and the loop of --watch (status.c), what is
 * looked at (status_look.c) and told (status_show.c), and the sections: pools (status_pools.c), mounts and
 * cgroups (status_limits.c), files and processes (status_holders.c), notes (status_notes.c).
 */
#ifndef HF_CMD_STATUS_H
#define HF_CMD_STATUS_H

#include "../lib/account.h"
#include "../lib/cgrouptree.h"
#include "../lib/metrics.h"
#include "report.h"

enum status_section {
	STATUS_POOLS,
	STATUS_MOUNTS,
	STATUS_FILES,
	STATUS_PROCESSES,
	STATUS_CGROUPS,
	STATUS_SECTIONS,
};

struct status_opts {
	struct hf_common *common;
	const char *page_size, *nodes;
	bool asked[STATUS_SECTIONS];
	size_t npids;
	pid_t *pids;  /* NULL: all */
	bool metrics; /* instead of tables */
	bool watch;
	double interval; /* seconds */
};

/* One look at the machine. */
struct status_view {
	const struct status_opts *opts;
	struct hf_machine machine;
	uint64_t page_size; /* 0: all */
	bool all_nodes;
	struct hf_nodeset nodes;
	bool has_holders; /* files, processes and accounts are there */
	struct hf_files files;
	struct hf_processes processes;
	struct hf_account *accounts; /* [pools.count] */
	struct hf_table *notes;
};

/* A section's name in JSON and --help, its columns, and its rows. */
struct status_part {
	const char *name;
	const struct hf_column *columns;
	size_t ncolumns;
	int (*fill)(struct status_view *view, struct hf_table *table, struct hf_err *err);
	const struct hf_metric_set *metrics; /* NULL: as many as there are files or processes */
};
extern const struct status_part status_pools, status_mounts, status_files, status_processes, status_cgroups;
extern const struct status_part *const status_parts[STATUS_SECTIONS];

/* Where the tables go, and how they get from there to stdout, before the notes come. */
struct status_screen {
	FILE *out;
	int (*draw)(const struct status_screen *screen, struct hf_err *err);
	char *text; /* --watch: what was written to out */
	size_t size;
	bool terminal, first;
};

/* One look, told to the screen; notes to stderr. */
int status_show(const struct status_opts *opts, const struct status_screen *screen,
		struct hf_err *err) _must_check;

/* Reads everything that the sections asked for need. status_view_free also after a failure. */
int status_look(const struct status_opts *opts, struct status_view *view, struct hf_err *err) _must_check;
void status_view_free(struct status_view *view);

/* The pool has no page to give. */
bool status_is_short(const struct hf_pool *pool);
uint64_t status_used(const struct hf_pool *pool);
/* Whether rows of this page size are wanted. */
bool status_wants(const struct status_view *view, uint64_t page_size);

/* Adds what must be known beside the tables to view->notes. */
int status_note_all(struct status_view *view, struct hf_err *err) _must_check;
extern const struct hf_column status_note_columns[];
extern const size_t status_nnote_columns;
enum { STATUS_NOTE_OBJECT, STATUS_NOTE_TEXT };

/* count pages as bytes into a column; left unset where that is no number. */
void status_bytes(struct hf_table *table, size_t column, uint64_t pages, uint64_t page_size);

#endif
