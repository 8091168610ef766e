/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"
#include "holders.h"
#include "lease.h"
#include "release_parts.h"

/* The file that was planned with, and nothing else: opening a device acts. -errno: it is another, or gone. */
static int open_same(const struct hf_release *r, const struct hf_place *place, int dirfd)
{
	_cleanup_close_ int fd = openat(dirfd, place->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_dev != place->dev || st.st_ino != place->ino)
		return -ESTALE;
	return hf_sysroot_fd(&r->machine->root, O_RDWR | O_NONBLOCK, NULL, "proc/self/fd/%d", fd);
}

/*
 * Where there are no leases. A process that cannot be looked into may be the one: what somebody has named
 * goes all the same, since a holder loses nothing by it, but nothing is called stale.
 */
static int look_for_holders(struct hf_release *r, const struct hf_place *place, struct hf_err *err)
{
	struct hf_holders holders = { 0 };
	int rc = hf_holders_find(&r->machine->root, place->dev, place->ino, &holders, err);

	r->unsure = r->unsure || (rc == 0 && !holders.count && holders.hidden);
	if (rc == 0)
		rc = !holders.count && !(holders.hidden && r->request->stale);
	hf_holders_free(&holders);
	return rc;
}

int hf_release_claim(struct hf_release *r, const struct hf_place *place, int dirfd, int *fd,
		     struct hf_err *err)
{
	int rc;

	*fd = open_same(r, place, dirfd);
	if (*fd == -EMFILE || *fd == -ENFILE || *fd == -ENOMEM)
		return hf_err_sys(err, -*fd, place->path, "cannot open it");
	if (*fd < 0) {
		*fd = -1;
		return 0;
	}
	rc = hf_lease_take(*fd);
	if (rc == 0)
		return 1;
	close(*fd);
	*fd = -1;
	if (hf_lease_is_refused(rc))
		return 0;
	r->no_lease = true;
	return look_for_holders(r, place, err);
}

bool hf_release_is_claimed(int fd)
{
	return fd < 0 || hf_lease_is_whole(fd);
}

static bool is_writable(const struct hf_release *r, const char *path)
{
	const struct hf_mount *mount = hf_mounts_holding(&r->machine->mounts, path);

	return mount && !mount->read_only;
}

static int is_stale(struct hf_release *r, const struct hf_place *place, struct hf_err *err)
{
	_cleanup_close_ int dirfd = open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd, rc;

	if (dirfd < 0)
		return 0;
	rc = hf_release_claim(r, place, dirfd, &fd, err);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int add_place(struct hf_release *r, struct hf_err *err)
{
	struct hf_place *places = reallocarray(r->places, r->nplaces + 1, sizeof(*places));

	if (!places)
		return hf_err_nomem(err);
	r->places = places;
	places[r->nplaces++] = (struct hf_place){ 0 };
	return 0;
}

static void drop_place(struct hf_release *r)
{
	hf_place_free(&r->places[--r->nplaces]);
	r->places[r->nplaces] = (struct hf_place){ 0 };
}

static int plan_one(struct hf_release *r, const struct hf_file *file, struct hf_err *err)
{
	const struct hf_pool *pool = hf_pools_find(&r->machine->pools, file->page_size);
	struct hf_release_step *step;
	struct hf_place *place;
	int rc = add_place(r, err);

	if (rc < 0)
		return rc;
	place = &r->places[r->nplaces - 1];
	rc = hf_place_find(r->machine, file->path, file->page_size, false, place, err);
	/* Gone, or something else, since the mounts were walked. */
	if (rc == -ENOMEM)
		return rc;
	if (rc < 0 || !pool || !place->exists || place->dev != file->dev || place->ino != file->ino) {
		*err = (struct hf_err){ 0 };
		drop_place(r);
		return 0;
	}
	rc = is_stale(r, place, err);
	if (rc <= 0) {
		r->held += rc == 0;
		drop_place(r);
		return rc;
	}
	step = hf_release_add(r, HF_RELEASE_REMOVE, err);
	if (!step)
		return -ENOMEM;
	step->stale = true;
	step->place = r->nplaces - 1;
	step->pool = (size_t)(pool - r->machine->pools.pools);
	step->count = place->pages;
	hf_release_measure(r, step);
	return 0;
}

int hf_release_plan_stale(struct hf_release *r, struct hf_err *err)
{
	struct hf_files files = { 0 };
	int rc;

	if (geteuid() != 0)
		return hf_err_set(err, EPERM, "--stale",
				  "only root may remove what others have left, and see whether it is held");
	rc = hf_files_read(&r->machine->root, &r->machine->mounts, r->request->stale_page_size, NULL, &files,
			   err);
	if (rc < 0)
		return rc;
	r->skipped = files.skipped;
	for (size_t i = 0; i < files.count && rc == 0; i++) {
		if (is_writable(r, files.files[i].path))
			rc = plan_one(r, &files.files[i], err);
		else
			r->skipped++;
	}
	hf_files_free(&files);
	return rc;
}
