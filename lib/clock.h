/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock - nanoseconds of the monotonic clock, and of the calling thread's CPU time. */
#ifndef HF_CLOCK_H
#define HF_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t hf_clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

static inline uint64_t hf_clock_ns(void)
{
	return hf_clock_read(CLOCK_MONOTONIC);
}

static inline uint64_t hf_clock_thread_ns(void)
{
	return hf_clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
