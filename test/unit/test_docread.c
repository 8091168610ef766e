/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents that are read back; and what tables have for bench: titles and GiB. */
#include <errno.h>
#include <math.h>

#include "../../lib/doc.h"
#include "tap.h"

static int read_doc(const char *text, struct hf_doc **doc, struct hf_err *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	int r = in ? hf_doc_read(in, "file", doc, err) : -EIO;

	if (in)
		fclose(in);
	return r;
}

static void check_values(void)
{
	static const char text[] =
		"{ \"command\": \"bench\", \"n\": 3, \"deep\": { \"er\": { \"x\": 1.5 } },"
		" \"rows\": [ { \"a\": \"one\", \"v\": 0.25 }, { \"a\": null, \"v\": 7 }, 5 ],"
		" \"no\": { } }";
	struct hf_err err = { 0 };
	struct hf_doc *doc;

	if (!ok(read_doc(text, &doc, &err) == 0, "read"))
		return;
	is_text(hf_doc_get_text(doc, NULL, 0, "command"), "bench", "a text");
	ok(hf_doc_get_real(doc, NULL, 0, "n") == 3, "a whole number");
	ok(hf_doc_get_real(doc, NULL, 0, "deep.er.x") == 1.5, "below two objects");
	ok(isnan(hf_doc_get_real(doc, NULL, 0, "deep.none.x")), "not there");
	ok(isnan(hf_doc_get_real(doc, NULL, 0, "command.x")), "below a text");
	ok(isnan(hf_doc_get_real(doc, NULL, 0, "command")), "a text is no number");
	ok(!hf_doc_get_text(doc, NULL, 0, "n"), "a number is no text");
	is_u64(hf_doc_rows(doc, "rows"), 3, "rows");
	is_u64(hf_doc_rows(doc, "no"), 0, "an object has no rows");
	is_u64(hf_doc_rows(doc, "none"), 0, "what is not there neither");
	is_text(hf_doc_get_text(doc, "rows", 0, "a"), "one", "a row's text");
	ok(!hf_doc_get_text(doc, "rows", 1, "a"), "null");
	ok(hf_doc_get_real(doc, "rows", 1, "v") == 7, "a row's number");
	ok(isnan(hf_doc_get_real(doc, "rows", 2, "v")), "a row that is no object");
	ok(isnan(hf_doc_get_real(doc, "rows", 3, "v")), "no such row");
	hf_doc_free(doc);
}

static void check_broken(void)
{
	static const char *const texts[] = { "",
					     "{",
					     "{ \"a\": ",
					     "[ 1 ]",
					     "3",
					     "\"x\"",
					     "{ \"a\" 1 }",
					     "\377\376",
					     "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[" };

	for (size_t i = 0; i < HF_LENGTH(texts); i++) {
		struct hf_doc *doc = (struct hf_doc *)(uintptr_t)1;
		struct hf_err err = { 0 };
		FILE *in = *texts[i] ? NULL : fopen("/dev/null", "r");
		int r = in ? hf_doc_read(in, "file", &doc, &err) : read_doc(texts[i], &doc, &err);

		if (in)
			fclose(in);
		ok(r == -EINVAL && !doc, "refused: \"%s\"", texts[i]);
		is_text(err.object, "file", "names the file");
	}
}

static char *print(struct hf_table *table, const struct hf_format *format)
{
	static char out[512];
	FILE *stream = fmemopen(out, sizeof(out), "w");
	struct hf_err err = { 0 };

	memset(out, 0, sizeof(out));
	ok(stream && hf_table_print(table, format, stream, &err) == 0, "print");
	if (stream)
		fclose(stream);
	return out;
}

static void check_titles(void)
{
	static const struct hf_column columns[] = { { "SIZE", HF_GIB, false, "" },
						    { "MIN_TIME", HF_FINE, false, "" } };
	const struct hf_format people = { 0 }, raw = { .raw = true }, bytes = { .bytes = true };
	struct hf_table *table = hf_table_new("t", columns, 2);

	if (!ok(table != NULL, "a table"))
		return;
	hf_table_title(table, 0, "size (GiB)");
	hf_table_row(table);
	hf_table_u64(table, 0, 200ULL << 30);
	hf_table_real(table, 1, 127.53);
	hf_table_row(table);
	hf_table_u64(table, 0, 64 << 20);
	hf_table_real(table, 1, 51.2e-6);
	is_text(print(table, &people), "size (GiB) MIN_TIME\n       200  127.530\n    0.0625 0.000051\n",
		"for people");
	is_text(print(table, &raw), "SIZE MIN_TIME\n200 127.530\n0.0625 0.000051\n", "raw: the name");
	is_text(print(table, &bytes), "        SIZE MIN_TIME\n214748364800  127.530\n    67108864 0.000051\n",
		"in bytes: the name");
	hf_table_title(table, 2, "beyond");
	ok(hf_table_failed(table) == -EINVAL, "no such column");
	hf_table_free(table);
}

int main(void)
{
	check_values();
	check_broken();
	check_titles();
	return tap_done();
}
