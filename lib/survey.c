/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "survey.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "survey_parts.h"

struct hf_finding *hf_survey_add(struct hf_surveying *s, enum hf_severity severity, const char *id, int node,
				 const char *object)
{
	struct hf_survey *survey = s->survey;
	struct hf_finding *all = reallocarray(survey->findings, survey->nfindings + 1, sizeof(*all));
	struct hf_finding *f = all ? &all[survey->nfindings] : &s->spare;

	if (all) {
		survey->findings = all;
		survey->nfindings++;
	} else {
		s->failed = true;
	}
	*f = (struct hf_finding){
		.id = id, .fatal = severity == HF_ERROR, .notice = severity == HF_INFO, .node = node
	};
	snprintf(f->object, sizeof(f->object), "%s", object);
	return f;
}

void hf_survey_say(struct hf_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

void hf_survey_hint(struct hf_finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->hint, sizeof(f->hint), fmt, ap);
	va_end(ap);
}

const char *hf_survey_severity(const struct hf_finding *finding)
{
	return finding->fatal ? "error" : finding->notice ? "info" : "warning";
}

static void say_surplus(struct hf_surveying *s, const struct hf_pool *pool, int node, uint64_t pages)
{
	char size[HF_SIZE_TEXT], total[HF_SIZE_TEXT];
	struct hf_finding *f =
		hf_survey_add(s, HF_WARNING, "surplus", node, hf_size_exact(pool->page_size, size));

	f->got = pages * pool->page_size;
	hf_survey_say(f, "%" PRIu64 " pages are surplus: they go back to the system as soon as they are free",
		      pages);
	hf_survey_hint(f, "hugefill alloc %s=%s makes them stay", size,
		       hf_size_exact(pool->nr * pool->page_size, total));
}

static void look_at_surplus(struct hf_surveying *s, const struct hf_pool *pool)
{
	if (!pool->has_nodes || pool->nnodes == 1) {
		if (pool->surplus)
			say_surplus(s, pool, -1, pool->surplus);
		return;
	}
	for (size_t n = 0; n < pool->nnodes; n++)
		if (pool->nodes[n].surplus)
			say_surplus(s, pool, (int)s->machine->topo.nodes[n].id, pool->nodes[n].surplus);
}

static void look_at_unused(struct hf_surveying *s, const struct hf_pool *pool)
{
	uint64_t available = hf_pool_available(pool);
	char size[HF_SIZE_TEXT], all[HF_SIZE_TEXT];
	struct hf_finding *f;

	if (!available)
		return;
	f = hf_survey_add(s, HF_INFO, "unused", -1, hf_size_exact(pool->page_size, size));
	f->got = available * pool->page_size;
	hf_survey_say(f, "%" PRIu64 " of %" PRIu64 " pages (of %s) are neither used nor reserved", available,
		      pool->nr, hf_size_exact(pool->nr * pool->page_size, all));
	hf_survey_hint(f, "hugefill free %s gives them back to the system", size);
}

static void look_at_overcommit(struct hf_surveying *s, const struct hf_pool *pool)
{
	char size[HF_SIZE_TEXT];
	struct hf_finding *f;

	if (!pool->overcommit)
		return;
	f = hf_survey_add(s, HF_WARNING, "overcommit", -1, hf_size_exact(pool->page_size, size));
	f->got = pool->overcommit * pool->page_size;
	hf_survey_say(f,
		      "up to %" PRIu64
		      " pages beyond the pool may be promised to mappings: one that cannot be "
		      "had when it is touched kills the process by SIGBUS",
		      pool->overcommit);
	hf_survey_hint(f, "echo 0 >/sys/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/nr_overcommit_hugepages",
		       pool->page_size / 1024);
}

static bool is_mounted(const struct hf_mounts *mounts, uint64_t page_size)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->mounts[i].page_size == page_size && !mounts->mounts[i].hidden)
			return true;
	return false;
}

static void look_at_pool(struct hf_surveying *s, const struct hf_pool *pool)
{
	char size[HF_SIZE_TEXT];
	struct hf_finding *f;

	look_at_surplus(s, pool);
	look_at_unused(s, pool);
	look_at_overcommit(s, pool);
	if (is_mounted(&s->machine->mounts, pool->page_size))
		return;
	f = hf_survey_add(s, HF_INFO, "no-mount", -1, hf_size_exact(pool->page_size, size));
	hf_survey_say(f, "no hugetlbfs with pages of this size is mounted: there is no place for files");
	hf_survey_hint(f, "hugefill mount --page-size=%s", size);
}

static bool has_option(const char *options, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, len) == 0 && (at[len] == ',' || !at[len]))
			return true;
	}
	return false;
}

static void look_at_mount(struct hf_surveying *s, const struct hf_mount *mount)
{
	const char *cover = hf_mounts_type_at(&s->machine->mounts, mount->target);
	struct hf_finding *f;

	if (mount->hidden) {
		f = hf_survey_add(s, HF_WARNING, "hidden-mount", -1, mount->target);
		hf_survey_say(f,
			      "something else is mounted over it: nothing reaches its files, but they keep "
			      "their pages");
		hf_survey_hint(f,
			       cover ? "umount %s takes away what is on top" : "findmnt shows what covers %s",
			       mount->target);
		return;
	}
	if (has_option(mount->options, "nosuid") && has_option(mount->options, "nodev"))
		return;
	f = hf_survey_add(s, HF_WARNING, "mount-options", -1, mount->target);
	hf_survey_say(f, "is mounted without nosuid,nodev");
	hf_survey_hint(f, "mount -o remount,bind,nosuid,nodev %s", mount->target);
}

