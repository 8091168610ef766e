/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../lib/advice.h"

#include "scene.h"

static void present(const char *tree, const char *arguments, const char *conf)
{
	struct hf_advice advice = { 0 };
	struct hf_err err = { 0 };
	struct scene s;

	scene_open(&s, tree);
	is_u64((unsigned)hf_advice_make(&s.machine, NULL, "", "", &advice, &err), 0, "%s: advice", tree);
	is_text(advice.arguments, arguments, "%s: kernel arguments", tree);
	is_text(advice.conf, conf, "%s: specs", tree);
	hf_advice_free(&advice);
	scene_close(&s);
}

static void planned(const char *tree, const char *specs, const char *arguments, const char *conf)
{
	struct hf_advice advice = { 0 };
	struct hf_err err = { 0 };
	struct scene s;

	scene_open(&s, tree);
	is_u64((unsigned)scene_plan(&s, specs, 0), 0, "%s: can be planned", specs);
	is_u64((unsigned)hf_advice_make(&s.machine, &s.plan, "", "", &advice, &err), 0, "%s: advice", specs);
	is_text(advice.arguments, arguments, "%s: kernel arguments", specs);
	is_text(advice.conf, conf, "%s: specs", specs);
	hf_advice_free(&advice);
	scene_close(&s);
}

static void test_present(void)
{
	present(FIXTURES "one-node", "", "");
	present(FIXTURES "two-nodes",
		"default_hugepagesz=2M hugepagesz=2M hugepages=0:4096,1:2048 hugepagesz=1G hugepages=0:4,1:2",
		"2M=8G@0,4G@1\n1G=4G@0,2G@1\n");
	present(FIXTURES "arm64",
		"default_hugepagesz=2M hugepagesz=64K hugepages=1600 hugepagesz=2M hugepages=512 "
		"hugepagesz=32M hugepages=8 hugepagesz=1G hugepages=2",
		"64K=100M\n2M=1G\n32M=256M\n1G=2G\n");
	/* Only from Linux 5.16 on does hugepages= take nodes. */
	tree_copy("two-nodes");
	tree_put("proc/sys/kernel/osrelease", "5.15.200\n");
	present(tree_dir, "default_hugepagesz=2M hugepagesz=2M hugepages=6144 hugepagesz=1G hugepages=6",
		"2M=8G@0,4G@1\n1G=4G@0,2G@1\n");
	tree_put("proc/sys/kernel/osrelease", "5.16.0\n");
	present(tree_dir,
		"default_hugepagesz=2M hugepagesz=2M hugepages=0:4096,1:2048 hugepagesz=1G hugepages=0:4,1:2",
		"2M=8G@0,4G@1\n1G=4G@0,2G@1\n");
	/* One node with memory: a place says nothing there. */
	present(FIXTURES "memless", "default_hugepagesz=2M hugepagesz=2M hugepages=1024", "2M=2G\n");
}

static void test_planned(void)
{
	const char *two = FIXTURES "two-nodes", *one = FIXTURES "one-node";

	planned(one, "2M=1G", "default_hugepagesz=2M hugepagesz=2M hugepages=512", "2M=1G\n");
	planned(one, "2M=25% x=512p", "default_hugepagesz=2M hugepagesz=2M hugepages=3072",
		"2M=25%\nx=512p\n");
	planned(one, "2M=+1G", "default_hugepagesz=2M hugepagesz=2M hugepages=512", "2M=1G\n");
	planned(one, "vm0=1G 1G=2G",
		"default_hugepagesz=2M hugepagesz=2M hugepages=512 hugepagesz=1G hugepages=2",
		"vm0=1G\n1G=2G\n");
	planned(one, "/dev/hugepages1G/a=b=2G", "default_hugepagesz=2M hugepagesz=1G hugepages=2",
		"/dev/hugepages1G/a=b=2G\n");
	planned(one, "#x=2M", "default_hugepagesz=2M hugepagesz=2M hugepages=1", "/dev/hugepages/#x=2M\n");
	planned(two, "2M=20G@0", "default_hugepagesz=2M hugepagesz=2M hugepages=0:10240,1:2048",
		"2M=20G@0\n");
	planned(two, "2M=+512p@1", "default_hugepagesz=2M hugepagesz=2M hugepages=0:4096,1:2624",
		"2M=5248M@1\n");
	/* A pool that is large enough stays as it is. */
	planned(two, "1G=1G", "default_hugepagesz=2M hugepagesz=1G hugepages=0:4,1:2", "1G=1G\n");
}

static void test_unit(void)
{
	struct hf_advice advice = { 0 };
	struct hf_err err = { 0 };
	struct scene s;

	scene_open(&s, FIXTURES "one-node");
	is_u64((unsigned)hf_advice_make(&s.machine, NULL, " --mode=0640", " -p 1G", &advice, &err), 0,
	       "advice");
	has_text(advice.unit, "\nExecStart=hugefill alloc --mode=0640 --from=/etc/hugefill.conf\n", "start");
	has_text(advice.unit, "\nExecReload=hugefill alloc --mode=0640 --from=/etc/hugefill.conf\n",
		 "reload");
	has_text(advice.unit, "\nExecStop=hugefill free -p 1G --shrink --from=/etc/hugefill.conf\n", "stop");
	has_text(advice.unit, "\nType=oneshot\nRemainAfterExit=yes\n", "once");
	has_text(advice.unit, "\n[Install]\nWantedBy=", "can be enabled");
	hf_advice_free(&advice);
	scene_close(&s);
}

static void test_newline(void)
{
	struct hf_advice advice = { 0 };
	struct hf_err err = { 0 };
	struct scene s;

	scene_open(&s, FIXTURES "one-node");
	is_u64((unsigned)scene_plan(&s, "a\nb=2M", 0), 0, "a newline in a name can be planned");
	ok(hf_advice_make(&s.machine, &s.plan, "", "", &advice, &err) < 0, "but has no line of its own");
	ok(err.usage, "that is a usage error");
	hf_advice_free(&advice);
	scene_close(&s);
}

int main(void)
{
	test_present();
	test_planned();
	test_unit();
	test_newline();
	return tap_done();
}
