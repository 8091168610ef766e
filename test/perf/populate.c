/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * populate FILE MIB: creates FILE on hugetlbfs and fills it by two threads that do nothing but
 * MADV_POPULATE_WRITE: what hugefill is measured against. Prints the microseconds from the file's
 * creation to the end of the threads.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (32ULL << 20)

static char *map;
static unsigned long long size;
static atomic_ullong next_chunk;

static void *populate(void *arg)
{
	unsigned long long at;

	while ((at = atomic_fetch_add(&next_chunk, CHUNK)) < size)
		if (madvise(map + at, size - at < CHUNK ? size - at : CHUNK, MADV_POPULATE_WRITE))
			return perror("madvise"), (void *)&size;
	return arg;
}

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	long long start = now_us();
	pthread_t threads[2];
	void *failed[2] = { NULL, NULL };
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;

	size = argc == 3 ? strtoull(argv[2], NULL, 10) << 20 : 0;
	if (fd < 0 || ftruncate(fd, (off_t)size))
		return perror("populate FILE MIB"), 1;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return perror("mmap"), 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, populate, NULL))
			return perror("pthread_create"), 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], &failed[i]);
	printf("%lld\n", now_us() - start);
	return failed[0] || failed[1];
}
