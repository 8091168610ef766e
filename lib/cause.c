/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cause.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#define BUDDYINFO_BYTES 65536
#define MEMINFO_BYTES 16384
#define LARGEST_BLOCK (512ULL << 20) /* of any kernel's buddy allocator: arm64 with 64 KiB pages */

/* "Node 0, zone Normal 905 144 ...": free blocks of 1, 2, 4 ... base pages. */
static bool parse_zone(const char *line, unsigned *node, const char **counts)
{
	int at = 0;

	if (sscanf(line, "Node %u, zone %*s %n", node, &at) < 1 || !at)
		return false;
	*counts = line + at;
	return true;
}

static void add_zone(const char *counts, uint64_t base, uint64_t page_size, uint64_t *contiguous,
		     uint64_t *total)
{
	for (unsigned order = 0; order < 64; order++) {
		uint64_t block = base << order, blocks;
		char *end;

		errno = 0;
		blocks = strtoull(counts, &end, 10);
		if (end == counts || errno || (blocks && block > UINT64_MAX / blocks))
			return;
		/* Only garbage exceeds this, and it must not wrap. */
		if (__builtin_add_overflow(*total, blocks * block, total))
			*total = UINT64_MAX;
		if (block >= page_size && __builtin_add_overflow(*contiguous, blocks * block, contiguous))
			*contiguous = UINT64_MAX;
		counts = end;
	}
}

/* Free pages that all zones list. */
static uint64_t count_free(const char *text)
{
	uint64_t contiguous = 0, total = 0;

	while (text && *text) {
		const char *counts, *end = strchr(text, '\n');
		unsigned id;

		if (parse_zone(text, &id, &counts))
			add_zone(counts, 1, UINT64_MAX, &contiguous, &total);
		text = end ? end + 1 : NULL;
	}
	return total;
}

/* A captured tree may come from a machine with larger base pages, which no file names: its free
 * memory tells, by count and by size. */
static uint64_t base_page(const struct hf_sysroot *root, const char *buddyinfo)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE), free = 0, pages;
	struct hf_err ignored = { 0 };
	char meminfo[MEMINFO_BYTES];

	if (root->live ||
	    hf_sysroot_read(root, meminfo, sizeof(meminfo), NULL, &ignored, "proc/meminfo") < 0 ||
	    hf_sysroot_parse_kib(meminfo, "MemFree", &free) < 0)
		return base;
	pages = count_free(buddyinfo);
	for (base = 4096; base < 65536 && pages && free / pages >= base * 2; base *= 2)
		;
	return base;
}

int hf_cause_contiguous(const struct hf_sysroot *root, unsigned node, uint64_t page_size,
			uint64_t *contiguous, uint64_t *total)
{
	_cleanup_free_ char *text = malloc(BUDDYINFO_BYTES);
	uint64_t base;
	struct hf_err ignored = { 0 };
	char *rest = text, *line;
	int r, seen = 0;

	*contiguous = *total = 0;
	if (!text)
		return -ENOMEM;
	r = hf_sysroot_read(root, text, BUDDYINFO_BYTES, NULL, &ignored, "proc/buddyinfo");
	if (r < 0)
		return r;
	base = base_page(root, text);
	while ((line = strsep(&rest, "\n")) != NULL) {
		const char *counts;
		unsigned id;

		if (!parse_zone(line, &id, &counts) || id != node)
			continue;
		seen++;
		add_zone(counts, base, page_size, contiguous, total);
	}
	return seen ? 0 : -ENOENT;
}

uint64_t hf_cause_largest_block(const struct hf_sysroot *root)
{
	_cleanup_free_ char *text = malloc(BUDDYINFO_BYTES);
	struct hf_err ignored = { 0 };
	unsigned node, orders = 0;
	const char *counts;
	uint64_t base;
	char *end;

	if (!text || hf_sysroot_read(root, text, BUDDYINFO_BYTES, NULL, &ignored, "proc/buddyinfo") < 0)
		return 0;
	base = base_page(root, text);
	text[strcspn(text, "\n")] = '\0';
	if (!parse_zone(text, &node, &counts))
		return 0;
	for (; orders < 40; orders++, counts = end) {
		strtoull(counts, &end, 10);
		if (end == counts)
			break;
	}
	return orders ? base << (orders - 1) : 0;
}

