/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <sys/ioctl.h>

#include "../../lib/table.h"
#include "tap.h"

#define GIB (1ULL << 30)

enum { TARGET, NODE, SIZE, TIME, RATE, SPEEDUP, CHANGED, NCOLUMNS };

static const struct hf_column columns[] = {
	[TARGET] = { "TARGET", HF_TEXT, false, "what was made" },
	[NODE] = { "NODE", HF_COUNT, false, "where" },
	[SIZE] = { "SIZE", HF_BYTES, false, "how much" },
	[TIME] = { "TIME", HF_SECONDS, false, "how long" },
	[RATE] = { "RATE", HF_RATE, true, "how fast" },
	[SPEEDUP] = { "SPEEDUP", HF_REAL, true, "how many times as fast" },
	[CHANGED] = { "CHANGED", HF_BOOL, true, "whether anything was done" },
};

static struct hf_table *two_rows(void)
{
	struct hf_table *table = hf_table_new("files", columns, NCOLUMNS);

	hf_table_row(table);
	hf_table_text(table, TARGET, "vm0");
	hf_table_u64(table, NODE, 0);
	hf_table_u64(table, SIZE, 4 * GIB);
	hf_table_real(table, TIME, 1.2344);
	hf_table_real(table, RATE, 8.5 * (double)GIB);
	hf_table_real(table, SPEEDUP, 7.956);
	hf_table_bool(table, CHANGED, true);
	hf_table_row(table);
	hf_table_text(table, TARGET, "/dev/hugepages/a b");
	hf_table_u64(table, NODE, 12);
	hf_table_real(table, TIME, NAN);
	hf_table_bool(table, CHANGED, false);
	return table;
}

static const char *print(const struct hf_table *table, struct hf_format format, char *buf, size_t size)
{
	FILE *out = fmemopen(buf, size, "w");
	struct hf_err err = { 0 };

	memset(buf, 0, size);
	ok(hf_table_print(table, &format, out, &err) == 0, "is printed");
	fclose(out);
	return buf;
}

static const struct {
	const char *name;
	struct hf_format format;
	const char *want;
} formats[] = {
	{ "default",
	  { 0 },
	  "TARGET             NODE SIZE  TIME\n"
	  "vm0                   0   4G 1.234\n"
	  "/dev/hugepages/a b   12      \n" },
	{ "no headings",
	  { .noheadings = true, .columns = "NODE,SIZE" },
	  "   0   4G\n"
	  "  12 \n" },
	{ "all",
	  { .all = true },
	  "TARGET             NODE SIZE  TIME   RATE SPEEDUP CHANGED\n"
	  "vm0                   0   4G 1.234 8.5G/s    7.96 yes\n"
	  "/dev/hugepages/a b   12                           no\n" },
	{ "bytes",
	  { .bytes = true, .columns = "size,rate" },
	  "      SIZE       RATE\n"
	  "4294967296 9126805504\n"
	  "           \n" },
	{ "raw",
	  { .raw = true },
	  "TARGET NODE SIZE TIME\n"
	  "vm0 0 4G 1.234\n"
	  "/dev/hugepages/a\\x20b 12 - -\n" },
	{ "raw, no headings, bytes",
	  { .raw = true, .noheadings = true, .bytes = true, .all = true },
	  "vm0 0 4294967296 1.234 9126805504 7.96 yes\n"
	  "/dev/hugepages/a\\x20b 12 - - - - no\n" },
};

static void test_formats(void)
{
	struct hf_table *table = two_rows();
	char buf[1024];

	for (size_t i = 0; i < HF_LENGTH(formats); i++)
		is_text(print(table, formats[i].format, buf, sizeof(buf)), formats[i].want, "%s",
			formats[i].name);
	is_u64(hf_table_rows(table), 2, "two rows");
	hf_table_free(table);
}

