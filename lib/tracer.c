/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#define HIST_BYTES 65536

/* What a function has in tracefs, in the order in which it is made. */
enum { ENTRY_PROBE, RETURN_PROBE, SYNTHETIC, ENTRY_TRIGGER, RETURN_TRIGGER, HIST_TRIGGER, PIECES };

static const char *const places[] = { "sys/kernel/tracing", "sys/kernel/debug/tracing" };

int hf_tracer_add(struct hf_tracer *tracer, const char *name, struct hf_err *err)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_.", name[i]))
			len = 0;
	if (!len || len >= HF_TRACER_NAME || isdigit((unsigned char)*name))
		return hf_err_usage(err, name, "is no name of a kernel function");
	for (size_t i = 0; i < tracer->count; i++)
		if (strcmp(tracer->functions[i].name, name) == 0)
			return hf_err_usage(err, name, "is named twice");
	if (tracer->count == HF_TRACER_MOST)
		return hf_err_usage(err, name, "more than %d functions", HF_TRACER_MOST);
	snprintf(tracer->functions[tracer->count++].name, HF_TRACER_NAME, "%s", name);
	return 0;
}

/* Appends: a write that truncates would remove the probes and events of everybody. */
static int _printf(3, 4) put(const struct hf_tracer *t, const char *file, const char *fmt, ...)
{
	_cleanup_close_ int fd = hf_sysroot_fd(t->root, O_WRONLY | O_APPEND, NULL, "%s/%s", t->dir, file);
	char text[512];
	va_list ap;
	int len;

	if (fd < 0)
		return fd;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return write(fd, text, (size_t)len) == len ? 0 : errno ? -errno : -EIO;
}

static int _printf(4, 5)
	put_trigger(const struct hf_tracer *t, const char *event, bool remove, const char *fmt, ...)
{
	char file[256], text[400];
	va_list ap;

	snprintf(file, sizeof(file), "events/%s/trigger", event);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return put(t, file, "%s%s", remove ? "!" : "", text);
}

/*
 * Makes one piece, or removes it. The return's trigger takes the entry's time of the same thread, and
 * hands the difference to the synthetic event, whose trigger counts it.
 */
static int piece(const struct hf_tracer *t, size_t index, unsigned which, bool remove)
{
	const char *name = t->functions[index].name;
	char entry[64], leave[64], event[64], synthetic[96];

	snprintf(entry, sizeof(entry), "hugefill_%u/in_%zu", t->id, index);
	snprintf(leave, sizeof(leave), "hugefill_%u/out_%zu", t->id, index);
	snprintf(event, sizeof(event), "hugefill_%u_ns_%zu", t->id, index);
	snprintf(synthetic, sizeof(synthetic), "synthetic/%s", event);
	switch (which) {
	case ENTRY_PROBE:
		return remove ? put(t, "kprobe_events", "-:%s\n", entry)
			      : put(t, "kprobe_events", "p:%s %s\n", entry, name);
	case RETURN_PROBE:
		return remove ? put(t, "kprobe_events", "-:%s\n", leave)
			      : put(t, "kprobe_events", "r:%s %s\n", leave, name);
	case SYNTHETIC:
		return put(t, "synthetic_events", "%s%s u64 ns\n", remove ? "!" : "", event);
	case ENTRY_TRIGGER:
		return put_trigger(t, entry, remove, "hist:keys=common_pid:begin%zu=common_timestamp\n",
				   index);
	case RETURN_TRIGGER:
		return put_trigger(t, leave, remove,
				   "hist:keys=common_pid:took%zu=common_timestamp-$begin%zu:"
				   "onmatch(hugefill_%u.in_%zu).%s($took%zu)\n",
				   index, index, t->id, index, event, index);
	default:
		return put_trigger(t, synthetic, remove, "hist:keys=ns.log2\n");
	}
}

