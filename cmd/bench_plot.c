/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>

enum kind { SVG, PNG, SCRIPT };

#define GNUPLOT "gnuplot" /* found along PATH */
#define NOT_FOUND 127     /* the shell's status for a command that is not there */

static int kind_of(const char *file, enum kind *kind, struct hf_err *err)
{
	static const char *const ends[] = { ".svg", ".png", ".gp" };
	size_t len = strlen(file);

	for (size_t i = 0; i < HF_LENGTH(ends); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(file + len - n, ends[i]) == 0) {
			*kind = (enum kind)i;
			return 0;
		}
	}
	return hf_err_usage(err, "--plot", "\"%s\" ends neither in .svg, .png nor .gp", file);
}

int bench_plot_check(const struct bench_opts *o, struct hf_err *err)
{
	char dir[PATH_MAX], *slash;
	enum kind kind;
	int r = kind_of(o->plot, &kind, err);

	if (r < 0 || o->dry_run)
		return r;
	if ((size_t)snprintf(dir, sizeof(dir), "%s", o->plot) >= sizeof(dir))
		return hf_err_usage(err, "--plot", "the file's name is too long");
	/* gnuplot's single quotes cannot hold it. */
	if (strpbrk(o->plot, "\n\r"))
		return hf_err_usage(err, "--plot", "a file's name of one line is needed");
	if (access(o->plot, F_OK) == 0 && access(o->plot, W_OK) < 0)
		r = -1;
	else if ((slash = strrchr(dir, '/')) == NULL)
		r = access(".", W_OK | X_OK);
	else {
		*slash = '\0';
		r = access(*dir ? dir : "/", W_OK | X_OK);
	}
	if (r < 0) {
		hf_err_sys(err, errno, o->plot, "cannot be written");
		err->usage = true;
		return -err->errnum;
	}
	return 0;
}

static void quote(FILE *out, const char *text)
{
	putc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			putc('\'', out);
		putc(*text, out);
	}
	putc('\'', out);
}

static bool same_line(const struct hf_bench_case *a, const struct hf_bench_case *b)
{
	return a->kind == b->kind && a->mapping == b->mapping && a->bytes == b->bytes &&
	       a->stride == b->stride;
}

static void name_line(const struct hf_bench *bench, const struct hf_bench_case *c, char *buf, size_t size)
{
	char bytes[HF_SIZE_TEXT];

	snprintf(buf, size, "%s %s", hf_bench_test_name(bench, c), hf_size_exact(c->bytes, bytes));
}

/* The y of a case: speedup, or milliseconds for pool. NAN: none. */
static double height(const struct hf_bench *bench, size_t i)
{
	struct hf_err ignored = { 0 };
	struct hf_bench_sum sum;

	if (hf_bench_sum(bench, i, &sum, &ignored) < 0)
		return NAN;
	if (bench->request->workload == HF_BENCH_POOL)
		return sum.min * 1e3;
	return bench->cases[i].count == 1 ? 1 : sum.speedup;
}

static bool is_drawn(const struct hf_bench *bench, const struct hf_bench_case *c)
{
	return bench->request->workload != HF_BENCH_POOL || c->kind == HF_BENCH_WORKERS;
}

/* A data block for each line: $line0, $line1... Returns how many. */
static size_t write_lines(const struct hf_bench *bench, FILE *out, uint64_t *most)
{
	size_t lines = 0;

	for (size_t i = 0; i < bench->ncases; i++) {
		const struct hf_bench_case *first = &bench->cases[i];

		if (!is_drawn(bench, first) || (i && same_line(first, first - 1)))
			continue;
		fprintf(out, "$line%zu << END\n", lines++);
		for (size_t j = i; j < bench->ncases && same_line(first, &bench->cases[j]); j++) {
			double y = height(bench, j);

			if (bench->cases[j].count > *most)
				*most = bench->cases[j].count;
			if (!isnan(y))
				fprintf(out, "%llu %.6g\n", (unsigned long long)bench->cases[j].count, y);
		}
		fputs("END\n", out);
	}
	return lines;
}

