/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * err - what a person must know of a failure.
 *
 * The caller owns a struct hf_err, zeroed, and hands it down as the last parameter. The function
 * that fails fills it once and returns the negative errno; its callers pass both on unchanged.
 * cmd prints it. Texts that do not fit are cut, never overrun. Not thread safe: one per thread.
 */
#ifndef HF_ERR_H
#define HF_ERR_H

#include <limits.h>
#include <stdbool.h>

#include "util.h"

#define HF_ERR_OBJECT 512
#define HF_ERR_TEXT 1024
#define HF_ERR_HINT 1536

struct hf_err {
	int errnum;                 /* positive errno; 0: nothing failed */
	bool usage;                 /* the request is wrong and nothing was touched: exit status 2 */
	bool silent_errno;          /* what says it all: strerror(errnum) is not appended */
	char object[HF_ERR_OBJECT]; /* what it is about: a path, a spec; raw bytes, escaped when printed */
	char what[HF_ERR_TEXT];     /* what happened: wanted and got */
	char hint[HF_ERR_HINT];     /* next steps, one a line; "" for none */
};

/* A system call or the like failed. Returns -errnum (errnum > 0). */
int hf_err_sys(struct hf_err *err, int errnum, const char *object, const char *fmt, ...) _nonnull(1)
	_printf(4, 5);

/* Something is not as it must be; fmt says it completely. Returns -errnum. */
int hf_err_set(struct hf_err *err, int errnum, const char *object, const char *fmt, ...) _nonnull(1)
	_printf(4, 5);

/* The request itself is wrong. Returns -EINVAL. */
int hf_err_usage(struct hf_err *err, const char *object, const char *fmt, ...) _nonnull(1) _printf(3, 4);

/* Adds one line of what can be done about it. */
void hf_err_hint(struct hf_err *err, const char *fmt, ...) _nonnull(1) _printf(2, 3);

/* Out of memory, in the words of everything else. Returns -ENOMEM. */
int hf_err_nomem(struct hf_err *err) _nonnull(1);

/*
 * Copies text so that it is safe on a terminal and stays on one line: control bytes, newline and
 * backslash as \n, \t, \\ or \xNN; bytes that are no valid UTF-8 as \xNN. Cut at size, always
 * terminated. Returns buf.
 */
char *hf_err_escape(const char *text, char *buf, size_t size) _nonnull(1, 2);

/* The same for text that is escaped already, or ours: control bytes and bad UTF-8 only. */
char *hf_err_printable(const char *text, char *buf, size_t size) _nonnull(1, 2);

/*
 * Copies text so that a shell takes it as one word, and it is safe on a terminal: plain words as they are,
 * others in single quotes, or as bash's $'...' where they have control bytes or bad UTF-8. Cut at size,
 * always terminated. Returns buf.
 */
char *hf_err_shell(const char *text, char *buf, size_t size) _nonnull(1, 2);

/* Enough for any path, as hf_err_shell() writes it. */
#define HF_ERR_SHELL (4 * PATH_MAX + 4)

#endif
