/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds - processes that hold huge pages of 2 MiB in every way there is: kinds VERB PAGES [NAME].
 * Each prints "ready" (sysv: "ready SHMID") and stays until it is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE (2UL << 20)
#define HUGE_2M (21 << 26)

static int fail(const char *what)
{
	fprintf(stderr, "kinds: %s: %s\n", what, strerror(errno));
	return 1;
}

static _Noreturn void stay(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

static void touch(char *map, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		map[i * PAGE] = 1;
}

/* Of a file or, with fd -1, of none. */
static char *map(int fd, size_t pages, int flags)
{
	if (fd < 0)
		flags |= MAP_ANONYMOUS | MAP_HUGETLB | HUGE_2M;
	return mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
}

static int map_and_stay(int fd, size_t pages, int flags, size_t touched)
{
	char *at = map(fd, pages, flags);

	if (at == MAP_FAILED)
		return fail("mmap");
	touch(at, touched);
	stay();
}

static int make(const char *path, size_t pages)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	return fd < 0 || ftruncate(fd, (off_t)(pages * PAGE)) < 0 ? -1 : fd;
}

/* Pages of a descriptor that nothing maps. */
static int only_open(int fd, size_t pages, const char *unlinked)
{
	if (fd < 0 || fallocate(fd, 0, 0, (off_t)(pages * PAGE)) < 0)
		return fail("fallocate");
	if (unlinked && unlink(unlinked) < 0)
		return fail(unlinked);
	stay();
}

static int segment(size_t pages, int detach)
{
	int id = shmget(0x48460001, pages * PAGE, IPC_CREAT | IPC_EXCL | SHM_HUGETLB | HUGE_2M | 0600);
	char *at = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

	if (at == (char *)-1)
		return fail("shm");
	touch(at, pages);
	printf("shmid %d\n", id);
	if (detach)
		return shmdt(at) < 0 ? fail("shmdt") : 0;
	stay();
}

/* All pages shared with a child, the first of them not any more. */
static int forked(size_t pages)
{
	char *at = map(-1, pages, MAP_PRIVATE);

	if (at == MAP_FAILED)
		return fail("mmap");
	touch(at, pages);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		at[0] = 2;
		stay();
	}
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "", *name = argc > 3 ? argv[3] : "kinds";
	size_t pages = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int fd;

	if (strcmp(verb, "anonymous") == 0)
		return map_and_stay(-1, pages, MAP_PRIVATE, pages);
	if (strcmp(verb, "short") == 0) {
		char *at = map(-1, pages, MAP_PRIVATE);

		if (at == MAP_FAILED)
			return fail("mmap");
		touch(at, pages);
		return 0;
	}
	if (strcmp(verb, "shared") == 0)
		return map_and_stay(-1, pages, MAP_SHARED, pages);
	if (strcmp(verb, "forked") == 0)
		return forked(pages);
	if (strcmp(verb, "reserved") == 0)
		return map_and_stay(-1, pages, MAP_SHARED, 0);
	if (strcmp(verb, "file") == 0 || strcmp(verb, "untouched") == 0) {
		fd = make(name, pages);
		return fd < 0 ? fail(name) : map_and_stay(fd, pages, MAP_SHARED, *verb == 'f' ? pages : 0);
	}
	if (strcmp(verb, "copies") == 0) {
		fd = make(name, pages);
		if (fd < 0 || fallocate(fd, 0, 0, (off_t)(pages * PAGE)) < 0)
			return fail(name);
		return map_and_stay(fd, pages, MAP_PRIVATE, pages);
	}
	if (strcmp(verb, "unlinked") == 0) {
		fd = make(name, pages);
		if (fd < 0 || unlink(name) < 0)
			return fail(name);
		return map_and_stay(fd, pages, MAP_SHARED, pages);
	}
	if (strcmp(verb, "unlinked-open") == 0)
		return only_open(make(name, pages), pages, name);
	if (strncmp(verb, "memfd", 5) == 0) {
		fd = memfd_create(name, MFD_HUGETLB | HUGE_2M);
		if (fd < 0 || ftruncate(fd, (off_t)(pages * PAGE)) < 0)
			return fail("memfd");
		if (verb[5])
			return only_open(fd, pages, NULL);
		return map_and_stay(fd, pages, MAP_SHARED, pages);
	}
	if (strcmp(verb, "sysv") == 0)
		return segment(pages, 0);
	if (strcmp(verb, "detached") == 0)
		return segment(pages, 1);
	fputs("usage: kinds VERB PAGES [NAME]\n", stderr);
	return 2;
}
