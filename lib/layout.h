/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout - which page of a file lies on which node.
 *
 * A file's pages are a few segments; within one, pages go round robin over its nodes. Nothing is
 * kept per page, whatever the size. Nodes are topology indexes. Pure; thread safe for readers.
 */
#ifndef HF_LAYOUT_H
#define HF_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Pages wanted on one node. */
struct hf_share {
	size_t node;
	uint64_t pages;
};

struct hf_segment {
	uint64_t first, count; /* pages of the file */
	size_t nnodes;
	size_t *nodes; /* page first + i lies on nodes[i % nnodes] */
};

struct hf_layout {
	uint64_t pages;
	size_t nsegments;
	struct hf_segment *segments;
};

/*
 * block: one segment per share, in the order written. Otherwise interleaved: round robin over all
 * shares until the smallest is used up, then over the rest, so that even shares make one segment.
 */
int hf_layout_make(const struct hf_share *shares, size_t nshares, bool block, struct hf_layout *layout,
		   struct hf_err *err) _must_check _nonnull(4, 5);
void hf_layout_free(struct hf_layout *layout);

/* The node of a page; page < layout->pages. */
size_t hf_layout_node(const struct hf_layout *layout, uint64_t page);

/* How many pages lie on a node. */
uint64_t hf_layout_count(const struct hf_layout *layout, size_t node);

/* A contiguous run of pages, all on one node. */
struct hf_run {
	uint64_t first, count;
};

/*
 * The run that begins with the node's `ordinal`-th page (0 is its first in the file), cut to at
 * most `most` pages. ordinal < hf_layout_count.
 */
struct hf_run hf_layout_run(const struct hf_layout *layout, size_t node, uint64_t ordinal, uint64_t most);

#endif
