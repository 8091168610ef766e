/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/nodeset.h"
#include "tap.h"

/* In memory of exactly its length, so that the sanitizer sees a read beyond it. */
static int parse(const char *text, char separator, struct hf_nodeset *set, struct hf_err *err)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1);
	int rc;

	if (!exact)
		abort();
	memcpy(exact, text, len);
	memset(err, 0, sizeof(*err));
	rc = hf_nodeset_parse(exact, len, separator, set, err);
	free(exact);
	return rc;
}

static void test_good(void)
{
	static const struct {
		const char *text;
		char separator;
		unsigned count;
		const char *back;
	} table[] = {
		{ "0", '+', 1, "0" },         { "0-3", '+', 4, "0-3" },
		{ "0-3+6", '+', 5, "0-3+6" }, { "6+0-3", '+', 5, "0-3+6" },
		{ "0+1+2", '+', 3, "0-2" },   { "0-1", '+', 2, "0-1" },
		{ "5-5", '+', 1, "5" },       { "007", '+', 1, "7" },
		{ "8191", '+', 1, "8191" },   { "0-8191", '+', 8192, "0-8191" },
		{ "63-64", '+', 2, "63-64" }, { "", ',', 0, "" },
		{ "\n", ',', 0, "" },         { "0-3,6\n", ',', 5, "0-3,6" },
		{ "0,0-1", ',', 2, "0-1" },   { "0,2,4,6", ',', 4, "0,2,4,6" },
	};
	char buf[64];

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		struct hf_nodeset set = { { 0xdead } };
		struct hf_err err;

		if (!ok(parse(table[i].text, table[i].separator, &set, &err) == 0, "\"%s\" parses",
			table[i].text))
			continue;
		is_u64(hf_nodeset_count(&set), table[i].count, "\"%s\": count", table[i].text);
		is_text(hf_nodeset_format(&set, table[i].separator, buf, sizeof(buf)), table[i].back,
			"\"%s\": back to text", table[i].text);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text;
		char separator;
		const char *object, *what, *hint;
	} table[] = {
		{ "", '+', "", "a number is missing", "" },
		{ "+", '+', "", "a number is missing", "" },
		{ "0+", '+', "", "a number is missing", "" },
		{ "+0", '+', "", "a number is missing", "" },
		{ "0++1", '+', "", "a number is missing", "" },
		{ "0,,1", ',', "", "a number is missing", "" },
		{ "0,", ',', "", "a number is missing", "" },
		{ "0,1", '+', "0,1", "neither a number nor a range", "0+3" },
		{ "0+1", ',', "0+1", "neither a number nor a range", "" },
		{ "x", '+', "x", "neither a number nor a range", "" },
		{ "0-", '+', "0-", "neither a number nor a range", "" },
		{ "-3", '+', "-3", "neither a number nor a range", "" },
		{ "1-2-3", '+', "1-2-3", "neither a number nor a range", "" },
		{ "0+1x", '+', "1x", "neither a number nor a range", "" },
		{ " 0", '+', " 0", "neither a number nor a range", "" },
		{ "0\n", '+', "0\n", "neither a number nor a range", "" },
		{ "0\n\n", ',', "0\n", "neither a number nor a range", "" },
		{ "3-1", '+', "3-1", "runs backwards: write 1-3", "" },
		{ "8192", '+', "8192", "the largest number is 8191", "" },
		{ "0-8192", '+', "0-8192", "the largest number is 8191", "" },
		{ "4294967296", '+', "4294967296", "the largest number is 8191", "" },
		{ "18446744073709551616", ',', "18446744073709551616", "the largest number is 8191", "" },
		{ "0+0", '+', "0", "node 0 is named twice", "" },
		{ "0-3+2", '+', "2", "node 2 is named twice", "" },
	};

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		struct hf_nodeset set = { { 42 } };
		struct hf_err err;

		ok(parse(table[i].text, table[i].separator, &set, &err) == -EINVAL && err.usage,
		   "\"%s\" is a usage error", table[i].text);
		is_text(err.object, table[i].object, "\"%s\": object", table[i].text);
		has_text(err.what, table[i].what, "\"%s\": what", table[i].text);
		has_text(err.hint, table[i].hint, "\"%s\": hint", table[i].text);
		ok(set.bits[0] == 42, "\"%s\": out is left alone", table[i].text);
	}
}

static void test_members(void)
{
	struct hf_nodeset a = { 0 }, b = { 0 }, c;

	ok(hf_nodeset_is_empty(&a) && hf_nodeset_next(&a, 0) == -1, "zeroed is empty");
	hf_nodeset_add(&a, 0);
	hf_nodeset_add(&a, 63);
	hf_nodeset_add(&a, 64);
	hf_nodeset_add(&a, 8191);
	is_u64(hf_nodeset_count(&a), 4, "four members");
	ok(hf_nodeset_has(&a, 63) && hf_nodeset_has(&a, 8191) && !hf_nodeset_has(&a, 62), "has");
	hf_nodeset_add(&a, HF_NODESET_MAX);
	hf_nodeset_remove(&a, UINT32_MAX);
	ok(!hf_nodeset_has(&a, HF_NODESET_MAX) && hf_nodeset_count(&a) == 4, "beyond the end is no member");
	ok(hf_nodeset_next(&a, 0) == 0 && hf_nodeset_next(&a, 1) == 63 && hf_nodeset_next(&a, 64) == 64 &&
		   hf_nodeset_next(&a, 65) == 8191,
	   "next finds them in order");
	ok(hf_nodeset_next(&a, 8192) == -1 && hf_nodeset_next(&a, UINT32_MAX) == -1, "next ends");
	hf_nodeset_remove(&a, 63);
	ok(!hf_nodeset_has(&a, 63) && hf_nodeset_count(&a) == 3, "remove");
	hf_nodeset_add(&b, 64);
	hf_nodeset_add(&b, 65);
	hf_nodeset_and(&a, &b, &c);
	ok(hf_nodeset_count(&c) == 1 && hf_nodeset_has(&c, 64), "and");
	ok(!hf_nodeset_is_equal(&b, &c), "not equal");
	hf_nodeset_and(&a, &b, &b);
	ok(hf_nodeset_is_equal(&b, &c), "and into its own operand, equal");
}

static void test_format_cut(void)
{
	struct hf_nodeset set;
	struct hf_err err;
	bool cut = true;

	if (parse("0-3,6,8191", ',', &set, &err) < 0)
		abort();
	for (size_t size = 0; size < 16; size++) {
		char *buf = malloc(size ? size : 1);

		if (!buf)
			abort();
		hf_nodeset_format(&set, ',', buf, size);
		cut = cut && (size == 0 || strncmp(buf, "0-3,6,8191", size - 1) == 0);
		cut = cut && (size == 0 || memchr(buf, '\0', size));
		free(buf);
	}
	ok(cut, "format is cut and terminated in every size");
}

int main(void)
{
	test_good();
	test_bad();
	test_members();
	test_format_cut();
	return tap_done();
}
