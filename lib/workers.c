/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workers.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "clock.h"
#include "policy.h"

#define TICK_MS 100
#define STACK_BYTES (256U << 10)

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t ready;
	bool open, cancelled;
};

struct crew {
	struct hf_workers *workers;
	struct gate gate;
	atomic_int first_error;
	atomic_size_t ended;
	int done_fd; /* wakes the main thread at each end */
	size_t nbusy;
	size_t *busy; /* nodes with work */
	size_t nmembers;
	struct member *members;
};

struct member {
	struct crew *crew;
	pthread_t thread;
	unsigned index;
	size_t first; /* index into busy, when nodes are served in turn; else the node itself */
	bool in_turn;
	int error;
};

uint64_t hf_workers_count(const struct hf_workers *workers)
{
	uint64_t count = 0;

	for (size_t n = 0; n < workers->topo->nnodes; n++)
		count += workers->threads[n];
	return count;
}

static int pin(const struct crew *crew, size_t node)
{
	struct hf_nodeset cpus;

	hf_topology_worker_cpus(crew->workers->topo, node, &cpus);
	return hf_policy_cpus(&cpus);
}

/* Returns whether to work. */
static bool wait_at_gate(struct gate *gate)
{
	bool go;

	pthread_mutex_lock(&gate->mutex);
	gate->ready++;
	pthread_cond_broadcast(&gate->changed);
	while (!gate->open)
		pthread_cond_wait(&gate->changed, &gate->mutex);
	go = !gate->cancelled;
	pthread_mutex_unlock(&gate->mutex);
	return go;
}

static int serve(struct member *m, size_t node)
{
	struct hf_workers *w = m->crew->workers;

	if (atomic_load(&w->failed))
		return 0;
	return w->run(w->arg, m->index, node);
}

static void *work(void *arg)
{
	struct member *m = arg;
	struct crew *crew = m->crew;
	uint64_t one = 1;
	ssize_t written;

	if (!m->in_turn || m->first < crew->nbusy)
		m->error = pin(crew, m->in_turn ? crew->busy[m->first] : m->first);
	if (wait_at_gate(&crew->gate) && m->error == 0) {
		if (!m->in_turn)
			m->error = serve(m, m->first);
		for (size_t i = m->first; m->in_turn && i < crew->nbusy && m->error == 0;
		     i += crew->nmembers) {
			m->error = i == m->first ? 0 : pin(crew, crew->busy[i]);
			if (m->error == 0)
				m->error = serve(m, crew->busy[i]);
		}
	}
	if (m->error < 0) {
		int none = 0;

		atomic_compare_exchange_strong(&crew->first_error, &none, m->error);
		atomic_store(&crew->workers->failed, true);
	}
	atomic_fetch_add(&crew->ended, 1);
	written = write(crew->done_fd, &one, sizeof(one));
	(void)written; /* the next tick would notice the end, too */
	return NULL;
}

/* Deals the members out to their nodes. */
static void assign(struct crew *crew)
{
	const struct hf_workers *w = crew->workers;
	size_t index = 0, without = 0;

	for (size_t n = 0; n < w->topo->nnodes; n++) {
		if (!w->work[n])
			continue;
		crew->busy[crew->nbusy++] = n;
		without += w->threads[n] == 0;
	}
	for (size_t n = 0; n < w->topo->nnodes; n++)
		for (uint64_t i = 0; i < w->threads[n]; i++, index++)
			crew->members[index] = (struct member){ .crew = crew,
								.index = (unsigned)index,
								.first = without ? index : n,
								.in_turn = without != 0 };
}

static int start_one(struct member *m, const pthread_attr_t *attr)
{
	sigset_t faults, old;
	int r;

	/* New threads inherit the mask: every signal goes to the main thread. */
	sigfillset(&faults);
	sigdelset(&faults, SIGBUS);
	sigdelset(&faults, SIGSEGV);
	sigdelset(&faults, SIGFPE);
	sigdelset(&faults, SIGILL);
	pthread_sigmask(SIG_BLOCK, &faults, &old);
	r = pthread_create(&m->thread, attr, work, m);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

/* Starts all of them and waits until they are at the gate. Returns how many there are. */
static size_t start(struct crew *crew, int *error)
{
	pthread_attr_t attr;
	size_t started = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	*error = 0;
	while (started < crew->nmembers && *error == 0) {
		*error = start_one(&crew->members[started], &attr);
		started += *error == 0;
	}
	pthread_attr_destroy(&attr);
	pthread_mutex_lock(&crew->gate.mutex);
	while (crew->gate.ready < started)
		pthread_cond_wait(&crew->gate.changed, &crew->gate.mutex);
	for (size_t i = 0; i < started && *error == 0; i++)
		*error = -crew->members[i].error;
	crew->gate.open = true;
	crew->gate.cancelled = *error != 0;
	pthread_cond_broadcast(&crew->gate.changed);
	pthread_mutex_unlock(&crew->gate.mutex);
	return started;
}

static void watch(struct crew *crew, size_t started)
{
	while (atomic_load(&crew->ended) < started) {
		struct pollfd fd = { .fd = crew->done_fd, .events = POLLIN };
		uint64_t ended;
		ssize_t got = 0;

		if (poll(&fd, 1, TICK_MS) > 0)
			got = read(crew->done_fd, &ended, sizeof(ended));
		(void)got; /* only to sleep again: what counts is crew->ended */
		if (crew->workers->tick)
			crew->workers->tick(crew->workers->arg);
	}
}

static int run_crew(struct crew *crew, uint64_t *start_ns, struct hf_err *err)
{
	size_t started;
	int error;

	assign(crew);
	started = start(crew, &error);
	if (start_ns)
		*start_ns = hf_clock_ns();
	if (error == 0)
		watch(crew, started);
	for (size_t i = 0; i < started; i++)
		pthread_join(crew->members[i].thread, NULL);
	if (error == 0)
		return atomic_load(&crew->first_error);
	hf_err_sys(err, error, NULL, "cannot start %zu worker threads (worker %zu failed)", crew->nmembers,
		   started + 1);
	if (started)
		hf_err_hint(err, "--threads=%zu needs fewer", started);
	hf_err_hint(
		err,
		"limits are those of processes (ulimit -u, the pids controller) and of memory (ulimit -v)");
	return -error;
}

int hf_workers_run(struct hf_workers *workers, uint64_t *start_ns, struct hf_err *err)
{
	struct crew crew = { .workers = workers, .nmembers = hf_workers_count(workers) };
	int r;

	crew.busy = calloc(workers->topo->nnodes + 1, sizeof(*crew.busy));
	crew.members = calloc(crew.nmembers + 1, sizeof(*crew.members));
	crew.done_fd = eventfd(0, EFD_CLOEXEC);
	if (!crew.busy || !crew.members)
		r = hf_err_nomem(err);
	else if (crew.done_fd < 0)
		r = hf_err_sys(err, errno, NULL, "cannot make an eventfd for the workers");
	else {
		pthread_mutex_init(&crew.gate.mutex, NULL);
		pthread_cond_init(&crew.gate.changed, NULL);
		r = run_crew(&crew, start_ns, err);
		pthread_cond_destroy(&crew.gate.changed);
		pthread_mutex_destroy(&crew.gate.mutex);
	}
	if (crew.done_fd >= 0)
		close(crew.done_fd);
	free(crew.members);
	free(crew.busy);
	return r;
}
