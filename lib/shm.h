/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shm - SysV shared memory that no process has attached.
 *
 * Kernel facts: a segment lives until it is removed, attached or not; proc/sysvipc/shm shows those of
 * the own IPC namespace, and not which of them are of huge pages: only by their size they can be.
 */
#ifndef HF_SHM_H
#define HF_SHM_H

#include "sysroot.h"

struct hf_shm {
	uint64_t id, size; /* bytes */
};

struct hf_shm_list {
	size_t count;
	struct hf_shm *segments;
};

/* Those without a process whose size is a multiple of page_size. Without SysV IPC there are none. */
int hf_shm_detached(const struct hf_sysroot *root, uint64_t page_size, struct hf_shm_list *list,
		    struct hf_err *err) _must_check _nonnull(1, 3, 4);
void hf_shm_free(struct hf_shm_list *list);

#endif
