/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench_parts.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_HUGE_SHIFT
#define MFD_HUGE_SHIFT 26
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

int hf_bench_file(uint64_t page_size, uint64_t bytes, struct hf_err *err)
{
	unsigned flags = MFD_CLOEXEC | MFD_HUGETLB | (unsigned)__builtin_ctzll(page_size) << MFD_HUGE_SHIFT;
	int fd = memfd_create("hugefill-bench", flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("hugefill-bench", flags);
	if (fd < 0)
		return hf_err_sys(err, errno, "memfd", "cannot make an unnamed file of huge pages");
	if (ftruncate(fd, (off_t)bytes) < 0) {
		hf_err_sys(err, errno, "memfd", "cannot set its size to %llu bytes",
			   (unsigned long long)bytes);
		close(fd);
		return -err->errnum;
	}
	return fd;
}

int hf_bench_map(enum hf_bench_mapping kind, uint64_t page_size, uint64_t bytes, struct hf_bench_map *map,
		 struct hf_err *err)
{
	bool file = kind == HF_BENCH_PRIVATE_FILE || kind == HF_BENCH_SHARED_FILE;
	bool shared = kind == HF_BENCH_SHARED_ANON || kind == HF_BENCH_SHARED_FILE;
	int flags = shared ? MAP_SHARED : MAP_PRIVATE;
	char *at;

	*map = (struct hf_bench_map){ .fd = -1 };
	if (file) {
		map->fd = hf_bench_file(page_size, bytes, err);
		if (map->fd < 0)
			return map->fd;
	} else {
		flags |= MAP_ANONYMOUS | MAP_HUGETLB | __builtin_ctzll(page_size) << MAP_HUGE_SHIFT;
	}
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, map->fd, 0);
	if (at == MAP_FAILED)
		return hf_err_sys(err, errno, hf_bench_mapping_name(kind), "cannot reserve %llu pages",
				  (unsigned long long)(bytes / page_size));
	map->map = at;
	map->bytes = bytes;
	return 0;
}

void hf_bench_unmap(struct hf_bench_map *map)
{
	if (map->map)
		munmap(map->map, map->bytes);
	if (map->fd >= 0)
		close(map->fd);
	*map = (struct hf_bench_map){ .fd = -1 };
}
