/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elsewhere.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct search {
	const struct hf_sysroot *root;
	const char *path;
	size_t nseen, room;
	ino_t *seen; /* namespaces; the first is our own */
};

/* 0: cannot be told. */
static ino_t namespace_of(const struct hf_sysroot *root, const char *process)
{
	_cleanup_close_ int fd = hf_sysroot_fd(root, O_RDONLY, NULL, "proc/%s/ns/mnt", process);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

/* Whether this namespace was looked into before; notes it otherwise. */
static bool was_seen(struct search *s, ino_t namespace)
{
	for (size_t i = 0; i < s->nseen; i++)
		if (s->seen[i] == namespace)
			return true;
	if (s->nseen == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		ino_t *seen = reallocarray(s->seen, room, sizeof(*seen));

		/* Then some are looked into more than once. */
		if (!seen)
			return false;
		s->seen = seen;
		s->room = room;
	}
	s->seen[s->nseen++] = namespace;
	return false;
}

/* The fifth field of a mountinfo line against path; blanks and the like are \ooo there. */
static bool is_on(const char *line, const char *path)
{
	for (int field = 1; field < 5 && line; field++) {
		line = strchr(line, ' ');
		line = line ? line + 1 : NULL;
	}
	while (line && *line && *line != ' ' && *path) {
		char c = *line++;

		if (c == '\\' && strspn(line, "01234567") >= 3) {
			c = (char)((line[0] - '0') << 6 | (line[1] - '0') << 3 | (line[2] - '0'));
			line += 3;
		}
		if (c != *path++)
			return false;
	}
	return line && *line == ' ' && !*path;
}

static int look_into(const char *name, void *arg)
{
	struct search *s = arg;
	ino_t namespace;
	_cleanup_fclose_ FILE *in = NULL;
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int fd, found = 0;

	if (*name < '1' || *name > '9')
		return 0;
	namespace = namespace_of(s->root, name);
	if (namespace && was_seen(s, namespace))
		return 0;
	fd = hf_sysroot_fd(s->root, O_RDONLY, NULL, "proc/%s/mountinfo", name);
	in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in && fd >= 0)
		close(fd);
	while (in && !found && getline(&line, &size, in) > 0)
		found = is_on(line, s->path);
	return found;
}

bool hf_elsewhere_is_mounted(const struct hf_sysroot *root, const char *path)
{
	struct search s = { .root = root, .path = path };
	ino_t own = namespace_of(root, "self");
	struct hf_err ignored = { 0 };
	bool found;

	if (own)
		(void)was_seen(&s, own);
	found = hf_sysroot_list(root, look_into, &s, &ignored, "proc") > 0;
	free(s.seen);
	return found;
}

int hf_elsewhere_rmdir(const struct hf_sysroot *root, const char *path)
{
	if (hf_elsewhere_is_mounted(root, path))
		return -EBUSY;
	return rmdir(path) < 0 && errno != ENOENT ? -errno : 0;
}