static void test_selection(void)
{
	static const struct {
		struct hf_format format;
		size_t count;
		size_t want[NCOLUMNS];
	} cases[] = {
		{ { 0 }, 4, { TARGET, NODE, SIZE, TIME } },
		{ { .all = true }, 7, { TARGET, NODE, SIZE, TIME, RATE, SPEEDUP, CHANGED } },
		{ { .json = true }, 7, { TARGET, NODE, SIZE, TIME, RATE, SPEEDUP, CHANGED } },
		{ { .json = true, .columns = "RATE" }, 1, { RATE } },
		{ { .columns = "rate,TARGET" }, 2, { RATE, TARGET } },
		{ { .columns = "+rate" }, 5, { TARGET, NODE, SIZE, TIME, RATE } },
		{ { .columns = "+CHANGED,rate" }, 6, { TARGET, NODE, SIZE, TIME, CHANGED, RATE } },
		{ { .columns = "+time" }, 4, { TARGET, NODE, SIZE, TIME } },
		{ { .columns = "NODE,node,Node,SIZE" }, 2, { NODE, SIZE } },
		{ { .all = true, .columns = "NODE" },
		  7,
		  { TARGET, NODE, SIZE, TIME, RATE, SPEEDUP, CHANGED } },
		{ { .columns = "NOD,SIZES,,TIME" }, 1, { TIME } },
	};
	struct hf_table *table = hf_table_new("files", columns, NCOLUMNS);

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		size_t which[NCOLUMNS] = { 0 };
		size_t count = hf_table_selection(table, &cases[i].format, which);

		is_u64(count, cases[i].count, "selection %zu: how many", i);
		ok(memcmp(which, cases[i].want, count * sizeof(which[0])) == 0, "selection %zu: which", i);
	}
	hf_table_free(table);
}

static void test_check(void)
{
	static const char *const good[] = { NULL, "TARGET", "target,Node", "+rate", "SIZE,SIZE" };
	static const struct {
		const char *text, *object;
	} bad[] = {
		{ "NOPE", "NOPE" },   { "TARGET,nope", "nope" },   { "NOD", "NOD" },
		{ "NODES", "NODES" }, { "TARGET,+NODE", "+NODE" }, { "", "--output" },
		{ "+", "--output" },  { "NODE,", "--output" },     { ",NODE", "--output" },
		{ " NODE", " NODE" },
	};
	struct hf_err err = { 0 };

	for (size_t i = 0; i < HF_LENGTH(good); i++) {
		struct hf_format format = { .columns = good[i] };

		ok(hf_table_check(columns, NCOLUMNS, &format, &err) == 0, "%s is fine",
		   good[i] ? good[i] : "nothing");
	}
	for (size_t i = 0; i < HF_LENGTH(bad); i++) {
		struct hf_format format = { .columns = bad[i].text };

		ok(hf_table_check(columns, NCOLUMNS, &format, &err) == -EINVAL && err.usage, "\"%s\" is not",
		   bad[i].text);
		is_text(err.object, bad[i].object, "names it");
		has_text(err.what, "TARGET, NODE, SIZE, TIME, RATE, SPEEDUP, CHANGED", "lists all");
	}
}

static void test_check_long(void)
{
	static const struct hf_column one[] = { { "NODE", HF_COUNT, false, "" } };
	char text[4096];
	struct hf_format format = { .columns = text };
	struct hf_err err = { 0 };

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ok(hf_table_check(one, 1, &format, &err) == -EINVAL, "a very long name");
	is_u64(strlen(err.object), sizeof(err.object) - 1, "is cut");
}

static const struct {
	const char *name, *cell, *text, *raw;
} hostile[] = {
	{ "newline", "a\nb", "a\\x0ab", "a\\x0ab" },
	{ "tab", "a\tb", "a\\x09b", "a\\x09b" },
	{ "escape sequence", "\033[31mred", "\\x1b[31mred", "\\x1b[31mred" },
	{ "carriage return, bell", "a\r\a", "a\\x0d\\x07", "a\\x0d\\x07" },
	{ "DEL", "a\x7f", "a\\x7f", "a\\x7f" },
	{ "invalid UTF-8", "a\xff\xc3", "a\\xff\\xc3", "a\\xff\\xc3" },
	{ "overlong", "\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf" },
	{ "C1 control", "\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b" },
	{ "escape look-alike", "\\x41", "\\x5cx41", "\\x5cx41" },
	{ "blank", "a b", "a b", "a\\x20b" },
	{ "character", "\xc3\xa9", "\xc3\xa9", "\\xc3\\xa9" },
	{ "empty", "", "", "-" },
	{ "unset", NULL, "", "-" },
};

static void test_hostile(void)
{
	static const struct hf_column two[] = { { "A", HF_COUNT, false, "" }, { "B", HF_TEXT, false, "" } };
	char buf[512], want[128];

	for (size_t i = 0; i < HF_LENGTH(hostile); i++) {
		struct hf_table *table = hf_table_new("t", two, 2);

		hf_table_row(table);
		hf_table_u64(table, 0, 1);
		hf_table_text(table, 1, hostile[i].cell);
		snprintf(want, sizeof(want), "1 %s\n", hostile[i].text);
		is_text(print(table, (struct hf_format){ .noheadings = true }, buf, sizeof(buf)), want,
			"text: %s", hostile[i].name);
		snprintf(want, sizeof(want), "1 %s\n", hostile[i].raw);
		is_text(print(table, (struct hf_format){ .noheadings = true, .raw = true }, buf, sizeof(buf)),
			want, "raw: %s", hostile[i].name);
		hf_table_free(table);
	}
}

