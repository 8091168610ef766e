/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "scene.h"

/* An option among the specs, as the command line has it; the rest is a spec. */
static bool take_option(struct scene *s, const char *word, uint64_t *page_size)
{
	const char *value = strchr(word, '=');

	if (strncmp(word, "--", 2) != 0)
		return false;
	s->request.available |= strcmp(word, "--available") == 0;
	s->request.no_grow |= strcmp(word, "--no-grow") == 0;
	s->request.no_mount |= strcmp(word, "--no-mount") == 0;
	if (!value)
		return true;
	if (strncmp(word, "--threads", 9) == 0)
		s->request.threads = strtoull(value + 1, NULL, 10);
	else if (hf_size_parse(value + 1, word[2] == 'p' ? page_size : &s->request.headroom, &s->err) < 0)
		abort();
	return true;
}

static int scene_plan_words(struct scene *s, const char *words)
{
	char text[1024], specs[1024] = "", *rest = NULL;
	uint64_t page_size = 0;

	snprintf(text, sizeof(text), "%s", words);
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (!take_option(s, word, &page_size))
			add(specs, sizeof(specs), "%s ", word);
	return scene_plan(s, specs, page_size);
}

struct plan_case {
	const char *tree, *words, *want;
};

static void check_case(const struct plan_case *c)
{
	char dir[128], buf[1024];
	struct scene s;

	snprintf(dir, sizeof(dir), FIXTURES "%s", c->tree);
	scene_open(&s, dir);
	if (scene_plan_words(&s, c->words) < 0)
		ok(false, "%s, %s: %s: %s", c->tree, c->words, s.err.object, s.err.what);
	else
		is_text(describe(&s.plan, buf, sizeof(buf)), c->want, "%s, %s", c->tree, c->words);
	scene_close(&s);
}

static void check_cases(const struct plan_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_case(&cases[i]);
}

/*
 * two-nodes, 2M: 4096 and 2112 pages, of which 3000 and 1000 are free and 64 of node 1 are surplus;
 * 500 are reserved. 1G: 4 and 2, 4 and 1 free, 1 reserved.
 */
static void test_pools(void)
{
	static const struct plan_case cases[] = {
		/* What is there already, and more. */
		{ "two-nodes", "2M=0", "" },
		{ "two-nodes", "2M=1G", "" },
		{ "two-nodes", "2M=6144p", "" },
		{ "two-nodes", "2M=10G@0", "2M+1024:5120,-" },
		{ "two-nodes", "2M=4096p@0", "" },
		{ "two-nodes", "2M=8G@0,4G@1", "" },
		{ "two-nodes", "2M=8G@0,8G@1", "2M+1984:-,4096" },
		{ "two-nodes", "2M=8G@1,10G@0", "2M+3008:5120,4096" },
		{ "two-nodes", "2M=20G@0-1", "2M+4032:5120,5120" },
		/* Surplus pages count once they are persistent; that allocates nothing. */
		{ "two-nodes", "2M=6145p", "2M+0:-,2049" },
		{ "two-nodes", "2M=6208p", "2M+0:-,2112" },
		{ "two-nodes", "2M=2112p@1", "2M+0:-,2112" },
		{ "two-nodes", "2M=6209p", "2M+1:-,2113" },
		/* Evenly, the remainder on the lowest. */
		{ "two-nodes", "2M=20G", "2M+4032:5120,5120" },
		{ "two-nodes", "2M=10241p", "2M+4033:5121,5120" },
		{ "cpuless", "2M=10p", "2M+10:4,3,3" },
		{ "cpuless", "2M=11p@0+2", "2M+11:6,-,5" },
		{ "cpuless", "2M=2p", "2M+2:1,1,-" },
		/* No node gets fewer than it has, the others make up: not with @. */
		{ "two-nodes", "2M=7000p", "2M+792:-,2904" },
		{ "two-nodes", "2M=7000p@all", "2M+1388:-,3500" },
		/* Only nodes with memory. */
		{ "memless", "2M=4G", "2M+1024:2048,-" },
		{ "memless", "2M=4G@all", "2M+1024:2048,-" },
		/* Percent is of the nodes meant, rounded down to a page. */
		{ "one-node", "2M=25%", "2M+3072:3072" },
		{ "one-node", "1G=30%", "1G+7:7" },
		{ "two-nodes", "1G=25%", "1G+26:16,16" },
		{ "two-nodes", "1G=25%@0", "1G+12:16,-" },
		{ "two-nodes", "1G=3%@0", "" },
		{ "two-nodes", "1G=3.2%@1", "" },
		/* Relative to what is there. */
		{ "two-nodes", "2M=+0", "2M+0:-,2112" },
		{ "two-nodes", "2M=+512p@0", "2M+512:4608,-" },
		{ "two-nodes", "2M=+1p@1", "2M+1:-,2113" },
		{ "two-nodes", "2M=+100p@0-1", "2M+100:4146,2162" },
		{ "two-nodes", "2M=+512p", "2M+512:4352,2368" },
		{ "cpuless", "2M=+10p", "2M+10:4,3,3" },
		{ "one-node", "2M=+1G", "2M+512:512" },
		{ "memless", "2M=+10p", "2M+10:1034,-" },
		/* Of several specs for one pool the largest counts. */
		{ "one-node", "2M=1G 2M=2G 2M=1G@0", "2M+1024:1024" },
		{ "cpuless", "2M=4p@1 2M=9p", "2M+9:3,4,2" },
		{ "one-node", "2M=1G 1G=2G", "2M+512:512 1G+2:2" },
		{ "arm64", "64K=200M default=2G 32M=256M", "64K+1600:3200 2M+512:1024" },
	};

	check_cases(cases, HF_LENGTH(cases));
}

