/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shm.h"

#include <errno.h>
#include <fcntl.h>

/* "key shmid perms size cpid lpid nattch ...". */
static int add_segment(const char *line, uint64_t page_size, struct hf_shm_list *list)
{
	unsigned long long id, size, attached;
	struct hf_shm *all;

	if (sscanf(line, "%*d %llu %*o %llu %*d %*d %llu", &id, &size, &attached) != 3)
		return 0;
	if (attached || !size || size % page_size)
		return 0;
	all = reallocarray(list->segments, list->count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	list->segments = all;
	all[list->count++] = (struct hf_shm){ id, size };
	return 0;
}

int hf_shm_detached(const struct hf_sysroot *root, uint64_t page_size, struct hf_shm_list *list,
		    struct hf_err *err)
{
	int fd = hf_sysroot_fd(root, O_RDONLY, NULL, "proc/sysvipc/shm"), rc = 0;
	_cleanup_fclose_ FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	*list = (struct hf_shm_list){ 0 };
	if (!in && fd >= 0)
		close(fd);
	while (in && rc == 0 && getline(&line, &size, in) > 0)
		rc = add_segment(line, page_size, list);
	if (rc == 0)
		return 0;
	hf_shm_free(list);
	return hf_err_nomem(err);
}

void hf_shm_free(struct hf_shm_list *list)
{
	free(list->segments);
	*list = (struct hf_shm_list){ 0 };
}