static void test_plain_locale(void)
{
	struct hf_table *table = hf_table_new("t", columns, NCOLUMNS);
	char buf[64];

	hf_table_row(table);
	hf_table_text(table, TARGET, "\xc3\xa9\033");
	setlocale(LC_CTYPE, "C");
	is_text(print(table, (struct hf_format){ .noheadings = true, .columns = "TARGET" }, buf, sizeof(buf)),
		"\\xc3\\xa9\\x1b\n", "characters that the locale has not are escaped");
	setlocale(LC_CTYPE, "C.UTF-8");
	hf_table_free(table);
}

static const struct {
	size_t column;
	double value;
	bool bytes;
	const char *want;
} numbers[] = {
	{ TIME, 0, false, "0.000" },
	{ TIME, 0.0005001, false, "0.001" },
	{ TIME, -0.0004, false, "0.000" },
	{ TIME, -0.0006, false, "-0.001" },
	{ TIME, 123456.7891, false, "123456.789" },
	{ TIME, INFINITY, false, "-" },
	{ TIME, NAN, false, "-" },
	{ SPEEDUP, 1, false, "1.00" },
	{ SPEEDUP, -12.5, false, "-12.50" },
	{ RATE, 0, false, "0B/s" },
	{ RATE, 1023.5, false, "1K/s" },
	{ RATE, 1535.6, false, "1.5K/s" },
	{ RATE, 1535.6, true, "1536" },
	{ RATE, 0.4, true, "0" },
	{ RATE, -0.4, true, "0" },
	{ RATE, -1, false, "-1" },
	{ RATE, 1e19, false, "10000000000000000000" },
	{ RATE, -INFINITY, true, "-" },
	{ NODE, 7, false, "7" },
	{ NODE, 7, true, "7" },
	{ SIZE, 0, false, "0B" },
	{ SIZE, 0, true, "0" },
	{ SIZE, 1536, false, "1.5K" },
	{ SIZE, 1536, true, "1536" },
};

static void test_numbers(void)
{
	char buf[512], want[128];

	for (size_t i = 0; i < HF_LENGTH(numbers); i++) {
		struct hf_table *table = hf_table_new("t", columns, NCOLUMNS);
		size_t column = numbers[i].column;
		struct hf_format format = { .raw = true,
					    .noheadings = true,
					    .bytes = numbers[i].bytes,
					    .columns = columns[column].name };

		hf_table_row(table);
		if (column == NODE || column == SIZE)
			hf_table_u64(table, column, (uint64_t)numbers[i].value);
		else
			hf_table_real(table, column, numbers[i].value);
		snprintf(want, sizeof(want), "%s\n", numbers[i].want);
		is_text(print(table, format, buf, sizeof(buf)), want, "%s %g", columns[column].name,
			numbers[i].value);
		hf_table_free(table);
	}
}

static void test_large(void)
{
	struct hf_table *table = hf_table_new("t", columns, NCOLUMNS);
	char buf[1024];

	hf_table_row(table);
	hf_table_u64(table, NODE, UINT64_MAX);
	hf_table_u64(table, SIZE, UINT64_MAX);
	hf_table_real(table, TIME, -1.7e308);
	hf_table_real(table, RATE, 1.7e308);
	print(table, (struct hf_format){ .raw = true, .bytes = true, .all = true }, buf, sizeof(buf));
	has_text(buf, "- 18446744073709551615 18446744073709551615 -1", "the largest counts");
	has_text(buf, ".000 1", "the largest doubles");
	hf_table_free(table);
}

static void test_many_rows(void)
{
	static const struct hf_column one[] = { { "N", HF_COUNT, false, "" }, { "T", HF_TEXT, false, "" } };
	struct hf_table *table = hf_table_new("t", one, 2);
	bool same = true;

	for (unsigned i = 0; i < 1000; i++) {
		hf_table_row(table);
		if (i % 2)
			hf_table_u64(table, 0, i);
		hf_table_text(table, 1, "first");
		hf_table_text(table, 1, i % 3 ? "second" : NULL);
	}
	is_u64(hf_table_rows(table), 1000, "a thousand rows");
	for (unsigned i = 0; i < 1000; i++) {
		const struct hf_cell *n = hf_table_cell(table, i, 0), *t = hf_table_cell(table, i, 1);

		same = same && n->set == (i % 2 == 1) && (!n->set || n->u64 == i) && t->set == (i % 3 != 0) &&
		       (!t->set || strcmp(t->text, "second") == 0);
	}
	ok(same, "each with what was set last");
	ok(!hf_table_cell(table, 1000, 0) && !hf_table_cell(table, 0, 2), "no cell beyond the end");
	hf_table_free(table);
}

