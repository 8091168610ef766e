/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "../../lib/clock.h"
#include "../../lib/workers.h"
#include "tap.h"

#define NODES 4
#define PATIENCE_NS 10000000000ULL /* only a failing test waits that long */

/* Four nodes that share this process's CPUs: node n has the n-th of them, round robin. */
struct world {
	struct hf_node nodes[NODES];
	struct hf_topology topo;
	uint64_t threads[NODES], work[NODES];
	struct hf_workers workers;

	atomic_uint entered, ticks, tasks;
	atomic_uint served[NODES]; /* how often */
	atomic_uint by[NODES];     /* worker + 1 */
	atomic_bool first_done, wrong_cpu, wrong_mask;
	int fails[NODES]; /* -errno that run returns for the node */
	bool wait_for_failure;
};

static void world_init(struct world *w, const uint64_t *threads, int (*run)(void *, unsigned, size_t))
{
	int cpus[NODES], count = 0;
	cpu_set_t allowed;

	memset(w, 0, sizeof(*w));
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < NODES; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus[count++] = cpu;
	for (unsigned n = 0; n < NODES; n++) {
		w->nodes[n].id = n;
		hf_nodeset_add(&w->nodes[n].cpus, (unsigned)cpus[n % (unsigned)count]);
		hf_nodeset_add(&w->topo.cpus_allowed, (unsigned)cpus[n % (unsigned)count]);
		w->threads[n] = threads[n];
		w->work[n] = 1;
	}
	w->topo.nnodes = NODES;
	w->topo.nodes = w->nodes;
	w->workers = (struct hf_workers){
		.topo = &w->topo, .threads = w->threads, .work = w->work, .run = run, .arg = w
	};
}

static unsigned count_tasks(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned count = 0;

	for (const struct dirent *e; dir && (e = readdir(dir));)
		count += e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return count;
}

static bool wait_until(const atomic_bool *flag)
{
	uint64_t end = hf_clock_ns() + PATIENCE_NS;

	while (!atomic_load(flag) && hf_clock_ns() < end)
		sched_yield();
	return atomic_load(flag);
}

static void check_place(struct world *w, size_t node)
{
	cpu_set_t now;
	sigset_t mask;

	sched_getaffinity(0, sizeof(now), &now);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (!CPU_ISSET(cpu, &now) != !hf_nodeset_has(&w->nodes[node].cpus, (unsigned)cpu))
			atomic_store(&w->wrong_cpu, true);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (!sigismember(&mask, SIGTERM) || !sigismember(&mask, SIGINT) || !sigismember(&mask, SIGALRM) ||
	    sigismember(&mask, SIGBUS) || sigismember(&mask, SIGSEGV))
		atomic_store(&w->wrong_mask, true);
}

/* The first worker counts the threads, and the others wait for it. */
static int run_plain(void *arg, unsigned worker, size_t node)
{
	struct world *w = arg;

	if (atomic_fetch_add(&w->entered, 1) == 0) {
		atomic_store(&w->tasks, count_tasks());
		atomic_store(&w->first_done, true);
	}
	wait_until(&w->first_done);
	check_place(w, node);
	atomic_store(&w->by[node], worker + 1);
	atomic_fetch_add(&w->served[node], 1);
	return w->fails[node];
}

static void test_all_first(void)
{
	static const uint64_t one[NODES] = { 1, 0, 0, 0 }, threads[NODES] = { 3, 4, 5, 6 };
	struct hf_err err = { 0 };
	uint64_t start = 0, begin = hf_clock_ns();
	unsigned before;
	struct world w;

	/* A sanitizer starts a thread of its own beside the first one. */
	world_init(&w, one, run_plain);
	ok(hf_workers_run(&w.workers, NULL, &err) == 0, "one worker");
	before = count_tasks();
	world_init(&w, threads, run_plain);
	is_u64(hf_workers_count(&w.workers), 18, "18 workers");
	ok(hf_workers_run(&w.workers, &start, &err) == 0, "they ran");
	is_u64(atomic_load(&w.tasks), before + 18, "all of them were there before the first one worked");
	ok(!atomic_load(&w.wrong_cpu), "each on its node's CPUs");
	ok(!atomic_load(&w.wrong_mask), "with every signal blocked but faults");
	for (size_t n = 0; n < NODES; n++)
		is_u64(atomic_load(&w.served[n]), threads[n], "node %zu was served by each of its workers",
		       n);
	ok(start >= begin && start <= hf_clock_ns(), "the start is told");
	ok(!atomic_load(&w.workers.failed), "nothing failed");
	/* A joined thread's entry may linger for a moment. */
	for (unsigned i = 0; i < 1000 && count_tasks() != before; i++)
		sched_yield();
	is_u64(count_tasks(), before, "no thread is left");
}

/* The workers of a node that fails return at once, the others wait for the news. */
static int run_failing(void *arg, unsigned worker, size_t node)
{
	struct world *w = arg;

	(void)worker;
	atomic_fetch_add(&w->entered, 1);
	if (w->fails[node])
		return w->fails[node];
	return wait_until(&w->workers.failed) ? 0 : -ETIME;
}

static void test_first_error(void)
{
	static const uint64_t threads[NODES] = { 2, 2, 1, 2 };
	struct hf_err err = { 0 };
	struct world w;

	world_init(&w, threads, run_failing);
	w.fails[2] = -EFAULT;
	ok(hf_workers_run(&w.workers, NULL, &err) == -EFAULT, "the error of the one that failed");
	ok(atomic_load(&w.workers.failed), "failed is set, and all the others saw it");
}

