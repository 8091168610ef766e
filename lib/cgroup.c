/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LIST_BYTES 16384
#define PATH_BYTES 4096
#define LARGEST_PAGE (1ULL << 40) /* no huge page is as large */

/* One hierarchy, and where this process is in it. */
struct hierarchy {
	const struct hf_sysroot *root;
	bool v2;
	char dir[PATH_BYTES]; /* of the process's cgroup, below the sysroot */
	size_t top;           /* length of the mount point in dir: where the way up ends */
};

/* The names of the limit and of what is used, v1 and v2. */
struct names {
	const char *max, *usage;
};

uint64_t hf_cgroup_left(const struct hf_cgroup_limit *limit)
{
	if (limit->max == HF_CGROUP_NONE)
		return HF_CGROUP_NONE;
	return limit->max > limit->usage ? limit->max - limit->usage : 0;
}

char *hf_cgroup_size_name(uint64_t bytes, char buf[static HF_CGROUP_SIZE_NAME])
{
	if (bytes >= 1ULL << 30)
		snprintf(buf, HF_CGROUP_SIZE_NAME, "%" PRIu64 "GB", bytes >> 30);
	else if (bytes >= 1ULL << 20)
		snprintf(buf, HF_CGROUP_SIZE_NAME, "%" PRIu64 "MB", bytes >> 20);
	else
		snprintf(buf, HF_CGROUP_SIZE_NAME, "%" PRIu64 "KB", bytes >> 10);
	return buf;
}

int hf_cgroup_read_value(const struct hf_sysroot *root, const char *dir, const char *file, uint64_t *value)
{
	struct hf_err ignored = { 0 };
	char text[64], *end;
	int r = hf_sysroot_read(root, text, sizeof(text), NULL, &ignored, "%s/%s", dir, file);

	if (r < 0)
		return r;
	*value = HF_CGROUP_NONE;
	if (strncmp(text, "max", 3) == 0)
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (end == text || errno || (*end && *end != '\n'))
		return -EBADMSG;
	/* For no limit v1 writes 2^63 - 1 rounded down to pages of that size (hugetlb_cgroup_init()). */
	if (*value >= INT64_MAX - LARGEST_PAGE)
		*value = HF_CGROUP_NONE;
	return 0;
}

static int read_value(const struct hierarchy *h, const char *file, uint64_t *value)
{
	return hf_cgroup_read_value(h->root, h->dir, file, value);
}

/* One cgroup on the way up: keeps what leaves less. */
static int tighten(const struct hierarchy *h, const struct names *names, struct hf_cgroup_limit *limit,
		   struct hf_err *err)
{
	struct hf_cgroup_limit here = { 0 };

	/* The root cgroup has no limits, and a controller need not be enabled everywhere. */
	if (read_value(h, names->max, &here.max) < 0 || here.max == HF_CGROUP_NONE)
		return 0;
	if (read_value(h, names->usage, &here.usage) < 0)
		here.usage = 0;
	if (limit->max != HF_CGROUP_NONE && hf_cgroup_left(limit) <= hf_cgroup_left(&here))
		return 0;
	here.path = hf_sysroot_path(h->root, "%s/%s", h->dir, names->max);
	if (!here.path)
		return hf_err_nomem(err);
	free(limit->path);
	*limit = here;
	return 0;
}

static int walk_up(const struct hierarchy *from, const struct names *names, struct hf_cgroup_limit *limit,
		   struct hf_err *err)
{
	struct hierarchy h = *from;
	int r = 0;

	while (r == 0) {
		char *slash;

		r = tighten(&h, names, limit, err);
		slash = strrchr(h.dir, '/');
		if (strlen(h.dir) <= h.top || !slash)
			return r;
		*slash = '\0';
	}
	return r;
}

/* The path in "N:CONTROLLERS:PATH" of this controller, or of "0::PATH"; inside list. */
static const char *own_path(char *list, const char *controller)
{
	char *line;

	while ((line = strsep(&list, "\n")) != NULL) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL, *one;

		if (!path)
			continue;
		*path++ = '\0';
		controllers++;
		if (!controller && strncmp(line, "0:", 2) == 0 && !*controllers)
			return path;
		while (controller && (one = strsep(&controllers, ",")) != NULL)
			if (strcmp(one, controller) == 0)
				return path;
	}
	return NULL;
}

