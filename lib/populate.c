/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "populate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ /* glibc before 2.35; the numbers are the kernel's */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* A signal handler can find its thread's guard in no other way. */
static __thread struct populate_guard *guard;

static void on_sigbus(int signo)
{
	if (guard && guard->armed)
		siglongjmp(guard->back, signo);
	/* Not ours: die of it as without us. */
	signal(SIGBUS, SIG_DFL);
	raise(SIGBUS);
}

bool hf_populate_is_supported(void)
{
	/* An empty range: 0 where the advice is known, EINVAL where it is not. */
	return madvise(NULL, 0, MADV_POPULATE_WRITE) == 0;
}

int hf_populate_signals(enum hf_method method, struct populate_signals *signals)
{
	struct sigaction action = { .sa_handler = on_sigbus, .sa_flags = SA_NODEFER };

	*signals = (struct populate_signals){ 0 };
	if (method != HF_METHOD_TOUCH)
		return 0;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, &action, &signals->before) < 0)
		return -errno;
	signals->installed = true;
	return 0;
}

void hf_populate_signals_restore(struct populate_signals *signals)
{
	if (signals->installed)
		sigaction(SIGBUS, &signals->before, NULL);
	signals->installed = false;
}

void hf_populate_guard(struct populate_guard *mine)
{
	guard = mine;
}

/* An atomic OR of nothing: faults the page for writing, and changes no byte under anybody. */
static int touch(char *from, uint64_t bytes, uint64_t page_size)
{
	if (!guard)
		return -EINVAL;
	if (sigsetjmp(guard->back, 1)) {
		guard->armed = 0;
		return -EFAULT;
	}
	guard->armed = 1;
	for (uint64_t at = 0; at < bytes; at += page_size)
		__atomic_fetch_or((unsigned char *)(from + at), 0, __ATOMIC_RELAXED);
	guard->armed = 0;
	return 0;
}

static int advise(char *from, uint64_t bytes, int advice)
{
	while (madvise(from, bytes, advice) < 0)
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	return 0;
}

static int allocate(int fd, uint64_t offset, uint64_t bytes)
{
	while (fallocate(fd, 0, (off_t)offset, (off_t)bytes) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

int hf_populate(enum hf_method method, int fd, char *map, uint64_t offset, uint64_t bytes, uint64_t page_size)
{
	if (method == HF_METHOD_TOUCH)
		return touch(map + offset, bytes, page_size);
	if (method == HF_METHOD_FALLOCATE)
		return allocate(fd, offset, bytes);
	return advise(map + offset, bytes, MADV_POPULATE_WRITE);
}

int hf_populate_map(char *map, uint64_t offset, uint64_t bytes, uint64_t page_size)
{
	int r = advise(map + offset, bytes, MADV_POPULATE_READ);

	if (r != -EINVAL)
		return r;
	/* Before Linux 5.14; the pages are there, so that reading them cannot fail for want of one. */
	for (uint64_t at = 0; at < bytes; at += page_size)
		(void)*(volatile char *)(map + offset + at);
	return 0;
}
