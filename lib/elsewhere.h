/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elsewhere - what other mount namespaces have on a directory.
 *
 * Kernel fact: rmdir of a directory that is a mount point in another mount namespace succeeds, and
 * takes that mount away there, with the files on it when it was the last. Hence a look before a
 * directory is removed. Only namespaces of processes that can be seen are looked into, and one may
 * mount right after the look.
 */
#ifndef HF_ELSEWHERE_H
#define HF_ELSEWHERE_H

#include "sysroot.h"

/* Some other namespace has a mount on this absolute path. Live systems only. */
bool hf_elsewhere_is_mounted(const struct hf_sysroot *root, const char *path);

/* rmdir, unless it is a mount point elsewhere: -EBUSY. 0 also when it is gone already; -errno. */
int hf_elsewhere_rmdir(const struct hf_sysroot *root, const char *path) _must_check;

#endif
