/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static int remove_directory(void *arg, struct hf_err *err)
{
	const char *dir = arg;

	/* Somebody who put something into it meanwhile keeps it. */
	if (rmdir(dir) == 0 || errno == ENOENT)
		return 0;
	hf_err_sys(err, errno, dir, "cannot remove the directory that was made for the mount");
	hf_err_hint(err, "rmdir %s", dir);
	return -err->errnum;
}

static int unmount(void *arg, struct hf_err *err)
{
	const char *dir = arg;
	int r = hf_mounts_umount(dir, err);

	if (r < 0)
		hf_err_hint(err, "umount %s", dir);
	return r;
}

/* Pushes an inverse that is about a directory. */
static int push(struct hf_transaction *t, int (*back)(void *arg, struct hf_err *err), char *dir)
{
	hf_undo_push(&t->undo, back, free, dir);
	t->apply->changed = true;
	return 0;
}

static int make_directory(struct hf_transaction *t, const char *dir, struct hf_err *err)
{
	struct stat st;
	char *copy;

	if (hf_undo_reserve(&t->undo, err) < 0)
		return -ENOMEM;
	copy = strdup(dir);
	if (!copy)
		return hf_err_nomem(err);
	if (mkdir(dir, 0755) == 0)
		return push(t, remove_directory, copy);
	free(copy);
	if (errno != EEXIST)
		return hf_err_sys(err, errno, dir, "cannot make the directory to mount hugetlbfs on");
	if (lstat(dir, &st) < 0)
		return hf_err_sys(err, errno, dir, "cannot look at the directory to mount hugetlbfs on");
	if (!S_ISDIR(st.st_mode))
		return hf_err_set(err, ENOTDIR, dir,
				  "is no directory, so that hugetlbfs cannot be mounted on it");
	return 0;
}

static int mount_one(struct hf_transaction *t, const struct hf_plan_mount *mount, struct hf_err *err)
{
	const struct hf_request *request = t->apply->request;
	struct hf_mount_request what = {
		.target = mount->target,
		.page_size = mount->page_size,
		.size_limit = HF_MOUNTS_NONE,
		.min_size = HF_MOUNTS_NONE,
		.nr_inodes = HF_MOUNTS_NONE,
		.mode = 0755,
		.uid = request->uid == (uid_t)-1 ? getuid() : request->uid,
		.gid = request->gid == (gid_t)-1 ? getgid() : request->gid,
	};
	char *copy;
	int r = make_directory(t, mount->target, err);

	if (r < 0 || hf_undo_reserve(&t->undo, err) < 0)
		return r < 0 ? r : -ENOMEM;
	copy = strdup(mount->target);
	if (!copy)
		return hf_err_nomem(err);
	r = hf_mounts_mount(&what, err);
	if (r == 0)
		return push(t, unmount, copy);
	free(copy);
	return r;
}

int hf_apply_mounts(struct hf_transaction *t, struct hf_err *err)
{
	for (size_t i = 0; i < t->apply->plan->nmounts; i++) {
		int r = mount_one(t, &t->apply->plan->mounts[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}
