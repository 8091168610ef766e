/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scatter MIB KEEP: fragments so much memory by pages that the kernel can move: takes it in small
 * pages, in the order of the addresses, and gives back all but one of KEEP. Prints "ready" and keeps
 * these until it is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL

int main(int argc, char **argv)
{
	size_t bytes = argc == 3 ? strtoul(argv[1], NULL, 10) << 20 : 0;
	size_t keep = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	char *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (keep < 2 || map == MAP_FAILED || madvise(map, bytes, MADV_NOHUGEPAGE))
		return perror("scatter MIB KEEP"), 1;
	for (size_t at = 0; at < bytes; at += PAGE)
		map[at] = 1;
	for (size_t at = 0; at < bytes; at += PAGE)
		if (at / PAGE % keep && madvise(map + at, PAGE, MADV_DONTNEED))
			return perror("madvise"), 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
