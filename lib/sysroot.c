/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* A path below the root, as the calls were given it, and as a person finds it. */
struct place {
	char full[PATH_MAX + PATH_MAX];
	const char *relative; /* points into full */
	bool too_long;
};

static void _printf(3, 0)
	place_init(struct place *place, const struct hf_sysroot *root, const char *fmt, va_list ap)
{
	size_t at = (size_t)snprintf(place->full, PATH_MAX, "%s/", root->name);
	int n;

	if (at >= PATH_MAX)
		at = PATH_MAX - 1;
	n = vsnprintf(place->full + at, PATH_MAX, fmt, ap);
	place->relative = place->full + at;
	place->too_long = n < 0 || n >= PATH_MAX;
}

#define PLACE(place, root, fmt)                    \
	do {                                       \
		va_list ap_;                       \
		va_start(ap_, fmt);                \
		place_init(place, root, fmt, ap_); \
		va_end(ap_);                       \
	} while (0)

static int fail(struct hf_err *err, int errnum, const struct place *place, const char *what)
{
	return err ? hf_err_sys(err, errnum, place->full, "%s", what) : -errnum;
}

int hf_sysroot_open(struct hf_sysroot *root, const char *dir, struct hf_err *err)
{
	size_t len = dir ? strlen(dir) : 0;
	int fd;

	*root = (struct hf_sysroot){ .fd = -1, .live = !dir };
	fd = open(dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return hf_err_sys(err, errno, dir ? dir : "/",
				  "cannot open the directory of the system's files");
	while (len && dir[len - 1] == '/')
		len--;
	root->name = strndup(dir ? dir : "", len);
	if (!root->name) {
		close(fd);
		return hf_err_nomem(err);
	}
	root->fd = fd;
	return 0;
}

void hf_sysroot_close(struct hf_sysroot *root)
{
	/* A zeroed struct was never opened: its descriptor 0 is not ours. */
	if (root->name && root->fd >= 0)
		close(root->fd);
	free(root->name);
	*root = (struct hf_sysroot){ .fd = -1 };
}

/* A captured tree comes from elsewhere: its links must not lead out, its FIFOs must not block. */
static int open_captured(const struct hf_sysroot *root, int flags, const char *relative)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY)),
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd = (int)syscall(SYS_openat2, root->fd, relative, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		fd = openat(root->fd, relative, (int)how.flags);
	return fd;
}

static int open_place(const struct hf_sysroot *root, int flags, const struct place *place)
{
	int fd;

	if (place->too_long)
		return -ENAMETOOLONG;
	if (!root->live && ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC)))
		return -EROFS;
	if (root->live)
		fd = openat(root->fd, place->relative, flags | O_CLOEXEC, 0600);
	else
		fd = open_captured(root, flags | O_CLOEXEC, place->relative);
	return fd < 0 ? -errno : fd;
}

static int open_told(const struct hf_sysroot *root, int flags, const struct place *place, struct hf_err *err)
{
	int fd = open_place(root, flags, place);

	if (fd >= 0)
		return fd;
	if (fd == -EROFS && !root->live && err)
		return hf_err_set(err, EROFS, place->full,
				  "a captured tree is read only, nothing is written to it");
	return fail(err, -fd, place, "cannot open");
}

int hf_sysroot_fd(const struct hf_sysroot *root, int flags, struct hf_err *err, const char *fmt, ...)
{
	struct place place;

	PLACE(&place, root, fmt);
	return open_told(root, flags, &place, err);
}

/* Reads until the end or until size bytes are there. Returns their number or -errno. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t at = 0;

	while (at < size) {
		ssize_t n = read(fd, buf + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		at += (size_t)n;
	}
	return (ssize_t)at;
}

static int read_place(const struct hf_sysroot *root, char *buf, size_t size, size_t *len,
		      const struct place *place, struct hf_err *err)
{
	_cleanup_close_ int fd = open_told(root, O_RDONLY, place, err);
	ssize_t n;

	if (fd < 0)
		return fd;
	/* The byte kept for the terminator tells whether there was more. */
	n = read_all(fd, buf, size);
	if (n < 0)
		return fail(err, (int)-n, place, "cannot read");
	buf[(size_t)n < size ? (size_t)n : size - 1] = '\0';
	if ((size_t)n >= size)
		return fail(err, EFBIG, place, "cannot read");
	if (len)
		*len = (size_t)n;
	return 0;
}

int hf_sysroot_read(const struct hf_sysroot *root, char *buf, size_t size, size_t *len, struct hf_err *err,
		    const char *fmt, ...)
{
	struct place place;

	PLACE(&place, root, fmt);
	return read_place(root, buf, size, len, &place, err);
}

/* Decimal digits from text on, to *end. False where there are none or they do not fit. */
static bool parse_digits(const char *text, uint64_t *value, const char **end)
{
	uint64_t v = 0;
	const char *c = text;

	for (; *c >= '0' && *c <= '9'; c++)
		if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, (uint64_t)(*c - '0'), &v))
			return false;
	*value = v;
	*end = c;
	return c > text;
}

static int bad_number(const struct place *place, const char *text, struct hf_err *err)
{
	char shown[128];

	if (!err)
		return -EBADMSG;
	return hf_err_set(err, EBADMSG, place->full, "should hold a number, but holds \"%s\"",
			  hf_err_escape(text, shown, sizeof(shown)));
}

