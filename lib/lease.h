/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lease - whether anybody else has a file, asked of the kernel.
 *
 * A write lease is refused while the file has another open description: a descriptor or a mapping, also
 * one that outlives its descriptor, in whatever namespace, and the kernel's own. Whoever opens the file
 * afterwards waits until the lease ends, which it does when the descriptor is closed. From Linux 7.0 on a
 * filesystem must say that it has leases, and hugetlbfs does not (EINVAL).
 */
#ifndef HF_LEASE_H
#define HF_LEASE_H

#include <stdbool.h>

#include "util.h"

/* On a descriptor that may write. -EAGAIN, -EBUSY: somebody else has the file; other errors: it cannot be
 * had on this filesystem or by this user. */
int hf_lease_take(int fd) _must_check;

/* Nobody waits for it to end. */
bool hf_lease_is_whole(int fd);

/* What hf_lease_take returned says that the file is held. */
bool hf_lease_is_refused(int r);

#endif
