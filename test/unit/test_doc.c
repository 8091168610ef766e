/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "../../lib/doc.h"
#include "tap.h"

static const char *print(struct hf_doc *doc, char *buf, size_t size)
{
	FILE *out = fmemopen(buf, size, "w");
	struct hf_err err = { 0 };

	memset(buf, 0, size);
	ok(hf_doc_print(doc, out, &err) == 0, "is printed");
	fclose(out);
	return buf;
}

static void test_values(void)
{
	struct hf_doc *doc = hf_doc_new();
	char buf[1024];

	hf_doc_text(doc, "command", "alloc");
	hf_doc_u64(doc, "bytes", UINT64_MAX);
	hf_doc_bool(doc, "changed", true);
	hf_doc_bool(doc, "partial", false);
	hf_doc_text(doc, "reason", NULL);
	hf_doc_real(doc, "phases.fill", 1.25);
	hf_doc_real(doc, "phases.grow.sysfs", 0.5);
	hf_doc_text(doc, "last", "a/b");
	hf_doc_real(doc, "phases.lock", 0);
	is_text(print(doc, buf, sizeof(buf)),
		"{\n"
		"  \"command\": \"alloc\",\n"
		"  \"bytes\": 18446744073709551615,\n"
		"  \"changed\": true,\n"
		"  \"partial\": false,\n"
		"  \"reason\": null,\n"
		"  \"phases\": {\n"
		"    \"fill\": 1.25,\n"
		"    \"grow\": {\n"
		"      \"sysfs\": 0.5\n"
		"    },\n"
		"    \"lock\": 0\n"
		"  },\n"
		"  \"last\": \"a/b\"\n"
		"}\n",
		"values in the order they were set, dots nest");
	hf_doc_free(doc);
	hf_doc_free(NULL);
}

static void test_again(void)
{
	struct hf_doc *doc = hf_doc_new();
	char buf[256];

	hf_doc_u64(doc, "a", 1);
	hf_doc_u64(doc, "b", 2);
	hf_doc_text(doc, "a", "new");
	is_text(print(doc, buf, sizeof(buf)), "{\n  \"a\": \"new\",\n  \"b\": 2\n}\n",
		"set again, in its place");
	hf_doc_free(doc);
}

static const struct {
	double value;
	const char *want;
} reals[] = {
	{ 0, "0" },
	{ -0.0, "0" },
	{ 1, "1" },
	{ 100, "100" },
	{ 1.5, "1.5" },
	{ -2.25, "-2.25" },
	{ 0.1, "0.1" },
	{ 1.0 / 3, "0.333333" },
	{ 0.0004251234, "0.000425123" },
	{ 3e-9, "3e-09" },
	{ 123456789.123456, "123456789.123456" },
	{ 9126805504, "9126805504" },
	{ 1e15, "1000000000000000" },
	{ 1234567890123456, "1234567890123456" },
	{ -DBL_MAX, "-1.7976931348623157e+308" },
	{ DBL_MIN, "2.22507e-308" },
	{ NAN, "null" },
	{ INFINITY, "null" },
	{ -INFINITY, "null" },
};

static void test_reals(void)
{
	char buf[256], want[256];

	for (size_t i = 0; i < HF_LENGTH(reals); i++) {
		struct hf_doc *doc = hf_doc_new();

		hf_doc_real(doc, "v", reals[i].value);
		snprintf(want, sizeof(want), "{\n  \"v\": %s\n}\n", reals[i].want);
		is_text(print(doc, buf, sizeof(buf)), want, "number %g", reals[i].value);
		hf_doc_free(doc);
	}
}

#define BAD "\xef\xbf\xbd" /* U+FFFD */