static void test_files(void)
{
	static const struct plan_case cases[] = {
		/* Growth of what is missing only. */
		{ "one-node", "a=1G", "2M+512:512 create:512 t:2" },
		{ "memless", "a=1G", "create:512,0 t:4,0" },
		{ "memless", "a=3G", "2M+512:1536,- create:1536,0 t:4,0" },
		/* 256 are free, 16 of them are reserved by others. */
		{ "arm64", "a=480M", "create:240 t:6" },
		{ "arm64", "a=482M", "2M+1:513 create:241 t:6" },
		{ "arm64", "a=1G", "2M+272:784 create:512 t:6 !cgroup" },
		{ "arm64", "a=1G@0", "2M+272:784 create:512 t:6 !cgroup" },
		/* 4000 are free, 500 reserved. */
		{ "two-nodes", "a=3500p", "create:2500,1000 t:32,31" },
		{ "two-nodes", "a=3501p", "2M+1:-,2113 create:2500,1001 t:32,31" },
		/* Any node makes up: evenly as far as both have it, then where there is more. */
		{ "two-nodes", "a=2000p", "create:1000,1000 t:31,31" },
		{ "two-nodes", "a=2300p", "create:1300,1000 t:32,31" },
		{ "eight-nodes", "a=1G", "create:0,161,24,160,0,160,0,7 t:0,5,1,5,0,5,0,1" },
		/* Not with @: then the node grows. */
		{ "two-nodes", "a=2300p@0-1", "2M+150:-,2262 create:1150,1150 t:32,32" },
		{ "two-nodes", "a=2000p@1", "2M+1000:-,3112 create:0,2000 t:0,32" },
		{ "two-nodes", "a=100p@0,1100p@1", "2M+100:-,2212 create:100,1100 t:3,32" },
		{ "two-nodes", "a=3000p@0 b=600p", "2M+100:4196,- create:3000,0 create:100,500 t:32,15" },
		/* Two files of one pool add up. */
		{ "one-node", "a=1G b=2G", "2M+1536:1536 create:512 create:1024 t:2" },
		{ "cpuless", "a=1G@2 b=1G@0-1",
		  "2M+1024:256,256,512 create:0,0,512 create:256,256,0 t:4,4,4" },
		{ "two-nodes", "a=2000p b=2000p", "2M+500:-,2612 create:1000,1000 create:1500,500 t:32,32" },
		/* Other page sizes. */
		{ "one-node", "--page-size=1G a=4G", "1G+4:4 create:4 t:2" },
		{ "two-nodes", "--page-size=1G a=4G", "create:3,1 t:3,1" },
		{ "two-nodes", "--page-size=1G a=5G", "1G+1:-,3 create:3,2 t:3,2" },
		{ "arm64", "--page-size=64K a=1M", "create:16 t:1" },
		{ "eight-nodes", "--page-size=1G a=8G", "create:0,4,0,0,3,0,0,1 t:0,4,0,0,3,0,0,1" },
		/* Percent of the nodes meant. */
		{ "one-node", "a=25%", "2M+3072:3072 create:3072 t:2" },
		{ "cpuless", "a=1%@2", "2M+655:-,-,655 create:0,0,655 t:0,0,4" },
	};

	check_cases(cases, HF_LENGTH(cases));
}