/* Standard output too is the terminal meanwhile: that is where the library looks for its width. */
static void print_to_terminal(const struct hf_table *table, int slave)
{
	FILE *out = fdopen(dup(slave), "w");
	struct hf_err err = { 0 };
	int saved, ret;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(slave, STDOUT_FILENO);
	ret = hf_table_print(table, &(struct hf_format){ .columns = "TARGET,NODE" }, out, &err);
	fflush(out);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	fclose(out);
	ok(ret == 0, "is printed");
}

/* A line at a time, or more, as the kernel passes it on; the end is an error (EIO). */
static void read_all(int master, char *buf, size_t size)
{
	size_t len = 0;
	ssize_t n;

	while (len < size - 1 && (n = read(master, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	buf[len] = '\0';
}

static void test_terminal(void)
{
	struct winsize window = { .ws_row = 24, .ws_col = 20 };
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;
	struct hf_table *table = hf_table_new("t", columns, NCOLUMNS);
	char name[121], buf[1024] = "";

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	hf_table_row(table);
	hf_table_text(table, TARGET, name);
	hf_table_u64(table, NODE, 3);
	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (ok(slave >= 0 && ioctl(slave, TIOCSWINSZ, &window) == 0, "a terminal of 20 columns")) {
		print_to_terminal(table, slave);
		close(slave);
		read_all(master, buf, sizeof(buf));
		ok(buf[0], "to the terminal");
		has_text(buf, name, "the name is not cut");
		has_text(buf, "nnn    3", "nor what follows");
	}
	close(master);
	hf_table_free(table);
}

static void misuse_none(struct hf_table *table)
{
	hf_table_u64(table, NODE, 1);
}

static void misuse_column(struct hf_table *table)
{
	hf_table_row(table);
	hf_table_text(table, NCOLUMNS, "1");
}

static void misuse_text(struct hf_table *table)
{
	hf_table_row(table);
	hf_table_text(table, NODE, "1");
}

static void misuse_u64(struct hf_table *table)
{
	hf_table_row(table);
	hf_table_u64(table, TIME, 1);
}

static void misuse_real(struct hf_table *table)
{
	hf_table_row(table);
	hf_table_real(table, SIZE, 1);
}

static void misuse_bool(struct hf_table *table)
{
	hf_table_row(table);
	hf_table_bool(table, TARGET, true);
}

static void test_misuse(void)
{
	static void (*const cases[])(struct hf_table *) = { misuse_none, misuse_column, misuse_text,
							    misuse_u64,  misuse_real,   misuse_bool };
	struct hf_format format = { 0 };
	char buf[64] = "";

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		struct hf_table *table = hf_table_new("t", columns, NCOLUMNS);
		FILE *out = fmemopen(buf, sizeof(buf), "w");
		struct hf_err err = { 0 };

		cases[i](table);
		ok(hf_table_failed(table) == -EINVAL, "misuse %zu is kept", i);
		ok(hf_table_print(table, &format, out, &err) == -EINVAL && err.errnum == EINVAL && !err.usage,
		   "and reported");
		fclose(out);
		is_text(buf, "", "nothing is printed");
		hf_table_free(table);
	}
}

static void test_rest(void)
{
	struct hf_table *table = hf_table_new("files", columns, NCOLUMNS);
	char buf[16];
	size_t count;

	is_text(print(table, (struct hf_format){ 0 }, buf, sizeof(buf)), "", "no rows, no output");
	is_text(hf_table_name(table), "files", "name");
	ok(hf_table_columns(table, &count) == columns && count == NCOLUMNS, "columns");
	is_text(hf_table_key(&columns[TARGET], buf, sizeof(buf)), "target", "key");
	is_text(hf_table_key(&columns[TARGET], buf, 4), "tar", "key, cut");
	hf_table_free(table);
	hf_table_free(NULL);
}

int main(void)
{
	ok(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "a UTF-8 locale");
	test_formats();
	test_selection();
	test_check();
	test_check_long();
	test_hostile();
	test_plain_locale();
	test_numbers();
	test_large();
	test_many_rows();
	test_terminal();
	test_misuse();
	test_rest();
	return tap_done();
}
