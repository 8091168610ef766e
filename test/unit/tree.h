/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captured trees for the unit tests: those of test/fixtures, and small ones in a temporary folder. */
#ifndef TREE_H
#define TREE_H

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../../lib/sysroot.h"
#include "tap.h"

#define FIXTURES "test/fixtures/" /* tests run in the project's root */

static char tree_dir[64];

static inline int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void tree_remove(void)
{
	if (*tree_dir)
		nftw(tree_dir, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	*tree_dir = '\0';
}

/* An empty tree in place of the one before. Returns its path. */
static inline const char *tree_new(void)
{
	static bool once;

	if (!once)
		atexit(tree_remove);
	once = true;
	tree_remove();
	snprintf(tree_dir, sizeof(tree_dir), "/tmp/hugefill-unit-XXXXXX");
	if (!mkdtemp(tree_dir))
		abort();
	return tree_dir;
}

/* Makes the folders of a path below the tree and returns it whole, valid until the next call. */
static inline const char *tree_path(const char *file)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tree_dir, file);
	for (char *c = path + strlen(tree_dir) + 1; *c; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(path, 0777);
			*c = '/';
		}
	return path;
}

static inline void tree_put_bytes(const char *file, const char *bytes, size_t len)
{
	int fd = open(tree_path(file), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) < 0)
		abort();
}

static inline void tree_put(const char *file, const char *text)
{
	tree_put_bytes(file, text, strlen(text));
}

/* Removes a file, or a folder with all that is in it. */
static inline void tree_drop(const char *file)
{
	if (nftw(tree_path(file), tree_remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		abort();
}

/* A new tree that is a copy of a fixture. */
static inline const char *tree_copy(const char *fixture)
{
	char command[256];

	tree_new();
	snprintf(command, sizeof(command), "cp -R " FIXTURES "%s/. %s/", fixture, tree_dir);
	if (system(command) != 0)
		abort();
	return tree_dir;
}

static inline void tree_open(struct hf_sysroot *root, const char *dir)
{
	struct hf_err err = { 0 };

	if (hf_sysroot_open(root, dir, &err) < 0) {
		printf("Bail out! %s: %s\n", err.object, err.what);
		exit(1);
	}
}

#endif
