/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "hugefile.h"
#include "minimum.h"

#define DEFAULT_PLACE "/dev/hugepages"

char *hf_place_default(const struct hf_machine *machine, uint64_t page_size)
{
	const struct hf_pool *standard = hf_pools_default(&machine->pools);
	char size[HF_SIZE_TEXT], *place;

	if (standard && standard->page_size == page_size &&
	    !hf_mounts_type_at(&machine->mounts, DEFAULT_PLACE))
		return strdup(DEFAULT_PLACE);
	if (asprintf(&place, DEFAULT_PLACE "%s", hf_size_exact(page_size, size)) < 0)
		return NULL;
	return place;
}

/* The page size that a hugetlbfs on this directory would get, 0: not one of the default places. */
static uint64_t default_place_size(const struct hf_machine *machine, const char *dir)
{
	const struct hf_pool *standard = hf_pools_default(&machine->pools);
	char size[HF_SIZE_TEXT];

	if (strncmp(dir, DEFAULT_PLACE, strlen(DEFAULT_PLACE)) != 0)
		return 0;
	dir += strlen(DEFAULT_PLACE);
	if (!*dir)
		return standard ? standard->page_size : 0;
	for (size_t i = 0; i < machine->pools.count; i++)
		if (strcmp(dir, hf_size_exact(machine->page_sizes[i], size)) == 0)
			return machine->page_sizes[i];
	return 0;
}

bool hf_place_is_default(const struct hf_machine *machine, const char *dir)
{
	return default_place_size(machine, dir) != 0;
}

static void list_mounts(const struct hf_machine *machine, struct hf_err *err)
{
	char size[HF_SIZE_TEXT];

	for (size_t i = 0; i < machine->mounts.count; i++)
		hf_err_hint(err, "hugetlbfs is mounted on %s with %s pages", machine->mounts.mounts[i].target,
			    hf_size_exact(machine->mounts.mounts[i].page_size, size));
	if (!machine->mounts.count)
		hf_err_hint(err, "no hugetlbfs is mounted; a bare name lets hugefill mount one");
}

static int not_on_hugetlbfs(const struct hf_machine *machine, const struct hf_place *place,
			    struct hf_err *err)
{
	hf_err_set(err, EINVAL, place->path, "its directory %s is not on a hugetlbfs", place->dir);
	list_mounts(machine, err);
	return -EINVAL;
}

/* The mount that a bare name lies on, or NULL. */
static const struct hf_mount *choose_mount(const struct hf_machine *machine, uint64_t page_size)
{
	const struct hf_mount *found = hf_mounts_at(&machine->mounts, DEFAULT_PLACE);

	if (found && found->page_size == page_size && !found->read_only)
		return found;
	for (size_t i = 0; i < machine->mounts.count; i++) {
		found = &machine->mounts.mounts[i];
		if (found->page_size == page_size && !found->hidden && !found->read_only)
			return found;
	}
	return NULL;
}

/* A default place that is to be mounted must be free. */
static int plan_mount(const struct hf_machine *machine, struct hf_place *place, struct hf_err *err)
{
	const char *type = hf_mounts_type_at(&machine->mounts, place->mount);
	struct stat st;

	if (machine->root.live && !type && lstat(place->mount, &st) == 0 && !S_ISDIR(st.st_mode))
		return hf_err_set(err, ENOTDIR, place->mount,
				  "is no directory, so that hugetlbfs cannot be mounted on it");
	place->to_mount = true;
	place->mount_limit = HF_MOUNTS_NONE;
	place->inodes_left = HF_MOUNTS_NONE;
	if (!type)
		return 0;
	hf_err_set(err, EBUSY, place->mount,
		   "a %s is mounted there already, and nothing is mounted on top of it", type);
	hf_err_hint(err, "unmount it, or name a path on a hugetlbfs mount of the page size wanted");
	return -EBUSY;
}

static void take_limits(struct hf_place *place, const struct hf_mount *mount)
{
	place->mount_limit = mount->size_limit;
	place->inodes_left = mount->nr_inodes;
	place->min_size = mount->min_size == HF_MOUNTS_NONE ? 0 : mount->min_size;
}

/* The directory as the kernel knows it, where it is there already. */
static char *real_directory(const struct hf_machine *machine, const char *dir)
{
	char *real = machine->root.live ? realpath(dir, NULL) : NULL;

	return real ? real : strdup(dir);
}

/* The hugetlbfs on place->mount, which a line of a file of specs names; *mount stays NULL where it is to
 * be made. */
