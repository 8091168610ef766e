/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nodeset.h"

#include <string.h>

/* One item of a list: a number or a range. */
struct item {
	const char *text;
	size_t len;
	char object[HF_ERR_OBJECT]; /* terminated, for messages */
	unsigned first, last;
};

static int fail_item(const struct item *item, char separator, struct hf_err *err)
{
	if (item->len == 0)
		return hf_err_usage(err, "", "a number is missing: write a list as in 0, 0-3 or 0-3%c6",
				    separator);
	hf_err_usage(err, item->object,
		     "is neither a number nor a range: write a list as in 0, 0-3 or 0-3%c6", separator);
	if (separator == '+' && memchr(item->text, ',', item->len))
		hf_err_hint(err, "nodes are joined with +, as in 0+3");
	return -err->errnum;
}

/* The digits at *at; a number beyond the largest stays just beyond it. False: no digit. */
static bool take_number(const char **at, const char *end, unsigned *value)
{
	const char *start = *at;

	*value = 0;
	for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
		if (*value < HF_NODESET_MAX)
			*value = *value * 10 + (unsigned)(**at - '0');
	return *at > start;
}

static int parse_item(struct item *item, char separator, struct hf_err *err)
{
	const char *at = item->text, *end = item->text + item->len;

	snprintf(item->object, sizeof(item->object), "%.*s",
		 (int)(item->len < HF_ERR_OBJECT ? item->len : HF_ERR_OBJECT), item->text);
	if (!take_number(&at, end, &item->first))
		return fail_item(item, separator, err);
	item->last = item->first;
	if (at < end && *at == '-') {
		at++;
		if (!take_number(&at, end, &item->last))
			return fail_item(item, separator, err);
	}
	if (at != end)
		return fail_item(item, separator, err);
	if (item->first >= HF_NODESET_MAX || item->last >= HF_NODESET_MAX)
		return hf_err_usage(err, item->object, "the largest number is %d", HF_NODESET_MAX - 1);
	if (item->first > item->last)
		return hf_err_usage(err, item->object, "the range runs backwards: write %u-%u", item->last,
				    item->first);
	return 0;
}

static int add_item(const struct item *item, bool once, struct hf_nodeset *set, struct hf_err *err)
{
	for (unsigned id = item->first; id <= item->last; id++) {
		if (once && hf_nodeset_has(set, id))
			return hf_err_usage(err, item->object, "node %u is named twice: name it once", id);
		hf_nodeset_add(set, id);
	}
	return 0;
}

int hf_nodeset_parse(const char *text, size_t len, char separator, struct hf_nodeset *out, struct hf_err *err)
{
	struct hf_nodeset set = { 0 };
	const char *end;

	if (separator == ',' && len && text[len - 1] == '\n')
		len--;
	end = text + len;
	while (len || separator == '+') {
		const char *stop = memchr(text, separator, (size_t)(end - text));
		struct item item = { .text = text, .len = (size_t)((stop ? stop : end) - text) };
		int rc = parse_item(&item, separator, err);

		if (rc == 0)
			rc = add_item(&item, separator == '+', &set, err);
		if (rc < 0)
			return rc;
		if (!stop)
			break;
		text = stop + 1;
	}
	*out = set;
	return 0;
}

/* The last of the consecutive members that begin with first. */
static unsigned run_end(const struct hf_nodeset *set, unsigned first)
{
	while (hf_nodeset_has(set, first + 1))
		first++;
	return first;
}

char *hf_nodeset_format(const struct hf_nodeset *set, char separator, char *buf, size_t size)
{
	size_t used = 0;

	if (size)
		buf[0] = '\0';
	for (int n = hf_nodeset_next(set, 0); n >= 0 && used < size;) {
		unsigned first = (unsigned)n, last = run_end(set, first);
		char comma[2] = { used ? separator : '\0', '\0' };

		if (first == last)
			used += (size_t)snprintf(buf + used, size - used, "%s%u", comma, first);
		else
			used += (size_t)snprintf(buf + used, size - used, "%s%u-%u", comma, first, last);
		n = hf_nodeset_next(set, last + 1);
	}
	return buf;
}

void hf_nodeset_add(struct hf_nodeset *set, unsigned id)
{
	if (id < HF_NODESET_MAX)
		set->bits[id / 64] |= UINT64_C(1) << id % 64;
}

void hf_nodeset_remove(struct hf_nodeset *set, unsigned id)
{
	if (id < HF_NODESET_MAX)
		set->bits[id / 64] &= ~(UINT64_C(1) << id % 64);
}

bool hf_nodeset_has(const struct hf_nodeset *set, unsigned id)
{
	return id < HF_NODESET_MAX && (set->bits[id / 64] >> id % 64 & 1);
}

unsigned hf_nodeset_count(const struct hf_nodeset *set)
{
	unsigned count = 0;

	for (size_t i = 0; i < HF_LENGTH(set->bits); i++)
		count += (unsigned)__builtin_popcountll(set->bits[i]);
	return count;
}

bool hf_nodeset_is_empty(const struct hf_nodeset *set)
{
	return hf_nodeset_next(set, 0) < 0;
}

bool hf_nodeset_is_equal(const struct hf_nodeset *a, const struct hf_nodeset *b)
{
	return memcmp(a->bits, b->bits, sizeof(a->bits)) == 0;
}

int hf_nodeset_next(const struct hf_nodeset *set, unsigned from)
{
	for (size_t i = from / 64; i < HF_LENGTH(set->bits); i++) {
		uint64_t word = set->bits[i];

		if (i == from / 64)
			word &= ~UINT64_C(0) << from % 64;
		if (word)
			return (int)(i * 64) + __builtin_ctzll(word);
	}
	return -1;
}

void hf_nodeset_and(const struct hf_nodeset *a, const struct hf_nodeset *b, struct hf_nodeset *out)
{
	for (size_t i = 0; i < HF_LENGTH(out->bits); i++)
		out->bits[i] = a->bits[i] & b->bits[i];
}
