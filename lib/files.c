/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "minor.h"
#include "policy.h"

#define DEEPEST 100          /* directories; each holds a descriptor */
#define MOST_HOLES (1 << 20) /* half a second of asking */

struct walk {
	const struct hf_sysroot *root;
	const struct hf_topology *topo;
	struct hf_files *files;
	uint64_t page_size;
	dev_t dev;
	unsigned depth;
};

static int count_nodes(const char *map, uint64_t page_size, uint64_t pages, const struct hf_topology *topo,
		       uint64_t *nodes)
{
	int on[HF_POLICY_BATCH], rc;

	for (uint64_t at = 0; at < pages; at += HF_POLICY_BATCH) {
		unsigned count = (unsigned)(pages - at < HF_POLICY_BATCH ? pages - at : HF_POLICY_BATCH);

		rc = hf_policy_where(map + at * page_size, page_size, count, on);
		if (rc < 0)
			return rc;
		for (unsigned i = 0; i < count; i++) {
			int index = on[i] < 0 ? -1 : hf_topology_index(topo, (unsigned)on[i]);

			if (index >= 0)
				nodes[index]++;
		}
	}
	return 0;
}

int hf_files_where(int fd, uint64_t page_size, uint64_t first, uint64_t pages, uint64_t filled,
		   const struct hf_topology *topo, uint64_t *nodes)
{
	uint64_t found;
	char *map;
	int rc;

	memset(nodes, 0, topo->nnodes * sizeof(*nodes));
	if (!filled)
		return 0;
	if (pages > filled + MOST_HOLES)
		return -E2BIG;
	map = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
		   (off_t)(first * page_size));
	if (map == MAP_FAILED)
		return -errno;
	rc = hf_minor_map(map, page_size, pages, NULL, &found);
	if (rc == 0)
		rc = count_nodes(map, page_size, pages, topo, nodes);
	munmap(map, pages * page_size);
	return rc;
}

/* Exactly the file that was looked at: what is no file of hugetlbfs must not be opened, since opening
 * a device acts. */
static int open_checked(const struct walk *w, int dirfd, const char *name, const struct hf_file *file)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_dev != file->dev || st.st_ino != file->ino)
		return -ESTALE;
	return hf_sysroot_fd(w->root, O_RDWR | O_NONBLOCK, NULL, "proc/self/fd/%d", fd);
}

static int ask_nodes(const struct walk *w, int dirfd, const char *name, struct hf_file *file)
{
	uint64_t pages = file->size / file->page_size + (file->size % file->page_size != 0);
	_cleanup_close_ int fd = -1;

	file->nodes = calloc(w->topo->nnodes + 1, sizeof(*file->nodes));
	if (!file->nodes)
		return -ENOMEM;
	fd = open_checked(w, dirfd, name, file);
	if (fd >= 0 && hf_files_where(fd, file->page_size, 0, pages, file->filled, w->topo, file->nodes) == 0)
		return 0;
	free(file->nodes);
	file->nodes = NULL;
	return 0;
}

static int add_file(const struct walk *w, int dirfd, const char *dir, const char *name, const struct stat *st)
{
	struct hf_files *all = w->files;
	struct hf_file *grown = reallocarray(all->files, all->count + 1, sizeof(*grown)), *file;

	if (!grown)
		return -ENOMEM;
	all->files = grown;
	file = &grown[all->count];
	*file = (struct hf_file){
		.page_size = w->page_size,
		.size = (uint64_t)st->st_size,
		.filled = (uint64_t)st->st_blocks * 512 / w->page_size,
		.links = st->st_nlink,
		.dev = st->st_dev,
		.ino = st->st_ino,
	};
	if (asprintf(&file->path, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name) < 0)
		return -ENOMEM;
	all->count++;
	return w->topo ? ask_nodes(w, dirfd, name, file) : 0;
}

static int visit(struct walk *w, int fd, const char *path);

static int step(struct walk *w, int dirfd, const char *dir, const char *name)
{
	_cleanup_free_ char *path = NULL;
	int rc, fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0) {
		w->files->skipped += errno != ENOENT;
		return 0;
	}
	if (asprintf(&path, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name) < 0) {
		path = NULL;
		close(fd);
		return -ENOMEM;
	}
	w->depth++;
	rc = visit(w, fd, path);
	w->depth--;
	return rc;
}

static int look(struct walk *w, int dirfd, const char *dir, const char *name)
{
	struct stat st;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISREG(st.st_mode) && st.st_dev == w->dev)
		return add_file(w, dirfd, dir, name, &st);
	return S_ISDIR(st.st_mode) ? step(w, dirfd, dir, name) : 0;
}

