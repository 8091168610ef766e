/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "holders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FIRST_PID_NAMESPACE 0xeffffffcu

struct search {
	const struct hf_sysroot *root;
	dev_t dev;
	ino_t ino;
	struct hf_holders *found;
};

static bool is_it(const struct search *s, dev_t dev, ino_t ino)
{
	return dev == s->dev && (!s->ino || ino == s->ino);
}

/* Working and root directories hold a mount too. */
static bool stands_on(const struct search *s, pid_t pid)
{
	static const char *const links[] = { "cwd", "root" };
	bool found = false;

	for (size_t i = 0; i < HF_LENGTH(links) && !s->ino && !found; i++) {
		struct hf_err ignored = { 0 };
		_cleanup_close_ int fd =
			hf_sysroot_fd(s->root, O_PATH, &ignored, "proc/%d/%s", (int)pid, links[i]);
		struct stat st;

		found = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == s->dev;
	}
	return found;
}

static bool is_denied(int errnum)
{
	return errnum == EACCES || errnum == EPERM;
}

/* Any descriptor of the process that is the file; a process that ended meanwhile holds nothing. The folder
 * may be open to whom its links are not. */
static bool has_open(const struct search *s, pid_t pid, const char *task, bool *hidden)
{
	struct hf_err ignored = { 0 };
	int fd = hf_sysroot_fd(s->root, O_RDONLY | O_DIRECTORY, &ignored, "proc/%d/task/%s/fd", (int)pid,
			       task);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool found = false;

	if (!dir) {
		*hidden = *hidden || is_denied(-fd);
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (entry = readdir(dir)) != NULL) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			found = is_it(s, st.st_dev, st.st_ino);
		else
			*hidden = *hidden || is_denied(errno);
	}
	closedir(dir);
	return found;
}

static bool has_mapped(const struct search *s, pid_t pid, const char *task, bool *hidden)
{
	struct hf_err ignored = { 0 };
	int fd = hf_sysroot_fd(s->root, O_RDONLY, &ignored, "proc/%d/task/%s/maps", (int)pid, task);
	_cleanup_fclose_ FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL;
	bool found = false;
	size_t size = 0;

	*hidden = *hidden || (fd < 0 && is_denied(-fd));
	if (!maps && fd >= 0)
		close(fd);
	while (maps && !found && getline(&line, &size, maps) > 0) {
		unsigned major, minor;
		unsigned long long ino;

		if (sscanf(line, "%*s %*s %*s %x:%x %llu", &major, &minor, &ino) == 3)
			found = is_it(s, makedev(major, minor), (ino_t)ino);
	}
	return found;
}

/* What looking into the tasks of a process needs. */
struct task_search {
	const struct search *search;
	struct hf_holder *holder;
	bool hidden;
};

/* A thread may have descriptors of its own, and a process whose first thread has ended shows its
 * mappings in the others only. */
static int look_into_task(const char *task, void *arg)
{
	struct task_search *t = arg;

	t->holder->open = t->holder->open || has_open(t->search, t->holder->pid, task, &t->hidden);
	t->holder->mapped = t->holder->mapped || has_mapped(t->search, t->holder->pid, task, &t->hidden);
	return t->holder->open && t->holder->mapped;
}

static int look_into(const char *name, void *arg)
{
	struct search *s = arg;
	struct hf_holder holder = { .pid = (pid_t)strtol(name, NULL, 10) }, *all;
	struct task_search tasks = { s, &holder, false };
	struct hf_err ignored = { 0 };
	int r;

	if (*name < '1' || *name > '9' || holder.pid == getpid())
		return 0;
	holder.open = stands_on(s, holder.pid);
	r = hf_sysroot_list(s->root, look_into_task, &tasks, &ignored, "proc/%d/task", (int)holder.pid);
	tasks.hidden = tasks.hidden || (r < 0 && is_denied(-r));
	ignored = (struct hf_err){ 0 };
	s->found->hidden += tasks.hidden;
	if (!holder.open && !holder.mapped)
		return 0;
	if (hf_sysroot_read(s->root, holder.command, sizeof(holder.command), NULL, &ignored, "proc/%d/comm",
			    (int)holder.pid) < 0)
		snprintf(holder.command, sizeof(holder.command), "?");
	holder.command[strcspn(holder.command, "\n")] = '\0';
	all = reallocarray(s->found->holders, s->found->count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	s->found->holders = all;
	all[s->found->count++] = holder;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct hf_holder *)a)->pid, y = ((const struct hf_holder *)b)->pid;

	return (x > y) - (x < y);
}

/* Processes that are not even listed: those outside of a PID namespace, whose number is the kernel's for its
 * first one (linux/nsfs.h), and with proc's hidepid= those of others. */
static bool is_partial(const struct hf_sysroot *root)
{
	_cleanup_close_ int fd = hf_sysroot_fd(root, O_RDONLY, NULL, "proc/self/ns/pid");
	struct stat st;

	return (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE) ||
	       !hf_sysroot_exists(root, "proc/1");
}

int hf_holders_find(const struct hf_sysroot *root, dev_t dev, ino_t ino, struct hf_holders *holders,
		    struct hf_err *err)
{
	struct search s = { root, dev, ino, holders };
	int r;

	*holders = (struct hf_holders){ 0 };
	holders->hidden = is_partial(root);
	r = hf_sysroot_list(root, look_into, &s, err, "proc");
	if (r == -ENOMEM)
		return hf_err_nomem(err);
	if (holders->count)
		qsort(holders->holders, holders->count, sizeof(*holders->holders), by_pid);
	return r;
}

void hf_holders_hint(const struct hf_holders *holders, struct hf_err *err)
{
	for (size_t i = 0; i < holders->count && i < 16; i++) {
		const struct hf_holder *h = &holders->holders[i];
		char command[4 * sizeof(h->command)];

		hf_err_hint(err, "process %d (%s) has it %s", (int)h->pid,
			    hf_err_escape(h->command, command, sizeof(command)),
			    h->mapped ? "mapped" : "open");
	}
}

void hf_holders_free(struct hf_holders *holders)
{
	free(holders->holders);
	*holders = (struct hf_holders){ 0 };
}
