/* SPDX-License-Identifier: GPL-2.0-or-later */
/* alloc - the rooms of the alloc command: options (alloc.c) and what it tells (alloc_report.c); run goes
 * through them, too. */
#ifndef HF_CMD_ALLOC_H
#define HF_CMD_ALLOC_H

#include "../lib/apply.h"
#include "../lib/record.h"
#include "cmd.h"
#include "request.h"

struct alloc_opts {
	struct hf_common *common;
	struct request_opts in;
	bool dry_run;
	double deadline; /* seconds; 0: none */

	struct hf_record record; /* of --from; without a name: none is kept */

	/* run: instead of the result on standard output. Called when all is there, with the undo log kept;
	 * returns the exit status. */
	int (*then)(struct alloc_opts *opts, struct hf_apply *apply);
	struct run_opts *run;
};

extern const struct argp_option alloc_options[];
error_t alloc_parse(int key, char *arg, struct argp_state *state);
char *alloc_help(int key, const char *text, void *input);
int alloc_carry_out(struct alloc_opts *opts);

extern const struct hf_column alloc_columns[], alloc_plan_columns[];
extern const size_t alloc_ncolumns, alloc_nplan_columns;

/* The result, to stdout, flushed. */
int alloc_report_result(const struct alloc_opts *opts, const struct hf_apply *apply,
			struct hf_err *err) _must_check;
/* The plan, of --dry-run. */
int alloc_report_plan(const struct alloc_opts *opts, const struct hf_plan *plan,
		      struct hf_err *err) _must_check;
/* A failure: messages, and the document with --json. failed as hf_print_err takes it. Returns the exit
 * status. */
int alloc_report_failure(const struct alloc_opts *opts, const struct hf_apply *apply,
			 const struct hf_err *failed);

#endif
