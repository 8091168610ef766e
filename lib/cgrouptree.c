/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cgrouptree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST 64
#define DIR_BYTES 3072 /* leaves room for a file's name in PATH_MAX */

struct walk {
	const struct hf_sysroot *root;
	const uint64_t *page_sizes;
	size_t npage_sizes;
	struct hf_cgroup_tree *tree;
	bool v2;
	const char *seen;    /* what of the hierarchy lies at the mount point: "" or "/docker/x" */
	size_t top;          /* length of the mount point in dir */
	char dir[DIR_BYTES]; /* where the walk is, below the sysroot */
	unsigned depth;
};

static uint64_t read_file(const struct walk *w, const char *size, const char *name)
{
	uint64_t value;
	char file[64];

	snprintf(file, sizeof(file), "hugetlb.%s.%s", size, name);
	return hf_cgroup_read_value(w->root, w->dir, file, &value) < 0 ? HF_CGROUP_NONE : value;
}

/* hugetlb.SIZE.events: "max N". */
static uint64_t read_events(const struct walk *w, const char *size)
{
	struct hf_err ignored = { 0 };
	unsigned long long value;
	char text[128];

	if (hf_sysroot_read(w->root, text, sizeof(text), NULL, &ignored, "%s/hugetlb.%s.events", w->dir,
			    size) < 0 ||
	    sscanf(text, "max %llu", &value) != 1)
		return HF_CGROUP_NONE;
	return value;
}

static void read_row(const struct walk *w, const char *size, struct hf_cgroup_row *row)
{
	row->limit = read_file(w, size, w->v2 ? "max" : "limit_in_bytes");
	row->rsvd_limit = read_file(w, size, w->v2 ? "rsvd.max" : "rsvd.limit_in_bytes");
	row->rsvd_usage = read_file(w, size, w->v2 ? "rsvd.current" : "rsvd.usage_in_bytes");
	row->failures = w->v2 ? read_events(w, size) : read_file(w, size, "failcnt");
	row->rsvd_failures = w->v2 ? HF_CGROUP_NONE : read_file(w, size, "rsvd.failcnt");
}

static bool is_some(uint64_t value)
{
	return value && value != HF_CGROUP_NONE;
}

/* A limit of 0 is one. */
static bool is_worth_telling(const struct hf_cgroup_row *row)
{
	return row->limit != HF_CGROUP_NONE || row->rsvd_limit != HF_CGROUP_NONE || is_some(row->usage) ||
	       is_some(row->rsvd_usage) || is_some(row->failures) || is_some(row->rsvd_failures);
}

static int add_row(const struct walk *w, struct hf_cgroup_row *row)
{
	struct hf_cgroup_tree *tree = w->tree;
	struct hf_cgroup_row *rows;
	const char *below = w->dir + w->top;

	if (asprintf(&row->path, "%s%s%s", w->seen, below, *w->seen || *below ? "" : "/") < 0)
		return -ENOMEM;
	rows = reallocarray(tree->rows, tree->count + 1, sizeof(*rows));
	if (!rows) {
		free(row->path);
		return -ENOMEM;
	}
	tree->rows = rows;
	rows[tree->count++] = *row;
	return 0;
}

/* *enabled: the controller has files here. */
static int look(const struct walk *w, bool *enabled)
{
	*enabled = false;
	for (size_t i = 0; i < w->npage_sizes; i++) {
		struct hf_cgroup_row row = { .v2 = w->v2, .page_size = w->page_sizes[i] };
		char size[HF_CGROUP_SIZE_NAME];
		int rc;

		hf_cgroup_size_name(row.page_size, size);
		row.usage = read_file(w, size, w->v2 ? "current" : "usage_in_bytes");
		if (row.usage == HF_CGROUP_NONE)
			continue;
		*enabled = true;
		read_row(w, size, &row);
		rc = is_worth_telling(&row) ? add_row(w, &row) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool is_directory(int fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_name[0] == '.' && (!entry->d_name[1] || strcmp(entry->d_name, "..") == 0))
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int visit(struct walk *w);

/* Into a child and back. */
static int step(struct walk *w, const char *name)
{
	size_t len = strlen(w->dir);
	int rc = 0;

	if (w->depth >= DEEPEST || len + strlen(name) + 2 > sizeof(w->dir)) {
		w->tree->skipped++;
		return 0;
	}
	w->dir[len] = '/';
	strcpy(w->dir + len + 1, name);
	w->depth++;
	rc = visit(w);
	w->depth--;
	w->dir[len] = '\0';
	return rc;
}

static int visit_children(struct walk *w)
{
	int fd = hf_sysroot_fd(w->root, O_RDONLY | O_DIRECTORY, NULL, "%s", w->dir), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		/* A cgroup may have been removed meanwhile. */
		w->tree->skipped += fd != -ENOENT && fd != -ENODEV;
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (rc == 0 && (entry = readdir(dir)) != NULL)
		if (is_directory(dirfd(dir), entry))
			rc = step(w, entry->d_name);
	closedir(dir);
	return rc;
}

static int visit(struct walk *w)
{
	bool enabled;
	int rc = look(w, &enabled);

	if (rc < 0 || (!enabled && w->depth > 0))
		return rc;
	return visit_children(w);
}

static int by_place(const void *a, const void *b)
{
	const struct hf_cgroup_row *x = a, *y = b;
	int order = (int)x->v2 - (int)y->v2;

	if (!order)
		order = strcmp(x->path, y->path);
	return order ? order : (x->page_size > y->page_size) - (x->page_size < y->page_size);
}

static int walk_hierarchy(struct walk *w, const struct hf_mounts *mounts)
{
	const char *target, *seen;
	bool option;

	if (!hf_mounts_cgroup(mounts, w->v2 ? NULL : "hugetlb", &target, &seen, NULL, &option))
		return 0;
	w->seen = strcmp(seen, "/") == 0 ? "" : seen;
	w->depth = 0;
	if (*target != '/' || (size_t)snprintf(w->dir, sizeof(w->dir), "%s", target + 1) >= sizeof(w->dir)) {
		w->tree->skipped++;
		return 0;
	}
	w->top = strlen(w->dir);
	return visit(w);
}

int hf_cgroup_tree_read(const struct hf_sysroot *root, const struct hf_mounts *mounts,
			const uint64_t *page_sizes, size_t count, struct hf_cgroup_tree *tree,
			struct hf_err *err)
{
	struct walk w = { .root = root, .page_sizes = page_sizes, .npage_sizes = count, .tree = tree };
	int rc;

	*tree = (struct hf_cgroup_tree){ 0 };
	rc = walk_hierarchy(&w, mounts);
	w.v2 = true;
	if (rc == 0)
		rc = walk_hierarchy(&w, mounts);
	if (rc < 0) {
		hf_cgroup_tree_free(tree);
		return hf_err_nomem(err);
	}
	if (tree->count)
		qsort(tree->rows, tree->count, sizeof(*tree->rows), by_place);
	return 0;
}

void hf_cgroup_tree_free(struct hf_cgroup_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		free(tree->rows[i].path);
	free(tree->rows);
	*tree = (struct hf_cgroup_tree){ 0 };
}
