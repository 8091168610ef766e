/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "overcommit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static struct hf_pool *pool_of(const struct hf_overcommit *limit)
{
	return hf_pools_find(&limit->machine->pools, limit->page_size);
}

int hf_overcommit_lower(struct hf_overcommit *limit, struct hf_err *err)
{
	struct hf_pool *pool = pool_of(limit);
	struct hf_err unread = { 0 };
	char size[HF_SIZE_TEXT];
	int r;

	if (!limit->raised)
		return 0;
	/* One that cannot be read is lowered rather than left. */
	r = hf_pool_read_overcommit(&limit->machine->root, pool, &unread);
	if (r == 0 && pool->overcommit != limit->ours) {
		limit->lost = true;
		limit->raised = false;
		return 0;
	}
	r = hf_pool_write_overcommit(&limit->machine->root, pool, limit->before, err);
	if (r == 0)
		limit->raised = false;
	else
		hf_err_hint(err, "nr_overcommit_hugepages of the %s pool was %llu",
			    hf_size_exact(limit->page_size, size), (unsigned long long)limit->before);
	return r;
}

/* A signal that is sent to the whole group, as a terminal's, must not end it. */
static void guard(struct hf_overcommit *limit, pid_t parent)
{
	struct hf_err ignored = { 0 };
	sigset_t all;
	int signal;

	sigfillset(&all);
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	while (getppid() == parent)
		sigwait(&all, &signal);
	_exit(hf_overcommit_lower(limit, &ignored) < 0 ? 1 : 0);
}

static int set_guard(struct hf_overcommit *limit, struct hf_err *err)
{
	pid_t parent = getpid(), pid;
	sigset_t all, before;

	if (limit->guard)
		return 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (pid == 0)
		guard(limit, parent);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return hf_err_sys(err, errno, NULL, "cannot make a process that guards the overcommit limit");
	limit->guard = pid;
	return 0;
}

int hf_overcommit_raise(struct hf_overcommit *limit, uint64_t pages, struct hf_err *err)
{
	struct hf_pool *pool = pool_of(limit);
	int r = hf_pool_read_overcommit(&limit->machine->root, pool, err);

	if (r < 0 || pages <= pool->overcommit)
		return r;
	r = set_guard(limit, err);
	if (r < 0)
		return r;
	limit->before = pool->overcommit;
	limit->ours = pages;
	limit->raised = true;
	return hf_pool_write_overcommit(&limit->machine->root, pool, pages, err);
}

void hf_overcommit_end(struct hf_overcommit *limit)
{
	if (limit->guard <= 0)
		return;
	kill(limit->guard, SIGKILL);
	while (waitpid(limit->guard, NULL, 0) < 0 && errno == EINTR)
		;
	limit->guard = 0;
}

static int back(void *arg, struct hf_err *err)
{
	return hf_overcommit_lower(arg, err);
}

static void drop(void *arg)
{
	struct hf_overcommit *limit = arg;

	hf_overcommit_end(limit);
	munmap(limit, sizeof(*limit));
}

int hf_overcommit_remember(struct hf_machine *machine, uint64_t page_size, struct hf_undo *undo,
			   struct hf_overcommit **limit, struct hf_err *err)
{
	int r = hf_undo_reserve(undo, err);
	void *shared;

	if (r < 0)
		return r;
	shared = mmap(NULL, sizeof(**limit), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return hf_err_nomem(err);
	*limit = shared;
	(*limit)->machine = machine;
	(*limit)->page_size = page_size;
	hf_undo_push(undo, back, drop, *limit);
	return 0;
}
