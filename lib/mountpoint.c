/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mountpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "elsewhere.h"
#include "holders.h"
#include "place.h"
#include "size.h"

/* A directory that was made, or a hugetlbfs that was mounted, for the undo log. */
struct made {
	const struct hf_sysroot *root;
	dev_t dev; /* of the hugetlbfs; 0: not known */
	char dir[];
};

static struct made *make_note(const struct hf_sysroot *root, const char *dir)
{
	struct made *made = calloc(1, sizeof(*made) + strlen(dir) + 1);

	if (made) {
		made->root = root;
		strcpy(made->dir, dir);
	}
	return made;
}

/* Something is mounted on it: 1 or 0; -errno. *dev: the filesystem's that is seen there. */
static int is_mounted_on(const char *dir, dev_t *dev)
{
	_cleanup_close_ int fd = open(dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat here, above;

	if (fd < 0 || fstat(fd, &here) < 0 || fstatat(fd, "..", &above, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*dev = here.st_dev;
	return here.st_dev != above.st_dev;
}

static int remove_directory(void *arg, struct hf_err *err)
{
	const struct made *made = arg;
	dev_t dev;
	int r;

	/* A mount that stays has been told of. */
	if (is_mounted_on(made->dir, &dev) > 0)
		return 0;
	r = hf_elsewhere_rmdir(made->root, made->dir);
	if (r == 0)
		return 0;
	hf_err_sys(err, -r, made->dir, "cannot remove the directory that was made for the mount%s",
		   r == -EBUSY ? " (another mount namespace has something mounted on it)" : "");
	hf_err_hint(err, "rmdir %s", made->dir);
	return r;
}

static int count_entries(const char *dir);

/* What others have put on it in the meantime would be gone with it. */
static int refuse_used(const char *dir, struct hf_err *err)
{
	int entries = count_entries(dir);
	char word[HF_ERR_SHELL];

	if (entries == 0)
		return 0;
	if (entries < 0) {
		hf_err_sys(err, -entries, dir, "stays mounted: cannot look whether there are files on it");
		hf_err_hint(err, "when there are none: hugefill umount %s",
			    hf_err_shell(dir, word, sizeof(word)));
		return entries;
	}
	hf_err_set(err, EBUSY, dir, "stays mounted: %d file%s on it would be gone with it", entries,
		   entries == 1 ? "" : "s");
	hf_err_hint(err, "when they are no longer wanted: hugefill umount --force %s",
		    hf_err_shell(dir, word, sizeof(word)));
	return -EBUSY;
}

static int unmount(void *arg, struct hf_err *err)
{
	const struct made *made = arg;
	dev_t dev = 0;
	int r = is_mounted_on(made->dir, &dev);

	/* Somebody else has unmounted it. */
	if (r == 0)
		return 0;
	if (r > 0 && made->dev && dev != made->dev)
		return hf_err_set(err, EBUSY, made->dir,
				  "another filesystem is mounted there now, and stays");
	r = refuse_used(made->dir, err);
	if (r < 0)
		return r;
	r = hf_mounts_umount(made->dir, err);
	if (r < 0)
		hf_err_hint(err, "umount %s", made->dir);
	return r;
}

static int make_directory(const struct hf_sysroot *root, struct hf_undo *undo, const char *dir,
			  struct hf_err *err)
{
	struct made *made;
	struct stat st;

	if (hf_undo_reserve(undo, err) < 0)
		return -ENOMEM;
	made = make_note(root, dir);
	if (!made)
		return hf_err_nomem(err);
	if (mkdir(dir, 0755) == 0) {
		hf_undo_push(undo, remove_directory, free, made);
		return 0;
	}
	free(made);
	if (errno != EEXIST)
		return hf_err_sys(err, errno, dir, "cannot make the directory to mount hugetlbfs on");
	if (lstat(dir, &st) < 0)
		return hf_err_sys(err, errno, dir, "cannot look at the directory to mount hugetlbfs on");
	if (!S_ISDIR(st.st_mode))
		return hf_err_set(err, ENOTDIR, dir,
				  "is no directory, so that hugetlbfs cannot be mounted on it");
	return 0;
}

int hf_mountpoint_make(const struct hf_sysroot *root, struct hf_undo *undo,
		       const struct hf_mount_request *request, struct hf_err *err)
{
	int r = make_directory(root, undo, request->target, err);
	struct made *made;

	if (r < 0 || hf_undo_reserve(undo, err) < 0)
		return r < 0 ? r : -ENOMEM;
	made = make_note(root, request->target);
	if (!made)
		return hf_err_nomem(err);
	r = hf_mounts_mount(request, err);
	if (r < 0) {
		free(made);
		return r;
	}
	hf_undo_push(undo, unmount, free, made);
	r = is_mounted_on(request->target, &made->dev);
	return r < 0 ? hf_err_sys(err, -r, request->target, "cannot look at the new mount") : 0;
}

/* One difference, a line of the hint. */
static void differ(struct hf_err *err, const char *what, uint64_t have, uint64_t want, bool bytes)
{
	char a[HF_SIZE_TEXT] = "no limit", b[HF_SIZE_TEXT];

	if (have != HF_MOUNTS_NONE)
		bytes ? (void)hf_size_exact(have, a)
		      : (void)snprintf(a, sizeof(a), "%llu", (unsigned long long)have);
	bytes ? (void)hf_size_exact(want, b) : (void)snprintf(b, sizeof(b), "%llu", (unsigned long long)want);
	hf_err_hint(err, "%s: it has %s, %s is wanted", what, a, b);
}

static void differ_given(struct hf_err *err, const char *what, uint64_t have, uint64_t want, bool bytes)
{
	if (want != HF_MOUNTS_NONE && have != want)
		differ(err, what, have, want, bytes);
}

static bool has_word(const char *options, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = options; (at = strstr(at, word)) != NULL; at += len)
		if ((at == options || at[-1] == ',') && (at[len] == ',' || !at[len]))
			return true;
	return false;
}

int hf_mountpoint_compare(const struct hf_machine *machine, const struct hf_mount_request *request,
			  unsigned given, struct hf_err *err)
{
	const char *type = hf_mounts_type_at(&machine->mounts, request->target);
	const struct hf_mount *have = hf_mounts_at(&machine->mounts, request->target);

	struct stat st;

	if (!type && machine->root.live && lstat(request->target, &st) == 0 && !S_ISDIR(st.st_mode))
		return hf_err_set(err, ENOTDIR, request->target,
				  "is no directory, so that hugetlbfs cannot be mounted on it");
	if (!type)
		return 0;
	if (!have)
		return hf_err_set(err, EEXIST, request->target,
				  "a %s is mounted there, and nothing is mounted on top of it", type);
	hf_err_set(err, EEXIST, request->target, "a hugetlbfs with other options is mounted there");
	if (have->page_size != request->page_size)
		differ(err, "page size", have->page_size, request->page_size, true);
	differ_given(err, "size", have->size_limit, request->size_limit, true);
	differ_given(err, "min_size", have->min_size, request->min_size, true);
	differ_given(err, "nr_inodes", have->nr_inodes, request->nr_inodes, false);
	if (given & HF_MOUNTPOINT_MODE && have->mode != request->mode)
		hf_err_hint(err, "mode: it has %04o, %04o is wanted", (unsigned)have->mode,
			    (unsigned)request->mode);
	if (given & HF_MOUNTPOINT_UID && have->uid != request->uid)
		differ(err, "uid", have->uid, request->uid, false);
	if (given & HF_MOUNTPOINT_GID && have->gid != request->gid)
		differ(err, "gid", have->gid, request->gid, false);
	if (have->read_only)
		hf_err_hint(err, "it is read-only");
	if (!has_word(have->options, "nosuid") || !has_word(have->options, "nodev"))
		hf_err_hint(err, "it lacks nosuid,nodev: mount -o remount,bind,nosuid,nodev %s",
			    request->target);
	if (err->hint[0])
		return -EEXIST;
	*err = (struct hf_err){ 0 };
	return 1;
}

static int refuse_held(const struct hf_machine *machine, const char *target, const struct stat *st,
		       struct hf_err *err)
{
	struct hf_holders holders = { 0 };
	int r = hf_holders_find(&machine->root, st->st_dev, 0, &holders, err);

	if (r == 0 && holders.count) {
		r = hf_err_set(err, EBUSY, target, "%zu process%s something on it", holders.count,
			       holders.count == 1 ? " has" : "es have");
		hf_holders_hint(&holders, err);
	}
	hf_holders_free(&holders);
	return r;
}

static int count_entries(const char *dir)
{
	DIR *stream = opendir(dir);
	const struct dirent *entry;
	int count = 0;

	if (!stream)
		return -errno;
	errno = 0;
	while ((entry = readdir(stream)) != NULL)
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (errno)
		count = -errno;
	closedir(stream);
	return count;
}

int hf_mountpoint_remove(const struct hf_machine *machine, const char *target, bool force, bool dry_run,
			 struct hf_err *err)
{
	struct stat st;
	int entries;
	int r;

	if (!hf_mounts_at(&machine->mounts, target))
		return hf_err_set(err, EINVAL, target, "no hugetlbfs is mounted there");
	if (!machine->root.live)
		return 0;
	if (lstat(target, &st) < 0)
		return hf_err_sys(err, errno, target, "cannot look at it");
	r = refuse_held(machine, target, &st, err);
	if (r < 0)
		return r;
	entries = count_entries(target);
	if (entries < 0 && !force)
		return hf_err_sys(err, -entries, target, "cannot look whether there are files on it");
	if (entries && !force) {
		hf_err_set(err, ENOTEMPTY, target, "%d file%s on it would be gone with it", entries,
			   entries == 1 ? "" : "s");
		hf_err_hint(err, "remove them with hugefill free, or unmount with --force");
		return -ENOTEMPTY;
	}
	r = dry_run ? 0 : hf_mounts_umount(target, err);
	/* A directory that hugefill may have made goes with it, if nothing else is in it. */
	if (r == 0 && !dry_run && hf_place_is_default(machine, target))
		r = hf_elsewhere_rmdir(&machine->root, target);
	if (r == -EBUSY && !err->errnum)
		r = 0; /* Another mount namespace uses it. */
	if (r < 0 && !err->errnum)
		return hf_err_sys(err, -r, target, "is unmounted, but the empty directory cannot be removed");
	return r;
}