/* False: the hierarchy is not mounted, or this process is outside of what is mounted. */
static bool find_hierarchy(const struct hf_sysroot *root, const struct hf_mounts *mounts,
			   const char *controller, struct hierarchy *h, bool *memory)
{
	const char *target, *seen, *path;
	struct hf_err ignored = { 0 };
	char list[LIST_BYTES];
	size_t len;

	if (!hf_mounts_cgroup(mounts, controller, &target, &seen, "memory_hugetlb_accounting", memory))
		return false;
	if (hf_sysroot_read(root, list, sizeof(list), NULL, &ignored, "proc/self/cgroup") < 0)
		return false;
	path = own_path(list, controller);
	len = strcmp(seen, "/") == 0 ? 0 : strlen(seen);
	/* In a container only a part of the hierarchy is mounted. */
	if (!path || strncmp(path, seen, len) != 0)
		return false;
	*h = (struct hierarchy){ .root = root, .v2 = !controller, .top = strlen(target + 1) };
	if ((size_t)snprintf(h->dir, sizeof(h->dir), "%s%s", target + 1, path + len) >= sizeof(h->dir))
		return false;
	for (len = strlen(h->dir); len > h->top && h->dir[len - 1] == '/'; len--)
		h->dir[len - 1] = '\0';
	return true;
}

static int read_pool(const struct hierarchy *h, uint64_t page_size, struct hf_cgroup_pool *pool,
		     struct hf_err *err)
{
	const char *max = h->v2 ? "max" : "limit_in_bytes", *usage = h->v2 ? "current" : "usage_in_bytes";
	char size[HF_CGROUP_SIZE_NAME], max_name[64], usage_name[64];
	const struct names names = { max_name, usage_name };
	int r;

	hf_cgroup_size_name(page_size, size);
	snprintf(max_name, sizeof(max_name), "hugetlb.%s.%s", size, max);
	snprintf(usage_name, sizeof(usage_name), "hugetlb.%s.%s", size, usage);
	r = walk_up(h, &names, &pool->pages, err);
	if (r < 0)
		return r;
	snprintf(max_name, sizeof(max_name), "hugetlb.%s.rsvd.%s", size, max);
	snprintf(usage_name, sizeof(usage_name), "hugetlb.%s.rsvd.%s", size, usage);
	return walk_up(h, &names, &pool->reserved, err);
}

int hf_cgroups_read(const struct hf_sysroot *root, const struct hf_mounts *mounts, const uint64_t *page_sizes,
		    size_t count, struct hf_cgroups *cgroups, struct hf_err *err)
{
	static const char *const controllers[] = { "hugetlb", NULL };
	static const struct names memory_names = { "memory.max", "memory.current" };
	int r = 0;

	*cgroups = (struct hf_cgroups){ .memory.max = HF_CGROUP_NONE };
	cgroups->pools = calloc(count + 1, sizeof(*cgroups->pools));
	if (!cgroups->pools)
		return hf_err_nomem(err);
	cgroups->count = count;
	for (size_t i = 0; i < count; i++)
		cgroups->pools[i].pages.max = cgroups->pools[i].reserved.max = HF_CGROUP_NONE;
	for (size_t c = 0; c < HF_LENGTH(controllers) && r == 0; c++) {
		bool memory = false;
		struct hierarchy h;

		if (!find_hierarchy(root, mounts, controllers[c], &h, &memory))
			continue;
		for (size_t i = 0; i < count && r == 0; i++)
			r = read_pool(&h, page_sizes[i], &cgroups->pools[i], err);
		if (r == 0 && memory)
			r = walk_up(&h, &memory_names, &cgroups->memory, err);
	}
	return r;
}

void hf_cgroups_free(struct hf_cgroups *cgroups)
{
	for (size_t i = 0; i < cgroups->count; i++) {
		free(cgroups->pools[i].pages.path);
		free(cgroups->pools[i].reserved.path);
	}
	free(cgroups->pools);
	free(cgroups->memory.path);
	*cgroups = (struct hf_cgroups){ 0 };
}
