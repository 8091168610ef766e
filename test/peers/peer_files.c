/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peer.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void opened(struct call *call, int fd)
{
	struct thing *file;

	if (fd < 0)
		return failed(call);
	file = add(call, call->word[0]);
	if (file)
		file->fd = fd;
}

void peer_open(struct call *call)
{
	int flags = strcmp(call->word[2], "read") == 0     ? O_RDONLY
		    : strcmp(call->word[2], "create") == 0 ? O_RDWR | O_CREAT
							   : O_RDWR;

	opened(call, open(call->word[1], flags, 0600));
}

void peer_memfd(struct call *call)
{
	int fd = memfd_create("peer", MFD_HUGETLB | MFD_HUGE_2MB);

	if (fd >= 0 && ftruncate(fd, (off_t)size_of(call->word[1])) < 0)
		return failed(call);
	opened(call, fd);
}

void peer_close(struct call *call)
{
	struct thing *file = find(call, call->word[0]);

	if (!file)
		return;
	if (close(file->fd) < 0)
		failed(call);
	drop(file);
}

void peer_truncate(struct call *call)
{
	struct thing *file = find(call, call->word[0]);

	if (file && ftruncate(file->fd, (off_t)size_of(call->word[1])) < 0)
		failed(call);
}

static void allocate(struct call *call, int mode)
{
	struct thing *file = find(call, call->word[0]);
	off_t offset = (off_t)size_of(call->word[1]), length = (off_t)size_of(call->word[2]);

	if (file && fallocate(file->fd, mode, offset, length) < 0)
		failed(call);
}

void peer_allocate(struct call *call)
{
	allocate(call, 0);
}

void peer_punch(struct call *call)
{
	allocate(call, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE);
}

static void look(struct call *call, int want_size)
{
	struct thing *file = find(call, call->word[0]);
	struct stat st;

	if (!file)
		return;
	if (fstat(file->fd, &st) < 0)
		return failed(call);
	snprintf(call->reply, REPLY, "%lu",
		 (want_size ? (unsigned long)st.st_size : (unsigned long)st.st_blocks * 512) / PAGE);
}

void peer_pages(struct call *call)
{
	look(call, 0);
}

void peer_size(struct call *call)
{
	look(call, 1);
}

void peer_pread(struct call *call)
{
	struct thing *file = find(call, call->word[0]);
	size_t length = size_of(call->word[2]);
	char *buffer = malloc(length + 1);
	ssize_t got;

	if (!file || !buffer)
		return;
	got = pread(file->fd, buffer, length, (off_t)size_of(call->word[1]));
	if (got < 0)
		failed(call);
	else
		snprintf(call->reply, REPLY, "%zd", got);
	free(buffer);
}

void peer_pwrite(struct call *call)
{
	struct thing *file = find(call, call->word[0]);
	size_t length = size_of(call->word[2]);
	char *buffer = calloc(length + 1, 1);

	if (file && buffer && pwrite(file->fd, buffer, length, (off_t)size_of(call->word[1])) < 0)
		failed(call);
	free(buffer);
}

/* Advice that reads nothing: what it returns is the kernel's business, what it does to counters ours. */
void peer_ahead(struct call *call)
{
	struct thing *file = find(call, call->word[0]);
	off_t offset = (off_t)size_of(call->word[1]), length = (off_t)size_of(call->word[2]);

	if (!file)
		return;
	(void)!readahead(file->fd, offset, (size_t)length);
	(void)!posix_fadvise(file->fd, offset, length, POSIX_FADV_WILLNEED);
	(void)!posix_fadvise(file->fd, offset, length, POSIX_FADV_DONTNEED);
}