static void test_together(void)
{
	static const struct plan_case cases[] = {
		/* The pool spec states the end: the file finds its pages in it. */
		{ "one-node", "2M=10G a=4G", "2M+5120:5120 create:2048 t:2" },
		{ "one-node", "a=4G 2M=10G", "2M+5120:5120 create:2048 t:2" },
		{ "one-node", "2M=2G a=4G", "2M+2048:2048 create:2048 t:2" },
		{ "memless", "2M=2G a=4G", "2M+1024:2048,- create:2048,0 t:4,0" },
		/* Used and reserved pages do not serve the file. */
		{ "arm64", "2M=2G a=1536M", "2M+528:1040 create:768 t:6 !cgroup" },
		{ "arm64", "2M=2G a=1G", "2M+512:1024 create:512 t:6 !cgroup" },
		{ "two-nodes", "2M=12G a=8G@0", "2M+1096:5192,- create:4096,0 t:32,0" },
		{ "two-nodes", "2M=10G@0 a=8G@0", "2M+1096:5192,- create:4096,0 t:32,0" },
		{ "two-nodes", "2M=12G@0 a=8G@0", "2M+2048:6144,- create:4096,0 t:32,0" },
		/* --available: so much beside the file. */
		{ "one-node", "--available 2M=10G a=4G", "2M+7168:7168 create:2048 t:2" },
		{ "one-node", "--available 2M=10G", "2M+5120:5120" },
		{ "memless", "--available 2M=2G", "" },
		{ "memless", "--available 2M=2G a=2M", "2M+1:1025,- create:1,0 t:1,0" },
		{ "arm64", "--available 2M=480M", "" },
		{ "arm64", "--available 2M=482M", "2M+1:513" },
		{ "two-nodes", "--available 2M=3500p", "" },
		{ "two-nodes", "--available 2M=3501p", "2M+1:-,2113" },
		{ "two-nodes", "--available 2M=4000p@0", "2M+1000:5096,-" },
		{ "two-nodes", "--available 2M=8G@0 a=4G", "2M+2644:6216,2636 create:1024,1024 t:32,32" },
		{ "two-nodes", "--available 2M=+512p@0", "2M+512:4608,-" },
	};

	check_cases(cases, HF_LENGTH(cases));
}