static void explain(struct hf_traced *f, unsigned which, int error)
{
	if (which <= RETURN_PROBE && (error == -ENOENT || error == -EINVAL || error == -EADDRNOTAVAIL))
		snprintf(f->why, sizeof(f->why),
			 "the kernel has no function of this name that can be probed: it was built into its "
			 "callers, or is called otherwise (%s)",
			 strerrordesc_np(-error));
	else
		snprintf(f->why, sizeof(f->why), "cannot be traced (%s): %s",
			 which <= RETURN_PROBE ? "kprobe"
			 : which == SYNTHETIC  ? "synthetic event"
					       : "hist trigger",
			 strerrordesc_np(-error));
}

static void unmake(struct hf_tracer *t, size_t index)
{
	struct hf_traced *f = &t->functions[index];

	/* What is gone already needs no removing. */
	while (f->made)
		(void)piece(t, index, --f->made, true);
}

static void make(struct hf_tracer *t, size_t index)
{
	struct hf_traced *f = &t->functions[index];

	while (f->made < PIECES) {
		int r = piece(t, index, f->made, false);

		if (r < 0) {
			explain(f, f->made, r);
			unmake(t, index);
			return;
		}
		f->made++;
	}
}

/* Why nothing can be traced; NULL: it can. */
static const char *find(struct hf_tracer *t)
{
	bool there = false;

	for (size_t i = 0; i < HF_LENGTH(places) && !t->dir; i++) {
		there = there || hf_sysroot_exists(t->root, "%s/events", places[i]);
		if (hf_sysroot_exists(t->root, "%s/kprobe_events", places[i]) &&
		    hf_sysroot_exists(t->root, "%s/synthetic_events", places[i]))
			t->dir = places[i];
	}
	if (t->dir)
		return NULL;
	return there ? "this kernel has no kprobes or no hist triggers (CONFIG_KPROBE_EVENTS, "
		       "CONFIG_HIST_TRIGGERS, CONFIG_SYNTH_EVENTS), or forbids them"
		     : "no tracer here: tracefs is not mounted, or the kernel has none "
		       "(mount -t tracefs tracefs /sys/kernel/tracing)";
}

void hf_tracer_start(struct hf_tracer *t)
{
	const char *why = find(t);

	t->id = (unsigned)getpid();
	t->running = true;
	for (size_t i = 0; i < t->count; i++) {
		if (why)
			snprintf(t->functions[i].why, sizeof(t->functions[i].why), "%s", why);
		else
			make(t, i);
	}
}

void hf_tracer_parse(const char *text, struct hf_histogram *h)
{
	for (const char *at = text; (at = strstr(at, "~ 2^")); at++) {
		const char *hits = strstr(at, "hitcount:"), *end = strchr(at, '\n');
		unsigned long long count;
		unsigned power;

		if (!hits || (end && hits > end) || sscanf(at, "~ 2^%u", &power) != 1 ||
		    sscanf(hits, "hitcount: %llu", &count) != 1 || power >= HF_HISTOGRAM_BUCKETS || !count)
			continue;
		/* No call takes a nanosecond: differences below zero, where the clock went back, wrap to
		 * this bucket. */
		if (power == 0)
			continue;
		if (!h->count || h->min > 1ULL << power >> 1)
			h->min = 1ULL << power >> 1;
		/* The last value of the bucket, so that it is the last to be shown. */
		if (h->max < (1ULL << power) - 1)
			h->max = (1ULL << power) - 1;
		h->buckets[power] += count;
		h->count += count;
	}
}

static void read_times(const struct hf_tracer *t, size_t index, char *text, struct hf_traced *f)
{
	int r = text ? hf_sysroot_read(t->root, text, HIST_BYTES, NULL, NULL,
				       "%s/events/synthetic/hugefill_%u_ns_%zu/hist", t->dir, t->id, index)
		     : -ENOMEM;

	if (r == 0)
		hf_tracer_parse(text, &f->times);
	else
		snprintf(f->why, sizeof(f->why), "what was counted cannot be read: %s", strerrordesc_np(-r));
}

void hf_tracer_stop(struct hf_tracer *t)
{
	char *text = t->running ? malloc(HIST_BYTES) : NULL;

	for (size_t i = 0; i < t->count && t->running; i++) {
		struct hf_traced *f = &t->functions[i];

		if (f->made == PIECES)
			read_times(t, i, text, f);
		unmake(t, i);
	}
	t->running = false;
	free(text);
}
