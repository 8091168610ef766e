/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock - one hugefill at a time changes pools.
 *
 * flock(LOCK_EX) on run/hugefill.lock, which only root can open: a lock that any user could take
 * would let everybody be stopped. Other namespaces and programs do not share it, so what is read
 * back from the pools stays the truth. The file stays; the kernel drops the lock with the process.
 */
#ifndef HF_LOCK_H
#define HF_LOCK_H

#include "stop.h"
#include "sysroot.h"

/*
 * Waits for the lock; waiting(arg) is called once when somebody else holds it. Returns the
 * descriptor, or -errno: ECANCELED when stop was requested, EACCES when not root. A file that is no
 * regular file of root's is refused.
 */
int hf_lock_take(const struct hf_sysroot *root, const struct hf_stop *stop, void (*waiting)(void *arg),
		 void *arg, struct hf_err *err) _must_check _nonnull(1, 2, 5);

/* Ends it; -1 is nothing held. */
void hf_lock_release(int fd);

#endif
