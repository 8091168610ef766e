/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "size.h"

#include <string.h>

#define LARGEST ((uint64_t)INT64_MAX)
#define PERCENT_SCALE 1000000u /* hf_amount counts millionths of a percent */
#define SHOWN 96

static const char letters[] = "KMGTP";

/* An amount taken apart. The pointers go into the caller's text. */
struct scan {
	char object[HF_ERR_OBJECT]; /* the text, terminated, for messages */
	const char *number;         /* whole digits, then perhaps a point and the fraction */
	size_t nnumber, nwhole, nfraction;
	const char *fraction;
	const char *unit;
	size_t nunit;
	bool relative;
};

/* Cut and escaped, so that it may stand in a message. */
static const char *show(const char *text, size_t len, char buf[static SHOWN])
{
	char copy[SHOWN];

	snprintf(copy, sizeof(copy), "%.*s", (int)(len < SHOWN ? len : SHOWN), text);
	return hf_err_escape(copy, buf, SHOWN);
}

/* The ctype functions ask the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t count_digits(const char *text, const char *end)
{
	const char *at = text;

	while (at < end && is_digit(*at))
		at++;
	return (size_t)(at - text);
}

static int fail_start(const char *at, const char *end, struct scan *s, struct hf_err *err)
{
	if (at == end)
		return hf_err_usage(err, s->object,
				    "an amount is missing: write a number and a unit, as in "
				    "512M or 512p");
	if (*at == '-')
		return hf_err_usage(err, s->object, "an amount cannot be negative");
	if (*at == '+')
		return hf_err_usage(err, s->object, "one + is enough");
	if (is_blank(*at))
		return hf_err_usage(err, s->object, "a blank before the number: leave it out");
	return hf_err_usage(err, s->object,
			    "does not begin with a digit: write a number and a unit, as in "
			    "512M or 0.5G");
}

static int scan(const char *text, size_t len, struct scan *s, struct hf_err *err)
{
	const char *at = text, *end = text + len;

	memset(s, 0, sizeof(*s));
	snprintf(s->object, sizeof(s->object), "%.*s", (int)(len < HF_ERR_OBJECT ? len : HF_ERR_OBJECT),
		 text);
	if (at < end && *at == '+') {
		s->relative = true;
		at++;
	}
	s->number = at;
	s->nwhole = count_digits(at, end);
	if (s->nwhole == 0)
		return fail_start(at, end, s, err);
	at += s->nwhole;
	if (at < end && *at == '.') {
		s->fraction = ++at;
		s->nfraction = count_digits(at, end);
		if (s->nfraction == 0)
			return hf_err_usage(err, s->object, "no digit after the decimal point");
		at += s->nfraction;
	}
	s->nnumber = (size_t)(at - s->number);
	s->unit = at;
	s->nunit = (size_t)(end - at);
	return 0;
}

/* Bytes per unit; 0: no unit of bytes. */
static uint64_t unit_scale(const char *unit, size_t len)
{
	const char *letter;
	uint64_t base = 1024, scale = 1;

	if (len == 1 && *unit == 'B')
		return 1;
	if (len == 0 || len > 3 || *unit == 'p')
		return 0;
	letter = memchr(letters, to_lower(*unit) + 'A' - 'a', sizeof(letters) - 1);
	if (!letter)
		return 0;
	if (len == 2 && to_lower(unit[1]) == 'b')
		base = 1000;
	else if (len != 1 && !(len == 3 && to_lower(unit[1]) == 'i' && to_lower(unit[2]) == 'b'))
		return 0;
	for (const char *l = letters; l <= letter; l++)
		scale *= base;
	return scale;
}

/*
 * number * scale, rounded down; *whole says whether that lost anything. False: beyond 63 bits.
 * scale is at most 2^50, so nine times it still fits. The fraction is taken from its last digit on:
 * rounding down at each step gives the same as rounding down once, for any number of digits.
 */
