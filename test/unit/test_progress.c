/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "../../lib/progress.h"
#include "../../lib/util.h"
#include "tap.h"

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define GIB (1ULL << 30)
#define ERASE "\r\033[K"

static const struct {
	const char *name;
	uint64_t done, total, elapsed_ns;
	const char *want;
} lines[] = {
	{ "under way", 3 * GIB / 2, 4 * GIB, 190 * MS, "fill  1.5G of 4G  37%  7.9G/s  ETA 0:01" },
	{ "nothing done", 0, 4 * GIB, SECOND, "fill  0B of 4G  0%" },
	{ "no time passed", GIB, 4 * GIB, 0, "fill  1G of 4G  25%" },
	{ "nothing known", 0, 0, 0, "fill" },
	{ "no total", GIB, 0, SECOND, "fill  1G  1G/s" },
	{ "all done", 4 * GIB, 4 * GIB, 2 * SECOND, "fill  4G of 4G  100%  2G/s" },
	{ "more than all", 5 * GIB, 4 * GIB, 5 * SECOND, "fill  5G of 4G  100%  1G/s" },
	{ "never 100% too early", 4 * GIB - 1, 4 * GIB, 4 * SECOND, "fill  4G of 4G  99%  1G/s  ETA 0:01" },
	{ "minutes", GIB, 91 * GIB, SECOND, "fill  1G of 91G  1%  1G/s  ETA 1:30" },
	{ "an hour", GIB, 3601 * GIB, SECOND, "fill  1G of 3.5T  0%  1G/s  ETA 1:00:00" },
	{ "rounded up to an hour", 2 * GIB, 7201 * GIB, 2 * SECOND, "fill  2G of 7T  0%  1G/s  ETA 1:59:59" },
	{ "hours", GIB, (uint64_t)(99 * 3600 + 62) * GIB, SECOND,
	  "fill  1G of 348.1T  0%  1G/s  ETA 99:01:01" },
	{ "too far to tell", 1, 4 * GIB, 2 * SECOND, "fill  1B of 4G  0%" },
	{ "slow, but known", 2, 4, 4 * SECOND, "fill  2B of 4B  50%  ETA 0:04" },
	{ "largest", UINT64_MAX - 1, UINT64_MAX, UINT64_MAX,
	  "fill  16384P of 16384P  99%  953.7M/s  ETA 0:01" },
	{ "faster than there are numbers", UINT64_MAX, UINT64_MAX, 1, "fill  16384P of 16384P  100%" },
};

static void test_lines(void)
{
	char buf[128];

	for (size_t i = 0; i < HF_LENGTH(lines); i++)
		is_text(hf_progress_line("fill", lines[i].done, lines[i].total, lines[i].elapsed_ns, buf,
					 sizeof(buf)),
			lines[i].want, "line: %s", lines[i].name);
}

static void test_line_cut(void)
{
	for (size_t size = 1; size < 48; size++) {
		char *buf = malloc(size);

		hf_progress_line("fill", GIB, 4 * GIB, SECOND, buf, size);
		ok(strlen(buf) < size &&
			   strncmp(buf, "fill  1G of 4G  25%  1G/s  ETA 0:03", strlen(buf)) == 0,
		   "cut at %zu", size);
		free(buf);
	}
}

/* What was done so far at a moment, both counted from the start of the phase. */
struct step {
	uint64_t at_ms, done;
};

static const struct {
	const char *name;
	enum hf_progress_mode mode;
	bool terminal;
	struct step steps[8]; /* ends with at_ms 0; the last one ends the phase */
	const char *want;
} runs[] = {
	{ "never, log", HF_PROGRESS_NEVER, false, { { 60000, 1 }, { 90000, GIB } }, "" },
	{ "never, terminal", HF_PROGRESS_NEVER, true, { { 60000, 1 }, { 90000, GIB } }, "" },
	{ "auto, log, short", HF_PROGRESS_AUTO, false, { { 9999, GIB / 2 }, { 9999, GIB } }, "" },
	{ "auto, log, long",
	  HF_PROGRESS_AUTO,
	  false,
	  { { 10000, GIB / 4 }, { 19999, GIB / 4 }, { 20000, GIB / 2 }, { 20001, GIB } },
	  "hugefill alloc: fill  256M of 1G  25%  25.6M/s  ETA 0:30\n"
	  "hugefill alloc: fill  512M of 1G  50%  25.6M/s  ETA 0:20\n" },
	{ "always, log",
	  HF_PROGRESS_ALWAYS,
	  false,
	  { { 999, 1 }, { 1000, GIB / 2 }, { 1999, GIB / 2 }, { 2000, GIB } },
	  "hugefill alloc: fill  512M of 1G  50%  512M/s  ETA 0:01\n"
	  "hugefill alloc: fill  1G of 1G  100%  512M/s\n" },
	{ "auto, terminal, short", HF_PROGRESS_AUTO, true, { { 199, GIB / 2 }, { 199, GIB } }, "" },
	{ "auto, terminal",
	  HF_PROGRESS_AUTO,
	  true,
	  { { 200, GIB / 4 }, { 299, GIB / 4 }, { 300, GIB / 2 }, { 500, GIB } },
	  ERASE "hugefill alloc: fill  256M of 1G  25%  1.3G/s  ETA 0:01" ERASE
		"hugefill alloc: fill  512M of 1G  50%  1.7G/s  ETA 0:01" ERASE },
	{ "always, terminal",
	  HF_PROGRESS_ALWAYS,
	  true,
	  { { 99, 1 }, { 100, GIB / 4 }, { 500, GIB } },
	  ERASE "hugefill alloc: fill  256M of 1G  25%  2.5G/s  ETA 0:01" ERASE },
};