static void test_threads(void)
{
	static const struct plan_case cases[] = {
		/* By the pages of each node, the largest remainder first, at least one each. */
		{ "two-nodes", "--threads=8 a=2000p", "create:1000,1000 t:4,4" },
		{ "two-nodes", "--threads=3 a=2000p", "create:1000,1000 t:2,1" },
		{ "two-nodes", "--threads=10 a=2400p@0,600p@1", "create:2400,600 t:8,2" },
		{ "two-nodes", "--threads=3 a=2048p@0,1p@1", "create:2048,1 t:2,1" },
		{ "cpuless", "--threads=4 a=4G@0,2M@1,2M@2", "2M+2050:2048,1,1 create:2048,1,1 t:2,1,1" },
		/* Fewer than nodes: the nodes with most of the work first. */
		{ "cpuless", "--threads=1 a=2M@0,4G@1,2M@2", "2M+2050:1,2048,1 create:1,2048,1 t:0,1,0" },
		{ "two-nodes", "--threads=1 a=2000p", "create:1000,1000 t:1,0" },
		/* Never more than pages, but more than CPUs when they are asked for. */
		{ "one-node", "--threads=100 a=3p", "2M+3:3 create:3 t:3" },
		{ "one-node", "--threads=100 a=1G", "2M+512:512 create:512 t:100" },
		{ "two-nodes", "--threads=50 a=2p b=2p", "create:1,1 create:1,1 t:2,2" },
		/* By itself: every CPU, 64 MiB each, one at least. */
		{ "two-nodes", "a=64M@0", "create:32,0 t:1,0" },
		{ "two-nodes", "a=126M@0", "create:63,0 t:1,0" },
		{ "two-nodes", "a=128M@0", "create:64,0 t:2,0" },
		{ "two-nodes", "a=4G@0", "create:2048,0 t:32,0" },
		{ "two-nodes", "a=2M@0", "create:1,0 t:1,0" },
		/* A node without CPUs borrows the nearest one's. */
		{ "cpuless", "a=4G@2", "2M+2048:-,-,2048 create:0,0,2048 t:0,0,4" },
		/* Pools alone need none. */
		{ "one-node", "--threads=4 2M=1G", "2M+512:512" },
	};

	check_cases(cases, HF_LENGTH(cases));
}

static void test_findings(void)
{
	static const struct plan_case cases[] = {
		{ "one-node", "2M=20G", "2M+10240:10240" },
		{ "one-node", "--headroom=4G 2M=20G", "2M+10240:10240 !headroom" },
		{ "one-node", "--headroom=3.5G 2M=20G", "2M+10240:10240" },
		{ "one-node", "2M=24G", "2M+12288:12288 !headroom" },
		{ "one-node", "--headroom=3758096385B 2M=20G", "2M+10240:10240 !headroom" },
		{ "one-node", "--headroom=100G 2M=1G", "2M+512:512 !headroom" },
		{ "one-node", "2M=12G 1G=12G", "2M+6144:6144 1G+12:12 !headroom" },
		{ "two-nodes", "--headroom=1000G 2M=1G", "" },
		{ "two-nodes", "--no-grow 2M=20G", "2M+4032:5120,5120 !no-grow" },
		{ "two-nodes", "--no-grow a=1G", "create:256,256 t:8,8" },
		{ "two-nodes", "--no-grow 2M=6208p", "2M+0:-,2112 !no-grow" },
		{ "one-node", "--no-mount a=2M", "2M+1:1 create:1 t:1 !no-mount" },
		{ "two-nodes", "--no-mount a=2M", "create:1,0 t:1,0" },
		{ "one-node", "--no-mount 2M=2M", "2M+1:1" },
		{ "eight-nodes", "--page-size=1G a=8G", "create:0,4,0,0,3,0,0,1 t:0,4,0,0,3,0,0,1" },
		{ "eight-nodes", "--page-size=1G a=5G@1 b=4G@4",
		  "create:0,5,0,0,0,0,0,0 create:0,0,0,0,4,0,0,0 t:0,5,0,0,4,0,0,0 !mount-size" },
	};
	struct scene s;

	check_cases(cases, HF_LENGTH(cases));

	scene_open(&s, FIXTURES "one-node");
	s.request.headroom = 4 * GIB;
	ok(scene_plan(&s, "2M=20G", 0) == 0 && s.plan.nfindings == 1, "headroom");
	ok(hf_plan_is_fatal(&s.plan), "is fatal");
	if (s.plan.nfindings) {
		is_u64(s.plan.findings[0].wanted, 20 * GIB, "wanted");
		is_u64(s.plan.findings[0].got, 39 * GIB / 2, "got: what is available less the room");
		has_text(s.plan.findings[0].hint, "--headroom", "a next step");
	}
	scene_close(&s);
}

