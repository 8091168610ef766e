/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "release_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "elsewhere.h"
#include "files.h"
#include "fill.h"
#include "holders.h"
#include "hugefile.h"
#include "minimum.h"

/* A file is looked at through a mapping of its own, closed again before anything is done to it. */
static int measure_open(struct hf_release *r, struct hf_release_step *step, struct hf_hugefile *file,
			struct hf_err *err)
{
	const struct hf_place *place = &r->places[step->place];
	uint64_t elsewhere = 0;
	int rc = hf_hugefile_open(file, place, err);

	if (rc == 0)
		rc = hf_hugefile_map(file, place->size, place->size, err);
	return rc < 0 ? rc : hf_fill_where(file, &r->machine->topo, NULL, step->wanted, &elsewhere, err);
}

/* Looking must not fill holes. */
static int measure_range(struct hf_release *r, struct hf_release_step *step, struct hf_hugefile *file,
			 struct hf_err *err)
{
	const struct hf_place *place = &r->places[step->place];
	int rc = hf_hugefile_open(file, place, err);

	return rc < 0 ? rc
		      : hf_files_where(file->fd, place->page_size, step->first, step->count, place->filled,
				       &r->machine->topo, step->wanted);
}

static void measure_on_first(const struct hf_place *place, struct hf_release_step *step)
{
	if (step->action == HF_RELEASE_REMOVE)
		step->wanted[0] = place->filled;
	for (uint64_t page = step->first;
	     step->action == HF_RELEASE_PUNCH && page < step->first + step->count; page++)
		step->wanted[0] += hf_place_has(place, page);
}

static void measure(struct hf_release *r, struct hf_release_step *step)
{
	const struct hf_place *place = &r->places[step->place];
	bool whole = step->first == 0 && step->count == place->pages && place->filled == place->pages;
	struct hf_hugefile file = HF_HUGEFILE_INIT;
	size_t nnodes = r->machine->topo.nnodes;
	struct hf_err ignored = { 0 };
	int rc = -ENOSYS;

	if (!place->filled)
		return;
	if (nnodes > 1)
		rc = whole ? measure_open(r, step, &file, &ignored) : measure_range(r, step, &file, &ignored);
	hf_hugefile_close(&file, &ignored);
	if (rc == 0)
		return;
	/* A directory's owner may remove files that he may not open. */
	memset(step->wanted, 0, nnodes * sizeof(*step->wanted));
	measure_on_first(place, step);
}

