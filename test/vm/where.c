/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * where - the node of each page of a hugetlbfs file, as the kernel tells it: one line by move_pages(2),
 * page by page, and one of the counts in /proc/self/numa_maps. A hole would be filled by looking.
 */
#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "where: %s: %s\n", what, strerror(errno));
	return 1;
}

/* A page that is not mapped yet has no node for the kernel: it is read first. */
static int print_pages(char *map, size_t count, size_t size)
{
	void **pages = calloc(count, sizeof(*pages));
	int *status = calloc(count, sizeof(*status));

	if (!pages || !status)
		return fail("memory");
	for (size_t i = 0; i < count; i++) {
		pages[i] = map + i * size;
		(void)*(volatile char *)pages[i];
	}
	if (move_pages(0, count, pages, NULL, status, 0) < 0)
		return fail("move_pages");
	for (size_t i = 0; i < count; i++)
		printf("%s%d", i ? " " : "", status[i]);
	puts("");
	free(pages);
	free(status);
	return 0;
}

/* "N0=12 N1=4" */
static int print_counts(const char *map)
{
	unsigned long at = (unsigned long)map;
	FILE *in = fopen("/proc/self/numa_maps", "r");
	char line[4096];
	int found = 0;

	if (!in)
		return fail("numa_maps");
	while (fgets(line, sizeof(line), in)) {
		if (strtoul(line, NULL, 16) != at)
			continue;
		for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
			if (word[0] == 'N' && strchr(word, '='))
				printf("%s%s", found++ ? " " : "", word);
	}
	puts("");
	return fclose(in) == 0 ? 0 : fail("numa_maps");
}

int main(int argc, char **argv)
{
	struct stat st;
	size_t size;
	char *map;
	int fd;

	if (argc != 2) {
		fputs("usage: where FILE\n", stderr);
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(argv[1]);
	size = (size_t)st.st_blksize;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return fail(argv[1]);
	if (print_pages(map, (size_t)st.st_size / size, size) != 0)
		return 1;
	return print_counts(map);
}
