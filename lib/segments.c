/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "processes.h"

#include <errno.h>
#include <fcntl.h>

/* "key shmid perms size cpid lpid nattch ...". */
static int add_segment(const char *line, uint64_t page_size, struct hf_segments *segments)
{
	unsigned long long id, size, attached;
	struct hf_segment *all;

	if (sscanf(line, "%*d %llu %*o %llu %*d %*d %llu", &id, &size, &attached) != 3)
		return 0;
	if (attached || !size || size % page_size)
		return 0;
	all = reallocarray(segments->segments, segments->count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	segments->segments = all;
	all[segments->count++] = (struct hf_segment){ id, size };
	return 0;
}

int hf_segments_detached(const struct hf_sysroot *root, uint64_t page_size, struct hf_segments *segments,
			 struct hf_err *err)
{
	int fd = hf_sysroot_fd(root, O_RDONLY, NULL, "proc/sysvipc/shm"), rc = 0;
	_cleanup_fclose_ FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	*segments = (struct hf_segments){ 0 };
	if (!in && fd >= 0)
		close(fd);
	while (in && rc == 0 && getline(&line, &size, in) > 0)
		rc = add_segment(line, page_size, segments);
	if (rc == 0)
		return 0;
	hf_segments_free(segments);
	return hf_err_nomem(err);
}

void hf_segments_free(struct hf_segments *segments)
{
	free(segments->segments);
	*segments = (struct hf_segments){ 0 };
}
