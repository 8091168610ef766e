/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "size.h"

#define SECOND_NS 1000000000ULL
#define TERMINAL_FIRST_NS (SECOND_NS / 5)
#define TERMINAL_EVERY_NS (SECOND_NS / 10)
#define LOG_EVERY_NS (10 * SECOND_NS)
#define LINE_TEXT 256
#define ETA_MAX_SECONDS (100 * 3600.0) /* beyond it, nothing is known */

/* Leaves the cursor of a terminal at the start of an empty line. */
#define ERASE_LINE "\r\033[K"

/* Appends at *at; what does not fit is cut. */
static void __attribute__((format(printf, 4, 5)))
append(char *buf, size_t size, size_t *at, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf + *at, size - *at, fmt, ap);
	va_end(ap);
	if (n > 0)
		*at = (size_t)n < size - *at ? *at + (size_t)n : size - 1;
}

static void append_eta(char *buf, size_t size, size_t *at, double seconds)
{
	uint64_t eta;

	if (!(seconds < ETA_MAX_SECONDS))
		return;
	eta = (uint64_t)seconds;
	eta += (double)eta < seconds;
	if (eta >= 3600)
		append(buf, size, at, "  ETA %" PRIu64 ":%02u:%02u", eta / 3600, (unsigned)(eta / 60 % 60),
		       (unsigned)(eta % 60));
	else
		append(buf, size, at, "  ETA %u:%02u", (unsigned)(eta / 60), (unsigned)(eta % 60));
}

char *hf_progress_line(const char *phase, uint64_t done, uint64_t total, uint64_t elapsed_ns, char *buf,
		       size_t size)
{
	double rate = elapsed_ns ? (double)done * (double)SECOND_NS / (double)elapsed_ns : 0;
	char text[HF_SIZE_TEXT];
	size_t at = 0;

	if (size == 0)
		return buf;
	append(buf, size, &at, "%s", phase);
	if (done || total)
		append(buf, size, &at, "  %s", hf_size_human(done, text));
	if (total) {
		/* Rounded down, so that 100% is all of it. */
		unsigned percent = done < total ? (unsigned)((unsigned __int128)done * 100 / total) : 100;

		append(buf, size, &at, " of %s  %u%%", hf_size_human(total, text), percent);
	}
	if (rate >= 1 && rate < (double)INT64_MAX)
		append(buf, size, &at, "  %s/s", hf_size_human((uint64_t)rate, text));
	if (rate > 0 && done < total)
		append_eta(buf, size, &at, (double)(total - done) / rate);
	return buf;
}

void hf_progress_init(struct hf_progress *p, FILE *out, enum hf_progress_mode mode, const char *label)
{
	memset(p, 0, sizeof(*p));
	p->out = mode == HF_PROGRESS_NEVER ? NULL : out;
	p->terminal = p->out && isatty(fileno(p->out));
	p->always = mode == HF_PROGRESS_ALWAYS;
	p->label = label;
}

void hf_progress_begin(struct hf_progress *p, const char *phase, uint64_t total_bytes, uint64_t now_ns)
{
	p->phase = phase;
	p->total = total_bytes;
	p->start_ns = now_ns;
	p->shown_ns = 0;
}

/* When the next line is due. shown_ns 0: the phase has none yet. */
static uint64_t due_ns(const struct hf_progress *p)
{
	uint64_t first = p->terminal ? TERMINAL_FIRST_NS : LOG_EVERY_NS;
	uint64_t every = p->terminal ? TERMINAL_EVERY_NS : LOG_EVERY_NS;

	if (p->always)
		first = every = p->terminal ? TERMINAL_EVERY_NS : SECOND_NS;
	return p->shown_ns ? p->shown_ns + every : p->start_ns + first;
}

/* A line that wraps could not be rewritten. */
static void cut_to_terminal(const struct hf_progress *p, char *line)
{
	struct winsize window;

	if (ioctl(fileno(p->out), TIOCGWINSZ, &window) == 0 && window.ws_col > 1 &&
	    strlen(line) >= window.ws_col)
		line[window.ws_col - 1] = '\0';
}

static void show(struct hf_progress *p, uint64_t done_bytes, uint64_t now_ns)
{
	uint64_t elapsed_ns = now_ns > p->start_ns ? now_ns - p->start_ns : 0;
	char line[LINE_TEXT];
	int label = snprintf(line, sizeof(line), "%s: ", p->label);

	if (label < 0 || (size_t)label >= sizeof(line))
		label = 0;
	hf_progress_line(p->phase, done_bytes, p->total, elapsed_ns, line + label,
			 sizeof(line) - (size_t)label);
	if (p->terminal) {
		cut_to_terminal(p, line);
		fprintf(p->out, ERASE_LINE "%s", line);
	} else {
		fprintf(p->out, "%s\n", line);
	}
	fflush(p->out);
	p->shown_ns = now_ns;
	p->dirty = p->terminal;
}

void hf_progress_update(struct hf_progress *p, uint64_t done_bytes, uint64_t now_ns)
{
	if (p->out && p->phase && now_ns >= due_ns(p))
		show(p, done_bytes, now_ns);
}

void hf_progress_end(struct hf_progress *p, uint64_t done_bytes, uint64_t now_ns)
{
	if (p->out && p->phase && p->always && !p->terminal)
		show(p, done_bytes, now_ns);
	if (p->dirty) {
		fputs(ERASE_LINE, p->out);
		fflush(p->out);
		p->dirty = false;
	}
	p->phase = NULL;
}
