/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * size - amounts and sizes, from text and to text.
 *
 * Grammar (DESIGN 2.1): [+]NUMBER UNIT. Units: K M G T P and KiB MiB GiB TiB PiB are powers of
 * 1024; KB MB GB TB PB powers of 1000; B is bytes; p is pages; % is percent. K M G T (and their
 * long forms) may be written in lower case; P must not, since p means pages. "0" needs no unit.
 * NUMBER is decimal, with an optional fraction. Nothing is rounded, nothing wraps: what does not
 * fit into 63 bits is an error. Pure functions, no locale, thread safe.
 */
#ifndef HF_SIZE_H
#define HF_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

enum hf_unit { HF_UNIT_BYTES, HF_UNIT_PAGES, HF_UNIT_PERCENT };

struct hf_amount {
	enum hf_unit unit;
	bool relative;  /* written with a leading + */
	bool whole;     /* value is exact; false: 1.3G and the like, value is rounded down */
	uint64_t value; /* bytes, pages, or millionths of a percent */
	char text[64];  /* as written, cut if longer: for messages */
};

/*
 * Parses exactly len bytes of text. Errors (usage): empty, sign, no digits, no unit (shows "512p"
 * and "512M"), unknown unit (lists the units), a fraction of pages, over 100 %, more than six
 * decimals of a percent, over 2^63-1. The message's object is the offending text.
 */
int hf_size_parse_amount(const char *text, size_t len, struct hf_amount *out, struct hf_err *err) _must_check
	_nonnull(1, 3, 4);

/* A plain size in whole bytes (page sizes, --headroom): as above, without p, % and +. */
int hf_size_parse(const char *text, uint64_t *bytes, struct hf_err *err) _must_check _nonnull(1, 2, 3);

/*
 * The amount in pages of page_size bytes. Percent is of memory bytes, rounded down to a page.
 * Bytes that are no multiple of page_size: a usage error that names the two nearest amounts, as
 * hf_size_exact writes them and in pages (one, where the lower is 0). object is the spec the amount
 * came from.
 */
int hf_size_pages(const struct hf_amount *amount, uint64_t page_size, uint64_t memory, const char *object,
		  uint64_t *pages, struct hf_err *err) _must_check _nonnull(1, 5, 6);

#define HF_SIZE_TEXT 32

/* Exact and parseable: the largest power-of-1024 unit that divides bytes ("2M", "1536M", "5B", "0"). */
char *hf_size_exact(uint64_t bytes, char buf[static HF_SIZE_TEXT]);

/* For tables: at most one decimal, rounded to nearest ("4G", "3.9G", "512M", "0B"). */
char *hf_size_human(uint64_t bytes, char buf[static HF_SIZE_TEXT]);

#endif
