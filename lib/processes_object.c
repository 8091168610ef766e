/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "processes_parts.h"

#include <errno.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

const char *hf_object_kind_name(enum hf_object_kind kind)
{
	static const char *const names[] = { "file", "unlinked", "memfd", "sysv", "anonymous" };

	return names[kind];
}

/* An empty memfd takes no page and reserves none. */
static dev_t internal_device(uint64_t page_size)
{
	unsigned shift = (unsigned)__builtin_ctzll(page_size);
	_cleanup_close_ int fd =
		memfd_create("hugefill", MFD_CLOEXEC | MFD_HUGETLB | (shift << MFD_HUGE_SHIFT));
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_dev : 0;
}

int hf_scan_internal(struct hf_scan *scan)
{
	const struct hf_processes_request *request = scan->request;

	scan->internal = calloc(request->npage_sizes + 1, sizeof(*scan->internal));
	if (!scan->internal)
		return -ENOMEM;
	for (size_t i = 0; request->root->live && i < request->npage_sizes; i++)
		if (request->page_sizes[i])
			scan->internal[i] = internal_device(request->page_sizes[i]);
	return 0;
}

/* Whether it lies on a mount of the kernel's own; where that is not known, its name may tell. */
static bool may_be_internal(const struct hf_scan *scan, dev_t dev)
{
	bool known = false;

	for (size_t i = 0; i < scan->request->npage_sizes; i++) {
		if (scan->internal[i] && scan->internal[i] == dev)
			return true;
		known |= scan->internal[i] != 0;
	}
	return !known;
}

/* "/SYSV" and the key in eight hexadecimal digits. */
static bool is_segment(const char *path)
{
	return strncmp(path, "/SYSV", 5) == 0 && strspn(path + 5, "0123456789abcdef") == 8 && !path[13];
}

int hf_scan_object(const struct hf_scan *scan, struct hf_holding *holding, const char *path, bool deleted,
		   int64_t links)
{
	const char *name = "";
	bool restore = deleted && links > 0;

	if (deleted && !restore && may_be_internal(scan, holding->dev) && strncmp(path, "/memfd:", 7) == 0) {
		holding->kind = HF_OBJECT_MEMFD;
		name = path + 7;
	} else if (deleted && !restore && may_be_internal(scan, holding->dev) && is_segment(path)) {
		holding->kind = HF_OBJECT_SYSV;
		name = path + 5;
	} else if (!*path || (deleted && !restore && may_be_internal(scan, holding->dev) &&
			      strcmp(path, "/anon_hugepage") == 0)) {
		holding->kind = HF_OBJECT_ANONYMOUS;
	} else {
		holding->kind = (links < 0 ? deleted : links == 0) ? HF_OBJECT_UNLINKED : HF_OBJECT_FILE;
		name = path;
	}
	/* A name may really end so. */
	if (asprintf(&holding->name, "%s%s", name, restore ? " (deleted)" : "") < 0) {
		holding->name = NULL;
		return -ENOMEM;
	}
	return 0;
}