static bool evaluate(const struct scan *s, uint64_t scale, uint64_t *value, bool *whole)
{
	unsigned __int128 total;
	uint64_t number = 0, rest = 0;

	*whole = true;
	for (size_t i = 0; i < s->nwhole; i++) {
		uint64_t digit = (uint64_t)(s->number[i] - '0');

		if (number > (LARGEST - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	for (size_t i = s->nfraction; i-- > 0;) {
		rest += (uint64_t)(s->fraction[i] - '0') * scale;
		if (rest % 10)
			*whole = false;
		rest /= 10;
	}
	total = (unsigned __int128)number * scale + rest;
	if (total > LARGEST)
		return false;
	*value = (uint64_t)total;
	return true;
}

static int fail_no_unit(const struct scan *s, struct hf_err *err)
{
	const char *plus = s->relative ? "+" : "";
	char number[SHOWN];

	show(s->number, s->nnumber, number);
	if (s->fraction)
		return hf_err_usage(err, s->object, "no unit: write %s%sM for MiB or %s%sG for GiB", plus,
				    number, plus, number);
	return hf_err_usage(err, s->object, "no unit: write %s%sp for pages or %s%sM for MiB", plus, number,
			    plus, number);
}

static int fail_unit(const struct scan *s, struct hf_err *err)
{
	char unit[SHOWN];

	for (size_t i = 0; i < s->nunit; i++)
		if (is_blank(s->unit[i]))
			return hf_err_usage(err, s->object, "a blank in or after the amount: leave it out");
	show(s->unit, s->nunit, unit);
	hf_err_usage(err, s->object,
		     "unknown unit \"%s\": there are K M G T P and KiB MiB GiB TiB PiB (powers of 1024), "
		     "KB MB GB TB PB (powers of 1000), B (bytes), p (pages) and %%",
		     unit);
	if (*s->unit == ',')
		hf_err_hint(err, "a fraction is written with a point, as in 1.5G");
	else if (*s->unit == 'p')
		hf_err_hint(err, "write P as a capital letter: p means pages");
	else if (*s->unit == 'b')
		hf_err_hint(err, "write B as a capital letter for bytes");
	return -err->errnum;
}

static int parse_pages(const struct scan *s, struct hf_amount *out, struct hf_err *err)
{
	bool whole;

	out->unit = HF_UNIT_PAGES;
	if (s->fraction)
		return hf_err_usage(err, s->object,
				    "pages come whole: write it without a fraction, or in bytes");
	if (!evaluate(s, 1, &out->value, &whole))
		return hf_err_usage(err, s->object, "too large: at most %llup", (unsigned long long)LARGEST);
	return 0;
}

static int parse_percent(const struct scan *s, struct hf_amount *out, struct hf_err *err)
{
	bool whole;

	out->unit = HF_UNIT_PERCENT;
	if (!evaluate(s, PERCENT_SCALE, &out->value, &whole) || out->value > 100 * PERCENT_SCALE ||
	    (out->value == 100 * PERCENT_SCALE && !whole))
		return hf_err_usage(err, s->object, "more than 100%% of the memory");
	if (!whole)
		return hf_err_usage(err, s->object, "a percentage has at most six decimals");
	return 0;
}

static int parse_bytes(const struct scan *s, struct hf_amount *out, struct hf_err *err)
{
	uint64_t scale = s->nunit ? unit_scale(s->unit, s->nunit) : 1;

	out->unit = HF_UNIT_BYTES;
	if (scale == 0)
		return fail_unit(s, err);
	if (!evaluate(s, scale, &out->value, &out->whole))
		return hf_err_usage(err, s->object, "too large: at most %lluB, which is less than 8192P",
				    (unsigned long long)LARGEST);
	if (s->nunit == 0 && (out->value || !out->whole))
		return fail_no_unit(s, err);
	return 0;
}

int hf_size_parse_amount(const char *text, size_t len, struct hf_amount *out, struct hf_err *err)
{
	struct scan s;
	int rc = scan(text, len, &s, err);

	if (rc < 0)
		return rc;
	memset(out, 0, sizeof(*out));
	out->relative = s.relative;
	out->whole = true;
	snprintf(out->text, sizeof(out->text), "%.*s", (int)sizeof(out->text) - 1, s.object);
	if (s.nunit == 1 && *s.unit == 'p')
		return parse_pages(&s, out, err);
	if (s.nunit == 1 && *s.unit == '%')
		return parse_percent(&s, out, err);
	return parse_bytes(&s, out, err);
}

int hf_size_parse(const char *text, uint64_t *bytes, struct hf_err *err)
{
	struct hf_amount amount;
	int rc = hf_size_parse_amount(text, strlen(text), &amount, err);

	if (rc < 0)
		return rc;
	if (amount.relative)
		return hf_err_usage(err, text, "a size, not an increase, is needed: leave out the +");
	if (amount.unit != HF_UNIT_BYTES)
		return hf_err_usage(err, text, "a size in bytes is needed, as in 2M: not pages, not %%");
	if (!amount.whole)
		return hf_err_usage(err, text, "is no whole number of bytes: write it in a smaller unit");
	*bytes = amount.value;
	return 0;
}

static int fail_multiple(const struct hf_amount *amount, uint64_t page_size, const char *object,
			 struct hf_err *err)
{
	const char *plus = amount->relative ? "+" : "";
	uint64_t below = amount->value / page_size, above = below + 1;
	char size[HF_SIZE_TEXT], low[HF_SIZE_TEXT], high[HF_SIZE_TEXT];

	hf_size_exact(page_size, size);
	hf_size_exact(below * page_size, low);
	if ((unsigned __int128)above * page_size > LARGEST)
		return hf_err_usage(err, object,
				    "%s is no multiple of the page size %s: the nearest is %s%s (%s%llup)",
				    amount->text, size, plus, low, plus, (unsigned long long)below);
	hf_size_exact(above * page_size, high);
	if (below == 0)
		return hf_err_usage(err, object,
				    "%s is no multiple of the page size %s: the nearest is %s%s (%s%llup)",
				    amount->text, size, plus, high, plus, (unsigned long long)above);
	return hf_err_usage(
		err, object,
		"%s is no multiple of the page size %s: the nearest are %s%s (%s%llup) and %s%s (%s%llup)",
		amount->text, size, plus, low, plus, (unsigned long long)below, plus, high, plus,
		(unsigned long long)above);
}

int hf_size_pages(const struct hf_amount *amount, uint64_t page_size, uint64_t memory, const char *object,
		  uint64_t *pages, struct hf_err *err)
{
	char size[HF_SIZE_TEXT];

	if (page_size == 0)
		return hf_err_usage(err, object,
				    "there is no page size to count in: the kernel has no huge pages");
	switch (amount->unit) {
	case HF_UNIT_PERCENT:
		*pages = (uint64_t)((unsigned __int128)memory * amount->value / (100 * PERCENT_SCALE) /
				    page_size);
		return 0;
	case HF_UNIT_PAGES:
		if (amount->value > LARGEST / page_size)
			return hf_err_usage(err, object, "%s is too large: at most %llup of %s each",
					    amount->text, (unsigned long long)(LARGEST / page_size),
					    hf_size_exact(page_size, size));
		*pages = amount->value;
		return 0;
	case HF_UNIT_BYTES:
		break;
	}
	if (!amount->whole || amount->value % page_size)
		return fail_multiple(amount, page_size, object, err);
	*pages = amount->value / page_size;
	return 0;
}

static char unit_letter(size_t unit)
{
	return unit ? letters[unit - 1] : 'B';
}

char *hf_size_exact(uint64_t bytes, char buf[static HF_SIZE_TEXT])
{
	size_t unit = 0;

	if (bytes == 0)
		return strcpy(buf, "0");
	while (unit < sizeof(letters) - 1 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, HF_SIZE_TEXT, "%llu%c", (unsigned long long)bytes, unit_letter(unit));
	return buf;
}

char *hf_size_human(uint64_t bytes, char buf[static HF_SIZE_TEXT])
{
	size_t unit = 0;
	uint64_t scale = 1, tenths;

	while (unit < sizeof(letters) - 1 && bytes / scale >= 1024) {
		scale *= 1024;
		unit++;
	}
	tenths = (uint64_t)(((unsigned __int128)bytes * 10 + scale / 2) / scale);
	/* 1023.96M rounds to 1024M, which is 1G. */
	if (tenths >= 10240 && unit < sizeof(letters) - 1) {
		tenths = 10;
		unit++;
	}
	if (tenths % 10)
		snprintf(buf, HF_SIZE_TEXT, "%llu.%u%c", (unsigned long long)(tenths / 10),
			 (unsigned)(tenths % 10), unit_letter(unit));
	else
		snprintf(buf, HF_SIZE_TEXT, "%llu%c", (unsigned long long)(tenths / 10), unit_letter(unit));
	return buf;
}
