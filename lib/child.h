/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child - a system call that may take seconds and that only a fatal signal interrupts (compaction of
 * a node, dropping caches), made by a child process that can be killed when stop is requested.
 *
 * Called by a process with one thread. The child dies with its parent.
 */
#ifndef HF_CHILD_H
#define HF_CHILD_H

#include "err.h"
#include "stop.h"

/* Runs act(arg) in a child. 0; -ECANCELED: stop was requested and the child is dead; -EIO: act
 * failed; another -errno: there was no child. */
int hf_child_run(int (*act)(void *arg), void *arg, const struct hf_stop *stop) _must_check _nonnull(1, 3);

#endif
