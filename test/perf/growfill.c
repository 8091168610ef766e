/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growfill fault|overlap FILE MIB THREADS: ways to grow the 2 MiB pool and fill a file that hugefill
 * does not go, to be measured beside it; root, hugetlbfs.
 *
 *   fault    with the overcommit limit raised, the faults that fill the file allocate its pages as
 *            surplus; these are made persistent at the end
 *   overlap  one thread grows the pool by writes to nr_hugepages, and the others fill what is there;
 *            it fills with them when the pool is grown
 *
 * A thread that gets no page ends. Prints the pages of the file and the microseconds from its creation
 * to the end; the file and the pool stay, the limit is as before.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define POOL "/sys/kernel/mm/hugepages/hugepages-2048kB/"
#define PAGE (2ULL << 20)
#define STEP 16 /* pages: of a write, and of a thread's piece */
#define MAX_THREADS 64

static char *map;
static unsigned long long wanted, before; /* pages: of the file, of the pool */
static atomic_ullong next, grown;         /* pages: that nobody fills, that may be filled */
static atomic_bool ended;

static long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static unsigned long long get(const char *path)
{
	unsigned long long value = 0;
	FILE *file = fopen(path, "re");

	if (!file || fscanf(file, "%llu", &value) != 1) {
		perror(path);
		exit(1);
	}
	fclose(file);
	return value;
}

static void put(const char *path, unsigned long long value)
{
	FILE *file = fopen(path, "we");

	if (!file || fprintf(file, "%llu", value) < 0 || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* The next piece that is wanted; waits until the pool has pages for it. False: all is done. */
static int take(unsigned long long *from, unsigned long long *to)
{
	*from = atomic_fetch_add(&next, STEP);
	if (*from >= wanted)
		return 0;
	*to = *from + STEP < wanted ? *from + STEP : wanted;
	while (atomic_load(&grown) < *to && !atomic_load(&ended))
		usleep(200);
	return 1;
}

static void *fill(void *arg)
{
	unsigned long long from, to;

	while (take(&from, &to))
		if (madvise(map + from * PAGE, (to - from) * PAGE, MADV_POPULATE_WRITE))
			break;
	return arg;
}

static void grow(void)
{
	unsigned long long have = before, target = before + wanted;

	while (have < target) {
		unsigned long long aim = have + STEP < target ? have + STEP : target;

		put(POOL "nr_hugepages", aim);
		have = get(POOL "nr_hugepages");
		atomic_store(&grown, have - before);
		if (have < aim)
			break;
	}
	atomic_store(&ended, 1);
}

static int run(int overlap, int count)
{
	pthread_t threads[MAX_THREADS];

	for (int i = overlap; i < count; i++)
		if (pthread_create(&threads[i], NULL, fill, NULL))
			return perror("pthread_create"), 1;
	if (overlap) {
		grow();
		fill(NULL);
	}
	for (int i = overlap; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int measure(int overlap, const char *path, int count)
{
	unsigned long long limit = get(POOL "nr_overcommit_hugepages");
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	long long start = now_us();
	struct stat st;

	if (fd < 0 || ftruncate(fd, (off_t)(wanted * PAGE)))
		return perror(path), 1;
	map = mmap(NULL, wanted * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (map == MAP_FAILED)
		return perror("mmap"), 1;
	before = get(POOL "nr_hugepages");
	atomic_store(&grown, overlap ? 0 : wanted);
	if (!overlap)
		put(POOL "nr_overcommit_hugepages", wanted);
	if (run(overlap, count))
		return 1;
	if (!overlap) {
		put(POOL "nr_hugepages", get(POOL "nr_hugepages"));
		put(POOL "nr_overcommit_hugepages", limit);
	}
	if (munmap(map, wanted * PAGE) || fstat(fd, &st) || close(fd))
		return perror(path), 1;
	printf("%llu %lld\n", (unsigned long long)st.st_blocks * 512 / PAGE, now_us() - start);
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc == 5 ? atoi(argv[4]) : 0;
	int overlap = argc == 5 && strcmp(argv[1], "overlap") == 0;

	wanted = argc == 5 ? strtoull(argv[3], NULL, 10) / 2 : 0;
	if (!wanted || count < 1 || count > MAX_THREADS || (!overlap && strcmp(argv[1], "fault") != 0)) {
		fputs("usage: growfill fault|overlap FILE MIB THREADS\n", stderr);
		return 2;
	}
	return measure(overlap, argv[2], count);
}
