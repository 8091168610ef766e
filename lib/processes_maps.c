/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "processes_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "vma.h"

/* What numa_maps says of the huge mappings: start, anon, pages by node, one after the other. */
struct places {
	size_t count, stride;
	uint64_t *cells;
};

static FILE *open_lines(struct hf_scan *scan, const char *name)
{
	int fd = hf_sysroot_fd(scan->request->root, O_RDONLY, NULL, "proc/%d/%s", (int)scan->pid, name);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	scan->denied |= fd == -EACCES || fd == -EPERM;
	if (!in && fd >= 0)
		close(fd);
	return in;
}

static int read_places(struct hf_scan *scan, struct places *places)
{
	const struct hf_topology *topo = scan->request->topo;
	_cleanup_fclose_ FILE *in = open_lines(scan, "numa_maps");
	_cleanup_free_ uint64_t *on = calloc(topo->nnodes + 1, sizeof(*on));
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	places->stride = topo->nnodes + 2;
	if (!on)
		return -ENOMEM;
	while (in && getline(&line, &size, in) > 0) {
		struct hf_vma_nodes vma = { .on = on };
		uint64_t *cells;

		if (!hf_vma_parse_nodes(line, topo, &vma))
			continue;
		cells = reallocarray(places->cells, places->count + 1, places->stride * sizeof(*cells));
		if (!cells)
			return -ENOMEM;
		places->cells = cells;
		cells += places->count++ * places->stride;
		cells[0] = vma.start;
		cells[1] = vma.anon;
		memcpy(cells + 2, on, topo->nnodes * sizeof(*on));
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static const uint64_t *find_place(const struct places *places, uint64_t start)
{
	if (!places->count)
		return NULL;
	return bsearch(&start, places->cells, places->count, places->stride * sizeof(start), by_start);
}

/* On a machine of one node there is nothing to ask. */
static int set_nodes(const struct hf_topology *topo, const uint64_t *place, struct hf_holding *holding)
{
	uint64_t pages = holding->shared + holding->exclusive, sum = 0;

	for (size_t n = 0; place && n < topo->nnodes; n++)
		sum += place[2 + n];
	if (topo->nnodes != 1 && sum != pages)
		return 0;
	holding->nodes = calloc(topo->nnodes, sizeof(*holding->nodes));
	if (!holding->nodes)
		return -ENOMEM;
	if (topo->nnodes == 1)
		holding->nodes[0] = pages;
	else if (place)
		memcpy(holding->nodes, place + 2, topo->nnodes * sizeof(*holding->nodes));
	return 0;
}

/* What only the mapping's own link tells, and only to who may follow it (CAP_CHECKPOINT_RESTORE). */
static int64_t look_behind(const struct hf_scan *scan, const struct hf_vma *vma, struct hf_holding *holding)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (!scan->request->root->live)
		return -1;
	fd = hf_sysroot_fd(scan->request->root, O_PATH, NULL, "proc/%d/map_files/%llx-%llx", (int)scan->pid,
			   (unsigned long long)vma->start, (unsigned long long)vma->end);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != vma->dev || st.st_ino != vma->ino ||
	    st.st_blksize <= 0)
		return -1;
	holding->has_filled = true;
	holding->filled = (uint64_t)st.st_blocks * 512 / (uint64_t)st.st_blksize;
	return (int64_t)st.st_nlink;
}

static struct hf_holding *add_mapping(struct hf_scan *scan, const struct hf_vma *vma)
{
	struct hf_holding *holding = hf_scan_add(scan);

	if (!holding)
		return NULL;
	holding->mapped = true;
	holding->page_size = vma->page_size;
	holding->dev = vma->dev;
	holding->ino = vma->ino;
	if (hf_scan_object(scan, holding, vma->path, vma->deleted, look_behind(scan, vma, holding)) < 0)
		return NULL;
	return holding;
}

static int add_vma(struct hf_scan *scan, const struct places *places, const struct hf_vma *vma)
{
	struct hf_holding *holding;
	const uint64_t *place;

	/* Fields before a head that can be read belong to nothing. */
	if (!vma->path || !vma->huge || !vma->page_size)
		return 0;
	holding = add_mapping(scan, vma);
	if (!holding)
		return -ENOMEM;
	place = find_place(places, vma->start);
	holding->shared = vma->shared_bytes / vma->page_size;
	holding->exclusive = vma->private_bytes / vma->page_size;
	holding->anon = place ? place[1] : 0;
	return set_nodes(scan->request->topo, place, holding);
}

static int read_smaps(struct hf_scan *scan, const struct places *places)
{
	_cleanup_fclose_ FILE *in = open_lines(scan, "smaps");
	_cleanup_free_ char *line = NULL;
	_cleanup_free_ char *head = NULL;
	size_t size = 0, head_size = 0;
	struct hf_vma vma = { 0 };
	int rc = 0;

	while (in && rc == 0 && getline(&line, &size, in) > 0) {
		char *free_line = head;
		size_t free_size = head_size;

		/* Fields begin with a capital letter, heads with an address. */
		if (*line >= 'A' && *line <= 'Z') {
			hf_vma_parse_field(line, &vma);
			continue;
		}
		rc = add_vma(scan, places, &vma);
		if (!hf_vma_parse_head(line, &vma))
			vma = (struct hf_vma){ 0 };
		/* The path points into the line, which has to last. */
		head = line;
		head_size = size;
		line = free_line;
		size = free_size;
	}
	return rc < 0 ? rc : add_vma(scan, places, &vma);
}

int hf_scan_mapped(struct hf_scan *scan)
{
	struct places places = { 0 };
	int rc = read_places(scan, &places);

	if (rc == 0)
		rc = read_smaps(scan, &places);
	free(places.cells);
	return rc;
}

int hf_scan_untouched(struct hf_scan *scan)
{
	_cleanup_fclose_ FILE *in = open_lines(scan, "maps");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0) {
		struct hf_vma vma;
		bool wanted = false;

		if (!hf_vma_parse_head(line, &vma))
			continue;
		for (size_t i = 0; i < scan->request->ndevices; i++)
			wanted |= scan->request->devices[i] == vma.dev;
		if (wanted && !add_mapping(scan, &vma))
			return -ENOMEM;
	}
	return 0;
}