static void say_memory(struct hf_finding *f, uint64_t available, uint64_t lacking, bool dropped)
{
	char have[HF_SIZE_TEXT], need[HF_SIZE_TEXT];

	f->id = "memory";
	snprintf(f->text, sizeof(f->text),
		 "not enough memory: %s more is needed, %s is available on the machine",
		 hf_size_human(lacking, need), hf_size_human(available, have));
	snprintf(f->hint, sizeof(f->hint), "%s",
		 dropped ? "stop something that uses memory, or ask for less"
			 : "stop something that uses memory, ask for less, or let --drop-caches drop clean "
			   "caches");
}

/* Blocks larger than any that the kernel keeps lists of: how much there is cannot be read. */
static void say_gigantic(struct hf_finding *f, uint64_t free, uint64_t page_size)
{
	char have[HF_SIZE_TEXT], size[HF_SIZE_TEXT];

	f->id = "gigantic";
	snprintf(f->text, sizeof(f->text),
		 "a page of %s needs as much contiguous memory, and the kernel found no more (%s is free)",
		 hf_size_exact(page_size, size), hf_size_human(free, have));
	snprintf(f->hint, sizeof(f->hint),
		 "reserve gigantic pages at boot: hugepagesz=%s hugepages=N on the kernel command line",
		 size);
}

static void say_fragmented(struct hf_finding *f, uint64_t free, uint64_t contiguous, uint64_t page_size,
			   bool dropped)
{
	char have[HF_SIZE_TEXT], blocks[HF_SIZE_TEXT], size[HF_SIZE_TEXT];

	f->id = "fragmented";
	snprintf(f->text, sizeof(f->text),
		 "memory is fragmented: %s is free, %s of it in blocks of %s or more, after compaction",
		 hf_size_human(free, have), hf_size_human(contiguous, blocks),
		 hf_size_exact(page_size, size));
	snprintf(f->hint, sizeof(f->hint), "%s",
		 dropped ? "ask for less, or reserve the pages at boot: hugepages= on the kernel command line"
			 : "try --drop-caches, ask for less, or reserve the pages at boot: hugepages= on the "
			   "kernel command line");
}

/* Whether the node can have no page at all any more; *here is its place among those of now. */
static bool is_gone(const struct hf_topology *now, unsigned id, size_t *here)
{
	int index = hf_topology_index(now, id);

	*here = index < 0 ? 0 : (size_t)index;
	return index < 0 || !now->nodes[index].has_memory;
}

void hf_cause_of_shortage(const struct hf_machine *machine, const struct hf_pool *pool, size_t node,
			  uint64_t missing, bool dropped, struct hf_finding *f)
{
	uint64_t lacking = missing * pool->page_size, contiguous = 0, free = 0, available;
	unsigned id = machine->topo.nodes[node].id;
	struct hf_topology now = { 0 };
	struct hf_err ignored = { 0 };
	bool known = hf_topology_read(&machine->root, &now, &ignored) == 0, gone;
	size_t here = 0;

	gone = known && is_gone(&now, id, &here);
	if (!known || gone ||
	    hf_cause_contiguous(&machine->root, id, pool->page_size, &contiguous, &free) < 0) {
		hf_topology_free(&now);
		f->id = "short";
		snprintf(f->text, sizeof(f->text), "%s",
			 gone ? "the node, or its memory, went offline meanwhile"
			      : "the kernel gave no more, and its free memory cannot be read");
		return;
	}
	available = now.mem_available;
	if (now.nnodes > 1 && now.nodes[here].mem_free < available)
		available = now.nodes[here].mem_free;
	if (now.nnodes == 1)
		free = now.mem_free;
	if (available < lacking)
		say_memory(f, available, lacking, dropped);
	else if (pool->page_size > LARGEST_BLOCK)
		say_gigantic(f, free, pool->page_size);
	else
		say_fragmented(f, free, contiguous, pool->page_size, dropped);
	hf_topology_free(&now);
}

