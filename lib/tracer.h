/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracer - how long the kernel stays within some of its functions, counted by the kernel itself:
 * kprobes, a synthetic event and hist triggers of tracefs (Documentation/trace/histogram.rst).
 *
 * Counted is every call on the machine while the tracer runs, whoever makes it. A function that
 * cannot be traced has a `why`; the others are traced. What is made in tracefs has names of its own
 * and is removed by stop; without that (SIGKILL) it stays until it is removed by hand or a reboot.
 * Overhead is a few hundred ns a call, part of it within the time counted.
 */
#ifndef HF_TRACER_H
#define HF_TRACER_H

#include "histogram.h"
#include "sysroot.h"

#define HF_TRACER_NAME 64
#define HF_TRACER_MOST 16

struct hf_traced {
	char name[HF_TRACER_NAME];
	char why[256]; /* it is not traced; "": it is, or was */
	unsigned made; /* how far its making came: private */
	/* The kernel's buckets: (2^(i-1), 2^i] ns count in bucket i. min, max and sum are not known. */
	struct hf_histogram times;
};

struct hf_tracer {
	const struct hf_sysroot *root;
	const char *dir; /* tracefs; NULL: not found yet: private */
	unsigned id;     /* tells names of several processes apart */
	bool running;
	size_t count;
	struct hf_traced functions[HF_TRACER_MOST];
};

/* One more function: a name of the kernel's. Usage errors: no such name, twice, too many. */
int hf_tracer_add(struct hf_tracer *tracer, const char *name, struct hf_err *err) _must_check
	_nonnull(1, 2, 3);

/* Begins to count. What cannot be traced says why; that is no failure. */
void hf_tracer_start(struct hf_tracer *tracer) _nonnull(1);

/* Reads what was counted, and removes everything that start made. Without start nothing. */
void hf_tracer_stop(struct hf_tracer *tracer) _nonnull(1);

/* The lines of a hist file with one key in powers of two, added to histogram; times of no more than
 * 1 ns, which are none, are left out. Pure. */
void hf_tracer_parse(const char *text, struct hf_histogram *histogram) _nonnull(1, 2);

#endif
