/* SPDX-License-Identifier: GPL-2.0-or-later */
/* run - the rooms of the run command: what is asked for (run.c) and the command's life (run_command.c). */
#ifndef HF_CMD_RUN_H
#define HF_CMD_RUN_H

#include <sys/resource.h>
#include <sys/types.h>

#include "../lib/policy.h"
#include "cmd.h"

enum { HF_EXIT_NOT_EXECUTABLE = 126, HF_EXIT_NOT_FOUND = 127, HF_EXIT_SIGNAL = 128 };

struct run_opts {
	char **command; /* its words, NULL at the end */
	char *program;  /* where it was found */
	int died_of;    /* the signal that killed it, or 0 */

	/* What this process changes of itself, and the command is to have as before. */
	struct hf_policy policy;
	struct rlimit descriptors;
};

/* Looks the command up along PATH, as a shell does: 0, or the exit status, told. */
int run_find(const struct hf_common *common, struct run_opts *run) _must_check;

/*
 * Runs it to its end and returns its exit status, or 128 and the number of the signal it died of; of one that
 * could not be started what a shell returns. file: for HUGEFILL_FILE, or NULL. Signals that come are the
 * command's; afterwards they are blocked. 0 < a signal that has come before: -ECANCELED, nothing was started.
 */
int run_command(const struct hf_common *common, struct run_opts *run, const char *file) _must_check;

#endif
