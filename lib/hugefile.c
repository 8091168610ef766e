/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hugefile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include "minor.h"

/* The mount may have been replaced since the plan was made. */
static int open_directory(struct hf_hugefile *file, struct hf_err *err)
{
	const struct hf_place *place = file->place;
	struct statfs fs;
	struct stat st;

	file->dirfd = open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (file->dirfd < 0)
		return hf_err_sys(err, errno, place->path, "cannot open its directory %s", place->dir);
	if (fstatfs(file->dirfd, &fs) < 0 || fstat(file->dirfd, &st) < 0)
		return hf_err_sys(err, errno, place->dir, "cannot look at the directory");
	if (fs.f_type != HUGETLBFS_MAGIC || (uint64_t)fs.f_bsize != place->page_size ||
	    (!place->to_mount && st.st_dev != place->dev))
		return hf_err_set(err, ESTALE, place->dir,
				  "another filesystem is mounted there than was planned with");
	return 0;
}

int hf_hugefile_adjust(struct hf_hugefile *file, mode_t mode, uid_t uid, gid_t gid, struct hf_err *err)
{
	if ((uid != (uid_t)-1 || gid != (gid_t)-1) && fchown(file->fd, uid, gid) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot give it to owner %d:%d", (int)uid,
				  (int)gid);
	if (fchmod(file->fd, mode) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot set mode %04o", (unsigned)mode);
	return 0;
}

static int cannot_create(const struct hf_place *place, int errnum, struct hf_err *err)
{
	int r = hf_err_sys(err, errnum, place->path, "cannot create a file in %s", place->dir);

	if (errnum == EACCES)
		hf_err_hint(err,
			    "the directory must be this user's: chown, or --owner when the mount is made");
	return r;
}

/* Where O_TMPFILE is refused: a dot name that cannot be guessed, renamed at the end. */
static int create_hidden(struct hf_hugefile *file, struct hf_err *err)
{
	uint64_t random = 0;

	if (syscall(SYS_getrandom, &random, sizeof(random), 0) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot draw a name");
	if (asprintf(&file->hidden, ".hugefill-%016llx", (unsigned long long)random) < 0) {
		file->hidden = NULL;
		return hf_err_nomem(err);
	}
	file->fd =
		openat(file->dirfd, file->hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (file->fd >= 0)
		return 0;
	free(file->hidden);
	file->hidden = NULL;
	return cannot_create(file->place, errno, err);
}

int hf_hugefile_create(struct hf_hugefile *file, const struct hf_place *place, uint64_t bytes, mode_t mode,
		       uid_t uid, gid_t gid, struct hf_err *err)
{
	int r;

	file->place = place;
	r = open_directory(file, err);
	if (r < 0)
		return r;
	/* Through the checked descriptor, not the path once more. */
	file->fd = openat(file->dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
		r = create_hidden(file, err);
		if (r < 0)
			return r;
	} else if (file->fd < 0) {
		return cannot_create(place, errno, err);
	}
	r = hf_hugefile_adjust(file, mode, uid, gid, err);
	return r < 0 ? r : hf_hugefile_resize(file, bytes, err);
}

int hf_hugefile_open(struct hf_hugefile *file, const struct hf_place *place, struct hf_err *err)
{
	struct stat st;
	int r;

	file->place = place;
	file->existed = true;
	r = open_directory(file, err);
	if (r < 0)
		return r;
	file->fd = openat(file->dirfd, place->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return hf_err_sys(err, errno, place->path, "cannot open it for writing");
	if (fstat(file->fd, &st) < 0)
		return hf_err_sys(err, errno, place->path, "cannot look at it");
	if (!S_ISREG(st.st_mode) || st.st_ino != place->ino || st.st_dev != place->dev ||
	    (uint64_t)st.st_size != place->size)
		return hf_err_set(err, ESTALE, place->path, "changed since the plan was made");
	return 0;
}

int hf_hugefile_resize(struct hf_hugefile *file, uint64_t bytes, struct hf_err *err)
{
	if (ftruncate(file->fd, (off_t)bytes) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot set its size to %llu bytes",
				  (unsigned long long)bytes);
	return 0;
}

int hf_hugefile_map(struct hf_hugefile *file, uint64_t bytes, uint64_t from, struct hf_err *err)
{
	int protection = PROT_READ | PROT_WRITE;
	char *map = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, file->fd, 0);

	if (map == MAP_FAILED)
		return hf_err_sys(err, errno, file->place->path, "cannot map it");
	if (from < bytes && mmap(map + from, bytes - from, protection, MAP_SHARED | MAP_FIXED, file->fd,
				 (off_t)from) == MAP_FAILED) {
		int r = errno;

		munmap(map, bytes);
		return hf_err_sys(err, r, file->place->path, "cannot reserve %llu pages",
				  (unsigned long long)((bytes - from) / file->place->page_size));
	}
	file->map = map;
	file->length = bytes;
	return 0;
}

/* Without CAP_DAC_READ_SEARCH the descriptor's own path must serve. */
static int link_unnamed(const struct hf_hugefile *file)
{
	if (linkat(file->fd, "", file->dirfd, file->place->name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT && errno != EPERM)
		return -errno;
	return hf_sysroot_link(file->fd, file->dirfd, file->place->name);
}

int hf_hugefile_publish(struct hf_hugefile *file, struct hf_err *err)
{
	int r;

	if (!file->hidden)
		r = link_unnamed(file);
	else
		r = renameat2(file->dirfd, file->hidden, file->dirfd, file->place->name, RENAME_NOREPLACE) < 0
			    ? -errno
			    : 0;
	if (r == -EEXIST)
		return hf_err_set(err, EEXIST, file->place->path, "somebody else created it meanwhile");
	if (r < 0)
		return hf_err_sys(err, -r, file->place->path, "cannot publish the filled file");
	free(file->hidden);
	file->hidden = NULL;
	return 0;
}

int hf_hugefile_unpublish(struct hf_hugefile *file, struct hf_err *err)
{
	struct stat named, ours;

	if (fstatat(file->dirfd, file->place->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : hf_err_sys(err, errno, file->place->path, "cannot look at it");
	if (fstat(file->fd, &ours) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot look at it");
	if (named.st_ino != ours.st_ino || named.st_dev != ours.st_dev)
		return 0;
	if (unlinkat(file->dirfd, file->place->name, 0) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot remove it");
	return 0;
}

int hf_hugefile_punch(struct hf_hugefile *file, uint64_t first, uint64_t count, struct hf_err *err)
{
	uint64_t size = file->place->page_size;

	if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(first * size),
		      (off_t)(count * size)) < 0)
		return hf_err_sys(err, errno, file->place->path, "cannot punch pages %llu to %llu",
				  (unsigned long long)first, (unsigned long long)(first + count - 1));
	return 0;
}

int hf_hugefile_close(struct hf_hugefile *file, struct hf_err *err)
{
	const char *path = file->place ? file->place->path : NULL;
	int r = 0;

	if (file->map && munmap(file->map, file->length) < 0)
		r = hf_err_sys(err, errno, path, "cannot unmap it");
	if (file->hidden && unlinkat(file->dirfd, file->hidden, 0) < 0 && r == 0)
		r = hf_err_sys(err, errno, path, "cannot remove %s", file->hidden);
	if (file->fd >= 0 && close(file->fd) < 0 && r == 0)
		r = hf_err_sys(err, errno, path, "cannot close it");
	if (file->dirfd >= 0)
		close(file->dirfd);
	free(file->hidden);
	*file = (struct hf_hugefile)HF_HUGEFILE_INIT;
	return r;
}

int hf_hugefile_holes(struct hf_place *place, int dirfd, struct hf_err *err)
{
	_cleanup_close_ int fd = openat(dirfd, place->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	uint64_t bytes = place->pages * place->page_size;
	char *map;
	int r;

	if (fd < 0)
		return hf_err_sys(err, errno, place->path, "cannot open it for writing");
	place->present = calloc(1, place->pages / 8 + 1);
	if (!place->present)
		return hf_err_nomem(err);
	/* NORESERVE: looking must not take pages from anybody. */
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return hf_err_sys(err, errno, place->path, "cannot map it");
	r = hf_minor_map(map, place->page_size, place->pages, place->present, &place->filled);
	munmap(map, bytes);
	if (r == 0)
		return 0;
	hf_err_sys(err, -r, place->path,
		   "has holes, and the kernel does not tell which pages they are (userfaultfd)");
	hf_err_hint(err, "Linux 5.13 or later can; or remove the file and let alloc make it anew");
	return r;
}
