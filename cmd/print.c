/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "../lib/size.h"

static void print_hints(enum hf_level level, const char *hint)
{
	while (*hint) {
		char line[HF_ERR_HINT], shown[4 * HF_ERR_HINT];
		size_t len = strcspn(hint, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)len, hint);
		fprintf(stderr, "%shint: %s\n", hf_journal_level(level),
			hf_err_printable(line, shown, sizeof(shown)));
		hint += len + (hint[len] == '\n');
	}
}

int hf_print_err(const struct hf_common *common, const struct hf_err *err)
{
	char object[4 * HF_ERR_OBJECT], what[4 * HF_ERR_TEXT];

	fprintf(stderr, "%s%s: ", hf_journal_level(HF_LEVEL_ERROR), common->name);
	if (err->object[0])
		fprintf(stderr, "%s: ", hf_err_escape(err->object, object, sizeof(object)));
	fprintf(stderr, "%s", hf_err_printable(err->what, what, sizeof(what)));
	if (!err->silent_errno)
		fprintf(stderr, ": %s", strerror(err->errnum));
	fputc('\n', stderr);
	print_hints(HF_LEVEL_ERROR, err->hint);
	return err->usage ? HF_EXIT_USAGE : HF_EXIT_FAILED;
}

enum hf_level hf_print_level(const struct hf_finding *finding)
{
	if (finding->fatal)
		return HF_LEVEL_ERROR;
	return finding->notice ? HF_LEVEL_INFO : HF_LEVEL_WARNING;
}

void hf_print_finding(const struct hf_common *common, const struct hf_finding *finding)
{
	char object[4 * HF_ERR_OBJECT], wanted[HF_SIZE_TEXT], got[HF_SIZE_TEXT];
	char text[4 * sizeof(finding->text)];

	fprintf(stderr, "%s%s: %s: ", hf_journal_level(hf_print_level(finding)), common->name,
		hf_err_escape(finding->object, object, sizeof(object)));
	if (finding->node >= 0)
		fprintf(stderr, "node %d: ", finding->node);
	if (finding->node >= 0 && finding->wanted)
		fprintf(stderr, "requested %s, obtained %s: ", hf_size_exact(finding->wanted, wanted),
			hf_size_exact(finding->got, got));
	fprintf(stderr, "%s\n", hf_err_printable(finding->text, text, sizeof(text)));
	print_hints(hf_print_level(finding), finding->hint);
}

static void print_line(const struct hf_common *common, enum hf_level level, const char *fmt, va_list ap)
	_printf(3, 0);

static void print_line(const struct hf_common *common, enum hf_level level, const char *fmt, va_list ap)
{
	if (common->quiet)
		return;
	fprintf(stderr, "%s%s: ", hf_journal_level(level), common->name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void hf_print_note(const struct hf_common *common, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(common, HF_LEVEL_WARNING, fmt, ap);
	va_end(ap);
}

void hf_print_note_hint(const struct hf_common *common, const char *fmt, ...)
{
	va_list ap;

	if (common->quiet)
		return;
	va_start(ap, fmt);
	fprintf(stderr, "%shint: ", hf_journal_level(HF_LEVEL_WARNING));
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}

void hf_print_at(const struct hf_common *common, enum hf_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_line(common, level, fmt, ap);
	va_end(ap);
}

/* For the end of the program, which hears of no one else. */
static bool write_failed;

bool hf_print_has_failed(void)
{
	return write_failed;
}

int hf_print_flush(struct hf_err *err)
{
	int copy, r;

	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout)) {
		/* A file on a network, or a quota, may fail at the last close only. */
		copy = dup(STDOUT_FILENO);
		r = copy < 0 ? 0 : close(copy);
		if (r == 0 || errno == EINTR)
			return 0;
	}
	r = errno ? errno : EIO;
	write_failed = true;
	hf_signals_write_failed(r);
	return hf_err_sys(err, r, "standard output", "cannot write the result");
}
