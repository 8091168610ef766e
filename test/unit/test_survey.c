/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../lib/survey.h"

#include "../../lib/survey_parts.h"
#include "scene.h"

/* "severity id object node wanted got" of each finding, blanks for what is not set, bytes in MiB. */
static const char *findings(const struct hf_survey *survey)
{
	static char text[4096];

	*text = '\0';
	for (size_t i = 0; i < survey->nfindings; i++) {
		const struct hf_finding *f = &survey->findings[i];

		add(text, sizeof(text), "%s%s %s %s", i ? ", " : "", hf_survey_severity(f), f->id, f->object);
		if (f->node >= 0)
			add(text, sizeof(text), " @%d", f->node);
		if (f->wanted || f->got)
			add(text, sizeof(text), " %llu/%llu", (unsigned long long)f->wanted >> 20,
			    (unsigned long long)f->got >> 20);
	}
	return text;
}

/* The machine of the tree as it is now. */
static void machine(const char *what, const char *dir, const char *want)
{
	struct hf_survey survey = { 0 };
	struct hf_err err = { 0 };
	struct scene s;

	scene_open(&s, dir);
	is_u64((unsigned)hf_survey_machine(&s.machine, &survey, &err), 0, "%s: can be surveyed", what);
	is_text(findings(&survey), want, "%s", what);
	hf_survey_free(&survey);
	scene_close(&s);
}

static void plan_as(const char *what, const char *dir, const char *specs, bool best_effort, const char *want)
{
	struct hf_survey survey = { 0 };
	struct hf_err err = { 0 };
	struct scene s;

	scene_open(&s, dir);
	s.request.best_effort = best_effort;
	is_u64((unsigned)scene_plan(&s, specs, 0), 0, "%s: can be planned", what);
	is_u64((unsigned)hf_survey_plan(&s.plan, &survey, &err), 0, "%s: can be surveyed", what);
	is_text(findings(&survey), want, "%s", what);
	is_u64(hf_survey_is_fatal(&survey), !strncmp(want, "error", 5), "%s: the verdict", what);
	hf_survey_free(&survey);
	scene_close(&s);
}

static void plan(const char *what, const char *specs, const char *want)
{
	plan_as(what, FIXTURES "two-nodes", specs, false, want);
}

#define GIGANTIC "info gigantic 1G"
#define SHM "info shm-group limits"

static void test_machines(void)
{
	machine("one-node", FIXTURES "one-node", "info no-mount 2M, info no-mount 1G, " GIGANTIC ", " SHM);
	machine("two-nodes", FIXTURES "two-nodes",
		"warning surplus 2M @1 0/128, warning overcommit 2M 0/2048, info unused 2M 0/7000, "
		"info unused 1G 0/4096, info no-mount 1G, " GIGANTIC ", " SHM ", info boot 2M 0/12288");
	machine("eight-nodes", FIXTURES "eight-nodes",
		"warning mount-options /mnt/read only, warning hidden-mount /mnt/covered, info unused 2M "
		"0/12374, "
		"info unused 1G 0/9216, info cgroup 2M 102400/101376, info cgroup-reserved 2M "
		"51200/50176, " GIGANTIC ", " SHM ", info boot 2M 0/15574, info boot 1G 0/25600");
	machine("no-hugetlb", FIXTURES "no-hugetlb", "error no-hugetlb huge pages");
}

static const char limits[] =
	"Limit                     Soft Limit           Hard Limit           Units     \n"
	"Max cpu time              unlimited            unlimited            seconds   \n"
	"Max locked memory         %s              8388608              bytes     \n";

static void put_memlock(const char *value)
{
	char text[512];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), limits, value);
#pragma GCC diagnostic pop
	tree_put("proc/self/limits", text);
}

/* One thing after the other is changed in a copy of one-node, and put back. */
static void test_settings(void)
{
	static const struct {
		const char *file, *text, *want;
	} cases[] = {
		{ "proc/sys/vm/hugetlb_optimize_vmemmap", "1\n", GIGANTIC ", info hvo kernel, " SHM },
		{ "proc/sys/vm/hugetlb_optimize_vmemmap", "x\n", GIGANTIC ", " SHM },
		{ "proc/cmdline", "init_on_alloc=1\n", GIGANTIC ", info init-on-alloc kernel, " SHM },
		{ "proc/cmdline", "quiet init_on_alloc=on -- x\n",
		  GIGANTIC ", info init-on-alloc kernel, " SHM },
		{ "proc/cmdline", "init_on_alloc=1 init_on_alloc=0\n", GIGANTIC ", " SHM },
		{ "proc/cmdline", "init_on_alloc\n", GIGANTIC ", " SHM },
		{ "proc/cmdline", "quiet -- init_on_alloc=1\n", GIGANTIC ", " SHM },
		{ "proc/cmdline", "a=\"b init_on_alloc=1\"\n", GIGANTIC ", " SHM },
		{ "proc/sys/kernel/osrelease", "5.14.0-1\n", GIGANTIC ", " SHM },
		{ "proc/sys/kernel/osrelease", "6\n", GIGANTIC ", " SHM },
		{ "proc/buddyinfo", "", SHM },
		{ "proc/buddyinfo", "Node 0, zone\n", SHM },
	};

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		char want[512];

		tree_copy("one-node");
		tree_put(cases[i].file, cases[i].text);
		snprintf(want, sizeof(want), "info no-mount 2M, info no-mount 1G, %s", cases[i].want);
		machine(cases[i].text, tree_dir, want);
	}
	tree_copy("one-node");
	tree_put("proc/sys/kernel/osrelease", "5.13.19\n");
	machine("Linux 5.13", tree_dir,
		"warning no-populate kernel, info no-mount 2M, info no-mount 1G, " GIGANTIC ", " SHM);
	tree_copy("one-node");
	put_memlock("8388608");
	machine("memlock", tree_dir,
		"info no-mount 2M, info no-mount 1G, " GIGANTIC ", info memlock limits 0/8, " SHM);
	put_memlock("unlimited");
	machine("no memlock", tree_dir, "info no-mount 2M, info no-mount 1G, " GIGANTIC ", " SHM);
}

