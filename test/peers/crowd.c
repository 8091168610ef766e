/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd - several at once: contenders that touch the same page at the same moment, and consumers that
 * take, fill, look at and give back pages until SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE (2UL << 20)
#define HUGE_2M (21 << 26)

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static _Noreturn void fail(const char *what)
{
	printf("crowd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *anonymous(size_t length, int flags)
{
	return mmap(NULL, length, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_HUGETLB | HUGE_2M, -1,
		    0);
}

/* --- contenders --- */

struct ring {
	pthread_barrier_t barrier;
	char *page;
	int slot;
	int cpu[2];
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Two CPUs that this process may use, or one twice. */
static void choose_cpus(int *cpu)
{
	cpu_set_t set;
	int found = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		fail("sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
		if (CPU_ISSET((size_t)i, &set))
			cpu[found++] = i;
	if (found < 2)
		cpu[1] = cpu[0];
}

static void *contend(void *arg)
{
	struct ring *ring = arg;
	int slot = __atomic_fetch_add(&ring->slot, 1, __ATOMIC_SEQ_CST);

	pin(ring->cpu[slot]);
	pthread_barrier_wait(&ring->barrier);
	ring->page[slot] = (char)('a' + slot);
	return NULL;
}

static void by_threads(struct ring *ring)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, contend, ring))
			fail("pthread_create");
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* Whoever dies of a signal ends the round. */
static void await(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		fail("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		printf("a contender ended with %x\n", (unsigned)status);
		exit(1);
	}
}

static void by_processes(struct ring *ring)
{
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			contend(ring);
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		await(pid[i]);
}

/* Both must have it, as one and the same page. */
static void judge(const struct ring *ring)
{
	if (ring->page[0] == 'a' && ring->page[1] == 'b')
		return;
	printf("the page has \"%c%c\", not \"ab\"\n", ring->page[0], ring->page[1]);
	exit(1);
}

/* A process of its own each round, which a SIGBUS may end. */
static void one_round(struct ring *ring, int fd, const char *how)
{
	int flags = strstr(how, "private") ? MAP_PRIVATE : MAP_SHARED;
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&ring->barrier, &attr, 2);
	ring->slot = 0;
	ring->page = fd < 0 ? anonymous(PAGE, flags) : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (ring->page == MAP_FAILED)
		fail("mmap");
	if (strstr(how, "threads"))
		by_threads(ring);
	else
		by_processes(ring);
	judge(ring);
	exit(0);
}

/* race HOW FILE ROUNDS: how is threads|processes,shared|private; FILE - is none */
static int race(const char *how, const char *path, int rounds)
{
	struct ring *ring =
		mmap(NULL, sizeof(*ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDWR);

	if (ring == MAP_FAILED || (fd < 0 && strcmp(path, "-") != 0))
		fail(path);
	choose_cpus(ring->cpu);
	for (int i = 0; i < rounds; i++) {
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0)
			one_round(ring, fd, how);
		await(pid);
		if (fd >= 0 && fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE) < 0)
			fail("punching the page out");
	}
	printf("%d rounds\n", rounds);
	return 0;
}

/* --- consumers --- */

static void mark(char *text, size_t page, unsigned round)
{
	snprintf(text, 48, "%d %u %zu", (int)getpid(), round, page);
}

/* At both ends of each page. */
static void put(char *map, size_t pages, unsigned round)
{
	for (size_t i = 0; i < pages; i++) {
		mark(map + i * PAGE, i, round);
		mark(map + (i + 1) * PAGE - 48, i, round);
	}
}

static void look(const char *map, size_t pages, unsigned round)
{
	char want[48];

	for (size_t i = 0; i < pages; i++) {
		mark(want, i, round);
		if (strcmp(map + i * PAGE, want) == 0 && strcmp(map + (i + 1) * PAGE - 48, want) == 0)
			continue;
		printf("page %zu has \"%.48s\", not \"%s\"\n", i, map + i * PAGE, want);
		exit(1);
	}
}

static char *take(const char *kind, size_t length)
{
	char *map;
	int fd;

	if (strcmp(kind, "private") == 0 || strcmp(kind, "shared") == 0)
		return anonymous(length, *kind == 'p' ? MAP_PRIVATE : MAP_SHARED);
	fd = strcmp(kind, "memfd") == 0 ? memfd_create("crowd", MFD_HUGETLB | HUGE_2M) : open(kind, O_RDWR);
	if (fd < 0 || (strcmp(kind, "memfd") == 0 && ftruncate(fd, (off_t)length) < 0))
		fail(kind);
	map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map;
}

static void say_ready(unsigned round)
{
	if (round != 1)
		return;
	puts("ready");
	fflush(stdout);
}

/* consume KIND PAGES: private|shared|memfd, or the path of a file, which stays mapped. A refusal is
 * fair, a SIGBUS is not. */
static int consume(const char *kind, size_t pages)
{
	unsigned round = 0, refused = 0;
	char *map;

	for (; !stopped; round += map != MAP_FAILED) {
		map = take(kind, pages * PAGE);
		if (map == MAP_FAILED && errno != ENOMEM)
			fail("mmap");
		if (map == MAP_FAILED) {
			refused++;
			usleep(1000);
			continue;
		}
		put(map, pages, round);
		sched_yield();
		look(map, pages, round);
		munmap(map, pages * PAGE);
		say_ready(round + 1);
	}
	printf("%u rounds, %u refused\n", round, refused);
	return 0;
}

int main(int argc, char **argv)
{
	signal(SIGTERM, stop);
	if (argc == 5 && strcmp(argv[1], "race") == 0)
		return race(argv[2], argv[3], atoi(argv[4]));
	if (argc == 4 && strcmp(argv[1], "consume") == 0)
		return consume(argv[2], strtoul(argv[3], NULL, 10));
	fputs("usage: crowd race HOW FILE ROUNDS, consume KIND PAGES\n", stderr);
	return 2;
}
