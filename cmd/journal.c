/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* getopt and argp write to stderr by themselves, and a stream's writer is told nothing else. */
static bool attached;
static bool within_line;

static bool has_level(const char *line, size_t len)
{
	return len >= 3 && line[0] == '<' && line[1] >= '0' && line[1] <= '7' && line[2] == '>';
}

/* A line that has no level is an error. */
static size_t put_line(const char *line, size_t len, char *to)
{
	static const char error[] = "<3>";
	size_t at = 0;

	if (!within_line && *line != '\n' && !has_level(line, len)) {
		memcpy(to, error, sizeof(error) - 1);
		at = sizeof(error) - 1;
	}
	memcpy(to + at, line, len);
	within_line = line[len - 1] != '\n';
	return at + len;
}

static bool write_all(const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(STDERR_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

static ssize_t put_lines(void *cookie, const char *text, size_t len)
{
	/* At worst every byte is a line. */
	_cleanup_free_ char *marked = malloc(4 * len + 1);
	size_t used = 0;

	(void)cookie;
	if (!marked)
		return write_all(text, len) ? (ssize_t)len : 0;
	for (size_t at = 0; at < len;) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t line = end ? (size_t)(end - text) + 1 - at : len - at;

		used += put_line(text + at, line, marked + used);
		at += line;
	}
	return write_all(marked, used) ? (ssize_t)len : 0;
}

/* JOURNAL_STREAM is "DEVICE:INODE" of the stream that systemd has connected with the journal; standard
 * error may have been sent elsewhere since. */
static bool is_journal(const char *named)
{
	unsigned long long device, inode;
	struct stat st;
	int end = 0;

	return named && sscanf(named, "%llu:%llu%n", &device, &inode, &end) == 2 && !named[end] &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void hf_journal_attach(void)
{
	const cookie_io_functions_t functions = { .write = put_lines };
	FILE *marking;

	if (attached || !is_journal(getenv("JOURNAL_STREAM")))
		return;
	marking = fopencookie(NULL, "w", functions);
	if (!marking)
		return;
	setvbuf(marking, NULL, _IOLBF, BUFSIZ);
	stderr = marking;
	attached = true;
}

const char *hf_journal_level(enum hf_level level)
{
	switch (attached ? level : 0) {
	case HF_LEVEL_ERROR:
		return "<3>";
	case HF_LEVEL_WARNING:
		return "<4>";
	case HF_LEVEL_INFO:
		return "<6>";
	default:
		return "";
	}
}
