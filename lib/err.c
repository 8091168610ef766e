/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "err.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void _printf(4, 0)
	fill(struct hf_err *err, int errnum, const char *object, const char *fmt, va_list ap)
{
	err->errnum = errnum;
	snprintf(err->object, sizeof(err->object), "%s", object ? object : "");
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	err->hint[0] = '\0';
}

int hf_err_sys(struct hf_err *err, int errnum, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, errnum, object, fmt, ap);
	va_end(ap);
	err->usage = false;
	err->silent_errno = false;
	return -errnum;
}

int hf_err_set(struct hf_err *err, int errnum, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, errnum, object, fmt, ap);
	va_end(ap);
	err->usage = false;
	err->silent_errno = true;
	return -errnum;
}

int hf_err_usage(struct hf_err *err, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(err, EINVAL, object, fmt, ap);
	va_end(ap);
	err->usage = true;
	err->silent_errno = true;
	return -EINVAL;
}

void hf_err_hint(struct hf_err *err, const char *fmt, ...)
{
	size_t used = strlen(err->hint);
	va_list ap;

	if (used && used + 1 < sizeof(err->hint))
		err->hint[used++] = '\n';
	va_start(ap, fmt);
	vsnprintf(err->hint + used, sizeof(err->hint) - used, fmt, ap);
	va_end(ap);
}

int hf_err_nomem(struct hf_err *err)
{
	return hf_err_sys(err, ENOMEM, NULL, "cannot allocate memory for hugefill itself");
}

/* Length of the valid UTF-8 sequence at s, or 0. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80                   ? 1
		   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						 : 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* C1 control characters, overlong forms, surrogates, beyond U+10FFFF. */
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static char *escape(const char *text, char *buf, size_t size, bool backslashes)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0;

	if (!size)
		return buf;
	while (*s && at + 5 < size) {
		size_t n = utf8_length(s);
		const char *named = *s == '\n'                  ? "\\n"
				    : *s == '\t'                ? "\\t"
				    : *s == '\\' && backslashes ? "\\\\"
								: NULL;

		if (named) {
			at += (size_t)snprintf(buf + at, size - at, "%s", named);
			n = 1;
		} else if (n == 0 || *s < 0x20 || *s == 0x7f) {
			at += (size_t)snprintf(buf + at, size - at, "\\x%02x", *s);
			n = 1;
		} else {
			memcpy(buf + at, s, n);
			at += n;
		}
		s += n;
	}
	buf[at < size ? at : size - 1] = '\0';
	return buf;
}

char *hf_err_escape(const char *text, char *buf, size_t size)
{
	return escape(text, buf, size, true);
}

char *hf_err_printable(const char *text, char *buf, size_t size)
{
	return escape(text, buf, size, false);
}

char *hf_err_shell(const char *text, char *buf, size_t size)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-";
	size_t len = strlen(text), at = 0;
	bool bytes = false;

	if (!size)
		return buf;
	if (len && strspn(text, plain) == len) {
		snprintf(buf, size, "%s", text);
		return buf;
	}
	for (size_t i = 0, n; i < len && !bytes; i += n) {
		n = utf8_length((const unsigned char *)text + i);
		bytes = n == 0 || (unsigned char)text[i] < 0x20 || text[i] == 0x7f;
	}
	at += (size_t)snprintf(buf, size, bytes ? "$'" : "'");
	for (size_t i = 0; i < len && at + 6 < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (bytes && (c < 0x20 || c >= 0x7f))
			at += (size_t)snprintf(buf + at, size - at, "\\x%02x", c);
		else if (c == '\'' || (bytes && c == '\\'))
			at += (size_t)snprintf(buf + at, size - at, bytes ? "\\%c" : "'\\%c'", c);
		else
			buf[at++] = (char)c;
	}
	if (at < size)
		snprintf(buf + at, size - at, "'");
	return buf;
}
