/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench.h"

#include <errno.h>
#include <string.h>

#include "../lib/fill.h"

enum {
	KEY_METHOD = 0x100,
	KEY_MAPPING,
	KEY_STRIDE,
	KEY_INSTANCES,
	KEY_TIME,
	KEY_WORKERS,
	KEY_ACTION,
	KEY_RUNS,
	KEY_WARMUP,
	KEY_HEADROOM,
	KEY_HISTOGRAM,
	KEY_KERNEL,
	KEY_COMPARE,
	KEY_PLOT,
};

#define MOST_THREADS 8192
#define DEFAULT_SECONDS 2
#define KERNEL_FUNCTIONS "hugetlb_add_to_page_cache,__filemap_get_folio"

const struct argp_option bench_options[] = {
	{ "size", 's', "LIST", 0, "sizes (1G)", 1 },
	{ "page-size", 'p', "SIZE", 0, "page size (the kernel's default)", 1 },
	{ "nodes", 'N', "NODES", 0, "nodes, each with its part of a size: 0-3+6 (those with memory)", 1 },
	{ "threads", 't', "LIST", 0, "fill, fault: numbers of threads (1,2,4... up to the CPUs)", 2 },
	{ "method", KEY_METHOD, "LIST", 0, "fill: auto, populate, touch, fallocate (auto)", 2 },
	{ "mapping", KEY_MAPPING, "LIST", 0,
	  "fault, forkfault: private-anon, shared-anon, private-file, shared-file (fault: "
	  "private-anon,shared-file; forkfault: shared-file)",
	  2 },
	{ "stride", KEY_STRIDE, "SIZE", 0, "fault: from one write to the next (the page size)", 2 },
	{ "instances", KEY_INSTANCES, "LIST", 0, "forkfault: numbers of processes (1 and the CPUs)", 2 },
	{ "time", KEY_TIME, "TIME", 0, "forkfault: of each loop in each run (2)", 2 },
	{ "workers", KEY_WORKERS, "LIST", 0, "pool: workers per node (1,2,3,4,5)", 2 },
	{ "action", KEY_ACTION, "LIST", 0, "free: remove, punch, shrink (all)", 2 },
	{ "runs", KEY_RUNS, "N", 0, "runs that count (5)", 3 },
	{ "warmup", KEY_WARMUP, "N", 0, "runs before them that do not (1)", 3 },
	{ "headroom", KEY_HEADROOM, "SIZE|%", 0, "memory that pool growth must leave available (3%)", 3 },
	{ "dry-run", 'n', NULL, 0, "print what would be measured, change nothing", 3 },
	{ "histogram", KEY_HISTOGRAM, NULL, 0, "fill, fault: page by page, and how long each took", 4 },
	{ "kernel", KEY_KERNEL, "FUNC,...", OPTION_ARG_OPTIONAL,
	  "how long these kernel functions take meanwhile (hugetlb_add_to_page_cache,__filemap_get_folio)",
	  4 },
	{ "compare", KEY_COMPARE, "FILE", 0, "an earlier --json result beside this one", 4 },
	{ "plot", KEY_PLOT, "FILE", 0, "fill, fault, pool: draw FILE.svg or FILE.png, or write FILE.gp", 4 },
	{ 0 },
};

/* Where the text of an option goes; NULL: it has none. */
static const char **text_of(struct bench_opts *o, int key)
{
	switch (key) {
	case 's':
		return &o->size;
	case 'p':
		return &o->page_size;
	case 'N':
		return &o->nodes;
	case 't':
		return &o->threads;
	case KEY_METHOD:
		return &o->method;
	case KEY_MAPPING:
		return &o->mapping;
	case KEY_STRIDE:
		return &o->stride;
	case KEY_INSTANCES:
		return &o->instances;
	case KEY_TIME:
		return &o->time;
	case KEY_WORKERS:
		return &o->workers;
	case KEY_ACTION:
		return &o->action;
	case KEY_RUNS:
		return &o->runs;
	case KEY_WARMUP:
		return &o->warmup;
	case KEY_HEADROOM:
		return &o->headroom;
	case KEY_COMPARE:
		return &o->compare;
	case KEY_PLOT:
		return &o->plot;
	default:
		return NULL;
	}
}

error_t bench_parse(int key, char *arg, struct argp_state *state)
{
	struct bench_opts *o = state->input;
	const char **text = text_of(o, key);

	if (text) {
		*text = arg;
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = o->common;
		return 0;
	case 'n':
		o->dry_run = true;
		return 0;
	case KEY_HISTOGRAM:
		o->request.histogram = true;
		return 0;
	case KEY_KERNEL:
		o->kernel = arg ? arg : KERNEL_FUNCTIONS;
		return 0;
	case ARGP_KEY_ARG:
		if (o->workload)
			argp_error(state, "more than one WORKLOAD");
		o->workload = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int add(const char *option, struct hf_bench_list *list, uint64_t value, const char *text,
	       struct hf_err *err)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->values[i] == value)
			return hf_err_usage(err, option, "\"%s\" is named twice", text);
	if (list->count == HF_BENCH_LIST)
		return hf_err_usage(err, option, "more than %d values", HF_BENCH_LIST);
	list->values[list->count++] = value;
	return 0;
}

