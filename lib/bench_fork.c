/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_parts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "clock.h"
#include "fill.h"

#define FEW_PAGES 16
#define LOOK_MS 50
#define START_MS 1

struct counter {
	atomic_ullong count;
} __attribute__((aligned(128)));

/* What parent and instances share. */
struct board {
	atomic_bool go, stop;
	atomic_size_t ready;
	atomic_int error; /* errno of the first instance that failed */
	struct counter counters[];
};

struct herd {
	struct hf_bench *bench;
	struct board *board;
	size_t board_bytes, count; /* count: instances that were started */
	pid_t *pids;               /* each leads a process group */
	int was_reaper;
	const struct hf_bench_map *file; /* NULL: each instance has pages of its own */
	uint64_t bytes;                  /* of each instance's mapping */
};

static char *map_it(const struct herd *herd)
{
	int shift = __builtin_ctzll(herd->bench->request->page_size);
	int flags = herd->file ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | shift << 26;
	char *map =
		mmap(NULL, herd->bytes, PROT_READ | PROT_WRITE, flags, herd->file ? herd->file->fd : -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

static int fault_loop(const struct herd *herd, struct counter *counter)
{
	uint64_t page_size = herd->bench->request->page_size;
	char *map = map_it(herd);

	if (!map)
		return errno;
	for (uint64_t at = 0; at < herd->bytes && !atomic_load(&herd->board->stop); at += page_size) {
		*(volatile char *)(map + at) = 1;
		atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
	}
	return munmap(map, herd->bytes) < 0 ? errno : 0;
}

static int fork_loop(const struct herd *herd, struct counter *counter)
{
	uint64_t page_size = herd->bench->request->page_size;
	char *map = map_it(herd);
	pid_t pid;

	if (!map)
		return errno;
	for (uint64_t i = 0; i < FEW_PAGES && i * page_size < herd->bytes; i++)
		*(volatile char *)(map + i * page_size) = 1;
	pid = fork();
	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return errno;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	atomic_fetch_add_explicit(&counter->count, 1, memory_order_relaxed);
	return munmap(map, herd->bytes) < 0 ? errno : 0;
}

static void be_instance(const struct herd *herd, size_t index, bool forks, pid_t parent)
{
	struct board *board = herd->board;
	int error = 0, none = 0;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
	atomic_fetch_add(&board->ready, 1);
	while (!atomic_load(&board->go))
		poll(NULL, 0, START_MS);
	while (!error && !atomic_load(&board->stop))
		error = forks ? fork_loop(herd, &board->counters[index])
			      : fault_loop(herd, &board->counters[index]);
	if (error)
		atomic_compare_exchange_strong(&board->error, &none, error);
	_exit(error != 0);
}

static int start(struct herd *herd, bool forks, uint64_t instances, struct hf_err *err)
{
	pid_t parent = getpid();

	for (uint64_t i = 0; i < instances; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return hf_err_sys(err, errno, NULL, "cannot start instance %zu", herd->count + 1);
		if (pid == 0)
			be_instance(herd, herd->count, forks, parent);
		setpgid(pid, pid); /* whoever comes first */
		herd->pids[herd->count++] = pid;
	}
	return 0;
}

/* Killed by a SIGBUS, or by somebody. */
static bool is_any_dead(struct herd *herd, int *status)
{
	for (size_t i = 0; i < herd->count; i++)
		if (waitpid(herd->pids[i], status, WNOHANG) == herd->pids[i])
			return true;
	return false;
}

static int explain_death(const struct herd *herd, int status, struct hf_err *err)
{
	int error = atomic_load(&herd->board->error);

	if (error)
		return hf_err_sys(err, error, NULL, "an instance ended before its time");
	if (WIFSIGNALED(status))
		return hf_err_set(err, ECHILD, NULL, "an instance was killed by signal %d (%s)",
				  WTERMSIG(status), strsignal(WTERMSIG(status)));
	return hf_err_set(err, ECHILD, NULL, "an instance ended with %d before its time",
			  WEXITSTATUS(status));
}

static int wait_for(struct herd *herd, uint64_t until_ns, struct hf_err *err)
{
	while (until_ns ? hf_clock_ns() < until_ns : atomic_load(&herd->board->ready) < herd->count) {
		uint64_t now = hf_clock_ns(), left = until_ns > now ? (until_ns - now) / 1000000 : 0;
		int status;

		if (hf_stop_requested(herd->bench->stop))
			return hf_err_set(err, ECANCELED, NULL, "given up");
		if (is_any_dead(herd, &status))
			return explain_death(herd, status, err);
		hf_bench_show(herd->bench, 0);
		poll(NULL, 0, !until_ns ? START_MS : left < LOOK_MS ? (int)left + 1 : LOOK_MS);
	}
	return 0;
}

/*
 * An instance that is killed can leave a child behind that has yet to exit, and holds the pages until
 * then. Each instance leads a process group, which its children stay in, and orphans come to this
 * process: so there is nobody left at the end.
 */
static void end(struct herd *herd)
{
	for (size_t i = 0; i < herd->count; i++)
		kill(-herd->pids[i], SIGKILL);
	for (size_t i = 0; i < herd->count; i++)
		while (waitpid(-herd->pids[i], NULL, 0) > 0 || errno == EINTR)
			;
	prctl(PR_SET_CHILD_SUBREAPER, herd->was_reaper);
	free(herd->pids);
	if (herd->board)
		munmap(herd->board, herd->board_bytes);
}

static uint64_t sum(const struct herd *herd, size_t from, size_t to)
{
	uint64_t all = 0;

	for (size_t i = from; i < to; i++)
		all += atomic_load(&herd->board->counters[i].count);
	return all;
}

/* The first half of the instances fault in a combined case, the second half fork. */
static int measure(struct herd *herd, const struct hf_bench_case *c, double *value, struct hf_err *err)
{
	size_t half = c->count;
	uint64_t begin, took, counts[2];
	int r = wait_for(herd, 0, err);

	if (r < 0)
		return r;
	begin = hf_clock_ns();
	atomic_store(&herd->board->go, true);
	r = wait_for(herd, begin + (uint64_t)(herd->bench->request->seconds * 1e9), err);
	counts[0] = sum(herd, 0, half);
	counts[1] = sum(herd, half, herd->count);
	took = hf_clock_ns() - begin;
	atomic_store(&herd->board->stop, true);
	for (size_t i = 0; i < 2 && r == 0; i++)
		value[i] = (double)counts[i] / ((double)took / 1e9);
	return r;
}

static int prepare(struct herd *herd, size_t instances, struct hf_err *err)
{
	void *board;

	herd->board_bytes = sizeof(*herd->board) + instances * sizeof(herd->board->counters[0]);
	herd->pids = calloc(instances, sizeof(*herd->pids));
	board = mmap(NULL, herd->board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board != MAP_FAILED)
		herd->board = board;
	return herd->pids && herd->board ? 0 : hf_err_nomem(err);
}

/* The file that all instances map, every page there; of the last case when that is as long. */
static int provide_file(struct hf_bench *bench, uint64_t bytes, struct hf_err *err)
{
	struct hf_bench_job job = { .bench = bench,
				    .method = hf_fill_method(HF_METHOD_AUTO),
				    .threads = hf_nodeset_count(&bench->machine->topo.cpus_allowed),
				    .step = bench->request->page_size };
	int r;

	if (bench->kept && bench->kept->bytes == bytes)
		return 0;
	hf_bench_drop(bench);
	bench->kept = calloc(1, sizeof(*bench->kept));
	if (!bench->kept)
		return hf_err_nomem(err);
	job.map = bench->kept;
	r = hf_bench_map(HF_BENCH_SHARED_FILE, bench->request->page_size, bytes, bench->kept, err);
	return r < 0 ? r : hf_bench_job_run(&job, err);
}

void hf_bench_drop(struct hf_bench *bench)
{
	if (bench->kept)
		hf_bench_unmap(bench->kept);
	free(bench->kept);
	bench->kept = NULL;
}

int hf_bench_time_fork(struct hf_bench *bench, struct hf_bench_case *c, double *value, struct hf_err *err)
{
	bool combined = c->kind == HF_BENCH_COMBINED_FAULTS, file = c->mapping == HF_BENCH_SHARED_FILE;
	uint64_t page_size = bench->request->page_size, instances = combined ? 2 * c->count : c->count;
	struct herd herd = { .bench = bench, .bytes = c->bytes };
	int r = 0;

	prctl(PR_GET_CHILD_SUBREAPER, &herd.was_reaper);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (file)
		r = provide_file(bench, c->bytes, err);
	else
		hf_bench_drop(bench);
	herd.file = file ? bench->kept : NULL;
	if (!file)
		herd.bytes = c->bytes / instances / page_size * page_size;
	if (r == 0)
		r = prepare(&herd, instances, err);
	if (r == 0)
		r = start(&herd, c->kind == HF_BENCH_FORKS, c->count, err);
	if (r == 0 && combined)
		r = start(&herd, true, c->count, err);
	if (r == 0)
		r = measure(&herd, c, value, err);
	end(&herd);
	return r;
}
