/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hold - what the kernel tests need and no shell command does: processes that reserve, use or map
 * huge pages, pages that carry a mark, leases, and the peak memory of a command.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE (2UL << 20)
#define MAP_HUGE_2M (21U << 26)

static int fail(const char *what)
{
	fprintf(stderr, "hold: %s: %s\n", what, strerror(errno));
	return 1;
}

static _Noreturn void stay(void)
{
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

/* Pages of nobody's file: reserved, and with touch also used. */
static int hold_memory(const char *mib, int touch)
{
	size_t bytes = strtoul(mib, NULL, 10) << 20;
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | (int)MAP_HUGE_2M, -1, 0);

	if (map == MAP_FAILED)
		return fail("mmap");
	for (size_t at = 0; touch && at < bytes; at += PAGE)
		map[at] = 1;
	stay();
}

static int open_sized(const char *path, int flags, struct stat *st)
{
	int fd = open(path, flags);

	return fd < 0 || fstat(fd, st) < 0 ? -1 : fd;
}

static int hold_file(const char *path)
{
	struct stat st;
	int fd = open_sized(path, O_RDWR, &st);

	if (fd < 0 || mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		return fail(path);
	close(fd);
	stay();
}

/* Every page gets its number, from 1, as text. */
static int stamp(const char *path)
{
	struct stat st;
	int fd = open_sized(path, O_RDWR, &st);
	char *map;

	if (fd < 0)
		return fail(path);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return fail(path);
	for (size_t page = 0; page < (size_t)st.st_size / PAGE; page++)
		snprintf(map + page * PAGE + PAGE - 16, 16, "%zu", page + 1);
	return 0;
}

/* The marks, 0 for a page without one, on one line. Reading fills no hole. */
static int show(const char *path)
{
	struct stat st;
	int fd = open_sized(path, O_RDONLY, &st);
	char text[16];

	if (fd < 0)
		return fail(path);
	for (off_t at = 0; at < st.st_size; at += (off_t)PAGE) {
		if (pread(fd, text, sizeof(text), at + (off_t)PAGE - 16) != sizeof(text))
			return fail(path);
		printf("%s%ld", at ? " " : "", strtol(text, NULL, 10));
	}
	puts("");
	return 0;
}

/* Runs a command; its largest resident size in KiB goes to file. */
static int peak(const char *file, char **argv)
{
	struct rusage usage;
	int status;
	FILE *out;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		return fail(argv[0]);
	out = fopen(file, "w");
	if (!out || fprintf(out, "%ld\n", usage.ru_maxrss) < 0 || fclose(out) != 0)
		return fail(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Status 0: a lease can be had on it. */
static int lease(const char *path)
{
	int fd = open(path, O_RDWR);

	return fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0 ? fail(path) : 0;
}

int main(int argc, char **argv)
{
	const char *verb = argc > 2 ? argv[1] : "";

	if (strcmp(verb, "reserve") == 0)
		return hold_memory(argv[2], 0);
	if (strcmp(verb, "take") == 0)
		return hold_memory(argv[2], 1);
	if (strcmp(verb, "map") == 0)
		return hold_file(argv[2]);
	if (strcmp(verb, "stamp") == 0)
		return stamp(argv[2]);
	if (strcmp(verb, "show") == 0)
		return show(argv[2]);
	if (strcmp(verb, "lease") == 0)
		return lease(argv[2]);
	if (strcmp(verb, "peak") == 0 && argc > 3)
		return peak(argv[2], argv + 3);
	fputs("usage: hold reserve|take MIB, map|stamp|show|lease FILE, peak RESULT COMMAND...\n", stderr);
	return 2;
}
