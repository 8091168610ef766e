/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define NODE "sys/devices/system/node"
#define LIST_TEXT 32768 /* every second of 8192 CPUs, written out */
#define MEMINFO_TEXT 16384

static int bad_file(const struct hf_sysroot *root, const char *file, const char *what, struct hf_err *err)
{
	_cleanup_free_ char *path = hf_sysroot_path(root, "%s", file);

	return path ? hf_err_set(err, EBADMSG, path, "%s", what) : hf_err_nomem(err);
}

static int parse_list(const struct hf_sysroot *root, const char *file, const char *text, size_t len,
		      struct hf_nodeset *set, struct hf_err *err)
{
	char shown[160], what[256];

	if (hf_nodeset_parse(text, len, ',', set, err) == 0)
		return 0;
	snprintf(what, sizeof(what), "should hold a list such as 0-3,6, but holds \"%s\"",
		 hf_err_escape(text, shown, sizeof(shown)));
	return bad_file(root, file, what, err);
}

static int read_list(const struct hf_sysroot *root, const char *file, struct hf_nodeset *set,
		     struct hf_err *err)
{
	char text[LIST_TEXT];
	size_t len;
	int rc = hf_sysroot_read(root, text, sizeof(text), &len, err, "%s", file);

	return rc < 0 ? rc : parse_list(root, file, text, len, set, err);
}

static int find_kib(const struct hf_sysroot *root, const char *file, const char *text, const char *key,
		    uint64_t *bytes, struct hf_err *err)
{
	char what[128];
	int rc = hf_sysroot_parse_kib(text, key, bytes);

	if (rc == 0)
		return 0;
	snprintf(what, sizeof(what), "%s \"%s:\" with a number of kB",
		 rc == -ENOENT ? "has no line" : "has no valid line", key);
	return bad_file(root, file, what, err);
}

static int read_memory(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err)
{
	const char *file = "proc/meminfo";
	char text[MEMINFO_TEXT];
	int rc = hf_sysroot_read(root, text, sizeof(text), NULL, err, "%s", file);

	if (rc == 0)
		rc = find_kib(root, file, text, "MemTotal", &topo->mem_total, err);
	if (rc == 0)
		rc = find_kib(root, file, text, "MemFree", &topo->mem_free, err);
	if (rc < 0)
		return rc;
	/* Not there before Linux 3.14: what is free is available for certain. */
	topo->mem_available = topo->mem_free;
	if (hf_sysroot_parse_kib(text, "MemAvailable", &topo->mem_available) == -EBADMSG)
		return find_kib(root, file, text, "MemAvailable", &topo->mem_available, err);
	return 0;
}

static int read_node_memory(const struct hf_sysroot *root, struct hf_node *node, struct hf_err *err)
{
	char text[MEMINFO_TEXT], file[64], key[40];
	int rc;

	snprintf(file, sizeof(file), NODE "/node%u/meminfo", node->id);
	rc = hf_sysroot_read(root, text, sizeof(text), NULL, err, "%s", file);
	if (rc < 0)
		return rc;
	snprintf(key, sizeof(key), "Node %u MemTotal", node->id);
	rc = find_kib(root, file, text, key, &node->mem_total, err);
	if (rc < 0)
		return rc;
	snprintf(key, sizeof(key), "Node %u MemFree", node->id);
	return find_kib(root, file, text, key, &node->mem_free, err);
}

/* One number per online node, in the order of their ids (drivers/base/node.c). */
static int parse_distances(const char *text, unsigned *distance, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		unsigned long value;
		char *end;

		text += *text == ' ';
		if (*text < '0' || *text > '9')
			return -EBADMSG;
		value = strtoul(text, &end, 10);
		if (value > INT_MAX)
			return -EBADMSG;
		distance[i] = (unsigned)value;
		text = end;
	}
	return *text == '\0' || strcmp(text, "\n") == 0 ? 0 : -EBADMSG;
}

static int read_distances(const struct hf_sysroot *root, struct hf_node *node, size_t count,
			  struct hf_err *err)
{
	char text[MEMINFO_TEXT], file[64];
	int rc;

	snprintf(file, sizeof(file), NODE "/node%u/distance", node->id);
	if (!hf_sysroot_exists(root, "%s", file))
		return 0;
	rc = hf_sysroot_read(root, text, sizeof(text), NULL, err, "%s", file);
	if (rc < 0)
		return rc;
	node->distance = calloc(count, sizeof(*node->distance));
	if (!node->distance)
		return hf_err_nomem(err);
	if (parse_distances(text, node->distance, count) < 0)
		return bad_file(root, file, "should hold one distance for each online node", err);
	return 0;
}