/* Node 3 fails first; node 0 answers the news with an error of its own. */
static int run_late(void *arg, unsigned worker, size_t node)
{
	struct world *w = arg;

	(void)worker;
	if (node == 0)
		wait_until(&w->workers.failed);
	return w->fails[node];
}

static void test_first_in_time(void)
{
	static const uint64_t threads[NODES] = { 1, 1, 1, 1 };
	struct hf_err err = { 0 };
	struct world w;

	world_init(&w, threads, run_late);
	w.fails[0] = -ECANCELED;
	w.fails[3] = -EFAULT;
	ok(hf_workers_run(&w.workers, NULL, &err) == -EFAULT, "of two errors the first in time");
}

static void test_in_turn(void)
{
	static const struct {
		const char *name;
		uint64_t threads[NODES], work[NODES];
		unsigned by[NODES]; /* worker + 1; 0: not served */
	} t[] = {
		{ "two for four", { 1, 1, 0, 0 }, { 1, 1, 1, 1 }, { 1, 2, 1, 2 } },
		{ "one for four", { 0, 1, 0, 0 }, { 1, 1, 1, 1 }, { 1, 1, 1, 1 } },
		{ "three for four", { 1, 0, 1, 1 }, { 1, 1, 1, 1 }, { 1, 2, 3, 1 } },
		{ "nodes without work are passed over", { 1, 0, 0, 0 }, { 1, 0, 1, 0 }, { 1, 0, 1, 0 } },
		{ "as many as nodes with work", { 1, 0, 1, 0 }, { 1, 0, 1, 0 }, { 1, 0, 2, 0 } },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_err err = { 0 };
		bool fits = true;
		struct world w;

		world_init(&w, t[i].threads, run_plain);
		memcpy(w.work, t[i].work, sizeof(w.work));
		ok(hf_workers_run(&w.workers, NULL, &err) == 0, "%s", t[i].name);
		for (size_t n = 0; n < NODES; n++)
			fits = fits && atomic_load(&w.served[n]) == (t[i].work[n] != 0) &&
			       atomic_load(&w.by[n]) == t[i].by[n];
		ok(fits, "%s: each node once, by the worker whose turn it is", t[i].name);
		ok(!atomic_load(&w.wrong_cpu), "%s: on that node's CPUs", t[i].name);
	}
}

static void test_in_turn_error(void)
{
	static const uint64_t threads[NODES] = { 1, 0, 0, 0 };
	struct hf_err err = { 0 };
	struct world w;

	world_init(&w, threads, run_plain);
	w.fails[1] = -ENOSPC;
	ok(hf_workers_run(&w.workers, NULL, &err) == -ENOSPC, "in turn: the second node fails");
	ok(atomic_load(&w.served[0]) && atomic_load(&w.served[1]), "the first two were served");
	ok(!atomic_load(&w.served[2]) && !atomic_load(&w.served[3]), "the others not any more");
}

/* More workers than nodes with work, although one of those has none. */
static void test_in_turn_many(void)
{
	static const uint64_t threads[NODES] = { 7, 0, 0, 0 };
	struct hf_err err = { 0 };
	struct world w;

	world_init(&w, threads, run_plain);
	w.work[2] = w.work[3] = 0;
	ok(hf_workers_run(&w.workers, NULL, &err) == 0, "in turn: seven for two");
	ok(atomic_load(&w.served[0]) && atomic_load(&w.served[1]), "both were served");
	ok(!atomic_load(&w.served[2]) && !atomic_load(&w.served[3]), "those without work not");
	ok(!atomic_load(&w.wrong_cpu), "on the node's CPUs");
}

static void test_cannot_pin(void)
{
	static const uint64_t threads[NODES] = { 1, 1, 0, 0 };
	struct hf_err err = { 0 };
	struct world w;

	world_init(&w, threads, run_plain);
	w.work[2] = w.work[3] = 0;
	memset(&w.nodes[1].cpus, 0, sizeof(w.nodes[1].cpus));
	hf_nodeset_add(&w.nodes[1].cpus, 8000);
	hf_nodeset_add(&w.topo.cpus_allowed, 8000);
	ok(hf_workers_run(&w.workers, NULL, &err) == -EINVAL, "a node whose CPU does not exist");
	is_u64(err.errnum, EINVAL, "is told");
	has_text(err.what, "worker threads", "in words");
	is_u64(atomic_load(&w.entered), 0, "none of them ran");
}

static void tick(void *arg)
{
	struct world *w = arg;

	atomic_fetch_add(&w->ticks, 1);
}

static int run_slow(void *arg, unsigned worker, size_t node)
{
	const struct timespec wait = { .tv_nsec = 350000000 };

	(void)arg;
	(void)worker;
	(void)node;
	nanosleep(&wait, NULL);
	return 0;
}

static void test_tick(void)
{
	static const uint64_t threads[NODES] = { 1, 1, 1, 1 };
	struct hf_err err = { 0 };
	struct world w;

	world_init(&w, threads, run_slow);
	w.workers.tick = tick;
	ok(hf_workers_run(&w.workers, NULL, &err) == 0, "a third of a second");
	ok(atomic_load(&w.ticks) >= 2, "ticked meanwhile (%u)", atomic_load(&w.ticks));
}

int main(void)
{
	test_all_first();
	test_first_error();
	test_first_in_time();
	test_in_turn();
	test_in_turn_error();
	test_in_turn_many();
	test_cannot_pin();
	test_tick();
	return tap_done();
}
