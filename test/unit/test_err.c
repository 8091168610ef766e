/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/err.h"
#include "tap.h"

static void test_fill(void)
{
	struct hf_err err = { 0 };

	ok(hf_err_sys(&err, ENOENT, "/a", "cannot %s", "open") == -ENOENT, "sys returns -errno");
	ok(err.errnum == ENOENT && !err.usage && !err.silent_errno, "sys: errno is shown");
	is_text(err.object, "/a", "sys: object");
	is_text(err.what, "cannot open", "sys: what");

	hf_err_hint(&err, "first %d", 1);
	hf_err_hint(&err, "second");
	is_text(err.hint, "first 1\nsecond", "hints are lines");

	ok(hf_err_set(&err, ENOSPC, NULL, "short") == -ENOSPC, "set returns -errno");
	ok(err.errnum == ENOSPC && !err.usage && err.silent_errno, "set: what says it all");
	is_text(err.object, "", "no object is an empty one");
	is_text(err.hint, "", "a new failure drops the old hints");

	ok(hf_err_usage(&err, "10x", "bad") == -EINVAL, "usage returns -EINVAL");
	ok(err.errnum == EINVAL && err.usage && err.silent_errno, "usage: exit status 2");

	hf_err_set(&err, EIO, "x", "read");
	ok(!err.usage && err.silent_errno, "set after usage is no usage error");

	hf_err_usage(&err, "10x", "bad");
	ok(hf_err_nomem(&err) == -ENOMEM, "nomem returns -ENOMEM");
	ok(err.errnum == ENOMEM && !err.usage && !err.silent_errno, "nomem is no usage error");
}

static void test_cut(void)
{
	char *longer = malloc(5001);
	struct hf_err *err = calloc(1, sizeof(*err)); /* its end is guarded by the sanitizer */

	if (!longer || !err)
		abort();
	memset(longer, 'x', 5000);
	longer[5000] = '\0';
	hf_err_set(err, EIO, longer, "%s", longer);
	is_u64(strlen(err->object), HF_ERR_OBJECT - 1, "a long object is cut");
	is_u64(strlen(err->what), HF_ERR_TEXT - 1, "a long text is cut");
	hf_err_hint(err, "%s", longer);
	hf_err_hint(err, "more");
	is_u64(strlen(err->hint), HF_ERR_HINT - 1, "long hints are cut");
	free(err);
	free(longer);
}

static void test_escape(void)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "", "" },
		{ "plain name", "plain name" },
		{ "a\nb\tc\\d", "a\\nb\\tc\\\\d" },
		{ "\033[31m\r\x7f", "\\x1b[31m\\x0d\\x7f" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "\xc3(", "\\xc3(" },
		{ "\xc2\x9b", "\\xc2\\x9b" },                   /* C1: a terminal takes it for ESC [ */
		{ "\xc0\xaf", "\\xc0\\xaf" },                   /* overlong */
		{ "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },          /* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },          /* a surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond U+10FFFF */
		{ "\xe2\x82", "\\xe2\\x82" },                   /* ends too early */
	};
	char buf[128];

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		is_text(hf_err_escape(table[i].text, buf, sizeof(buf)), table[i].want, "escape row %zu", i);
}

static void test_escape_cut(void)
{
	static const char text[] = "abc\xf0\x9f\x98\x80\n\001\001\001\001\001\001\001\001";
	bool terminated = true, whole = true;

	for (size_t size = 1; size <= 40; size++) {
		char *buf = malloc(size);

		if (!buf)
			abort();
		memset(buf, 'Z', size);
		hf_err_escape(text, buf, size);
		terminated = terminated && memchr(buf, '\0', size);
		/* U+1F600 is there with all its bytes or not at all. */
		whole = whole && (!strchr(buf, 0xf0) || strstr(buf, "\xf0\x9f\x98\x80"));
		free(buf);
	}
	ok(terminated, "escape terminates in every size");
	ok(whole, "escape cuts no character");
}

static void test_shell(void)
{
	static const struct {
		const char *text, *want;
	} table[] = {
		{ "", "''" },
		{ "/dev/hugepages/vm-0_a.b", "/dev/hugepages/vm-0_a.b" },
		{ "vm 0", "'vm 0'" },
		{ "/run/etc\\x2da", "'/run/etc\\x2da'" },
		{ "it's", "'it'\\''s'" },
		{ "$HOME;`x`", "'$HOME;`x`'" },
		{ "~a", "'~a'" },
		{ "gr\xc3\xbc\xc3\x9f", "'gr\xc3\xbc\xc3\x9f'" },
		{ "a\nb'c\\d\xff", "$'a\\x0ab\\'c\\\\d\\xff'" },
	};
	bool terminated = true;
	char buf[128];

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		is_text(hf_err_shell(table[i].text, buf, sizeof(buf)), table[i].want, "shell row %zu", i);
	for (size_t size = 1; size <= 40; size++) {
		char *small = malloc(size);

		if (!small)
			abort();
		memset(small, 'Z', size);
		hf_err_shell("a b\n'''\1\2\3\4\5\6\7", small, size);
		terminated = terminated && memchr(small, '\0', size);
		free(small);
	}
	ok(terminated, "shell terminates in every size");
}

int main(void)
{
	test_fill();
	test_cut();
	test_escape();
	test_escape_cut();
	test_shell();
	return tap_done();
}
