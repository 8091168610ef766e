/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "brood.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "policy.h"

#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

#define PIECE_NS 10000000ULL /* a piece is doubled below this: small enough for a prompt stop */
#define LOOK_MS 5            /* between looks at a stop that came as the wait began */
#define TICK_NS 100000000ULL

/* What parent and children share. */
struct hf_brood_shared {
	atomic_ullong done;   /* pages */
	atomic_ullong left[]; /* [nnodes] pages that nobody has claimed */
};

static char *reserve(uint64_t page_size, uint64_t pages)
{
	int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | __builtin_ctzll(page_size) << MAP_HUGE_SHIFT;
	char *map = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, flags, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

static uint64_t claim(atomic_ullong *left, uint64_t piece)
{
	unsigned long long have = atomic_load(left), take;

	do
		take = have < piece ? have : piece;
	while (take && !atomic_compare_exchange_weak(left, &have, have - take));
	return take;
}

/* Reserves pieces of the node's pages until there are none, or none to be had. */
static void reserve_all(struct hf_brood_shared *shared, uint64_t page_size, size_t node)
{
	uint64_t piece = 1, pages;

	while ((pages = claim(&shared->left[node], piece)) != 0) {
		uint64_t start = hf_clock_ns();

		if (reserve(page_size, pages)) {
			atomic_fetch_add(&shared->done, pages);
			if (hf_clock_ns() - start < PIECE_NS)
				piece *= 2;
			else if (piece > 1)
				piece /= 2;
		} else if (piece == 1) {
			return;
		} else {
			atomic_fetch_add(&shared->left[node], pages);
			piece = 1;
		}
	}
}

static void be_child(struct hf_brood *brood, size_t node, pid_t parent)
{
	struct hf_nodeset cpus;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
	hf_topology_worker_cpus(brood->topo, node, &cpus);
	if (hf_policy_cpus(&cpus) == 0 && hf_policy_node(brood->topo->nodes[node].id, true) == 0)
		reserve_all(brood->shared, brood->page_size, node);
	close(brood->busy[1]);
	/* Its mappings hold the pages until the parent kills it. */
	for (;;)
		pause();
}

static int make_child(struct hf_brood *brood, size_t node, struct hf_err *err)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return hf_err_sys(err, errno, NULL, "cannot make a child process to allocate pages");
	if (pid == 0)
		be_child(brood, node, parent);
	brood->pids[brood->count++] = pid;
	return 0;
}

/* One that was killed by somebody else does not write any more either. */
static int watch(struct hf_brood *brood)
{
	struct pollfd all = { .fd = brood->busy[0] };
	uint64_t told = hf_clock_ns();

	close(brood->busy[1]);
	brood->busy[1] = -1;
	while (!(all.revents & POLLHUP)) {
		if (hf_stop_requested(brood->stop))
			return -ECANCELED;
		if (brood->tick && hf_clock_ns() - told > TICK_NS) {
			told = hf_clock_ns();
			brood->tick(brood->arg, atomic_load(&brood->shared->done));
		}
		poll(&all, 1, LOOK_MS);
	}
	return 0;
}

static int prepare(struct hf_brood *brood, struct hf_err *err)
{
	size_t nnodes = brood->topo->nnodes, total = 0;
	void *shared;

	for (size_t n = 0; n < nnodes; n++)
		total += brood->children[n];
	brood->pids = calloc(total + 1, sizeof(*brood->pids));
	if (!brood->pids)
		return hf_err_nomem(err);
	brood->shared_bytes = sizeof(*brood->shared) + nnodes * sizeof(brood->shared->left[0]);
	shared = mmap(NULL, brood->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return hf_err_nomem(err);
	brood->shared = shared;
	if (pipe2(brood->busy, O_CLOEXEC) < 0)
		return hf_err_sys(err, errno, NULL, "cannot make a pipe to watch child processes");
	brood->piped = true;
	for (size_t n = 0; n < nnodes; n++)
		atomic_store(&brood->shared->left[n], brood->pages[n]);
	return 0;
}

int hf_brood_reserve(struct hf_brood *brood, struct hf_err *err)
{
	int r = prepare(brood, err);

	/* A cover that is refused was taken by others meanwhile: then it is not needed. */
	if (r == 0 && brood->cover)
		brood->covered = reserve(brood->page_size, brood->cover);
	for (size_t n = 0; n < brood->topo->nnodes && r == 0; n++)
		for (uint64_t i = 0; i < brood->children[n] && r == 0; i++)
			r = make_child(brood, n, err);
	return r < 0 ? r : watch(brood);
}

void hf_brood_end(struct hf_brood *brood)
{
	for (size_t i = 0; i < brood->count; i++) {
		if (brood->pids[i] <= 0)
			continue;
		kill(brood->pids[i], SIGKILL);
		while (waitpid(brood->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (brood->covered)
		munmap(brood->covered, brood->cover * brood->page_size);
	if (brood->shared)
		munmap(brood->shared, brood->shared_bytes);
	for (size_t i = 0; i < 2 && brood->piped; i++)
		if (brood->busy[i] >= 0)
			close(brood->busy[i]);
	brood->piped = false;
	free(brood->pids);
	brood->pids = NULL;
	brood->shared = NULL;
	brood->covered = NULL;
	brood->count = 0;
}
