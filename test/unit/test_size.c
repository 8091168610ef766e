/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/size.h"
#include "tap.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define PIB (1024 * TIB)
#define PERCENT 1000000ull
#define B HF_UNIT_BYTES
#define P HF_UNIT_PAGES
#define PC HF_UNIT_PERCENT

/* In memory of exactly its length, so that the sanitizer sees a read beyond it. */
static int parse(const char *text, size_t len, struct hf_amount *amount, struct hf_err *err)
{
	char *exact = malloc(len ? len : 1);
	int rc;

	if (!exact)
		abort();
	memcpy(exact, text, len);
	memset(err, 0, sizeof(*err));
	rc = hf_size_parse_amount(exact, len, amount, err);
	free(exact);
	return rc;
}

static void test_good(void)
{
	static const struct {
		const char *text;
		enum hf_unit unit;
		uint64_t value;
		bool relative, rounded;
	} table[] = {
		{ "0", B, 0, false, false },
		{ "000", B, 0, false, false },
		{ "0.0", B, 0, false, false },
		{ "+0", B, 0, true, false },
		{ "5B", B, 5, false, false },
		{ "1K", B, KIB, false, false },
		{ "1k", B, KIB, false, false },
		{ "2M", B, 2 * MIB, false, false },
		{ "2m", B, 2 * MIB, false, false },
		{ "1G", B, GIB, false, false },
		{ "1g", B, GIB, false, false },
		{ "1T", B, TIB, false, false },
		{ "1t", B, TIB, false, false },
		{ "1P", B, PIB, false, false },
		{ "1KiB", B, KIB, false, false },
		{ "1MiB", B, MIB, false, false },
		{ "1gib", B, GIB, false, false },
		{ "1TiB", B, TIB, false, false },
		{ "1PiB", B, PIB, false, false },
		{ "1KB", B, 1000, false, false },
		{ "1kB", B, 1000, false, false },
		{ "1MB", B, 1000000, false, false },
		{ "1gb", B, 1000000000, false, false },
		{ "1TB", B, 1000000000000, false, false },
		{ "1PB", B, 1000000000000000, false, false },
		{ "1p", P, 1, false, false },
		{ "512p", P, 512, false, false },
		{ "+512p", P, 512, true, false },
		{ "+1G", B, GIB, true, false },
		{ "1.5G", B, 1536 * MIB, false, false },
		{ "0.5K", B, 512, false, false },
		{ "1.50000000000000000000000000000000000000000000000000000000000G", B, 1536 * MIB, false,
		  false },
		{ "0.001KB", B, 1, false, false },
		{ "1.3G", B, 1395864371, false, true },
		{ "0.1B", B, 0, false, true },
		{ "0.00000000000000000000000000000000000000000000000000000000001P", B, 0, false, true },
		{ "0.99999999999999999999999999999999999999999999999999999999999P", B, PIB - 1, false, true },
		{ "25%", PC, 25 * PERCENT, false, false },
		{ "12.5%", PC, 12500000, false, false },
		{ "0.000001%", PC, 1, false, false },
		{ "100%", PC, 100 * PERCENT, false, false },
		{ "100.000000000%", PC, 100 * PERCENT, false, false },
		{ "0%", PC, 0, false, false },
		{ "007M", B, 7 * MIB, false, false },
		{ "000000000000000000000000000000000000000000000000000000000000000000000000001M", B, MIB,
		  false, false },
		{ "9223372036854775807B", B, INT64_MAX, false, false },
		{ "9223372036854775807p", P, INT64_MAX, false, false },
		{ "8191P", B, 8191 * PIB, false, false },
		{ "8191.999P", B, 9223370910954868965, false, true },
	};
	struct hf_amount amount;
	struct hf_err err;

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		const char *text = table[i].text;

		if (!ok(parse(text, strlen(text), &amount, &err) == 0, "%s parses", text)) {
			printf("#   %s\n", err.what);
			continue;
		}
		is_u64(amount.value, table[i].value, "%s: value", text);
		ok(amount.unit == table[i].unit, "%s: unit", text);
		ok(amount.relative == table[i].relative, "%s: relative", text);
		ok(amount.whole == !table[i].rounded, "%s: whole", text);
		ok(strncmp(amount.text, text, sizeof(amount.text) - 1) == 0, "%s: text is kept", text);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text, *what, *hint;
	} table[] = {
		{ "", "an amount is missing", "" },
		{ "+", "an amount is missing", "" },
		{ "-2", "cannot be negative", "" },
		{ "-2M", "cannot be negative", "" },
		{ "+-2M", "cannot be negative", "" },
		{ "++1G", "one + is enough", "" },
		{ "G", "does not begin with a digit", "" },
		{ ".5G", "does not begin with a digit", "" },
		{ "512", "write 512p for pages or 512M for MiB", "" },
		{ "+512", "write +512p for pages or +512M for MiB", "" },
		{ "1.5", "write 1.5M for MiB or 1.5G for GiB", "" },
		{ "0.00000000000000000001", "no unit", "" },
		{ "10x", "unknown unit \"x\": there are K M G T P", "" },
		{ "1e3G", "unknown unit \"e3G\"", "" },
		{ "0x10M", "unknown unit \"x10M\"", "" },
		{ "1Ki", "unknown unit \"Ki\"", "" },
		{ "1GiBs", "unknown unit \"GiBs\"", "" },
		{ "1E", "unknown unit \"E\"", "" },
		{ "1pib", "unknown unit \"pib\"", "P as a capital letter" },
		{ "1pb", "unknown unit \"pb\"", "P as a capital letter" },
		{ "512b", "unknown unit \"b\"", "B as a capital letter" },
		{ "1pp", "unknown unit", "" },
		{ "5%%", "unknown unit", "" },
		{ "2M:3M", "unknown unit \"M:3M\"", "" },
		{ "1,5G", "unknown unit \",5G\"", "as in 1.5G" },
		{ "1.5.5G", "unknown unit \".5G\"", "" },
		{ "1G\033[31m", "unknown unit \"G\\x1b[31m\"", "" },
		{ " 1G", "a blank before the number", "" },
		{ "1G ", "a blank in or after", "" },
		{ "1 G", "a blank in or after", "" },
		{ "1G\n", "a blank in or after", "" },
		{ "1.G", "no digit after the decimal point", "" },
		{ "1.5p", "pages come whole", "" },
		{ "1.0p", "pages come whole", "" },
		{ "101%", "more than 100%", "" },
		{ "100.000001%", "more than 100%", "" },
		{ "100.00000000001%", "more than 100%", "" },
		{ "99999999999999999999999%", "more than 100%", "" },
		{ "0.0000001%", "at most six decimals", "" },
		{ "17179870208G", "too large: at most 9223372036854775807B", "" },
		{ "8192P", "too large", "" },
		{ "9223372036854775808B", "too large", "" },
		{ "18446744073709551616B", "too large", "" },
		{ "18446744073709551617p", "too large: at most 9223372036854775807p", "" },
		{ "9223372036854775808p", "too large", "" },
		{ "99999999999999999999999999999999999999999999999999999999999999999999999999999999P",
		  "too large", "" },
	};
	struct hf_amount amount;
	struct hf_err err;

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		const char *text = table[i].text;

		ok(parse(text, strlen(text), &amount, &err) == -EINVAL && err.usage,
		   "\"%s\" is a usage error", text);
		is_text(err.object, text, "\"%s\": object", text);
		has_text(err.what, table[i].what, "\"%s\": what", text);
		has_text(err.hint, table[i].hint, "\"%s\": hint", text);
	}
	ok(parse("1\0G", 3, &amount, &err) < 0, "a NUL byte is no unit");
	ok(parse("0\0", 2, &amount, &err) < 0, "a NUL byte after 0 is no unit");
	ok(parse("2Mx", 2, &amount, &err) == 0 && amount.value == 2 * MIB, "only len bytes are read");
}

