/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount/libmount.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#define MOUNTINFO "proc/self/mountinfo"

/* A line that libmount cannot read: told apart from a short table, since a mount that is missed
 * would put files into the wrong place. Stops the parsing. */
static int note_bad_line(struct libmnt_table *table, const char *name, int line)
{
	int *bad = mnt_table_get_userdata(table);

	(void)name;
	*bad = line;
	return -EBADMSG;
}

static int bad_table(const struct hf_sysroot *root, int line, struct hf_err *err)
{
	_cleanup_free_ char *path = hf_sysroot_path(root, MOUNTINFO);

	if (!path)
		return hf_err_nomem(err);
	if (line > 0)
		return hf_err_set(err, EBADMSG, path, "line %d is not what the kernel writes", line);
	return hf_err_set(err, EBADMSG, path, "is not a table of mounts");
}

/* libmount guesses the format by the first line and takes what is no mountinfo for an fstab, whose
 * entries have no ids. */
static bool has_ids(struct libmnt_table *table)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool all = iter;

	while (all && mnt_table_next_fs(table, iter, &fs) == 0)
		all = mnt_fs_get_id(fs) > 0 && mnt_fs_get_target(fs);
	mnt_free_iter(iter);
	return all;
}

static int parse_table(const struct hf_sysroot *root, struct libmnt_table *table, struct hf_err *err)
{
	_cleanup_fclose_ FILE *in = NULL;
	int fd = hf_sysroot_fd(root, O_RDONLY, err, MOUNTINFO);
	int bad = 0, rc;

	if (fd < 0)
		return fd;
	in = fdopen(fd, "r");
	if (!in) {
		close(fd);
		return hf_err_nomem(err);
	}
	mnt_table_set_userdata(table, &bad);
	mnt_table_set_parser_errcb(table, note_bad_line);
	rc = mnt_table_parse_stream(table, in, MOUNTINFO);
	mnt_table_set_userdata(table, NULL);
	if (bad)
		return bad_table(root, bad, err);
	if (rc == -ENOMEM)
		return hf_err_nomem(err);
	if (rc || ferror(in) || !has_ids(table))
		return bad_table(root, 0, err);
	return 0;
}

/* A number with nothing behind it but one of the units K, M, G, where the option may have one. */
static bool parse_number(const char *text, size_t len, int base, bool unit, uint64_t *value)
{
	uint64_t v = 0;
	unsigned shift = 0;

	if (unit && len > 1)
		shift = text[len - 1] == 'K' ? 10 : text[len - 1] == 'M' ? 20 : text[len - 1] == 'G' ? 30 : 0;
	len -= shift ? 1 : 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] >= '0' + base)
			return false;
		if (__builtin_mul_overflow(v, (unsigned)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
			return false;
	}
	*value = v << shift;
	return len && *value >> shift == v;
}

/* Leaves *value as it is where the option is not there. */
static bool option_number(const char *options, const char *name, int base, bool unit, uint64_t *value)
{
	char *text = NULL;
	size_t len = 0;

	if (!options || mnt_optstr_get_option(options, name, &text, &len) != 0)
		return true;
	return text && parse_number(text, len, base, unit, value);
}

static bool has_option(const char *options, const char *name)
{
	return options && mnt_optstr_get_option(options, name, NULL, NULL) == 0;
}

/* What fs/hugetlbfs shows: what is not named has its default. */
static bool parse_options(const char *options, struct hf_mount *mount)
{
	uint64_t mode = 0755, uid = 0, gid = 0;

	mount->size_limit = mount->min_size = mount->nr_inodes = HF_MOUNTS_NONE;
	if (!option_number(options, "pagesize", 10, true, &mount->page_size) ||
	    !option_number(options, "size", 10, true, &mount->size_limit) ||
	    !option_number(options, "min_size", 10, true, &mount->min_size) ||
	    !option_number(options, "nr_inodes", 10, true, &mount->nr_inodes) ||
	    !option_number(options, "mode", 8, false, &mode) ||
	    !option_number(options, "uid", 10, false, &uid) ||
	    !option_number(options, "gid", 10, false, &gid))
		return false;
	if (mode > 07777 || uid > UINT32_MAX || gid > UINT32_MAX)
		return false;
	mount->mode = (mode_t)mode;
	mount->uid = (uid_t)uid;
	mount->gid = (gid_t)gid;
	return true;
}

