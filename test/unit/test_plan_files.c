/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What plan decides about files: which, where, and what is there already. */
#include <errno.h>

#include "scene.h"

static void test_twice(void)
{
	static const struct {
		const char *specs;
		bool twice;
	} t[] = {
		{ "a=1G b=1G", false },
		{ "a=1G a=1G", true },
		{ "a=1G b=1G c=2M a=2M@0", true },
		{ "a=1G /dev/hugepages/a=1G", true },
		{ "a=1G /dev/hugepages/x/a=1G", false },
		{ "2M=1G 2M=1G", false },
		{ "2M=1G ./2M=1G", false },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct scene s;
		int r;

		scene_open(&s, FIXTURES "two-nodes");
		if (strstr(t[i].specs, "./"))
			r = scene_specs(&s, t[i].specs, 0) == -EINVAL ? 0 : -1;
		else
			r = scene_plan(&s, t[i].specs, 0);
		ok(t[i].twice ? r == -EINVAL && s.err.usage : r == 0, "%s", t[i].specs);
		if (t[i].twice)
			has_text(s.err.object, "/a", "the file is named");
		scene_close(&s);
	}
}

static void test_mounts(void)
{
	static const struct {
		const char *tree, *specs;
		uint64_t page_size;
		const char *want;
	} t[] = {
		{ "one-node", "a=2M b=2M", 0, "/dev/hugepages" },
		{ "one-node", "a=1G", GIB, "/dev/hugepages1G" },
		{ "one-node", "a=2M /dev/hugepages1G/b=1G", 0, "/dev/hugepages /dev/hugepages1G" },
		{ "two-nodes", "a=2M", 0, "" },
		{ "two-nodes", "a=1G b=1G", GIB, "/dev/hugepages1G" },
		{ "two-nodes", "2M=1G", 0, "" },
		{ "eight-nodes", "a=1G", GIB, "" },
		{ "arm64", "a=64K", 65536, "" },
		{ "arm64", "a=32M", 32 << 20, "/dev/hugepages32M" },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		char dir[128], got[256] = "";
		struct scene s;

		snprintf(dir, sizeof(dir), FIXTURES "%s", t[i].tree);
		scene_open(&s, dir);
		ok(scene_plan(&s, t[i].specs, t[i].page_size) == 0, "%s, %s", t[i].tree, t[i].specs);
		for (size_t m = 0; m < s.plan.nmounts; m++)
			add(got, sizeof(got), "%s%s", m ? " " : "", s.plan.mounts[m].target);
		is_text(got, t[i].want, "%s, %s: mounts made, each once", t[i].tree, t[i].specs);
		scene_close(&s);
	}
}

/* No file exists on a captured tree: what a live machine would have found is put in by hand. */
static void test_existing(void)
{
	static unsigned char holes[9] = { 0xff, 0xff, 0x0f }; /* pages 0 to 19 of 64 are there */
	static const struct {
		const char *name, *specs, *want;
		uint64_t pages, filled;
		bool with_holes, resize;
	} t[] = {
		{ "full", "a=64p", "keep:", 64, 64, false, false },
		{ "empty", "a=64p", "fill:32,32 t:1,1", 64, 0, false, false },
		{ "with holes", "a=64p", "fill:22,22 t:1,1", 64, 20, true, false },
		{ "with holes, strictly on node 1", "a=64p@1", "fill:0,44 t:0,1", 64, 20, true, false },
		{ "smaller", "a=100p", "extend:18,18 t:1,1 !other-size", 64, 64, false, false },
		{ "smaller, --resize", "a=100p", "extend:18,18 t:1,1", 64, 64, false, true },
		{ "smaller with holes, --resize", "a=100p", "extend:40,40 t:1,1", 64, 20, true, true },
		{ "larger", "a=32p", "cut:0,0 !other-size", 64, 64, false, false },
		{ "larger, --resize", "a=32p", "cut:0,0", 64, 64, false, true },
		{ "larger with holes, --resize", "a=32p", "cut:6,6 t:1,1", 64, 20, true, true },
		{ "full, the pool too", "a=64p 2M=10G@0", "2M+1024:5120,- keep:", 64, 64, false, false },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_place *place;
		struct scene s;
		char buf[512];

		scene_open(&s, FIXTURES "two-nodes");
		s.request.resize = t[i].resize;
		ok(scene_specs(&s, t[i].specs, 0) == 0, "a file that is %s", t[i].name);
		place = &s.places[0];
		place->exists = true;
		place->pages = t[i].pages;
		place->size = t[i].pages * place->page_size;
		place->filled = t[i].filled;
		place->present = t[i].with_holes ? holes : NULL;
		ok(hf_plan_make(&s.request, &s.machine, &s.plan, &s.err) == 0, "%s: planned", t[i].name);
		is_text(describe(&s.plan, buf, sizeof(buf)), t[i].want, "%s", t[i].name);
		place->present = NULL;
		scene_close(&s);
	}
}

static void is_layout(const char *specs, bool block, const char *want)
{
	char got[64] = "";
	struct scene s;

	scene_open(&s, FIXTURES "two-nodes");
	s.request.block = block;
	ok(scene_plan(&s, specs, 0) == 0, "%s", specs);
	for (uint64_t page = 0; page < s.plan.targets[0].layout.pages; page++)
		add(got, sizeof(got), "%zu", hf_layout_node(&s.plan.targets[0].layout, page));
	is_text(got, want, "%s%s: the node of each page", specs, block ? " in blocks" : "");
	scene_close(&s);
}

static void test_layouts(void)
{
	is_layout("a=6p", false, "010101");
	is_layout("a=5p", false, "01010");
	is_layout("a=6p", true, "000111");
	is_layout("a=5p@0-1", true, "00011");
	is_layout("a=5p@1", false, "11111");
	/* Uneven amounts are blocks always, in the order written. */
	is_layout("a=4p@1,2p@0", false, "111100");
	is_layout("a=2p@0,2p@1", false, "0011");
	is_layout("a=2p@0,2p@1", true, "0011");
}

int main(void)
{
	test_twice();
	test_mounts();
	test_existing();
	test_layouts();
	return tap_done();
}