static void test_long(void)
{
	static char text[100001];
	struct hf_amount amount;
	struct hf_err err;

	memset(text, '9', 100000);
	ok(parse(text, 100000, &amount, &err) < 0, "100000 digits: too large");
	memset(text, '0', 99999);
	text[99998] = '3';
	text[99999] = 'K';
	ok(parse(text, 100000, &amount, &err) == 0 && amount.value == 3 * KIB, "99998 leading zeros");
	is_u64(strlen(amount.text), sizeof(amount.text) - 1, "its text is cut");
	memset(text, '5', 99999);
	text[1] = '.';
	ok(parse(text, 100000, &amount, &err) == 0 && amount.value == 5688 && !amount.whole,
	   "a long fraction");
	memset(text, 'x', 100000);
	text[0] = '1';
	ok(parse(text, 100000, &amount, &err) < 0, "a long unit");
}

static void test_parse(void)
{
	static const struct {
		const char *text, *what;
		uint64_t bytes;
	} table[] = {
		{ "2M", NULL, 2 * MIB },
		{ "2048K", NULL, 2 * MIB },
		{ "1.5G", NULL, 1536 * MIB },
		{ "0", NULL, 0 },
		{ "+2M", "leave out the +", 0 },
		{ "2p", "not pages, not %", 0 },
		{ "2%", "not pages, not %", 0 },
		{ "1.3G", "no whole number of bytes", 0 },
		{ "", "missing", 0 },
		{ "2", "write 2p for pages or 2M", 0 },
	};

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		struct hf_err err = { 0 };
		uint64_t bytes = 0;
		int rc = hf_size_parse(table[i].text, &bytes, &err);

		if (table[i].what) {
			ok(rc == -EINVAL && err.usage, "size \"%s\" is a usage error", table[i].text);
			has_text(err.what, table[i].what, "size \"%s\": what", table[i].text);
		} else {
			ok(rc == 0, "size \"%s\" parses", table[i].text);
		}
		is_u64(bytes, table[i].bytes, "size \"%s\": bytes", table[i].text);
	}
}

