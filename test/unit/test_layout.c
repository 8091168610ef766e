/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../lib/layout.h"
#include "tap.h"

#define MOST_SHARES 8
#define MOST_PAGES 64

struct layout_case {
	const char *name;
	bool block;
	size_t nshares;
	struct hf_share shares[MOST_SHARES];
	const char *want; /* the node of each page */
	size_t nsegments;
};

static const struct layout_case cases[] = {
	{ "one node", false, 1, { { 0, 5 } }, "00000", 1 },
	{ "even: one segment", false, 2, { { 0, 3 }, { 1, 3 } }, "010101", 1 },
	{ "four nodes", false, 4, { { 0, 2 }, { 1, 2 }, { 2, 2 }, { 3, 2 } }, "01230123", 1 },
	{ "the remainder of an even spread", false, 3, { { 0, 3 }, { 1, 2 }, { 2, 2 } }, "0120120", 2 },
	{ "uneven: round robin over what is left", false, 3, { { 0, 1 }, { 1, 4 }, { 2, 2 } }, "0121211", 3 },
	{ "nodes need not begin with 0", false, 2, { { 3, 2 }, { 5, 2 } }, "3535", 1 },
	{ "an empty share is left out", false, 3, { { 0, 2 }, { 1, 0 }, { 2, 2 } }, "0202", 1 },
	{ "block", true, 2, { { 0, 3 }, { 1, 3 } }, "000111", 2 },
	{ "block: uneven", true, 2, { { 0, 1 }, { 1, 4 } }, "01111", 2 },
	{ "block: in the order written", true, 3, { { 2, 2 }, { 0, 1 }, { 1, 2 } }, "22011", 3 },
	{ "block: an empty share is left out", true, 3, { { 2, 2 }, { 0, 0 }, { 1, 2 } }, "2211", 2 },
	{ "nothing", false, 1, { { 0, 0 } }, "", 0 },
	{ "no share", true, 0, { { 0, 0 } }, "", 0 },
};

static void make(const struct layout_case *c, struct hf_layout *layout)
{
	struct hf_err err = { 0 };

	ok(hf_layout_make(c->shares, c->nshares, c->block, layout, &err) == 0, "%s is made", c->name);
}

static void test_nodes(void)
{
	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		char got[MOST_PAGES] = "";
		struct hf_layout layout;

		make(&cases[i], &layout);
		for (uint64_t page = 0; page < layout.pages && page < MOST_PAGES - 1; page++)
			got[page] = (char)('0' + hf_layout_node(&layout, page));
		is_text(got, cases[i].want, "%s: the node of each page", cases[i].name);
		is_u64(layout.nsegments, cases[i].nsegments, "%s: segments", cases[i].name);
		hf_layout_free(&layout);
	}
}

/* Walks one node's runs and marks their pages; false: a run is out of order, or somebody else's. */
static bool walk(const struct layout_case *c, const struct hf_layout *layout, size_t node, uint64_t most,
		 char *seen)
{
	uint64_t total = hf_layout_count(layout, node), done = 0, last = 0;

	while (done < total) {
		struct hf_run run = hf_layout_run(layout, node, done, most);

		if (!run.count || run.count > most || (done && run.first <= last))
			return false;
		for (uint64_t page = run.first; page < run.first + run.count; page++) {
			if (page >= strlen(c->want) || c->want[page] != (char)('0' + node) || seen[page])
				return false;
			seen[page] = 1;
		}
		last = run.first + run.count - 1;
		done += run.count;
	}
	return done == total;
}

static void test_runs(void)
{
	static const uint64_t most[] = { 1, 2, 3, UINT64_MAX };

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		struct hf_layout layout;

		make(&cases[i], &layout);
		for (size_t m = 0; m < HF_LENGTH(most); m++) {
			char seen[MOST_PAGES] = { 0 };
			bool fits = true;
			size_t count = 0;

			for (size_t node = 0; node < MOST_SHARES; node++)
				fits = walk(&cases[i], &layout, node, most[m], seen) && fits;
			for (size_t page = 0; page < MOST_PAGES; page++)
				count += (size_t)seen[page];
			ok(fits && count == layout.pages,
			   "%s: runs of at most %llu pages are every page once", cases[i].name,
			   (unsigned long long)most[m]);
		}
		hf_layout_free(&layout);
	}
}

static void test_counts(void)
{
	static const struct hf_share shares[] = { { 0, 161 }, { 1, 24 }, { 2, 160 }, { 3, 7 } };

	for (int block = 0; block < 2; block++) {
		struct hf_layout layout;
		struct hf_err err = { 0 };

		ok(hf_layout_make(shares, HF_LENGTH(shares), block, &layout, &err) == 0, "uneven, block %d",
		   block);
		for (size_t i = 0; i < HF_LENGTH(shares); i++)
			is_u64(hf_layout_count(&layout, shares[i].node), shares[i].pages, "pages of node %zu",
			       i);
		is_u64(hf_layout_count(&layout, 4), 0, "none on a node that has no share");
		is_u64(layout.pages, 352, "pages in all");
		hf_layout_free(&layout);
		ok(!layout.segments && !layout.pages, "free leaves nothing");
	}
}

/* Nothing is kept per page. */
static void test_large(void)
{
	const uint64_t pages = 1ULL << 42;
	const struct hf_share shares[] = { { 0, pages }, { 1, pages } };
	struct hf_layout layout;
	struct hf_err err = { 0 };
	struct hf_run run;

	ok(hf_layout_make(shares, 2, false, &layout, &err) == 0, "2^43 pages, interleaved");
	is_u64(layout.nsegments, 1, "one segment");
	is_u64(hf_layout_node(&layout, 2 * pages - 1), 1, "the last page");
	run = hf_layout_run(&layout, 1, pages - 1, 100);
	ok(run.first == 2 * pages - 1 && run.count == 1, "its run");
	hf_layout_free(&layout);

	ok(hf_layout_make(shares, 2, true, &layout, &err) == 0, "2^43 pages in blocks");
	run = hf_layout_run(&layout, 1, 5, UINT64_MAX);
	ok(run.first == pages + 5 && run.count == pages - 5, "a run is cut at the end of its block");
	hf_layout_free(&layout);
}

int main(void)
{
	test_nodes();
	test_runs();
	test_counts();
	test_large();
	return tap_done();
}
