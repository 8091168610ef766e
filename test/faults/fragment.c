/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fragment MIB - fragments so much memory: fills it with the pages of pipes, which the kernel cannot
 * move, and gives back all but one of eight. Prints "ready" and keeps the rest until it is killed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE 4096
#define PIPE_BYTES (1 << 20) /* nobody needs a privilege for it */
#define KEEP_ONE_OF 8

/* Full pipes, by the end that reads, and one that is being filled. */
struct pipes {
	int *readers;
	size_t count, room;
	int writer;
};

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int next_pipe(struct pipes *p)
{
	int fds[2], size;

	/* A full one lives on by its reading end. */
	if (p->count)
		close(p->writer);
	if (pipe(fds) < 0)
		return -1;
	size = fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	if (size < 0)
		return -1;
	p->readers[p->count++] = fds[0];
	p->writer = fds[1];
	p->room = (size_t)size / PAGE;
	return 0;
}

static int put_page(struct pipes *p)
{
	static const char page[PAGE] = "x";

	if (!p->room && next_pipe(p) < 0)
		return -1;
	p->room--;
	return write(p->writer, page, PAGE) == PAGE ? 0 : -1;
}

static int many_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	struct pipes kept = { .readers = calloc(mib + 2, sizeof(int)) };
	struct pipes loose = { .readers = calloc(mib + 2, sizeof(int)) };

	if (!mib || !kept.readers || !loose.readers || many_descriptors() < 0)
		return fail("fragment MIB");
	for (size_t i = 0; i < mib * ((1 << 20) / PAGE); i++)
		if (put_page(i % KEEP_ONE_OF ? &loose : &kept) < 0)
			return fail("pipe");
	for (size_t i = 0; i < loose.count; i++)
		close(loose.readers[i]);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