/* Sums of page sizes that would wrap are headroom's to refuse. */
static void test_sums(void)
{
	static const char *const too_much[] = {
		"2M=8000P 2M=8000P",
		"64K=8191P 2M=8191P",
		"64K=8000P 2M=8000P 32M=385P",
		"64K=8191P 2M=8191P 32M=8191P 1G=8191P",
	};
	static const char *const refused[] = {
		"a=8000P b=8000P",
		"2M=8000P a=8191P b=8191P c=8191P",
		"a=4096P@0 b=4096P@0",
		"2M=+8191.5P 2M=+8191.99P",
	};

	for (size_t i = 0; i < HF_LENGTH(too_much); i++) {
		struct scene s;
		int r;

		scene_open(&s, FIXTURES "arm64");
		r = scene_plan(&s, too_much[i], 0);
		ok((r == 0 && hf_plan_is_fatal(&s.plan)) || (r == -EINVAL && s.err.usage), "too much: %s",
		   too_much[i]);
		if (r == 0 && s.plan.nfindings)
			ok(s.plan.findings[0].wanted > 1000000 * GIB,
			   "%s: the finding tells a sum that did not wrap", too_much[i]);
		scene_close(&s);
	}
	for (size_t i = 0; i < HF_LENGTH(refused); i++) {
		struct scene s;
		int r;

		scene_open(&s, FIXTURES "arm64");
		r = scene_plan(&s, refused[i], 0);
		ok((r == -EINVAL && s.err.usage) || (r == 0 && hf_plan_is_fatal(&s.plan)), "refused: %s",
		   refused[i]);
		scene_close(&s);
	}
}

/* A strict placement outside of the cpuset cannot come true. */
static void test_cpuset(void)
{
	struct scene s;
	char buf[512];

	tree_copy("two-nodes");
	tree_put("proc/self/status", "Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0\n");

	scene_open(&s, tree_dir);
	ok(scene_plan(&s, "a=1G@1", 0) == 0, "a file on a node outside the cpuset");
	is_text(describe(&s.plan, buf, sizeof(buf)), "create:0,512 t:0,4 !cpuset",
		"is found, and its workers borrow CPUs");
	if (s.plan.nfindings) {
		is_u64((uint64_t)s.plan.findings[0].node, 1, "the node is named");
		has_text(s.plan.findings[0].hint, "cpuset.mems", "what to do");
	}
	scene_close(&s);

	scene_open(&s, tree_dir);
	ok(scene_plan(&s, "a=1G@0 2M=10G@1", 0) == 0, "within it, and a pool on another node");
	is_text(describe(&s.plan, buf, sizeof(buf)), "2M+3008:-,5120 create:512,0 t:4,0 !cpuset",
		"the kernel grants a pool nothing there, either");
	scene_close(&s);
}

static void test_questions(void)
{
	static const struct {
		const char *specs;
		bool changes, pools;
		uint64_t bytes;
	} t[] = {
		{ "2M=1G", false, false, 0 },         { "2M=20G", true, true, 0 },
		{ "2M=6208p", true, true, 0 },        { "a=1G", true, false, GIB },
		{ "a=8G b=1G", true, true, 9 * GIB },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct scene s;

		scene_open(&s, FIXTURES "two-nodes");
		ok(scene_plan(&s, t[i].specs, 0) == 0, "%s", t[i].specs);
		ok(hf_plan_changes(&s.plan) == t[i].changes, "%s: changes anything", t[i].specs);
		ok(hf_plan_changes_pools(&s.plan) == t[i].pools, "%s: changes a pool", t[i].specs);
		is_u64(hf_plan_fill_bytes(&s.plan), t[i].bytes, "%s: bytes to fill", t[i].specs);
		scene_close(&s);
	}
}

int main(void)
{
	test_pools();
	test_files();
	test_together();
	test_threads();
	test_findings();
	test_sums();
	test_cpuset();
	test_questions();
	return tap_done();
}
