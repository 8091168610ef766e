/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * minor - maps the pages that a hugetlbfs file has, and no others, by userfaultfd's minor faults.
 *
 * Kernel fact: UFFDIO_CONTINUE (Linux 5.13, hugetlb) maps a page that is in the page cache and fails
 * with EFAULT where there is none, allocating nothing. It takes a range, and stops at the first page
 * that is not there.
 */
#ifndef HF_MINOR_H
#define HF_MINOR_H

#include "util.h"

/*
 * map is a shared mapping of these pages of the file, made writable and with MAP_NORESERVE, so that looking
 * takes no page from anybody. Sets the bit of each page that was mapped in present[pages / 8 + 1],
 * which may be NULL, and *found. Returns 0 or -errno: ENOSYS, EINVAL, EPERM where the kernel has no
 * such thing or refuses it.
 */
int hf_minor_map(const char *map, uint64_t page_size, uint64_t pages, unsigned char *present,
		 uint64_t *found) _must_check _nonnull(1, 5);

#endif