/* names: choices, ends with NULL, or NULL: sizes where most is 0, else numbers from 1 to most. */
static int read_list(const char *option, const char *text, const char *const *names, uint64_t most,
		     struct hf_bench_list *list, struct hf_err *err)
{
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		_cleanup_free_ char *word = strndup(at, len);
		uint64_t value = 0;
		int choice = 0, r;

		if (!word)
			return hf_err_nomem(err);
		if (names)
			r = hf_option_choice(option, word, names, &choice, err);
		else if (most)
			r = hf_option_u64(option, word, 1, most, &value, err);
		else if ((r = hf_size_parse(word, &value, err)) < 0)
			hf_option_blame(option, err);
		if (r == 0)
			r = add(option, list, names ? (uint64_t)choice : value, word, err);
		at += len;
		if (r < 0 || !*at)
			return r;
	}
}

/* 1, 2, 4 and so on, and all of them. */
static void double_up(struct hf_bench_list *list, uint64_t all)
{
	for (uint64_t n = 1; n < all && list->count + 1 < HF_BENCH_LIST; n *= 2)
		list->values[list->count++] = n;
	list->values[list->count++] = all;
}

static int read_counts(struct bench_opts *o, unsigned cpus, struct hf_err *err)
{
	struct hf_bench_list *counts = &o->request.counts;

	switch (o->request.workload) {
	case HF_BENCH_FILL:
	case HF_BENCH_FAULT:
		if (o->threads)
			return read_list("--threads", o->threads, NULL, MOST_THREADS, counts, err);
		double_up(counts, cpus ? cpus : 1);
		return 0;
	case HF_BENCH_FORKFAULT:
		if (o->instances)
			return read_list("--instances", o->instances, NULL, MOST_THREADS, counts, err);
		counts->values[counts->count++] = 1;
		if (cpus > 1)
			counts->values[counts->count++] = cpus;
		return 0;
	case HF_BENCH_POOL:
		return read_list("--workers", o->workers ? o->workers : "1,2,3,4,5", NULL, MOST_THREADS,
				 counts, err);
	case HF_BENCH_FREE:
		break;
	}
	return 0;
}

static int resolve_auto(struct hf_bench_list *kinds, struct hf_err *err)
{
	struct hf_bench_list all = *kinds;
	int r = 0;

	kinds->count = 0;
	for (size_t i = 0; i < all.count && r == 0; i++) {
		enum hf_method method = hf_fill_method((enum hf_method)all.values[i]);

		r = add("--method", kinds, method, hf_fill_method_name(method), err);
	}
	return r;
}

static int read_kinds(struct bench_opts *o, struct hf_err *err)
{
	static const char *const methods[] = { "auto", "populate", "touch", "fallocate", NULL };
	static const char *const mappings[] = { "private-anon", "shared-anon", "private-file", "shared-file",
						NULL };
	static const char *const actions[] = { "remove", "punch", "shrink", NULL };
	struct hf_bench_list *kinds = &o->request.kinds;
	bool forks = o->request.workload == HF_BENCH_FORKFAULT;
	const char *usual = forks ? "shared-file" : "private-anon,shared-file";
	int r;

	switch (o->request.workload) {
	case HF_BENCH_FILL:
		r = read_list("--method", o->method ? o->method : "auto", methods, 0, kinds, err);
		return r < 0 ? r : resolve_auto(kinds, err);
	case HF_BENCH_FAULT:
	case HF_BENCH_FORKFAULT:
		r = read_list("--mapping", o->mapping ? o->mapping : usual, mappings, 0, kinds, err);
		for (size_t i = 0; i < kinds->count && forks && r == 0; i++)
			if (kinds->values[i] == HF_BENCH_PRIVATE_ANON ||
			    kinds->values[i] == HF_BENCH_PRIVATE_FILE)
				r = hf_err_usage(err, "--mapping", "forkfault is about shared mappings");
		return r;
	case HF_BENCH_FREE:
		return read_list("--action", o->action ? o->action : "remove,punch,shrink", actions, 0, kinds,
				 err);
	case HF_BENCH_POOL:
		break;
	}
	return 0;
}