static void say_limit(struct hf_finding *f, const char *id, const struct hf_cgroup_limit *limit)
{
	char max[HF_SIZE_TEXT], used[HF_SIZE_TEXT];

	f->id = id;
	snprintf(f->text, sizeof(f->text), "the cgroup's limit was reached: %s of %s are used (%s)",
		 hf_size_human(limit->usage, used), hf_size_human(limit->max, max), limit->path);
	snprintf(f->hint, sizeof(f->hint), "raise the limit in %s, or run hugefill in another cgroup",
		 limit->path);
}

/* A limit that has no room for the pages that were asked for. */
static const struct hf_cgroup_limit *reached(const struct hf_cgroups *cgroups, size_t pool, bool reserving,
					     uint64_t bytes)
{
	const struct hf_cgroup_limit *limit;

	if (pool >= cgroups->count)
		return NULL;
	limit = reserving ? &cgroups->pools[pool].reserved : &cgroups->pools[pool].pages;
	if (hf_cgroup_left(limit) >= bytes)
		limit = &cgroups->memory;
	return hf_cgroup_left(limit) < bytes ? limit : NULL;
}

static void say_pool(struct hf_finding *f, const struct hf_machine *machine, const struct hf_pool *pool,
		     size_t node, uint64_t pages)
{
	if (node != SIZE_MAX) {
		f->id = "node-empty";
		snprintf(f->text, sizeof(f->text),
			 "the pool of node %u has %" PRIu64 " free pages of %" PRIu64
			 ", and other nodes may not make up",
			 machine->topo.nodes[node].id, pool->nodes[node].free, pool->nodes[node].nr);
		snprintf(f->hint, sizeof(f->hint),
			 "something else took the node's pages meanwhile: try again, or leave @ out");
		return;
	}
	f->id = "reserved";
	snprintf(f->text, sizeof(f->text),
		 "%" PRIu64 " pages were to be reserved, but %" PRIu64 " are free and %" PRIu64
		 " of these are reserved by others",
		 pages, pool->free, pool->reserved);
	snprintf(f->hint, sizeof(f->hint), "something else took pages meanwhile: try again");
}

/* The address space, tried without any memory behind it. */
static bool has_room_for(uint64_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map != MAP_FAILED && munmap(map, bytes) == 0;
}

void hf_cause_of_refusal(struct hf_machine *machine, struct hf_plan *plan, const struct hf_place *place,
			 size_t pool, size_t node, uint64_t pages)
{
	bool reserving = node == SIZE_MAX;
	uint64_t bytes = reserving ? pages * place->page_size : place->page_size;
	struct hf_finding *f = hf_plan_find(plan, "refused", true,
					    reserving ? -1 : (int)machine->topo.nodes[node].id, place->path);
	const struct hf_cgroup_limit *limit;
	struct hf_err ignored = { 0 };

	if (!f)
		return;
	if (hf_pool_refresh(&machine->root, &machine->topo, &machine->pools.pools[pool], &ignored) < 0)
		return;
	hf_cgroups_free(&machine->cgroups);
	if (hf_cgroups_read(&machine->root, &machine->mounts, machine->page_sizes, machine->pools.count,
			    &machine->cgroups, &ignored) < 0)
		return;
	if (reserving && !has_room_for(bytes)) {
		f->id = "address-space";
		snprintf(f->text, sizeof(f->text), "this process may not map as much (ulimit -v)");
		snprintf(f->hint, sizeof(f->hint), "raise the limit, or ask for smaller files");
		return;
	}
	limit = reached(&machine->cgroups, pool, reserving, bytes);
	if (limit)
		say_limit(f,
			  limit == &machine->cgroups.memory ? "cgroup-memory"
			  : reserving                       ? "cgroup-reserved"
							    : "cgroup",
			  limit);
	else if (place->mount_limit != HF_MOUNTS_NONE && reserving && place->mount_left < bytes)
		snprintf(f->text, sizeof(f->text), "the mount's size= limit of %s is reached", place->mount);
	else
		say_pool(f, machine, &machine->pools.pools[pool], node, pages);
}
