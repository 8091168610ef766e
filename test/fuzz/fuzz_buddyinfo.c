/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc/buddyinfo: the first byte chooses node and page size, the rest is the file. */
#include <errno.h>

#include "../../lib/cause.h"
#include "fuzz.h"

static const struct fuzz_file files[] = { { "proc/buddyinfo", "" } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t page_sizes[] = { 65536, 2 << 20, 1 << 30, 1ULL << 34 };
	static struct fuzz_tree tree;
	uint64_t contiguous, total;
	int r, fd;

	if (!size)
		return 0;
	fuzz_tree_make(&tree, files, HF_LENGTH(files));
	fd = fuzz_first_fd();
	fuzz_tree_put(&tree, 0, data + 1, size - 1);
	r = hf_cause_contiguous(&tree.root, data[0] >> 2 & 3, page_sizes[data[0] & 3], &contiguous, &total);
	fuzz_must(r == 0 || r == -ENOENT || r == -EFBIG);
	fuzz_must(contiguous <= total);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