static uint64_t sum(const uint64_t *values, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

/* After the steps before this one. */
static void plan_set_aside(const struct hf_release *r, struct hf_release_step *step)
{
	const struct hf_place *place = &r->places[step->place];
	size_t nnodes = r->machine->topo.nnodes;
	uint64_t before = 0;

	if (!place->min_size)
		return;
	for (const struct hf_release_step *s = r->steps; s < step; s++)
		if ((s->action == HF_RELEASE_REMOVE || s->action == HF_RELEASE_PUNCH) &&
		    r->places[s->place].dev == place->dev)
			before += sum(s->wanted, nnodes);
	step->set_aside = hf_minimum_regains(place, before, sum(step->wanted, nnodes));
}

void hf_release_measure(struct hf_release *r, struct hf_release_step *step)
{
	measure(r, step);
	plan_set_aside(r, step);
}

/* Whether somebody has it open or mapped: 1 or 0, or -1: it may not be opened, to find out. */
static int is_held(struct hf_release *r, const struct hf_place *place, int dirfd, int *fd, struct hf_err *err)
{
	int rc;

	*fd = -1;
	if (faccessat(dirfd, place->name, R_OK | W_OK, AT_EACCESS) < 0)
		return -1;
	rc = hf_release_claim(r, place, dirfd, fd, err);
	if (rc < 0)
		*err = (struct hf_err){ 0 };
	return rc < 0 ? -1 : !rc;
}

static int say_held(const struct hf_place *place, const struct hf_holders *holders, struct hf_err *err)
{
	if (holders->count)
		hf_err_set(err, EBUSY, place->path, "%zu process%s it, and it is not removed under them",
			   holders->count, holders->count == 1 ? " holds" : "es hold");
	else
		hf_err_set(err, EBUSY, place->path,
			   "is held by something that cannot be seen from here, and is not removed under it");
	hf_holders_hint(holders, err);
	if (!holders->count)
		hf_err_hint(err,
			    "a process of another PID namespace, a descriptor on its way, or a loop device");
	hf_err_hint(err, "--force removes it all the same; its pages come back when the last of them ends");
	return -EBUSY;
}

int hf_release_refuse_held(struct hf_release *r, const struct hf_place *place, struct hf_err *err)
{
	_cleanup_close_ int dirfd = open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct hf_holders holders = { 0 };
	int fd = -1, rc, held;

	if (r->request->force)
		return 0;
	rc = hf_holders_find(&r->machine->root, place->dev, place->ino, &holders, err);
	held = rc < 0 ? -1 : holders.count ? 1 : is_held(r, place, dirfd, &fd, err);
	r->unsure = r->unsure || (rc == 0 && held < 0 && holders.hidden);
	if (held > 0)
		rc = say_held(place, &holders, err);
	if (fd >= 0)
		close(fd);
	hf_holders_free(&holders);
	return rc;
}

static int open_dir(const struct hf_place *place, struct hf_err *err)
{
	int fd = open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? hf_err_sys(err, errno, place->path, "cannot open its directory") : fd;
}

/* Freed at once unless somebody still holds the file: then its pages stay until they let go. */
static void take_over(struct hf_release_step *step, size_t nnodes, bool held)
{
	for (size_t n = 0; n < nnodes; n++)
		step->freed[n] = held ? 0 : step->wanted[n];
}

static int count_used(struct hf_release *r, const struct hf_release_step *step, uint64_t *used,
		      struct hf_err *err)
{
	struct hf_pool *pool = &r->machine->pools.pools[step->pool];
	int rc = hf_pool_refresh(&r->machine->root, &r->machine->topo, pool, err);

	for (size_t n = 0; n < pool->nnodes && rc == 0; n++)
		used[n] = pool->nodes[n].nr - pool->nodes[n].free;
	return rc;
}

/* Of a file that somebody may hold, what is used no longer counts; surplus pages do not come to the pool. */
static int take_over_seen(struct hf_release *r, struct hf_release_step *step, const uint64_t *before,
			  struct hf_err *err)
{
	_cleanup_free_ uint64_t *used = calloc(r->machine->topo.nnodes, sizeof(*used));
	int rc = used ? count_used(r, step, used, err) : hf_err_nomem(err);

	for (size_t n = 0; n < r->machine->topo.nnodes && rc == 0; n++) {
		uint64_t went = before[n] > used[n] ? before[n] - used[n] : 0;

		step->freed[n] = went < step->wanted[n] ? went : step->wanted[n];
	}
	return rc;
}

static int remove_file(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	_cleanup_free_ uint64_t *before = calloc(r->machine->topo.nnodes, sizeof(*before));
	const struct hf_place *place = &r->places[step->place];
	_cleanup_close_ int dirfd = open_dir(place, err);
	_cleanup_close_ int fd = -1;
	struct hf_holders holders = { 0 };
	struct stat st;
	int held;

	if (!before)
		return hf_err_nomem(err);
	if (dirfd < 0)
		return dirfd;
	if (fstatat(dirfd, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return hf_err_sys(err, errno, place->path, "cannot look at it");
	if (st.st_ino != place->ino || st.st_dev != place->dev || !S_ISREG(st.st_mode))
		return hf_err_set(err, ESTALE, place->path, "was replaced meanwhile");
	/* Whoever opens it from here on waits until the name is gone. */
	held = is_held(r, place, dirfd, &fd, err);
	if (held > 0 && !r->request->force)
		return say_held(place, &holders, err);
	if (r->unsure && count_used(r, step, before, err) < 0)
		return -err->errnum;
	if (unlinkat(dirfd, place->name, 0) < 0)
		return hf_err_sys(err, errno, place->path, "cannot remove it");
	r->changed = true;
	take_over(step, r->machine->topo.nnodes, held > 0 || st.st_nlink > 1);
	return r->unsure ? take_over_seen(r, step, before, err) : 0;
}

/* Still nobody's, and it stays so until its name is gone. */
static int remove_stale(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	const struct hf_place *place = &r->places[step->place];
	_cleanup_close_ int dirfd = open_dir(place, err);
	_cleanup_close_ int fd = -1;
	struct stat st;
	int rc;

	if (dirfd < 0)
		return dirfd;
	rc = hf_release_claim(r, place, dirfd, &fd, err);
	if (rc < 0)
		return rc;
	/* The name may have passed to another file before the lease. */
	step->kept = !rc || fstatat(dirfd, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		     st.st_ino != place->ino || st.st_dev != place->dev || !hf_release_is_claimed(fd);
	r->held += step->kept;
	if (step->kept)
		return 0;
	if (unlinkat(dirfd, place->name, 0) < 0)
		return hf_err_sys(err, errno, place->path, "cannot remove it");
	r->changed = true;
	take_over(step, r->machine->topo.nnodes, st.st_nlink > 1 || !hf_release_is_claimed(fd));
	return 0;
}

static int punch_file(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	struct hf_hugefile file = HF_HUGEFILE_INIT;
	struct hf_err second = { 0 };
	struct stat before, after;
	int rc = hf_hugefile_open(&file, &r->places[step->place], err);

	if (rc == 0 && fstat(file.fd, &before) < 0)
		rc = hf_err_sys(err, errno, r->places[step->place].path, "cannot look at it");
	if (rc == 0)
		rc = hf_hugefile_punch(&file, step->first, step->count, err);
	if (rc == 0 && fstat(file.fd, &after) < 0)
		rc = hf_err_sys(err, errno, r->places[step->place].path, "cannot look at it");
	if (rc == 0) {
		r->changed = r->changed || after.st_blocks < before.st_blocks;
		take_over(step, r->machine->topo.nnodes, after.st_blocks >= before.st_blocks);
	}
	hf_hugefile_close(&file, &second);
	return rc;
}

static int change_file(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	if (step->action == HF_RELEASE_PUNCH)
		return punch_file(r, step, err);
	return step->stale ? remove_stale(r, step, err) : remove_file(r, step, err);
}

/* The kernel may keep more for the mount than its min_size= lacks: what the pool has reserved tells. */
int hf_release_file(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	const struct hf_place *place = &r->places[step->place];
	struct hf_pool *pool = &r->machine->pools.pools[step->pool];
	uint64_t reserved, most;
	int rc = 0;

	if (!place->min_size)
		return change_file(r, step, err);
	rc = hf_pool_refresh(&r->machine->root, &r->machine->topo, pool, err);
	reserved = pool->reserved;
	if (rc == 0)
		rc = change_file(r, step, err);
	if (rc == 0)
		rc = hf_pool_refresh(&r->machine->root, &r->machine->topo, pool, err);
	if (rc < 0)
		return rc;
	most = sum(step->freed, r->machine->topo.nnodes);
	most = most < place->min_size / place->page_size ? most : place->min_size / place->page_size;
	step->set_aside = pool->reserved > reserved ? pool->reserved - reserved : 0;
	step->set_aside = step->set_aside < most ? step->set_aside : most;
	return 0;
}

static bool is_removed(const struct hf_release *r, const char *dir, const char *name)
{
	size_t len = strlen(dir);

	for (size_t i = 0; i < r->nsteps; i++) {
		const struct hf_release_step *step = &r->steps[i];
		const char *path = step->action == HF_RELEASE_REMOVE ? r->places[step->place].path : "";

		if (strncmp(path, dir, len) == 0 && path[len] == '/' && strcmp(path + len + 1, name) == 0)
			return true;
	}
	return false;
}

/* Whether there is nothing in it, but for files that leaving (or NULL) removes. 1, 0, or -errno. */
static int is_empty(const char *dir, const struct hf_release *leaving)
{
	DIR *stream = opendir(dir);
	const struct dirent *entry;
	int empty = 1;

	if (!stream)
		return -errno;
	errno = 0;
	while (empty && (entry = readdir(stream)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
			(leaving && is_removed(leaving, dir, entry->d_name));
	if (empty && errno)
		empty = -errno;
	closedir(stream);
	return empty;
}

bool hf_release_is_emptied(const struct hf_release *r, const struct hf_release_step *step)
{
	return !r->machine->root.live || is_empty(step->mount, r) > 0;
}

int hf_release_umount(struct hf_release *r, struct hf_release_step *step, struct hf_err *err)
{
	int rc;

	rc = is_empty(step->mount, NULL);
	if (rc < 0)
		return hf_err_sys(err, -rc, step->mount,
				  "cannot look whether it is empty, and stays mounted");
	if (rc == 0)
		return 0;
	rc = hf_mounts_umount(step->mount, err);
	if (rc < 0)
		return rc;
	step->done = true;
	r->changed = true;
	/* A directory that hugefill may have made goes with it, if nothing else is in it. */
	if (hf_place_is_default(r->machine, step->mount))
		step->directory_left = -hf_elsewhere_rmdir(&r->machine->root, step->mount);
	return 0;
}
