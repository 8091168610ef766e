/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "processes_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* hugetlbfs tells its page size as the block size: what has another one needs no further look. */
static bool may_be_huge(const struct hf_scan *scan, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return false;
	for (size_t i = 0; i < scan->request->npage_sizes; i++)
		if (scan->request->page_sizes[i] == (uint64_t)st->st_blksize)
			return true;
	return false;
}

static bool is_huge(int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_PATH | O_CLOEXEC);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == HUGETLBFS_MAGIC;
}

static int add_open(struct hf_scan *scan, int dirfd, const char *name, const struct stat *st)
{
	static const char suffix[] = " (deleted)";
	struct hf_holding *holding;
	char path[PATH_MAX];
	ssize_t len = readlinkat(dirfd, name, path, sizeof(path) - 1);
	size_t end;

	if (len < 0)
		return 0;
	path[len] = '\0';
	end = (size_t)len > sizeof(suffix) - 1 ? (size_t)len - (sizeof(suffix) - 1) : (size_t)len;
	if (st->st_nlink == 0 && strcmp(path + end, suffix) == 0)
		path[end] = '\0';
	holding = hf_scan_add(scan);
	if (!holding)
		return -ENOMEM;
	holding->open = true;
	holding->page_size = (uint64_t)st->st_blksize;
	holding->dev = st->st_dev;
	holding->ino = st->st_ino;
	holding->has_filled = true;
	holding->filled = (uint64_t)st->st_blocks * 512 / holding->page_size;
	return hf_scan_object(scan, holding, path, st->st_nlink == 0, (int64_t)st->st_nlink);
}

int hf_scan_open(struct hf_scan *scan)
{
	int fd = hf_sysroot_fd(scan->request->root, O_RDONLY | O_DIRECTORY, NULL, "proc/%d/fd",
			       (int)scan->pid);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		scan->denied |= fd == -EACCES || fd == -EPERM;
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (rc == 0 && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (*entry->d_name >= '0' && *entry->d_name <= '9' &&
		    fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && may_be_huge(scan, &st) &&
		    is_huge(dirfd(dir), entry->d_name))
			rc = add_open(scan, dirfd(dir), entry->d_name, &st);
	}
	closedir(dir);
	return rc;
}
