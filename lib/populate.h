/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * populate - pages of one mapping made present, by the method asked for; a fault that the kernel
 * cannot serve becomes an error instead of a dead process. For fill's workers.
 */
#ifndef HF_POPULATE_H
#define HF_POPULATE_H

#include <setjmp.h>
#include <signal.h>

#include "plan.h"

/* Where a worker's SIGBUS lands. One per thread, announced by hf_populate_guard. */
struct populate_guard {
	sigjmp_buf back;
	volatile sig_atomic_t armed;
};

struct populate_signals {
	bool installed;
	struct sigaction before;
};

/* MADV_POPULATE_WRITE exists (Linux 5.14). */
bool hf_populate_is_supported(void);

/* SIGBUS to the guards, for touch only; restore puts back what was there. Main thread. */
int hf_populate_signals(enum hf_method method, struct populate_signals *signals) _must_check;
void hf_populate_signals_restore(struct populate_signals *signals);

/* This thread's guard; NULL ends it. */
void hf_populate_guard(struct populate_guard *guard);

/*
 * Bytes [offset, offset + bytes) of the file, whole pages, in one call where the method has one.
 * Contents that are there stay. Returns 0 or -errno: EFAULT (populate), ENOSPC (fallocate), EFAULT
 * too for a SIGBUS; EHWPOISON.
 */
int hf_populate(enum hf_method method, int fd, char *map, uint64_t offset, uint64_t bytes,
		uint64_t page_size) _must_check;

/* Pages that are in the page cache into this process's page tables. */
int hf_populate_map(char *map, uint64_t offset, uint64_t bytes, uint64_t page_size) _must_check;

#endif