static void write_curves(const struct hf_bench *bench, FILE *out)
{
	bool pool = bench->request->workload == HF_BENCH_POOL;
	uint64_t most = 1;
	size_t lines = write_lines(bench, out, &most), line = 0;
	char name[128];

	fprintf(out, "set xlabel '%s'\nset ylabel '%s'\nset key top left\nset grid\n",
		pool ? "workers per node" : "threads", pool ? "time (ms)" : "speedup over one thread");
	fprintf(out, "set xrange [%s:%llu]\nset yrange [0:%s]\n", pool ? "0.5" : "1",
		(unsigned long long)(most + 1), pool ? "*" : "*<4096");
	fputs("set xtics 1\n", out);
	if (most > 16)
		fputs("set xtics auto\n", out);
	fputs("plot ", out);
	if (!pool)
		fputs("x title 'ideal' with lines dashtype 2 linecolor rgb '#808080'", out);
	for (size_t i = 0; i < bench->ncases && line < lines; i++) {
		const struct hf_bench_case *c = &bench->cases[i];

		if (!is_drawn(bench, c) || (i && same_line(c, c - 1)))
			continue;
		name_line(bench, c, name, sizeof(name));
		fprintf(out, "%s$line%zu using 1:2 with linespoints linewidth 2 pointtype 7 title ",
			line || !pool ? ", \\\n  " : "", line);
		quote(out, name);
		line++;
	}
	putc('\n', out);
}

/* Corners of the steps: each bucket's lower limit and count, then the end. */
static void write_steps(const struct hf_histogram *h, FILE *out)
{
	unsigned first = 0, last = HF_HISTOGRAM_BUCKETS - 1;

	if (!h || !h->count)
		return;
	while (!h->buckets[first])
		first++;
	while (!h->buckets[last])
		last--;
	fprintf(out, "%.10g 0\n", ldexp(0.5, (int)first));
	for (unsigned b = first; b <= last; b++)
		fprintf(out, "%.10g %llu\n", ldexp(0.5, (int)b), (unsigned long long)h->buckets[b]);
	fprintf(out, "%.10g 0\n", ldexp(0.5, (int)last + 1));
}

static void write_histograms(const struct hf_bench *bench, FILE *out)
{
	char name[128];

	for (size_t i = 0; i < bench->ncases; i++) {
		fprintf(out, "$line%zu << END\n", i);
		write_steps(bench->cases[i].latency, out);
		fputs("END\n", out);
	}
	fputs("set xlabel 'time of one page, in buckets by powers of two'\nset ylabel 'count'\n"
	      "set logscale x\nset xtics ('1 ns' 1, '10 ns' 1e1, '100 ns' 1e2, '1 us' 1e3, '10 us' 1e4, "
	      "'100 us' 1e5, '1 ms' 1e6, '10 ms' 1e7, '100 ms' 1e8, '1 s' 1e9, '10 s' 1e10)\n"
	      "set key top right\nset grid\nset yrange [0:*]\nset style fill transparent solid 0.15\nplot ",
	      out);
	for (size_t i = 0; i < bench->ncases; i++) {
		fprintf(out, "%s$line%zu using 1:2 with fillsteps linetype %zu notitle, \\\n  ",
			i ? ", \\\n  " : "", i, i + 1);
		fprintf(out, "$line%zu using 1:2 with steps linetype %zu linewidth 2 title ", i, i + 1);
		quote(out, bench_describe(bench, &bench->cases[i], name, sizeof(name)));
	}
	putc('\n', out);
}

/* file: what gnuplot is to draw to, or NULL: its standard output. */
static void write_script(const struct bench_opts *o, const struct hf_bench *bench, enum kind kind,
			 const char *file, FILE *out)
{
	fputs("# hugefill bench: for gnuplot\n", out);
	if (kind != SCRIPT)
		fprintf(out, "set terminal %s size 800,600\n",
			kind == SVG ? "svg background rgb 'white'" : "pngcairo");
	if (kind != SCRIPT && file) {
		fputs("set output ", out);
		quote(out, file);
		putc('\n', out);
	}
	fprintf(out, "set encoding utf8\nset title 'hugefill bench %s'\n",
		hf_bench_workload_name(bench->request->workload));
	if (o->request.histogram)
		write_histograms(bench, out);
	else
		write_curves(bench, out);
}