static int read_node(const struct hf_sysroot *root, struct hf_node *node, size_t count, struct hf_err *err)
{
	char file[64];
	int rc;

	snprintf(file, sizeof(file), NODE "/node%u/cpulist", node->id);
	rc = read_list(root, file, &node->cpus, err);
	if (rc == 0)
		rc = read_node_memory(root, node, err);
	if (rc == 0)
		rc = read_distances(root, node, count, err);
	return rc;
}

static int alloc_nodes(struct hf_topology *topo, struct hf_err *err)
{
	topo->nnodes = hf_nodeset_count(&topo->online);
	topo->nodes = calloc(topo->nnodes ? topo->nnodes : 1, sizeof(*topo->nodes));
	if (!topo->nodes) {
		topo->nnodes = 0;
		return hf_err_nomem(err);
	}
	for (int id = hf_nodeset_next(&topo->online, 0), i = 0; id >= 0;
	     id = hf_nodeset_next(&topo->online, id + 1))
		topo->nodes[i++].id = (unsigned)id;
	return 0;
}

/* Kernels without has_memory (before 3.8) say it by MemTotal alone. */
static int read_has_memory(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err)
{
	if (hf_sysroot_exists(root, NODE "/has_memory")) {
		int rc = read_list(root, NODE "/has_memory", &topo->memory, err);

		if (rc < 0)
			return rc;
		hf_nodeset_and(&topo->memory, &topo->online, &topo->memory);
	} else {
		for (size_t i = 0; i < topo->nnodes; i++)
			if (topo->nodes[i].mem_total)
				hf_nodeset_add(&topo->memory, topo->nodes[i].id);
	}
	for (size_t i = 0; i < topo->nnodes; i++)
		topo->nodes[i].has_memory = hf_nodeset_has(&topo->memory, topo->nodes[i].id);
	return 0;
}

static int read_nodes(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err)
{
	int rc = read_list(root, NODE "/online", &topo->online, err);

	if (rc < 0)
		return rc;
	if (hf_nodeset_is_empty(&topo->online))
		return bad_file(root, NODE "/online", "names no node", err);
	rc = alloc_nodes(topo, err);
	for (size_t i = 0; rc == 0 && i < topo->nnodes; i++)
		rc = read_node(root, &topo->nodes[i], topo->nnodes, err);
	return rc < 0 ? rc : read_has_memory(root, topo, err);
}

static int make_one_node(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err)
{
	const char *file = "sys/devices/system/cpu/online";
	int rc;

	hf_nodeset_add(&topo->online, 0);
	rc = alloc_nodes(topo, err);
	if (rc < 0)
		return rc;
	hf_nodeset_add(&topo->memory, 0);
	topo->nodes[0].has_memory = true;
	topo->nodes[0].mem_total = topo->mem_total;
	topo->nodes[0].mem_free = topo->mem_free;
	return hf_sysroot_exists(root, "%s", file) ? read_list(root, file, &topo->nodes[0].cpus, err) : 0;
}

static int parse_status(const struct hf_sysroot *root, FILE *in, struct hf_topology *topo, bool seen[2],
			struct hf_err *err)
{
	static const char *const key[] = { "Cpus_allowed_list:", "Mems_allowed_list:" };
	struct hf_nodeset *const set[] = { &topo->cpus_allowed, &topo->mems_allowed };
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int rc = 0;

	/* Line by line: "Groups:" can be longer than any buffer. */
	while (rc == 0 && getline(&line, &size, in) >= 0)
		for (size_t i = 0; i < HF_LENGTH(key); i++)
			if (strncmp(line, key[i], strlen(key[i])) == 0) {
				const char *text = line + strlen(key[i]);

				text += strspn(text, " \t");
				rc = parse_list(root, "proc/self/status", text, strlen(text), set[i], err);
				seen[i] = true;
			}
	if (rc == 0 && ferror(in))
		rc = hf_err_sys(err, errno, "proc/self/status", "cannot read");
	return rc;
}

static int read_status(const struct hf_sysroot *root, struct hf_topology *topo, bool seen[2],
		       struct hf_err *err)
{
	_cleanup_fclose_ FILE *in = NULL;
	int fd;

