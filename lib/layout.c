/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layout.h"

#include <errno.h>
#include <string.h>

static struct hf_segment *add_segment(struct hf_layout *layout, size_t room, uint64_t count)
{
	struct hf_segment *s = &layout->segments[layout->nsegments];

	s->nodes = calloc(room, sizeof(*s->nodes));
	if (!s->nodes)
		return NULL;
	s->first = layout->pages;
	s->count = count;
	layout->pages += count;
	layout->nsegments++;
	return s;
}

static int make_block(const struct hf_share *shares, size_t nshares, struct hf_layout *layout)
{
	for (size_t i = 0; i < nshares; i++) {
		struct hf_segment *s;

		if (!shares[i].pages)
			continue;
		s = add_segment(layout, 1, shares[i].pages);
		if (!s)
			return -ENOMEM;
		s->nodes[s->nnodes++] = shares[i].node;
	}
	return 0;
}

/* The smallest share above level, or 0: none is left. */
static uint64_t next_level(const struct hf_share *shares, size_t nshares, uint64_t level)
{
	uint64_t next = 0;

	for (size_t i = 0; i < nshares; i++)
		if (shares[i].pages > level && (!next || shares[i].pages < next))
			next = shares[i].pages;
	return next;
}

/*
 * One round robin as long as possible: shares that differ by one (an even split's remainder, which
 * lies on the first shares) stay in it, since the last round simply ends early.
 */
static int make_interleaved(const struct hf_share *shares, size_t nshares, struct hf_layout *layout)
{
	uint64_t level = 0, next;

	while ((next = next_level(shares, nshares, level)) != 0) {
		size_t members = 0;
		struct hf_segment *s;

		for (size_t i = 0; i < nshares; i++)
			members += shares[i].pages > level;
		s = add_segment(layout, members, members * (next - level));
		if (!s)
			return -ENOMEM;
		for (size_t i = 0; i < nshares; i++)
			if (shares[i].pages > level)
				s->nodes[s->nnodes++] = shares[i].node;
		level = next;
	}
	return 0;
}

int hf_layout_make(const struct hf_share *shares, size_t nshares, bool block, struct hf_layout *layout,
		   struct hf_err *err)
{
	int r;

	*layout = (struct hf_layout){ 0 };
	layout->segments = calloc(nshares + 1, sizeof(*layout->segments));
	if (!layout->segments)
		return hf_err_nomem(err);
	r = block ? make_block(shares, nshares, layout) : make_interleaved(shares, nshares, layout);
	if (r == 0)
		return 0;
	hf_layout_free(layout);
	return hf_err_nomem(err);
}

void hf_layout_free(struct hf_layout *layout)
{
	for (size_t i = 0; i < layout->nsegments; i++)
		free(layout->segments[i].nodes);
	free(layout->segments);
	*layout = (struct hf_layout){ 0 };
}

size_t hf_layout_node(const struct hf_layout *layout, uint64_t page)
{
	for (size_t i = 0; i < layout->nsegments; i++) {
		const struct hf_segment *s = &layout->segments[i];

		if (page < s->first + s->count)
			return s->nodes[(page - s->first) % s->nnodes];
	}
	return 0;
}

/* Position of the node in the segment's round, or nnodes: not in it. */
static size_t position(const struct hf_segment *s, size_t node)
{
	size_t at = 0;

	while (at < s->nnodes && s->nodes[at] != node)
		at++;
	return at;
}

static uint64_t pages_in_segment(const struct hf_segment *s, size_t at)
{
	if (at >= s->nnodes || s->count <= at)
		return 0;
	return (s->count - at + s->nnodes - 1) / s->nnodes;
}

uint64_t hf_layout_count(const struct hf_layout *layout, size_t node)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < layout->nsegments; i++)
		sum += pages_in_segment(&layout->segments[i], position(&layout->segments[i], node));
	return sum;
}

struct hf_run hf_layout_run(const struct hf_layout *layout, size_t node, uint64_t ordinal, uint64_t most)
{
	for (size_t i = 0; i < layout->nsegments; i++) {
		const struct hf_segment *s = &layout->segments[i];
		size_t at = position(s, node);
		uint64_t here = pages_in_segment(s, at);

		if (ordinal >= here) {
			ordinal -= here;
			continue;
		}
		if (s->nnodes > 1)
			return (struct hf_run){ s->first + at + ordinal * s->nnodes, 1 };
		return (struct hf_run){ s->first + ordinal, here - ordinal < most ? here - ordinal : most };
	}
	return (struct hf_run){ 0, 0 };
}
