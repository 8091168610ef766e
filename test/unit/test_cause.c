/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Free memory in blocks, from buddyinfo. */
#include <errno.h>

#include "../../lib/cause.h"
#include "tree.h"

#define KIB 1024ULL
#define MIB (1024 * KIB)
#define ZONE "Node 0, zone   Normal "

struct free_case {
	const char *name, *buddyinfo;
	unsigned node;
	uint64_t page_size;
	int result;
	uint64_t contiguous, total;
};

static const struct free_case cases[] = {
	{ "a zone", ZONE "1 1 0 0 0 0 0 0 0 2 1\n", 0, 2 * MIB, 0, 8 * MIB, 8 * MIB + 12 * KIB },
	{ "two zones", "Node 0, zone DMA 3\n" ZONE "0 0 0 0 1\n", 0, 64 * KIB, 0, 64 * KIB, 76 * KIB },
	{ "the other node", ZONE "5\nNode 1, zone Normal 0 7\n", 1, 8 * KIB, 0, 56 * KIB, 56 * KIB },
	{ "no such node", ZONE "5\n", 1, 2 * MIB, -ENOENT, 0, 0 },
	{ "an empty file", "", 0, 2 * MIB, -ENOENT, 0, 0 },
	{ "cut in a line", ZONE "5 6", 0, 4 * KIB, 0, 68 * KIB, 68 * KIB },
	{ "cut in a word", "Node 0, zone", 0, 2 * MIB, -ENOENT, 0, 0 },
	{ "no number", ZONE "1 x 7\n", 0, 4 * KIB, 0, 4 * KIB, 4 * KIB },
	{ "more than 64 bits in a block", ZONE "1 18446744073709551615 1\n", 0, 4 * KIB, 0, 4 * KIB,
	  4 * KIB },
	{ "more than 64 bits together", ZONE "4503599627370495 0 0 0 0 0 0 0 0 1\n", 0, 2 * MIB, 0, 2 * MIB,
	  UINT64_MAX },
	{ "in large blocks, too", ZONE "0 2251799813685247 1125899906842623\n", 0, 8 * KIB, 0, UINT64_MAX,
	  UINT64_MAX },
};

static void test_contiguous(const struct hf_sysroot *root)
{
	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		const struct free_case *c = &cases[i];
		uint64_t contiguous, total;
		int r;

		tree_put("proc/buddyinfo", c->buddyinfo);
		r = hf_cause_contiguous(root, c->node, c->page_size, &contiguous, &total);
		ok(r == c->result, "%s: result %d", c->name, r);
		is_u64(contiguous, c->contiguous, "%s: contiguous", c->name);
		is_u64(total, c->total, "%s: all", c->name);
	}
}

/* Also where meminfo is read beside it, for the size of a base page. */
static void test_garbage(const struct hf_sysroot *root)
{
	uint64_t contiguous, total;

	tree_put("proc/meminfo", "MemFree: 8192 kB\n");
	tree_put("proc/buddyinfo", "hugpages0");
	ok(hf_cause_contiguous(root, 0, 2 * MIB, &contiguous, &total) == -ENOENT,
	   "garbage without a newline");
	tree_drop("proc/buddyinfo");
	ok(hf_cause_contiguous(root, 0, 2 * MIB, &contiguous, &total) == -ENOENT, "no file");
}

int main(void)
{
	struct hf_sysroot root;

	tree_open(&root, tree_new());
	test_contiguous(&root);
	test_garbage(&root);
	hf_sysroot_close(&root);
	return tap_done();
}