	if (!hf_sysroot_exists(root, "proc/self/status"))
		return 0;
	fd = hf_sysroot_fd(root, O_RDONLY, err, "proc/self/status");
	if (fd < 0)
		return fd;
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return hf_err_nomem(err);
	}
	return parse_status(root, in, topo, seen, err);
}

/* What status does not tell (no cpusets in the kernel, a partial capture) is not limited. */
static int read_allowed(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err)
{
	bool seen[2] = { false, false };
	int rc = read_status(root, topo, seen, err);

	if (!seen[1])
		topo->mems_allowed = topo->online;
	for (size_t i = 0; !seen[0] && i < topo->nnodes; i++)
		for (size_t w = 0; w < HF_LENGTH(topo->cpus_allowed.bits); w++)
			topo->cpus_allowed.bits[w] |= topo->nodes[i].cpus.bits[w];
	return rc;
}

int hf_topology_read(const struct hf_sysroot *root, struct hf_topology *topo, struct hf_err *err)
{
	int rc;

	*topo = (struct hf_topology){ .numa = hf_sysroot_exists(root, NODE "/online") };
	rc = read_memory(root, topo, err);
	if (rc == 0)
		rc = topo->numa ? read_nodes(root, topo, err) : make_one_node(root, topo, err);
	if (rc == 0)
		rc = read_allowed(root, topo, err);
	if (rc < 0) {
		hf_topology_free(topo);
		return rc;
	}
	if (!topo->numa && hf_nodeset_is_empty(&topo->nodes[0].cpus))
		topo->nodes[0].cpus = topo->cpus_allowed;
	return 0;
}

void hf_topology_free(struct hf_topology *topo)
{
	for (size_t i = 0; i < topo->nnodes; i++)
		free(topo->nodes[i].distance);
	free(topo->nodes);
	*topo = (struct hf_topology){ .nodes = NULL };
}

int hf_topology_index(const struct hf_topology *topo, unsigned id)
{
	for (size_t i = 0; i < topo->nnodes; i++)
		if (topo->nodes[i].id == id)
			return (int)i;
	return -1;
}

int hf_topology_require(const struct hf_topology *topo, const struct hf_nodeset *nodes, const char *object,
			struct hf_err *err)
{
	char list[LIST_TEXT];

	for (int id = hf_nodeset_next(nodes, 0); id >= 0; id = hf_nodeset_next(nodes, (unsigned)id + 1)) {
		if (hf_nodeset_has(&topo->memory, (unsigned)id))
			continue;
		hf_err_set(err, ENODEV, object, "node %d, or its memory, went offline meanwhile", id);
		hf_err_hint(err, "the nodes with memory are %s",
			    hf_nodeset_format(&topo->memory, '+', list, sizeof(list)));
		return -ENODEV;
	}
	return 0;
}

uint64_t hf_topology_memory(const struct hf_topology *topo, const struct hf_nodeset *nodes)
{
	struct hf_nodeset meant;
	uint64_t sum = 0;

	hf_nodeset_and(nodes, &topo->memory, &meant);
	if (hf_nodeset_is_equal(&meant, &topo->memory))
		return topo->mem_total;
	for (size_t i = 0; i < topo->nnodes; i++)
		if (hf_nodeset_has(&meant, topo->nodes[i].id))
			sum += topo->nodes[i].mem_total;
	return sum;
}

void hf_topology_worker_cpus(const struct hf_topology *topo, size_t index, struct hf_nodeset *cpus)
{
	const struct hf_node *home = &topo->nodes[index];
	unsigned best = UINT_MAX;

	hf_nodeset_and(&home->cpus, &topo->cpus_allowed, cpus);
	if (!hf_nodeset_is_empty(cpus))
		return;
	for (size_t i = 0; i < topo->nnodes; i++) {
		unsigned distance = home->distance ? home->distance[i] : UINT_MAX - 1;
		struct hf_nodeset usable;

		hf_nodeset_and(&topo->nodes[i].cpus, &topo->cpus_allowed, &usable);
		if (distance >= best || hf_nodeset_is_empty(&usable))
			continue;
		best = distance;
		*cpus = usable;
	}
	if (hf_nodeset_is_empty(cpus))
		*cpus = topo->cpus_allowed;
}

bool hf_topology_is_usable(const struct hf_topology *topo, size_t index)
{
	return topo->nodes[index].has_memory && (hf_nodeset_is_empty(&topo->mems_allowed) ||
						 hf_nodeset_has(&topo->mems_allowed, topo->nodes[index].id));
}
