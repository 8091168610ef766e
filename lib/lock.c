/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOCK_FILE "run/hugefill.lock"
#define RETRY_MS 20

static int open_lock(const struct hf_sysroot *root, const char *path, struct hf_err *err)
{
	int fd = hf_sysroot_fd(root, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, err, LOCK_FILE);
	struct stat st;

	if (fd < 0) {
		hf_err_hint(err, "changing a pool needs root (CAP_SYS_ADMIN and a writable %s)", path);
		return fd;
	}
	if (fstat(fd, &st) < 0) {
		int r = hf_err_sys(err, errno, path, "cannot look at the lock file");

		close(fd);
		return r;
	}
	if (S_ISREG(st.st_mode) && st.st_uid == 0 && (st.st_mode & 077) == 0 && st.st_nlink == 1)
		return fd;
	close(fd);
	hf_err_set(err, EPERM, path, "the lock file must be a regular file of root's with mode 0600");
	hf_err_hint(err, "remove it; hugefill makes it anew");
	return -EPERM;
}

int hf_lock_take(const struct hf_sysroot *root, const struct hf_stop *stop, void (*waiting)(void *arg),
		 void *arg, struct hf_err *err)
{
	_cleanup_free_ char *path = hf_sysroot_path(root, LOCK_FILE);
	bool told = false;
	int fd;

	if (!path)
		return hf_err_nomem(err);
	fd = open_lock(root, path, err);
	if (fd < 0)
		return fd;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		int r = errno;

		if (r != EWOULDBLOCK && r != EINTR) {
			close(fd);
			return hf_err_sys(err, r, path, "cannot lock it");
		}
		if (r == EWOULDBLOCK && !told && waiting)
			waiting(arg);
		told = told || r == EWOULDBLOCK;
		if (hf_stop_requested(stop)) {
			close(fd);
			return hf_err_set(err, ECANCELED, path,
					  "gave up while another hugefill held the lock");
		}
		poll(NULL, 0, RETRY_MS);
	}
	return fd;
}

void hf_lock_release(int fd)
{
	if (fd < 0)
		return;
	flock(fd, LOCK_UN);
	close(fd);
}