static const struct {
	const char *name, *value, *want;
} texts[] = {
	{ "plain", "abc", "abc" },
	{ "empty", "", "" },
	{ "quote and backslash", "a\"b\\c", "a\\\"b\\\\c" },
	{ "newline, tab", "a\nb\t", "a\\nb\\t" },
	{ "escape", "\033[31m", "\\u001b[31m" },
	{ "DEL", "a\x7f", "a\\u007f" },
	{ "C1 controls", "\xc2\x80\xc2\x9b\xc2\x9f", "\\u0080\\u009b\\u009f" },
	{ "no C1 control", "\xc2\xa0", "\xc2\xa0" },
	{ "characters of 2, 3, 4 bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ "no lead byte", "a\x80\xffz", "a" BAD BAD "z" },
	{ "cut short", "a\xc3", "a" BAD },
	{ "cut short, 3 bytes", "\xe2\x82", BAD BAD },
	{ "cut short, followed", "\xe2\x82z", BAD BAD "z" },
	{ "overlong, 2 bytes", "\xc0\xaf", BAD BAD },
	{ "overlong, 3 bytes", "\xe0\x80\xaf", BAD BAD BAD },
	{ "overlong, 4 bytes", "\xf0\x80\x80\xaf", BAD BAD BAD BAD },
	{ "surrogate", "\xed\xa0\x80", BAD BAD BAD },
	{ "beyond U+10FFFF", "\xf4\x90\x80\x80", BAD BAD BAD BAD },
	{ "last code point", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
	{ "five bytes", "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD },
};

static void test_texts(void)
{
	char buf[256], want[256];

	for (size_t i = 0; i < HF_LENGTH(texts); i++) {
		struct hf_doc *doc = hf_doc_new();
		/* In memory of exactly its length, so that the sanitizer sees a read beyond it. */
		char *value = strdup(texts[i].value);

		hf_doc_text(doc, "v", value);
		free(value);
		snprintf(want, sizeof(want), "{\n  \"v\": \"%s\"\n}\n", texts[i].want);
		is_text(print(doc, buf, sizeof(buf)), want, "text: %s", texts[i].name);
		hf_doc_free(doc);
	}
}

enum { NAME, NODE, SIZE, TIME, RATE, SPEEDUP, HIDDEN, NCOLUMNS };

static const struct hf_column columns[] = {
	[NAME] = { "NAME", HF_TEXT, false, "" },    [NODE] = { "NODE", HF_COUNT, false, "" },
	[SIZE] = { "SIZE", HF_BYTES, false, "" },   [TIME] = { "TIME", HF_SECONDS, false, "" },
	[RATE] = { "RATE", HF_RATE, false, "" },    [SPEEDUP] = { "SPEEDUP", HF_REAL, false, "" },
	[HIDDEN] = { "HIDDEN", HF_BOOL, true, "" },
};

static void test_table(void)
{
	struct hf_table *table = hf_table_new("files", columns, NCOLUMNS);
	struct hf_table *empty = hf_table_new("mounts.none", columns, NCOLUMNS);
	struct hf_format format = { .json = true }, some = { .json = true, .columns = "node,NAME" };
	struct hf_doc *doc = hf_doc_new();
	char buf[2048];

	hf_table_row(table);
	hf_table_text(table, NAME, "a\nb");
	hf_table_u64(table, NODE, 1);
	hf_table_u64(table, SIZE, 1ULL << 32);
	hf_table_real(table, TIME, 1.2345);
	hf_table_real(table, RATE, 1535.6);
	hf_table_real(table, SPEEDUP, 7.95);
	hf_table_bool(table, HIDDEN, true);
	hf_table_row(table);
	hf_doc_table(doc, table, &format);
	hf_doc_table(doc, empty, &format);
	is_text(print(doc, buf, sizeof(buf)),
		"{\n"
		"  \"files\": [\n"
		"    {\n"
		"      \"name\": \"a\\nb\",\n"
		"      \"node\": 1,\n"
		"      \"size\": 4294967296,\n"
		"      \"time\": 1.2345,\n"
		"      \"rate\": 1536,\n"
		"      \"speedup\": 7.95,\n"
		"      \"hidden\": true\n"
		"    },\n"
		"    {\n"
		"      \"name\": null,\n"
		"      \"node\": null,\n"
		"      \"size\": null,\n"
		"      \"time\": null,\n"
		"      \"rate\": null,\n"
		"      \"speedup\": null,\n"
		"      \"hidden\": null\n"
		"    }\n"
		"  ],\n"
		"  \"mounts\": {\n"
		"    \"none\": [\n"
		"    ]\n"
		"  }\n"
		"}\n",
		"all columns, sizes as plain numbers, unset cells null");
	hf_doc_free(doc);
	doc = hf_doc_new();
	hf_doc_table(doc, table, &some);
	has_text(print(doc, buf, sizeof(buf)),
		 "    {\n      \"node\": 1,\n      \"name\": \"a\\nb\"\n    },\n", "the columns asked for");
	hf_doc_free(doc);
	hf_table_free(table);
	hf_table_free(empty);
}

static void test_failures(void)
{
	struct hf_table *table = hf_table_new("files", columns, NCOLUMNS);
	struct hf_doc *docs[] = { hf_doc_new(), hf_doc_new() };
	struct hf_format format = { .json = true };
	char buf[64] = "";

	hf_table_u64(table, NODE, 1);
	hf_doc_table(docs[0], table, &format);
	hf_doc_u64(docs[1], "a", 1);
	hf_doc_u64(docs[1], "a.b", 1);
	for (size_t i = 0; i < HF_LENGTH(docs); i++) {
		FILE *out = fmemopen(buf, sizeof(buf), "w");
		struct hf_err err = { 0 };

		ok(hf_doc_print(docs[i], out, &err) == -EINVAL && err.errnum == EINVAL,
		   i ? "a key below a value is reported" : "a table's failure is reported");
		fclose(out);
		is_text(buf, "", "nothing is printed");
		hf_doc_free(docs[i]);
	}
	hf_table_free(table);
}

int main(void)
{
	test_values();
	test_again();
	test_reals();
	test_texts();
	test_table();
	test_failures();
	return tap_done();
}
