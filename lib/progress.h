/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress - how far a phase is: a line that is rewritten on a terminal, a line every ten seconds
 * in a log. Writes to the stream it was given (stderr). One thread at a time.
 */
#ifndef HF_PROGRESS_H
#define HF_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum hf_progress_mode { HF_PROGRESS_AUTO, HF_PROGRESS_ALWAYS, HF_PROGRESS_NEVER };

struct hf_progress {
	FILE *out;         /* NULL: silent */
	bool terminal;     /* rewrite the line */
	bool always;       /* HF_PROGRESS_ALWAYS */
	const char *label; /* "hugefill alloc" */
	const char *phase; /* "fill"; borrowed */
	uint64_t total;    /* bytes; 0: not known */
	uint64_t start_ns, shown_ns;
	bool dirty; /* a line stands on the terminal */
};

/*
 * auto: silent unless there is something to wait for; on a terminal from 0.2 s on, ten times a
 * second; elsewhere a line each 10 s. always: the terminal form on a terminal, else a line a second
 * and one at the end. never: silent.
 */
void hf_progress_init(struct hf_progress *p, FILE *out, enum hf_progress_mode mode, const char *label);
void hf_progress_begin(struct hf_progress *p, const char *phase, uint64_t total_bytes, uint64_t now_ns);
void hf_progress_update(struct hf_progress *p, uint64_t done_bytes, uint64_t now_ns);
/* Clears the terminal's line, so that a message can follow; ends the phase. */
void hf_progress_end(struct hf_progress *p, uint64_t done_bytes, uint64_t now_ns);

/* "fill  1.5G of 4G  37%  7.9G/s  ETA 0:01" into buf. Pure. Rate and ETA are left out while nothing
 * is known of them, the ETA also when all is done, total and percent where total is 0. Percent is
 * rounded down, ETA up; it is m:ss or h:mm:ss. */
char *hf_progress_line(const char *phase, uint64_t done, uint64_t total, uint64_t elapsed_ns, char *buf,
		       size_t size);

#endif