static const char *run(size_t i, char *buf, size_t size)
{
	FILE *out = fmemopen(buf, size, "w");
	const struct step *step = runs[i].steps;
	const uint64_t start = 1000 * SECOND;
	struct hf_progress p;

	memset(buf, 0, size);
	hf_progress_init(&p, out, runs[i].mode, "hugefill alloc");
	ok(!p.terminal, "%s: a memory stream is no terminal", runs[i].name);
	p.terminal = runs[i].terminal;
	hf_progress_begin(&p, "fill", GIB, start);
	for (; step[1].at_ms; step++)
		hf_progress_update(&p, step->done, start + step->at_ms * MS);
	hf_progress_end(&p, step->done, start + step->at_ms * MS);
	ok(!p.dirty, "%s: no line is left on the terminal", runs[i].name);
	/* Late updates and a second end say nothing. */
	hf_progress_update(&p, GIB, start + 100 * SECOND);
	hf_progress_end(&p, GIB, start + 100 * SECOND);
	fclose(out);
	return buf;
}

static void test_runs(void)
{
	char buf[4096];

	for (size_t i = 0; i < HF_LENGTH(runs); i++)
		is_text(run(i, buf, sizeof(buf)), runs[i].want, "%s", runs[i].name);
}

static void test_phases(void)
{
	char buf[4096] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	struct hf_progress p;

	hf_progress_init(&p, out, HF_PROGRESS_AUTO, "hugefill alloc");
	p.terminal = true;
	hf_progress_begin(&p, "grow", 0, SECOND);
	hf_progress_update(&p, 0, SECOND + 200 * MS);
	hf_progress_end(&p, 0, SECOND + 250 * MS);
	hf_progress_begin(&p, "fill", GIB, SECOND + 250 * MS);
	hf_progress_update(&p, GIB, SECOND + 449 * MS);
	hf_progress_update(&p, 0, SECOND + 450 * MS);
	hf_progress_update(&p, 1, 0);
	hf_progress_end(&p, 0, 0);
	fclose(out);
	is_text(buf, ERASE "hugefill alloc: grow" ERASE ERASE "hugefill alloc: fill  0B of 1G  0%" ERASE,
		"phases wait anew; total 0 and a clock that runs back do no harm");
	hf_progress_init(&p, NULL, HF_PROGRESS_ALWAYS, "hugefill alloc");
	hf_progress_begin(&p, "fill", GIB, 0);
	hf_progress_update(&p, 1, 100 * SECOND);
	hf_progress_end(&p, GIB, 200 * SECOND);
	ok(true, "no stream, no output");
}

static void test_clock_back(void)
{
	char buf[256] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	struct hf_progress p;

	hf_progress_init(&p, out, HF_PROGRESS_ALWAYS, "hugefill alloc");
	hf_progress_begin(&p, "fill", 2ULL << 60, 5 * SECOND);
	hf_progress_end(&p, 1ULL << 60, 4 * SECOND);
	fclose(out);
	is_text(buf, "hugefill alloc: fill  1024P of 2048P  50%\n", "a clock that ran back tells no rate");
}

static void test_terminal(void)
{
	struct winsize window = { .ws_row = 24, .ws_col = 30 };
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;
	char buf[256] = "";
	struct hf_progress p;
	FILE *out;

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (!ok(slave >= 0 && ioctl(slave, TIOCSWINSZ, &window) == 0, "a terminal of 30 columns"))
		return;
	out = fdopen(slave, "w");
	hf_progress_init(&p, out, HF_PROGRESS_AUTO, "hugefill alloc");
	ok(p.terminal, "is taken for a terminal");
	hf_progress_begin(&p, "fill", GIB, 0);
	hf_progress_update(&p, GIB / 2, SECOND);
	fcntl(master, F_SETFL, O_NONBLOCK);
	ok(read(master, buf, sizeof(buf) - 1) > 0, "is written to at once");
	is_text(buf, ERASE "hugefill alloc: fill  512M of", "no line reaches its last column");
	fclose(out);
	close(master);
}

int main(void)
{
	test_lines();
	test_line_cut();
	test_runs();
	test_phases();
	test_clock_back();
	test_terminal();
	return tap_done();
}
