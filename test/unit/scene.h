/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine, a request for it and the plan, for the unit tests of plan. */
#ifndef SCENE_H
#define SCENE_H

#include "../../lib/apply.h"
#include "tree.h"

#define GIB (1024ull * 1024 * 1024)

struct scene {
	struct hf_machine machine;
	struct hf_spec_list specs;
	struct hf_place *places;
	struct hf_request request;
	struct hf_plan plan;
	struct hf_err err;
};

static inline void scene_open(struct scene *s, const char *dir)
{
	memset(s, 0, sizeof(*s));
	if (hf_machine_read(dir, &s->machine, &s->err) < 0) {
		printf("Bail out! %s: %s\n", s->err.object, s->err.what);
		exit(1);
	}
	s->request.specs = &s->specs;
}

static inline void scene_close(struct scene *s)
{
	hf_plan_free(&s->plan);
	for (size_t i = 0; s->places && i < s->specs.count; i++)
		hf_place_free(&s->places[i]);
	free(s->places);
	hf_spec_list_free(&s->specs);
	hf_machine_free(&s->machine);
}

/* The specs, and where their files lie. page_size 0: the default. */
static inline int scene_specs(struct scene *s, const char *specs, uint64_t page_size)
{
	char text[1024], *rest = NULL;
	struct hf_spec_rules rules;
	int r = 0;

	hf_machine_rules(&s->machine, NULL, &rules);
	snprintf(text, sizeof(text), "%s", specs);
	for (char *word = strtok_r(text, " ", &rest); word && r == 0; word = strtok_r(NULL, " ", &rest))
		r = hf_spec_parse(word, &rules, &s->specs, &s->err);
	s->places = calloc(s->specs.count + 1, sizeof(*s->places));
	s->request.places = s->places;
	if (r == 0)
		r = hf_apply_places(&s->machine, &s->specs, page_size ? page_size : rules.default_page_size,
				    s->places, &s->err);
	return r;
}

static inline int scene_plan(struct scene *s, const char *specs, uint64_t page_size)
{
	int r = scene_specs(s, specs, page_size);

	return r < 0 ? r : hf_plan_make(&s->request, &s->machine, &s->plan, &s->err);
}

static inline void add(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static inline void add(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf + used, size - used, fmt, ap);
	va_end(ap);
}

static inline void add_counts(char *buf, size_t size, const uint64_t *counts, size_t count, const char *none)
{
	for (size_t i = 0; i < count; i++) {
		add(buf, size, "%s", i ? "," : "");
		if (counts[i] || !none)
			add(buf, size, "%llu", (unsigned long long)counts[i]);
		else
			add(buf, size, "%s", none);
	}
}

/*
 * "2M+272:784,- create:512,0 t:6,0 !headroom": new pages and the count written to each node; what is
 * done about each file and the pages to fill on each node; workers; findings.
 */
static inline const char *describe(const struct hf_plan *plan, char *buf, size_t size)
{
	static const char *const actions[] = { "pool", "keep", "create", "fill", "extend", "cut" };
	size_t nnodes = plan->machine->topo.nnodes;
	char page_size[HF_SIZE_TEXT];

	buf[0] = '\0';
	for (size_t i = 0; i < plan->machine->pools.count; i++) {
		if (!plan->pools[i].grows)
			continue;
		add(buf, size, "%s+%llu:", hf_size_exact(plan->machine->page_sizes[i], page_size),
		    (unsigned long long)plan->pools[i].grow);
		add_counts(buf, size, plan->pools[i].write, nnodes, "-");
		add(buf, size, " ");
	}
	for (size_t i = 0; i < plan->ntargets; i++) {
		const struct hf_target *t = &plan->targets[i];

		if (t->action == HF_ACTION_POOL)
			continue;
		add(buf, size, "%s:", actions[t->action]);
		if (t->missing_on)
			add_counts(buf, size, t->missing_on, nnodes, NULL);
		add(buf, size, " ");
	}
	if (plan->nthreads) {
		add(buf, size, "t:");
		add_counts(buf, size, plan->threads, nnodes, NULL);
		add(buf, size, " ");
	}
	for (size_t i = 0; i < plan->nfindings; i++)
		add(buf, size, "%s%s ", plan->findings[i].fatal ? "!" : "?", plan->findings[i].id);
	if (*buf)
		buf[strlen(buf) - 1] = '\0';
	return buf;
}

#endif
