/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "minor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* A userfaultfd that resolves minor faults of [map, map + bytes), or -errno. */
static int watch_minor_faults(const char *map, uint64_t bytes)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_MINOR_HUGETLBFS };
	struct uffdio_register range = { .range = { (uintptr_t)map, bytes },
					 .mode = UFFDIO_REGISTER_MODE_MINOR };
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY), r;

	if (uffd < 0)
		return -errno;
	if (ioctl(uffd, UFFDIO_API, &api) == 0 && ioctl(uffd, UFFDIO_REGISTER, &range) == 0)
		return uffd;
	r = -errno;
	close(uffd);
	return r;
}

static void mark(unsigned char *present, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; present && i < first + count; i++)
		present[i / 8] |= (unsigned char)(1U << (i % 8));
}

/* Maps from page first on, up to the first that is not there. Returns how many, or -errno. */
static int64_t map_run(int uffd, const char *map, uint64_t page_size, uint64_t first, uint64_t pages)
{
	struct uffdio_continue run = {
		.range = { (uintptr_t)map + first * page_size, (pages - first) * page_size },
		.mode = UFFDIO_CONTINUE_MODE_DONTWAKE,
	};

	if (ioctl(uffd, UFFDIO_CONTINUE, &run) == 0)
		return (int64_t)(pages - first);
	if (run.mapped > 0)
		return run.mapped / (int64_t)page_size;
	return errno == EFAULT ? 0 : -errno;
}

int hf_minor_map(const char *map, uint64_t page_size, uint64_t pages, unsigned char *present, uint64_t *found)
{
	_cleanup_close_ int uffd = watch_minor_faults(map, pages * page_size);
	uint64_t at = 0;

	*found = 0;
	if (uffd < 0)
		return uffd;
	while (at < pages) {
		int64_t count = map_run(uffd, map, page_size, at, pages);

		if (count < 0)
			return (int)count;
		mark(present, at, (uint64_t)count);
		*found += (uint64_t)count;
		/* What ends a run of pages may be something else than a hole. */
		at += count ? (uint64_t)count : 1;
	}
	return 0;
}