static void look_at_limit(struct hf_surveying *s, const char *id, uint64_t page_size, const char *what,
			  const struct hf_cgroup_limit *limit)
{
	uint64_t left = hf_cgroup_left(limit);
	char size[HF_SIZE_TEXT], max[HF_SIZE_TEXT];
	struct hf_finding *f;

	if (limit->max == HF_CGROUP_NONE || !limit->path)
		return;
	if (page_size)
		hf_size_exact(page_size, size);
	f = hf_survey_add(s, left < (page_size ? page_size : 1) ? HF_WARNING : HF_INFO, id, -1,
			  page_size ? size : "memory");
	f->wanted = limit->max;
	f->got = left;
	hf_survey_say(f, "the cgroup's limit of %s is %s (%s)", what, hf_size_exact(limit->max, max),
		      limit->path);
	hf_survey_hint(f, "raise the limit in %s", limit->path);
}

static void look_at_cgroups(struct hf_surveying *s)
{
	const struct hf_cgroups *cgroups = &s->machine->cgroups;

	for (size_t i = 0; i < cgroups->count && i < s->machine->pools.count; i++) {
		uint64_t page_size = s->machine->page_sizes[i];

		look_at_limit(s, "cgroup", page_size, "pages in use", &cgroups->pools[i].pages);
		look_at_limit(s, "cgroup-reserved", page_size, "reserved pages", &cgroups->pools[i].reserved);
	}
	if (cgroups->count)
		look_at_limit(s, "cgroup-memory", 0, "memory, in which huge pages count,", &cgroups->memory);
}

static void look_at_cpuset(struct hf_surveying *s)
{
	const struct hf_topology *topo = &s->machine->topo;
	struct hf_nodeset both;
	char allowed[128];
	struct hf_finding *f;

	for (size_t n = 0; n < topo->nnodes; n++) {
		const struct hf_node *node = &topo->nodes[n];
		bool far = !hf_nodeset_is_empty(&node->cpus) && hf_nodeset_has(&topo->mems_allowed, node->id);

		if (node->has_memory && !hf_nodeset_has(&topo->mems_allowed, node->id)) {
			f = hf_survey_add(s, HF_WARNING, "cpuset", (int)node->id, "memory");
			hf_survey_say(f, "the node is outside of what this process may use (%s)",
				      hf_nodeset_format(&topo->mems_allowed, ',', allowed, sizeof(allowed)));
			hf_survey_hint(f, "widen cpuset.mems of this process");
			continue;
		}
		hf_nodeset_and(&node->cpus, &topo->cpus_allowed, &both);
		if (!node->has_memory || !far || !hf_nodeset_is_empty(&both))
			continue;
		f = hf_survey_add(s, HF_WARNING, "cpus", (int)node->id, "CPUs");
		hf_survey_say(f,
			      "none of the node's CPUs may be used (allowed: %s): its pages are cleared from "
			      "another node",
			      hf_nodeset_format(&topo->cpus_allowed, ',', allowed, sizeof(allowed)));
		hf_survey_hint(f, "widen cpuset.cpus or the affinity of this process");
	}
}

/* Insertion keeps the order within a severity. */
static void sort(struct hf_survey *survey)
{
	for (size_t i = 1; i < survey->nfindings; i++) {
		struct hf_finding f = survey->findings[i];
		size_t at = i;

		for (; at; at--) {
			const struct hf_finding *before = &survey->findings[at - 1];

			if ((before->notice - before->fatal) <= (f.notice - f.fatal))
				break;
			survey->findings[at] = *before;
		}
		survey->findings[at] = f;
	}
}

int hf_survey_end(struct hf_surveying *s, struct hf_err *err)
{
	sort(s->survey);
	return s->failed ? hf_err_nomem(err) : 0;
}

int hf_survey_machine(const struct hf_machine *machine, struct hf_survey *survey, struct hf_err *err)
{
	struct hf_surveying s = { .survey = survey, .machine = machine };
	struct hf_finding *f;

	survey->machine = machine;
	if (!machine->pools.count) {
		f = hf_survey_add(&s, HF_ERROR, "no-hugetlb", -1, "huge pages");
		hf_survey_say(f,
			      "this kernel has none (hugetlb is not built in, or the CPU has no huge pages)");
		return hf_survey_end(&s, err);
	}
	for (size_t i = 0; i < machine->pools.count; i++)
		look_at_pool(&s, &machine->pools.pools[i]);
	for (size_t i = 0; i < machine->mounts.count; i++)
		look_at_mount(&s, &machine->mounts.mounts[i]);
	look_at_cgroups(&s);
	look_at_cpuset(&s);
	hf_survey_kernel(&s);
	hf_survey_boot(&s);
	return hf_survey_end(&s, err);
}

bool hf_survey_is_fatal(const struct hf_survey *survey)
{
	for (size_t i = 0; i < survey->nfindings; i++)
		if (survey->findings[i].fatal)
			return true;
	return false;
}

void hf_survey_free(struct hf_survey *survey)
{
	free(survey->findings);
	*survey = (struct hf_survey){ 0 };
}