/* An option that would be without effect. */
static int check_fitting(const struct bench_opts *o, struct hf_err *err)
{
	const unsigned fill = 1U << HF_BENCH_FILL, fault = 1U << HF_BENCH_FAULT, pool = 1U << HF_BENCH_POOL;
	const unsigned forks = 1U << HF_BENCH_FORKFAULT, frees = 1U << HF_BENCH_FREE;
	const struct {
		const char *name;
		bool given;
		unsigned of;
		const char *text;
	} rules[] = {
		{ "--threads", o->threads, fill | fault, "fill and fault" },
		{ "--method", o->method, fill, "fill" },
		{ "--mapping", o->mapping, fault | forks, "fault and forkfault" },
		{ "--stride", o->stride, fault, "fault" },
		{ "--instances", o->instances, forks, "forkfault" },
		{ "--time", o->time, forks, "forkfault" },
		{ "--workers", o->workers, pool, "pool" },
		{ "--action", o->action, frees, "free" },
		{ "--histogram", o->request.histogram, fill | fault, "fill and fault" },
		{ "--plot", o->plot, fill | fault | pool, "fill, fault and pool" },
	};

	for (size_t i = 0; i < HF_LENGTH(rules); i++)
		if (rules[i].given && !(rules[i].of >> o->request.workload & 1))
			return hf_err_usage(err, rules[i].name, "is for %s, not for %s", rules[i].text,
					    hf_bench_workload_name(o->request.workload));
	return 0;
}

static int read_functions(struct bench_opts *o, const struct hf_machine *machine, struct hf_err *err)
{
	int r = 0;

	o->tracer.root = &machine->root;
	for (const char *at = o->kernel; r == 0; at++) {
		size_t len = strcspn(at, ",");
		_cleanup_free_ char *name = strndup(at, len);

		r = name ? hf_tracer_add(&o->tracer, name, err) : hf_err_nomem(err);
		if (r == -EINVAL)
			hf_option_blame("--kernel", err);
		at += len;
		if (!*at)
			break;
	}
	return r;
}

static int read_nodes(struct bench_opts *o, const struct hf_machine *machine, struct hf_err *err)
{
	struct hf_spec_rules rules;

	hf_machine_rules(machine, NULL, &rules);
	o->request.nodes = machine->topo.memory;
	o->request.strict = o->nodes != NULL;
	if (o->nodes && hf_spec_parse_nodes(o->nodes, strlen(o->nodes), &rules, &o->request.nodes, err) < 0)
		return hf_option_blame("--nodes", err);
	return 0;
}

static unsigned count_cpus(const struct bench_opts *o, const struct hf_machine *machine)
{
	unsigned cpus = 0;

	for (size_t n = 0; n < machine->topo.nnodes; n++) {
		struct hf_nodeset here;

		if (!hf_nodeset_has(&o->request.nodes, machine->topo.nodes[n].id))
			continue;
		hf_topology_worker_cpus(&machine->topo, n, &here);
		cpus += hf_nodeset_count(&here);
	}
	return cpus < MOST_THREADS ? cpus : MOST_THREADS;
}

static int read_rest(struct bench_opts *o, const struct hf_machine *machine, struct hf_err *err)
{
	struct hf_bench_request *q = &o->request;
	uint64_t memory = machine->topo.mem_total;
	int r = read_list("--size", o->size ? o->size : "1G", NULL, 0, &q->sizes, err);

	if (r == 0)
		r = read_counts(o, count_cpus(o, machine), err);
	if (r == 0)
		r = read_kinds(o, err);
	q->stride = q->page_size;
	if (r == 0 && o->stride && hf_size_parse(o->stride, &q->stride, err) < 0)
		r = hf_option_blame("--stride", err);
	if (r == 0 && !q->stride)
		r = hf_err_usage(err, "--stride", "\"%s\" leads nowhere", o->stride);
	q->seconds = DEFAULT_SECONDS;
	if (r == 0 && o->time)
		r = hf_option_seconds("--time", o->time, &q->seconds, err);
	if (r == 0)
		r = hf_option_u64("--runs", o->runs ? o->runs : "5", 1, 1000, &q->runs, err);
	if (r == 0)
		r = hf_option_u64("--warmup", o->warmup ? o->warmup : "1", 0, 100, &q->warmup, err);
	if (r == 0)
		r = hf_option_share("--headroom", o->headroom ? o->headroom : "3%", memory, &q->headroom,
				    err);
	return r;
}

int bench_read(struct bench_opts *o, const struct hf_machine *machine, struct hf_err *err)
{
	static const char *const workloads[] = { "fill", "fault", "forkfault", "pool", "free", NULL };
	int workload = HF_BENCH_FILL, r = 0;

	if (o->workload)
		r = hf_option_choice("WORKLOAD", o->workload, workloads, &workload, err);
	o->request.workload = (enum hf_bench_workload)workload;
	if (r == 0)
		r = check_fitting(o, err);
	if (r == 0)
		r = hf_option_page_size(machine, o->page_size, &o->request.page_size, err);
	if (r == 0 && o->kernel)
		r = read_functions(o, machine, err);
	if (r == 0)
		r = read_nodes(o, machine, err);
	return r < 0 ? r : read_rest(o, machine, err);
}