static int find_named(const struct hf_machine *machine, const struct hf_place *place,
		      const struct hf_mount **mount, struct hf_err *err)
{
	char have[HF_SIZE_TEXT], want[HF_SIZE_TEXT];

	*mount = hf_mounts_at(&machine->mounts, place->mount);
	if (*mount && (*mount)->read_only)
		return hf_err_sys(err, EROFS, place->mount, "the hugetlbfs there is mounted read-only");
	if (!*mount || (*mount)->page_size == place->page_size)
		return 0;
	return hf_err_set(err, EEXIST, place->mount, "the hugetlbfs there has %s pages, %s are wanted",
			  hf_size_exact((*mount)->page_size, have), hf_size_exact(place->page_size, want));
}

static int find_bare(const struct hf_machine *machine, const char *dir, const char *name, uint64_t page_size,
		     struct hf_place *place, struct hf_err *err)
{
	const struct hf_mount *mount = dir ? NULL : choose_mount(machine, page_size);

	place->page_size = page_size;
	if (dir)
		place->mount = real_directory(machine, dir);
	else
		place->mount = mount ? strdup(mount->target) : hf_place_default(machine, page_size);
	if (!place->mount)
		return hf_err_nomem(err);
	if (dir && find_named(machine, place, &mount, err) < 0)
		return -err->errnum;
	place->dir = strdup(place->mount);
	if (!place->dir || asprintf(&place->path, "%s/%s", place->dir, name) < 0) {
		place->path = NULL;
		return hf_err_nomem(err);
	}
	place->name = place->path + strlen(place->dir) + 1;
	if (mount) {
		take_limits(place, mount);
		return 0;
	}
	return plan_mount(machine, place, err);
}

static int find_path(const struct hf_machine *machine, const char *path, struct hf_place *place,
		     struct hf_err *err)
{
	_cleanup_free_ char *real = NULL;
	const struct hf_mount *mount;
	const char *slash = strrchr(path, '/');

	place->path = strdup(path);
	place->dir = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
	if (!place->path || !place->dir)
		return hf_err_nomem(err);
	place->name = place->path + (slash - path) + 1;

	/* One file has one path, however it was written: specs that name it twice are found out. */
	real = machine->root.live ? realpath(place->dir, NULL) : strdup(place->dir);
	if (real && machine->root.live) {
		free(place->dir);
		free(place->path);
		place->dir = strdup(real);
		if (!place->dir ||
		    asprintf(&place->path, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash + 1) < 0) {
			place->path = NULL;
			return hf_err_nomem(err);
		}
		place->name = strrchr(place->path, '/') + 1;
	}
	mount = real ? hf_mounts_holding(&machine->mounts, real) : NULL;
	if (!mount) {
		const char *dir = real ? real : place->dir;

		place->page_size = default_place_size(machine, dir);
		place->mount = strdup(dir);
		if (!place->mount)
			return hf_err_nomem(err);
		if (place->page_size)
			return plan_mount(machine, place, err);
		if (!real)
			return hf_err_sys(err, errno, place->path, "its directory %s cannot be used",
					  place->dir);
		return not_on_hugetlbfs(machine, place, err);
	}
	if (mount->read_only)
		return hf_err_sys(err, EROFS, place->path, "the hugetlbfs on %s is mounted read-only",
				  mount->target);
	place->page_size = mount->page_size;
	take_limits(place, mount);
	place->mount = strdup(mount->target);
	return place->mount ? 0 : hf_err_nomem(err);
}

/* What lies there under the file's name. */
static int look_at_file(struct hf_place *place, int dirfd, const struct stat *dir, bool with_holes,
			struct hf_err *err)
{
	struct stat st;

