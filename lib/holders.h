/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * holders - which processes have a file open or mapped.
 *
 * By device and inode, in every process that this one may look into, whatever its mount namespace.
 * What root of an outer namespace holds, or the kernel itself (a loop device), is not seen. A look is
 * only a look: a process may open the file right after it.
 */
#ifndef HF_HOLDERS_H
#define HF_HOLDERS_H

#include <sys/types.h>

#include "sysroot.h"

struct hf_holder {
	pid_t pid;
	char command[32]; /* proc/PID/comm */
	bool open, mapped;
};

struct hf_holders {
	size_t count;
	struct hf_holder *holders; /* ascending by pid */
	size_t hidden; /* processes that could not be looked into; those that are not listed count as one
			*/
};

/* Live systems only. The process itself is left out. ino 0: anything on the device. */
int hf_holders_find(const struct hf_sysroot *root, dev_t dev, ino_t ino, struct hf_holders *holders,
		    struct hf_err *err) _must_check _nonnull(1, 4, 5);
/* "process 12 (qemu) has it mapped", a line each, into err's hint; sixteen at most. */
void hf_holders_hint(const struct hf_holders *holders, struct hf_err *err);
void hf_holders_free(struct hf_holders *holders);

#endif