static void test_pages(void)
{
	static const struct {
		const char *text;
		uint64_t page_size, memory, pages;
		const char *what;
	} table[] = {
		{ "0", 2 * MIB, 0, 0, NULL },
		{ "1.5G", 2 * MIB, 0, 768, NULL },
		{ "+1G", 2 * MIB, 0, 512, NULL },
		{ "512p", GIB, 0, 512, NULL },
		{ "8191P", 2 * MIB, 0, 8191 * PIB / (2 * MIB), NULL },
		{ "25%", 2 * MIB, 8 * GIB, 1024, NULL },
		{ "12.5%", GIB, 15 * GIB, 1, NULL },
		{ "100%", 2 * MIB, 2 * MIB - 1, 0, NULL },
		{ "100%", 4 * KIB, UINT64_MAX, UINT64_MAX / 4096, NULL },
		{ "0.000001%", KIB, 1024 * 100000000ull, 1, NULL },
		{ "1.3G", 2 * MIB, 0, 0,
		  "1.3G is no multiple of the page size 2M: the nearest are 1330M (665p) and 1332M (666p)" },
		{ "+1.3G", 2 * MIB, 0, 0, "the nearest are +1330M (+665p) and +1332M (+666p)" },
		{ "3M", 2 * MIB, 0, 0, "the nearest are 2M (1p) and 4M (2p)" },
		{ "1M", 2 * MIB, 0, 0, "1M is no multiple of the page size 2M: the nearest is 2M (1p)" },
		{ "0.1B", 2 * MIB, 0, 0, "the nearest is 2M (1p)" },
		{ "2097152.5B", 2 * MIB, 0, 0, "the nearest are 2M (1p) and 4M (2p)" },
		{ "1GB", 2 * MIB, 0, 0, "the nearest are 952M (476p) and 954M (477p)" },
		{ "1537M", GIB, 0, 0, "the nearest are 1G (1p) and 2G (2p)" },
		{ "9223372036854775807B", 2 * MIB, 0, 0, "the nearest is 8796093022206M (4398046511103p)" },
		{ "9223372036854775807p", 2 * MIB, 0, 0, "too large: at most 4398046511103p of 2M each" },
		{ "2M", 0, 0, 0, "the kernel has no huge pages" },
		{ "1%", 0, 0, 0, "the kernel has no huge pages" },
	};
	struct hf_amount amount;
	struct hf_err err;

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		const char *text = table[i].text;
		uint64_t pages = 0;
		int rc = parse(text, strlen(text), &amount, &err);

		ok(rc == 0, "pages of %s: parses", text);
		rc = hf_size_pages(&amount, table[i].page_size, table[i].memory, "the spec", &pages, &err);
		if (table[i].what) {
			ok(rc == -EINVAL && err.usage, "pages of %s: a usage error", text);
			is_text(err.object, "the spec", "pages of %s: object", text);
			has_text(err.what, table[i].what, "pages of %s: what", text);
		} else {
			ok(rc == 0, "pages of %s", text);
		}
		is_u64(pages, table[i].pages, "pages of %s: count", text);
	}
}

static void test_format(void)
{
	static const struct {
		uint64_t bytes;
		const char *exact, *human;
	} table[] = {
		{ 0, "0", "0B" },
		{ 5, "5B", "5B" },
		{ 1023, "1023B", "1023B" },
		{ 1024, "1K", "1K" },
		{ 1025, "1025B", "1K" },
		{ 1536, "1536B", "1.5K" },
		{ 2 * MIB, "2M", "2M" },
		{ 1536 * MIB, "1536M", "1.5G" },
		{ 512 * MIB, "512M", "512M" },
		{ 4 * GIB, "4G", "4G" },
		{ 4 * GIB - 100 * MIB, "3996M", "3.9G" },
		{ GIB - 1, "1073741823B", "1G" },
		{ GIB - 53 * KIB, "1048523K", "1023.9M" },
		{ MIB + 52428, "1101004B", "1M" },
		{ MIB + 52429, "1101005B", "1.1M" },
		{ 8191 * PIB, "8191P", "8191P" },
		{ UINT64_MAX, "18446744073709551615B", "16384P" },
		{ UINT64_C(1) << 63, "8192P", "8192P" },
	};
	char buf[HF_SIZE_TEXT];

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		is_text(hf_size_exact(table[i].bytes, buf), table[i].exact, "exact row %zu", i);
		is_text(hf_size_human(table[i].bytes, buf), table[i].human, "human row %zu", i);
	}
}

static void test_round_trip(void)
{
	char buf[HF_SIZE_TEXT];
	bool same = true;

	for (uint64_t bytes = 1; bytes < INT64_MAX / 3; bytes = bytes * 2 + bytes / 7) {
		struct hf_err err = { 0 };
		uint64_t back = 0;

		same = same && hf_size_parse(hf_size_exact(bytes, buf), &back, &err) == 0 && back == bytes;
	}
	ok(same, "what exact writes, parse reads");
}

int main(void)
{
	test_good();
	test_bad();
	test_long();
	test_parse();
	test_pages();
	test_format();
	test_round_trip();
	return tap_done();
}