/* What the command line asks for, against 512 pages of 2M and 2 of 1G. */
static void test_boot(void)
{
	static const struct {
		const char *cmdline, *want;
	} cases[] = {
		{ "hugepages=512 hugepagesz=1G hugepages=2", "" },
		{ "default_hugepagesz=2M hugepages=512 hugepagesz=1G hugepages=2", "" },
		{ "hugepagesz=1G hugepages=2 hugepagesz=2M hugepages=0:512", "" },
		{ "hugepagesz=1G hugepages=0:1,1:1 default_hugepagesz=2048K hugepages=512", "" },
		{ "hugepages=9 hugepages=512 hugepagesz=1G hugepages=2", "" },
		{ "hugepages=512 hugepagesz=3M hugepages=7 hugepagesz=1G hugepages=2", "" },
		{ "hugepages=600 hugepagesz=1G hugepages=2", "warning boot-short 2M 1200/1024" },
		{ "hugepages=1 hugepagesz=1G hugepages=2", "info boot 2M 2/1024" },
		{ "hugepages=512 -- hugepagesz=1G hugepages=2", "info boot 1G 0/2048" },
		{ "hugepages=18446744073709551615 hugepagesz=1G hugepages=2",
		  "warning boot-short 2M 17592186044414/1024" },
	};

	tree_copy("one-node");
	tree_put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512\n");
	tree_put("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "2\n");
	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		char want[512];
		bool warning = !strncmp(cases[i].want, "warning", 7);

		tree_put("proc/cmdline", cases[i].cmdline);
		snprintf(want, sizeof(want),
			 "%s%sinfo no-mount 2M, info no-mount 1G, " GIGANTIC ", " SHM "%s%s",
			 warning ? cases[i].want : "", warning ? ", " : "",
			 warning || !*cases[i].want ? "" : ", ", warning ? "" : cases[i].want);
		machine(cases[i].cmdline, tree_dir, want);
	}
}

static void test_plans(void)
{
	plan("nothing grows", "vm0=1G", "");
	plan("a node's free memory is in small blocks", "2M=20G", "warning fragmented 2M @1 6016/0");
	plan("it is in large blocks", "2M=20G@0", "");
	plan("more than is free on the node", "2M=60G@0", "warning node-memory memory @0 53248/49152");
	plan("more than the node has", "2M=100G@1", "error node-memory memory @1 98176/59264");
	plan("gigantic pages", "1G=8G@0", "warning gigantic 1G 4096/106496");
	plan_as("best effort", FIXTURES "two-nodes", "2M=100G@1", true,
		"warning node-memory memory @1 98176/59264");
	plan_as("init_on_alloc", FIXTURES "arm64", "2M=+2M", false, "info init-on-alloc kernel");
	plan_as("init_on_alloc, nothing grows", FIXTURES "arm64", "2M=2M", false, "");
	tree_copy("two-nodes");
	tree_put("proc/buddyinfo", "Node 0, zone Normal 9 0 0 0 0 0 0 0 0 0 10240\n"
				   "Node 1, zone Normal 14680064 0 0 0 0 0 0 0 0 0 0\n");
	plan_as("the larger pages leave less", tree_dir, "1G=40G@0 2M=20G@0", false,
		"warning gigantic 1G 36864/106496, warning fragmented 2M @0 12288/4096");
	tree_copy("one-node");
	tree_put("proc/sys/kernel/osrelease", "5.10.0\n");
	plan_as("an old kernel", tree_dir, "x=2M", false, "info no-populate kernel");
	plan_as("an old kernel, nothing to fill", tree_dir, "2M=2M", false, "");
	tree_put("proc/buddyinfo", "");
	plan_as("no buddyinfo", tree_dir, "2M=2M", false, "");
}

int main(void)
{
	test_machines();
	test_settings();
	test_boot();
	test_plans();
	return tap_done();
}