static int fill_mount(const struct hf_sysroot *root, struct libmnt_fs *fs, struct hf_mount *mount,
		      struct hf_err *err)
{
	const char *options = mnt_fs_get_options(fs), *own = mnt_fs_get_fs_options(fs);
	_cleanup_free_ char *path = NULL;

	mount->target = strdup(mnt_fs_get_target(fs));
	mount->options = strdup(options ? options : "");
	if (!mount->target || !mount->options)
		return hf_err_nomem(err);
	mount->read_only = has_option(own, "ro") || has_option(mnt_fs_get_vfs_options(fs), "ro");
	if (parse_options(own, mount))
		return 0;
	path = hf_sysroot_path(root, MOUNTINFO);
	return path ? hf_err_set(err, EBADMSG, path, "%s: cannot understand the options \"%s\"",
				 mount->target, mount->options)
		    : hf_err_nomem(err);
}

static bool is_hugetlbfs(struct libmnt_fs *fs)
{
	const char *type = mnt_fs_get_fstype(fs);

	return type && strcmp(type, "hugetlbfs") == 0;
}

static int fill_mounts(const struct hf_sysroot *root, uint64_t default_page_size, struct hf_mounts *mounts,
		       struct libmnt_iter *iter, struct hf_err *err)
{
	struct libmnt_fs *fs;
	int rc = 0;

	while (rc == 0 && mnt_table_next_fs(mounts->table, iter, &fs) == 0) {
		struct hf_mount *mount;

		if (!is_hugetlbfs(fs))
			continue;
		mount = &mounts->mounts[mounts->count++];
		mount->page_size = default_page_size;
		rc = fill_mount(root, fs, mount, err);
		mnt_fs_set_userdata(fs, mount);
	}
	for (size_t i = 0; rc == 0 && i < mounts->count; i++)
		mounts->mounts[i].hidden =
			hf_mounts_at(mounts, mounts->mounts[i].target) != &mounts->mounts[i];
	return rc;
}

int hf_mounts_read(const struct hf_sysroot *root, uint64_t default_page_size, struct hf_mounts *mounts,
		   struct hf_err *err)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	int rc = 0;

	*mounts = (struct hf_mounts){ .table = mnt_new_table() };
	if (!iter || !mounts->table)
		rc = hf_err_nomem(err);
	if (rc == 0)
		rc = parse_table(root, mounts->table, err);
	if (rc == 0) {
		mounts->mounts =
			calloc((size_t)mnt_table_get_nents(mounts->table) + 1, sizeof(*mounts->mounts));
		rc = mounts->mounts ? fill_mounts(root, default_page_size, mounts, iter, err)
				    : hf_err_nomem(err);
	}
	mnt_free_iter(iter);
	if (rc < 0)
		hf_mounts_free(mounts);
	return rc;
}

void hf_mounts_free(struct hf_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++) {
		free(mounts->mounts[i].target);
		free(mounts->mounts[i].options);
	}
	free(mounts->mounts);
	mnt_unref_table(mounts->table);
	*mounts = (struct hf_mounts){ .table = NULL };
}