int hf_sysroot_read_u64(const struct hf_sysroot *root, uint64_t *value, struct hf_err *err, const char *fmt,
			...)
{
	struct place place;
	const char *end;
	char buf[64];
	size_t len;
	int rc;

	PLACE(&place, root, fmt);
	rc = read_place(root, buf, sizeof(buf), &len, &place, err);
	if (rc == -EFBIG)
		return bad_number(&place, buf, err);
	if (rc < 0)
		return rc;
	if (len && buf[len - 1] == '\n')
		buf[--len] = '\0';
	if (!parse_digits(buf, value, &end) || end != buf + len)
		return bad_number(&place, buf, err);
	return 0;
}

static int write_place(const struct hf_sysroot *root, const char *text, const struct place *place,
		       struct hf_err *err)
{
	/* O_TRUNC matters for plain files only: "8" over "1024" must not leave "8024". */
	int fd = open_told(root, O_WRONLY | O_TRUNC, place, err);
	size_t len = strlen(text);
	ssize_t n;
	int errnum;

	if (fd < 0)
		return fd;
	n = write(fd, text, len);
	errnum = n < 0 ? errno : (size_t)n < len ? EIO : 0;
	if (close(fd) < 0 && !errnum)
		errnum = errno;
	if (errnum && err)
		return hf_err_sys(err, errnum, place->full, "cannot write %s", text);
	return -errnum;
}

int hf_sysroot_write(const struct hf_sysroot *root, const char *text, struct hf_err *err, const char *fmt,
		     ...)
{
	struct place place;

	PLACE(&place, root, fmt);
	return write_place(root, text, &place, err);
}

int hf_sysroot_write_u64(const struct hf_sysroot *root, uint64_t value, struct hf_err *err, const char *fmt,
			 ...)
{
	struct place place;
	char text[24];

	PLACE(&place, root, fmt);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return write_place(root, text, &place, err);
}

/* Whoever may write to the directory could put a link there. */
static int make_folder(const struct hf_sysroot *root, const char *path)
{
	_cleanup_free_ char *folder =
		strndup(path, strrchr(path, '/') ? (size_t)(strrchr(path, '/') - path) : 0);
	struct stat st;

	if (!folder)
		return -ENOMEM;
	if (mkdirat(root->fd, folder, 0755) == 0)
		return fchmodat(root->fd, folder, 0755, 0) < 0 ? -errno : 0;
	if (errno != EEXIST || fstatat(root->fd, folder, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022) ? 0 : -EPERM;
}

static int write_new(const struct hf_sysroot *root, const char *path, const char *text)
{
	int fd = openat(root->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), r = 0;
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	while (len && r == 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			r = -errno;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

int hf_sysroot_replace(const struct hf_sysroot *root, const char *text, struct hf_err *err, const char *fmt,
		       ...)
{
	struct place place;
	char new[PATH_MAX + 32];
	int r;

	PLACE(&place, root, fmt);
	r = place.too_long ? -ENAMETOOLONG : !root->live ? -EROFS : make_folder(root, place.relative);
	if (r < 0)
		return fail(err, -r, &place, "cannot write");
	snprintf(new, sizeof(new), "%s.%d", place.relative, (int)getpid());
	unlinkat(root->fd, new, 0);
	r = write_new(root, new, text);
	if (r == 0 && renameat(root->fd, new, root->fd, place.relative) < 0)
		r = -errno;
	if (r == 0)
		return 0;
	unlinkat(root->fd, new, 0);
	return fail(err, -r, &place, "cannot write");
}

int hf_sysroot_remove(const struct hf_sysroot *root, struct hf_err *err, const char *fmt, ...)
{
	struct place place;

	PLACE(&place, root, fmt);
	if (root->live && (unlinkat(root->fd, place.relative, 0) == 0 || errno == ENOENT))
		return 0;
	return fail(err, root->live ? errno : EROFS, &place, "cannot remove");
}

bool hf_sysroot_exists(const struct hf_sysroot *root, const char *fmt, ...)
{
	struct place place;
	int fd;

	PLACE(&place, root, fmt);
	fd = open_place(root, O_PATH, &place);
	if (fd >= 0)
		close(fd);
	/* Whatever else went wrong is for the read that follows to tell. */
	return fd != -ENOENT && fd != -ENOTDIR;
}

int hf_sysroot_list(const struct hf_sysroot *root, int (*each)(const char *name, void *arg), void *arg,
		    struct hf_err *err, const char *fmt, ...)
{
	const struct dirent *entry;
	struct place place;
	DIR *dir;
	int fd, rc = 0;

	PLACE(&place, root, fmt);
	fd = open_told(root, O_RDONLY | O_DIRECTORY, &place, err);
	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		rc = fail(err, errno, &place, "cannot list");
		close(fd);
		return rc;
	}
	while (errno = 0, rc == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = each(entry->d_name, arg);
	if (rc == 0 && errno)
		rc = fail(err, errno, &place, "cannot list");
	closedir(dir);
	return rc;
}

char *hf_sysroot_path(const struct hf_sysroot *root, const char *fmt, ...)
{
	struct place place;

	PLACE(&place, root, fmt);
	return strdup(place.full);
}

int hf_sysroot_parse_kib(const char *text, const char *key, uint64_t *bytes)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		uint64_t kib;
		const char *end;

		line += *line == '\n';
		if (strncmp(line, key, len) != 0 || line[len] != ':')
			continue;
		line += len + 1;
		line += strspn(line, " \t");
		if (!parse_digits(line, &kib, &end) || strncmp(end, " kB", 3) != 0 ||
		    (end[3] != '\n' && end[3] != '\0') || kib > UINT64_MAX / 1024)
			return -EBADMSG;
		*bytes = kib * 1024;
		return 0;
	}
	return -ENOENT;
}

int hf_sysroot_link(int fd, int dirfd, const char *name)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, dirfd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}
