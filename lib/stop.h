/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stop - the one request to give up: a signal, or the deadline.
 *
 * cmd owns the struct and its signal handler sets it; lib only asks. Every wait of lib's is either
 * short or interrupted by the handler's signal. Fields are lock-free atomics: safe in handlers and
 * from every thread.
 */
#ifndef HF_STOP_H
#define HF_STOP_H

#include <stdatomic.h>
#include <stdbool.h>

struct hf_stop {
	atomic_int signal;    /* the first signal that asked, or 0 */
	atomic_int again;     /* how many asked after it */
	atomic_bool deadline; /* --deadline has passed */
	atomic_bool undoing;  /* the undo runs: requests are noted, not followed */
};

static inline bool hf_stop_requested(const struct hf_stop *stop)
{
	return !atomic_load(&stop->undoing) && (atomic_load(&stop->signal) || atomic_load(&stop->deadline));
}

#endif