	if (fstatat(dirfd, place->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : hf_err_sys(err, errno, place->path, "cannot look at it");
	if (S_ISLNK(st.st_mode))
		return hf_err_set(err, ELOOP, place->path, "is a symbolic link, which is never followed");
	if (S_ISDIR(st.st_mode))
		return hf_err_set(err, EISDIR, place->path, "is a directory, not a file");
	if (!S_ISREG(st.st_mode))
		return hf_err_set(err, EINVAL, place->path, "is no regular file");
	if (st.st_dev != place->dev)
		return hf_err_set(err, EXDEV, place->path, "lies on another filesystem than its directory");
	place->exists = true;
	place->ino = st.st_ino;
	place->mode = st.st_mode & 07777;
	place->uid = st.st_uid;
	place->gid = st.st_gid;
	place->untrusted = (dir->st_mode & 022) && st.st_uid != geteuid() && st.st_uid != dir->st_uid;
	place->size = (uint64_t)st.st_size;
	place->pages = place->size / place->page_size;
	place->filled = (uint64_t)st.st_blocks * 512 / place->page_size;
	if (!with_holes || place->filled == 0 || place->filled >= place->pages)
		return 0;
	return hf_hugefile_holes(place, dirfd, err);
}

/* hugetlbfs tells the number of files only where the mount has a size=, too; else the files in the
 * file's directory are counted: others, and directories, may leave fewer, which the kernel then says. */
static uint64_t count_inodes_left(const struct hf_place *place, const struct statfs *fs)
{
	uint64_t used = 1; /* the root directory */
	const struct dirent *entry;
	DIR *dir;

	if (fs->f_files)
		return (uint64_t)fs->f_ffree;
	dir = opendir(place->dir);
	while (dir && (entry = readdir(dir)) != NULL)
		used += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	if (dir)
		closedir(dir);
	return place->inodes_left > used ? place->inodes_left - used : 0;
}

static int look_at_mount(const struct hf_machine *machine, struct hf_place *place, bool with_holes,
			 struct hf_err *err)
{
	_cleanup_close_ int dirfd = open(place->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;
	struct stat st;

	if (dirfd < 0)
		return hf_err_sys(err, errno, place->path, "cannot open its directory %s", place->dir);
	if (fstatfs(dirfd, &fs) < 0 || fstat(dirfd, &st) < 0)
		return hf_err_sys(err, errno, place->dir, "cannot look at the directory");
	if (fs.f_type != HUGETLBFS_MAGIC)
		return not_on_hugetlbfs(machine, place, err);
	place->page_size = (uint64_t)fs.f_bsize;
	place->dev = st.st_dev;
	place->dir_ino = st.st_ino;
	if (place->mount_limit != HF_MOUNTS_NONE)
		place->mount_left = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	if (place->inodes_left != HF_MOUNTS_NONE)
		place->inodes_left = count_inodes_left(place, &fs);
	if (place->min_size && hf_minimum_look(machine, place, err) < 0)
		return -err->errnum;
	return look_at_file(place, dirfd, &st, with_holes, err);
}

int hf_place_find(const struct hf_machine *machine, const char *name, uint64_t page_size, bool with_holes,
		  struct hf_place *place, struct hf_err *err)
{
	return hf_place_find_on(machine, NULL, name, page_size, with_holes, place, err);
}

int hf_place_find_on(const struct hf_machine *machine, const char *mount, const char *name,
		     uint64_t page_size, bool with_holes, struct hf_place *place, struct hf_err *err)
{
	int r;

	if (strchr(name, '/'))
		r = find_path(machine, name, place, err);
	else
		r = find_bare(machine, mount, name, page_size, place, err);
	if (r < 0 || place->to_mount || !machine->root.live) {
		place->mount_left = place->mount_limit;
		return r;
	}
	return look_at_mount(machine, place, with_holes, err);
}

void hf_place_free(struct hf_place *place)
{
	free(place->path);
	free(place->dir);
	free(place->mount);
	free(place->present);
	*place = (struct hf_place){ 0 };
}

/* What makes two places one file. */
static int compare(const void *a, const void *b)
{
	const struct hf_place *x = *(const struct hf_place *const *)a,
			      *y = *(const struct hf_place *const *)b;

	if (x->exists != y->exists)
		return x->exists ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->exists)
		return x->ino == y->ino ? 0 : x->ino < y->ino ? -1 : 1;
	if (x->dir_ino != y->dir_ino)
		return x->dir_ino < y->dir_ino ? -1 : 1;
	/* Known by its directory where that is mounted already, by its path otherwise. */
	return x->dir_ino ? strcmp(x->name, y->name) : strcmp(x->path, y->path);
}

const char *hf_place_find_twice(const struct hf_place *places, size_t count)
{
	_cleanup_free_ const struct hf_place **sorted = calloc(count + 1, sizeof(*sorted));
	size_t used = 0;

	for (size_t i = 0; sorted && i < count; i++)
		if (places[i].path)
			sorted[used++] = &places[i];
	if (used)
		qsort(sorted, used, sizeof(*sorted), compare);
	for (size_t i = 1; i < used; i++)
		if (compare(&sorted[i - 1], &sorted[i]) == 0)
			return sorted[i]->path;
	return NULL;
}