/* Whether path is target or lies below it. */
static bool is_below(const char *path, const char *target)
{
	size_t len = strlen(target);

	while (len && target[len - 1] == '/')
		len--;
	return strncmp(path, target, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static bool is_listed(struct libmnt_table *table, struct libmnt_iter *iter, int id)
{
	struct libmnt_fs *fs;

	mnt_reset_iter(iter, MNT_ITER_FORWARD);
	while (mnt_table_next_fs(table, iter, &fs) == 0)
		if (mnt_fs_get_id(fs) == id)
			return true;
	return false;
}

/* A mount whose parent is not shown: the root, and in a chroot everything mounted in its tree. */
static bool is_top(struct libmnt_table *table, struct libmnt_iter *iter, struct libmnt_fs *fs)
{
	int parent = mnt_fs_get_parent_id(fs);

	return parent == mnt_fs_get_id(fs) || !is_listed(table, iter, parent);
}

/* The mount that is met first on the way from the root of `from` (NULL: outside) to path. */
static struct libmnt_fs *step(struct libmnt_table *table, struct libmnt_iter *iter[2], struct libmnt_fs *from,
			      const char *path)
{
	struct libmnt_fs *fs, *first = NULL;
	size_t shortest = SIZE_MAX;

	mnt_reset_iter(iter[0], MNT_ITER_FORWARD);
	while (mnt_table_next_fs(table, iter[0], &fs) == 0) {
		size_t len = strlen(mnt_fs_get_target(fs));

		/* At the same place the later one is on top. */
		if (fs == from || len > shortest || !is_below(path, mnt_fs_get_target(fs)))
			continue;
		if (from ? mnt_fs_get_parent_id(fs) != mnt_fs_get_id(from) : !is_top(table, iter[1], fs))
			continue;
		first = fs;
		shortest = len;
	}
	return first;
}

/*
 * Walks as the kernel does: from the root mount always into the first child on the way. The longest
 * prefix alone would find mounts that another one has covered. Each step goes to a child, which in
 * a sane table ends; a captured one may hold a circle.
 */
static struct libmnt_fs *walk(const struct hf_mounts *mounts, const char *path)
{
	struct libmnt_iter *iter[] = { mnt_new_iter(MNT_ITER_FORWARD), mnt_new_iter(MNT_ITER_FORWARD) };
	struct libmnt_fs *at = NULL, *next;
	int left = mounts->table ? mnt_table_get_nents(mounts->table) : 0;

	while (iter[0] && iter[1] && left-- > 0 && (next = step(mounts->table, iter, at, path)))
		at = next;
	mnt_free_iter(iter[0]);
	mnt_free_iter(iter[1]);
	return at;
}

static struct libmnt_fs *walk_exactly(const struct hf_mounts *mounts, const char *target)
{
	struct libmnt_fs *fs = target && *target == '/' ? walk(mounts, target) : NULL;

	return fs && is_below(mnt_fs_get_target(fs), target) ? fs : NULL;
}

const char *hf_mounts_type_at(const struct hf_mounts *mounts, const char *target)
{
	struct libmnt_fs *fs = walk_exactly(mounts, target);

	return fs ? mnt_fs_get_fstype(fs) : NULL;
}

const struct hf_mount *hf_mounts_at(const struct hf_mounts *mounts, const char *target)
{
	struct libmnt_fs *fs = walk_exactly(mounts, target);

	return fs ? mnt_fs_get_userdata(fs) : NULL;
}

const struct hf_mount *hf_mounts_holding(const struct hf_mounts *mounts, const char *path)
{
	struct libmnt_fs *fs = path && *path == '/' ? walk(mounts, path) : NULL;

	return fs ? mnt_fs_get_userdata(fs) : NULL;
}

bool hf_mounts_cgroup(const struct hf_mounts *mounts, const char *controller, const char **target,
		      const char **root, const char *option, bool *has)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	bool found = false;

	while (iter && !found && mnt_table_next_fs(mounts->table, iter, &fs) == 0) {
		const char *type = mnt_fs_get_fstype(fs), *own = mnt_fs_get_fs_options(fs);

		if (!type || strcmp(type, controller ? "cgroup" : "cgroup2") != 0)
			continue;
		if (controller && !has_option(own, controller))
			continue;
		*target = mnt_fs_get_target(fs);
		*root = mnt_fs_get_root(fs);
		*has = option && has_option(own, option);
		found = true;
	}
	mnt_free_iter(iter);
	return found;
}

static void add_option(char *text, size_t size, const char *name, uint64_t value)
{
	size_t at = strlen(text);

	if (value != HF_MOUNTS_NONE)
		snprintf(text + at, size - at, ",%s=%llu", name, (unsigned long long)value);
}

static int prepare(struct libmnt_context *context, const struct hf_mount_request *request)
{
	char options[256];
	int rc;

	snprintf(options, sizeof(options), "nosuid,nodev,pagesize=%llu,mode=%04o,uid=%u,gid=%u",
		 (unsigned long long)request->page_size, (unsigned)request->mode, (unsigned)request->uid,
		 (unsigned)request->gid);
	add_option(options, sizeof(options), "size", request->size_limit);
	add_option(options, sizeof(options), "min_size", request->min_size);
	add_option(options, sizeof(options), "nr_inodes", request->nr_inodes);

	/* The kernel decides who may mount, not libmount's rule that only fstab is for users. */
	mnt_context_force_unrestricted(context);
	rc = mnt_context_disable_helpers(context, 1);
	if (rc == 0)
		rc = mnt_context_disable_mtab(context, 1);
	if (rc == 0)
		rc = mnt_context_set_optsmode(context, MNT_OMODE_NOTAB);
	/* A target that is read only is an error, not a read-only mount. */
	if (rc == 0)
		rc = mnt_context_enable_rwonly_mount(context, 1);
	if (rc == 0)
		rc = mnt_context_set_fstype(context, "hugetlbfs");
	if (rc == 0)
		rc = mnt_context_set_source(context, "hugetlbfs");
	if (rc == 0)
		rc = mnt_context_set_target(context, request->target);
	return rc ? rc : mnt_context_set_options(context, options);
}

static int explain_mount(const struct hf_mount_request *request, int errnum, struct hf_err *err)
{
	hf_err_sys(err, errnum, request->target, "cannot mount hugetlbfs with pages of %llu kB",
		   (unsigned long long)request->page_size / 1024);
	if (errnum == EPERM || errnum == EACCES)
		hf_err_hint(err, "mounting needs root: the capability CAP_SYS_ADMIN in the mount namespace's "
				 "user namespace");
	if (errnum == EPERM && geteuid() == 0)
		hf_err_hint(err,
			    "root of a user namespace may not mount hugetlbfs, containers often lack the "
			    "capability: mount it on the host and pass it in");
	if (errnum == EINVAL)
		hf_err_hint(err, "the kernel has no pages of this size, or refuses one of size, min_size and "
				 "nr_inodes");
	if (errnum == ENOMEM && request->min_size != HF_MOUNTS_NONE)
		hf_err_hint(err, "min_size reserves its pages at once: the pool must have them free");
	if (errnum == ENODEV)
		hf_err_hint(err, "this kernel is built without hugetlbfs (CONFIG_HUGETLBFS)");
	return -errnum;
}

int hf_mounts_mount(const struct hf_mount_request *request, struct hf_err *err)
{
	struct libmnt_context *context = mnt_new_context();
	int rc, errnum = 0;

	if (!context)
		return hf_err_nomem(err);
	rc = prepare(context, request);
	if (rc == 0)
		rc = mnt_context_mount(context);
	if (rc && mnt_context_syscall_called(context))
		errnum = mnt_context_get_syscall_errno(context);
	if (rc && !errnum)
		errnum = rc < 0 && rc > -4096 ? -rc : EIO;
	mnt_free_context(context);
	return errnum ? explain_mount(request, errnum, err) : 0;
}

/* A mount that someone put over ours is theirs: only a hugetlbfs is taken away. */
static int check_hugetlbfs(const char *target, struct hf_err *err)
{
	_cleanup_close_ int fd = open(target, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return hf_err_sys(err, errno, target, "cannot unmount");
	if (fs.f_type != HUGETLBFS_MAGIC)
		return hf_err_set(err, EINVAL, target, "cannot unmount: no hugetlbfs is mounted here");
	return 0;
}

/* Not by libmount, which resolves symbolic links before it unmounts. */
int hf_mounts_umount(const char *target, struct hf_err *err)
{
	int rc = check_hugetlbfs(target, err);

	if (rc < 0)
		return rc;
	if (umount2(target, UMOUNT_NOFOLLOW) == 0)
		return 0;
	rc = hf_err_sys(err, errno, target, "cannot unmount");
	if (rc == -EBUSY)
		hf_err_hint(err, "a file there is open or mapped, or a process stands in it");
	if (rc == -EPERM)
		hf_err_hint(err, "unmounting needs root: the capability CAP_SYS_ADMIN");
	if (rc == -EINVAL)
		hf_err_hint(err, "the directory lies in a hugetlbfs, but is not its mount point");
	return rc;
}

const char *hf_mounts_version(void)
{
	const char *version = NULL;

	mnt_get_library_version(&version);
	return version;
}

char *hf_mounts_mangle(const char *text)
{
	return mnt_mangle(text);
}

char *hf_mounts_unmangle(const char *text)
{
	return mnt_unmangle(text);
}