/* Owns fd. */
static int visit(struct walk *w, int fd, const char *path)
{
	const struct dirent *entry;
	struct stat st;
	DIR *dir = NULL;
	int rc = 0;

	/* Another filesystem may be mounted there. */
	if (fstat(fd, &st) == 0 && st.st_dev == w->dev && w->depth <= DEEPEST)
		dir = fdopendir(fd);
	if (!dir) {
		w->files->skipped += w->depth > DEEPEST;
		close(fd);
		return 0;
	}
	while (rc == 0 && (entry = readdir(dir)) != NULL)
		rc = look(w, dirfd(dir), path, entry->d_name);
	closedir(dir);
	return rc;
}

/* A descriptor of the mount's root, if it still is a hugetlbfs. */
static int open_mount(const struct hf_sysroot *root, const struct hf_mount *mount, int flags,
		      struct statfs *fs)
{
	int fd = hf_sysroot_fd(root, flags | O_DIRECTORY, NULL, "%s", mount->target + 1);

	/* "" is no path. */
	if (fd == -ENOENT && !mount->target[1])
		fd = hf_sysroot_fd(root, flags | O_DIRECTORY, NULL, ".");
	if (fd < 0)
		return fd;
	if (fstatfs(fd, fs) == 0 && fs->f_type == HUGETLBFS_MAGIC && fs->f_bsize > 0)
		return fd;
	close(fd);
	return -ESTALE;
}

static int walk_mount(struct walk *w, const struct hf_mount *mount)
{
	struct statfs fs;
	struct stat st;
	int fd = open_mount(w->root, mount, O_RDONLY, &fs);

	if (fd < 0 || fstat(fd, &st) < 0) {
		w->files->skipped += fd == -EACCES || fd == -EPERM;
		if (fd >= 0)
			close(fd);
		return 0;
	}
	w->page_size = (uint64_t)fs.f_bsize;
	w->dev = st.st_dev;
	return visit(w, fd, mount->target);
}

static int by_inode(const void *a, const void *b)
{
	const struct hf_file *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static int by_inode_and_path(const void *a, const void *b)
{
	int order = by_inode(a, b);

	return order ? order : strcmp(((const struct hf_file *)a)->path, ((const struct hf_file *)b)->path);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct hf_file *)a)->path, ((const struct hf_file *)b)->path);
}

static void free_file(struct hf_file *file)
{
	free(file->path);
	free(file->nodes);
}

/* One filesystem may be mounted at several places, and a file may have several names. */
static void drop_doubles(struct hf_files *files)
{
	size_t kept = 0;

	qsort(files->files, files->count, sizeof(*files->files), by_inode_and_path);
	for (size_t i = 0; i < files->count; i++) {
		if (kept && by_inode(&files->files[kept - 1], &files->files[i]) == 0)
			free_file(&files->files[i]);
		else
			files->files[kept++] = files->files[i];
	}
	files->count = kept;
	qsort(files->files, files->count, sizeof(*files->files), by_path);
}

int hf_files_read(const struct hf_sysroot *root, const struct hf_mounts *mounts, uint64_t page_size,
		  const struct hf_topology *topo, struct hf_files *files, struct hf_err *err)
{
	struct walk w = { .root = root, .topo = topo, .files = files };
	int rc = 0;

	*files = (struct hf_files){ 0 };
	if (!root->live)
		return hf_err_set(err, EOPNOTSUPP, root->name, "a captured tree holds no files of hugetlbfs");
	for (size_t i = 0; rc == 0 && i < mounts->count; i++)
		if (!mounts->mounts[i].hidden && (!page_size || mounts->mounts[i].page_size == page_size))
			rc = walk_mount(&w, &mounts->mounts[i]);
	if (rc < 0) {
		hf_files_free(files);
		return hf_err_nomem(err);
	}
	if (files->count)
		drop_doubles(files);
	return 0;
}

void hf_files_free(struct hf_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free_file(&files->files[i]);
	free(files->files);
	*files = (struct hf_files){ 0 };
}

const struct hf_file *hf_files_find(const struct hf_files *files, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->files[i].ino == ino && files->files[i].dev == dev)
			return &files->files[i];
	return NULL;
}

void hf_mount_usage(const struct hf_sysroot *root, const struct hf_mount *mount, struct hf_mount_usage *usage)
{
	struct statfs fs;
	int fd = root->live && !mount->hidden ? open_mount(root, mount, O_PATH, &fs) : -1;

	*usage = (struct hf_mount_usage){ HF_MOUNTS_NONE, HF_MOUNTS_NONE };
	if (fd < 0)
		return;
	close(fd);
	/* All ones is the kernel's "no limit", and without a limit it does not count. */
	if (fs.f_blocks && fs.f_blocks != UINT64_MAX)
		usage->used = (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
	if (fs.f_files && fs.f_files != UINT64_MAX)
		usage->inodes = fs.f_files - fs.f_ffree;
}