/* Copies what gnuplot draws. 0, 1: there is no gnuplot, or -EIO: it could not draw. What could not be written
 * is an errno in *failed. */
static int copy_drawing(FILE *drawing, FILE *out, bool *empty, int *failed)
{
	char buf[65536];
	size_t len;
	int status;

	while ((len = fread(buf, 1, sizeof(buf), drawing)) > 0) {
		*empty = false;
		if (fwrite(buf, 1, len, out) < len && !*failed)
			*failed = errno;
	}
	status = pclose(drawing);
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
		return 1;
	return status == 0 ? 0 : -EIO;
}

/* Not gnuplot writes the file: it does not tell when it cannot. 1: there is no gnuplot. */
static int draw(const struct bench_opts *o, const struct hf_bench *bench, enum kind kind, FILE *out,
		struct hf_err *err)
{
	FILE *script = tmpfile(), *drawing = NULL;
	_cleanup_free_ char *command = NULL;
	bool empty = true;
	int r, failed = 0;

	if (!script)
		return hf_err_sys(err, errno, NULL, "cannot make a temporary file for gnuplot");
	write_script(o, bench, kind, NULL, script);
	if (fflush(script) != 0)
		r = hf_err_sys(err, errno, NULL, "cannot write a temporary file for gnuplot");
	else if (asprintf(&command,
			  "command -v " GNUPLOT " >/dev/null || exit %d; exec " GNUPLOT " </dev/fd/%d",
			  NOT_FOUND, fileno(script)) < 0)
		r = hf_err_nomem(err);
	else if (!(drawing = popen(command, "re")))
		r = hf_err_sys(err, errno, o->plot, "cannot start gnuplot");
	else
		r = copy_drawing(drawing, out, &empty, &failed);
	fclose(script);
	if (failed)
		return hf_err_sys(err, failed, o->plot, "cannot be written");
	if (drawing && r <= 0 && (r < 0 || empty))
		return hf_err_set(err, EIO, o->plot, "gnuplot could not draw it");
	return r;
}

/* The file is there when it is whole; one that was there stays until then. draws: what gnuplot makes of the
 * script, else the script. 1: there is no gnuplot. */
static int write_file(const struct bench_opts *o, const struct hf_bench *bench, enum kind kind,
		      const char *file, bool draws, struct hf_err *err)
{
	_cleanup_free_ char *whole = NULL;
	FILE *out;
	int r = 0;

	if (asprintf(&whole, "%s.new", file) < 0) {
		whole = NULL;
		return hf_err_nomem(err);
	}
	out = fopen(whole, "we");
	if (!out)
		return hf_err_sys(err, errno, whole, "cannot be written");
	if (draws)
		r = draw(o, bench, kind, out, err);
	else
		write_script(o, bench, kind, o->plot, out);
	errno = 0;
	if ((fflush(out) != 0 || ferror(out)) && r == 0)
		r = hf_err_sys(err, errno ? errno : EIO, file, "cannot be written");
	if (fclose(out) != 0 && r == 0)
		r = hf_err_sys(err, errno, file, "cannot be written");
	if (r == 0 && rename(whole, file) < 0)
		r = hf_err_sys(err, errno, file, "cannot be written");
	if (r != 0)
		remove(whole);
	return r;
}

int bench_plot(const struct bench_opts *o, const struct hf_bench *bench, struct hf_err *err)
{
	_cleanup_free_ char *script = NULL;
	enum kind kind;
	int r = kind_of(o->plot, &kind, err);

	if (r == 0)
		r = write_file(o, bench, kind, o->plot, kind != SCRIPT, err);
	if (r != 1)
		return r;
	if (asprintf(&script, "%s.gp", o->plot) < 0) {
		script = NULL;
		return hf_err_nomem(err);
	}
	r = write_file(o, bench, kind, script, false, err);
	if (r == 0)
		hf_print_note(o->common, "gnuplot is not installed: %s draws %s where it is", script,
			      o->plot);
	return r;
}
