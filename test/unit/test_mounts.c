/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../../lib/machine.h"
#include "tree.h"

#define MIB (1024ull * 1024)
#define GIB (1024 * MIB)
#define ROOT "28 1 8:1 / / rw,relatime shared:1 - ext4 ext4 rw\n"
#define DEV "24 28 0:5 / /dev rw - devtmpfs devtmpfs rw\n"
#define HUGE_2M "31 24 0:27 / /dev/hugepages rw,relatime - hugetlbfs hugetlbfs rw,pagesize=2M\n"

static int read_dir(const char *dir, struct hf_mounts *mounts, struct hf_err *err)
{
	struct hf_sysroot root;
	int rc;

	tree_open(&root, dir);
	rc = hf_mounts_read(&root, 2 * MIB, mounts, err);
	hf_sysroot_close(&root);
	return rc;
}

static int read_text(const char *mountinfo, struct hf_mounts *mounts, struct hf_err *err)
{
	tree_new();
	tree_put("proc/self/mountinfo", mountinfo);
	return read_dir(tree_dir, mounts, err);
}

static void test_fixtures(void)
{
	static const struct {
		const char *name;
		size_t count;
	} t[] = {
		{ "one-node", 0 }, { "two-nodes", 1 },  { "eight-nodes", 4 },
		{ "arm64", 2 },    { "no-hugetlb", 0 },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_mounts mounts;
		struct hf_err err = { 0 };
		char dir[128];

		snprintf(dir, sizeof(dir), FIXTURES "%s", t[i].name);
		if (ok(read_dir(dir, &mounts, &err) == 0, "%s is read", t[i].name))
			is_u64(mounts.count, t[i].count, "%s: hugetlbfs mounts", t[i].name);
		hf_mounts_free(&mounts);
		hf_mounts_free(&mounts);
	}
}

static void test_options(void)
{
	struct hf_mounts mounts;
	struct hf_err err = { 0 };
	const struct hf_mount *m;

	if (!ok(read_dir(FIXTURES "eight-nodes", &mounts, &err) == 0 && mounts.count == 4, "eight-nodes"))
		return;
	m = &mounts.mounts[0];
	is_u64(m->page_size, 2 * MIB, "its page size");
	ok(m->size_limit == HF_MOUNTS_NONE && m->min_size == HF_MOUNTS_NONE && m->nr_inodes == HF_MOUNTS_NONE,
	   "it has no limits");
	ok(m->mode == 0755 && m->uid == 0 && m->gid == 0 && !m->read_only && !m->hidden,
	   "and the default mode");
	is_text(m->options, "rw,nosuid,nodev,relatime,pagesize=2M", "options as the kernel shows them");

	m = &mounts.mounts[1];
	is_text(m->target, "/mnt/huge1G", "the kernel's order");
	is_u64(m->page_size, GIB, "pagesize=1024M");
	is_u64(m->size_limit, 8 * GIB, "size=");
	is_u64(m->min_size, GIB, "min_size=");
	is_u64(m->nr_inodes, 64, "nr_inodes=");
	ok(m->mode == 01770 && m->uid == 0 && m->gid == 107, "mode= and gid=");

	m = hf_mounts_at(&mounts, "/mnt/read only");
	ok(m == &mounts.mounts[2] && m->read_only && m->uid == 64055, "a blank in the name, read only, uid=");
	ok(mounts.mounts[3].hidden, "the fourth is covered");
	hf_mounts_free(&mounts);

	ok(read_text(ROOT "30 28 0:9 / /h rw - hugetlbfs none ro\n", &mounts, &err) == 0,
	   "no options at all");
	is_u64(mounts.mounts[0].page_size, 2 * MIB, "no pagesize= is the default size");
	ok(mounts.mounts[0].read_only, "a superblock that is read only");
	hf_mounts_free(&mounts);
}

static void test_bad_options(void)
{
	static const struct {
		const char *options;
		bool good;
	} t[] = {
		{ "rw,pagesize=64K", true },
		{ "rw,pagesize=1G", true },
		{ "rw,pagesize=2097152", true },
		{ "rw,pagesize=", false },
		{ "rw,pagesize", false },
		{ "rw,pagesize=2X", false },
		{ "rw,pagesize=K", false },
		{ "rw,pagesize=-2M", false },
		{ "rw,size=18446744073709551616", false },
		{ "rw,size=18014398509481984K", false },
		{ "rw,mode=1777", true },
		{ "rw,mode=888", false },
		{ "rw,mode=10000", false },
		{ "rw,uid=4294967295", true },
		{ "rw,uid=4294967296", false },
		{ "rw,gid=1K", false },
		{ "rw,nr_inodes=x", false },
	};

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		struct hf_mounts mounts;
		struct hf_err err = { 0 };
		char line[256];
		int rc;

		snprintf(line, sizeof(line), ROOT "30 28 0:9 / /h rw - hugetlbfs none %s\n", t[i].options);
		rc = read_text(line, &mounts, &err);
		ok(rc == (t[i].good ? 0 : -EBADMSG), "options %s", t[i].options);
		ok(t[i].good || strstr(err.what, "/h"), "name the mount");
		hf_mounts_free(&mounts);
	}
}

struct walk {
	const char *what, *mountinfo, *path, *type;
	bool holds, at, hidden; /* of the first hugetlbfs */
};

static const struct walk walks[] = {
	{ "the mount itself", ROOT DEV HUGE_2M, "/dev/hugepages", "hugetlbfs", true, true, false },
	{ "a slash at the end", ROOT DEV HUGE_2M, "/dev/hugepages/", "hugetlbfs", true, true, false },
	{ "a file on it", ROOT DEV HUGE_2M, "/dev/hugepages/a/b", NULL, true, false, false },
	{ "a longer name", ROOT DEV HUGE_2M, "/dev/hugepages2", NULL, false, false, false },
	{ "its parent", ROOT DEV HUGE_2M, "/dev", "devtmpfs", false, false, false },
	{ "elsewhere", ROOT DEV HUGE_2M, "/srv/x", NULL, false, false, false },
	{ "the root", ROOT DEV HUGE_2M, "/", "ext4", false, false, false },
	{ "a relative path", ROOT DEV HUGE_2M, "dev/hugepages", NULL, false, false, false },
	{ "covered at the same place", ROOT DEV HUGE_2M "32 31 0:30 / /dev/hugepages rw - tmpfs t rw\n",
	  "/dev/hugepages", "tmpfs", false, false, true },
	{ "covered above", ROOT DEV HUGE_2M "32 24 0:30 / /dev rw - tmpfs t rw\n", "/dev/hugepages", NULL,
	  false, false, true },
	{ "over an autofs",
	  ROOT DEV "30 24 0:26 / /dev/hugepages rw - autofs a rw\n"
		   "31 30 0:27 / /dev/hugepages rw - hugetlbfs h rw,pagesize=2M\n",
	  "/dev/hugepages/f", NULL, true, false, false },
	{ "a mount inside it", ROOT DEV HUGE_2M "32 31 0:30 / /dev/hugepages/in rw - tmpfs t rw\n",
	  "/dev/hugepages/in/f", NULL, false, false, false },
	{ "beside a mount inside it", ROOT DEV HUGE_2M "32 31 0:30 / /dev/hugepages/in rw - tmpfs t rw\n",
	  "/dev/hugepages/inner", NULL, true, false, false },
	{ "children listed first", HUGE_2M DEV ROOT, "/dev/hugepages", "hugetlbfs", true, true, false },
	{ "a chroot: parents not shown", HUGE_2M, "/dev/hugepages/f", NULL, true, false, false },
	{ "a root that is its own parent", "1 1 0:2 / / rw - rootfs rootfs rw\n" ROOT DEV HUGE_2M,
	  "/dev/hugepages", "hugetlbfs", true, true, false },
	{ "the same, listed last", HUGE_2M DEV ROOT "1 1 0:2 / / rw - rootfs rootfs rw\n", "/dev/hugepages",
	  "hugetlbfs", true, true, false },
	{ "a circle on the way",
	  "1 1 0:2 / / rw - tmpfs t rw\n5 1 0:3 / / rw - tmpfs t rw\n6 5 0:4 / / rw - tmpfs t rw\n"
	  "5 6 0:5 / / rw - tmpfs t rw\n7 9 0:6 / /h rw - hugetlbfs h rw\n",
	  "/x", NULL, false, false, true },
	{ "a circle", "5 6 0:2 / / rw - tmpfs t rw\n6 5 0:3 / / rw - hugetlbfs h rw\n", "/x", NULL, false,
	  false, true },
};

/* Which mount holds a path: as the kernel walks, whatever lies over what. */
static void test_walk(void)
{
	for (const struct walk *t = walks; t < walks + HF_LENGTH(walks); t++) {
		const struct hf_mount *first;
		struct hf_mounts mounts;
		struct hf_err err = { 0 };
		const char *type;

		if (!ok(read_text(t->mountinfo, &mounts, &err) == 0 && mounts.count, "walk: %s", t->what))
			continue;
		first = &mounts.mounts[0];
		type = hf_mounts_type_at(&mounts, t->path);
		ok(t->type ? type && strcmp(type, t->type) == 0 : !type, "type at %s", t->path);
		ok(hf_mounts_holding(&mounts, t->path) == (t->holds ? first : NULL), "holding %s", t->path);
		ok(hf_mounts_at(&mounts, t->path) == (t->at ? first : NULL), "at %s", t->path);
		ok(first->hidden == t->hidden, "hidden");
		hf_mounts_free(&mounts);
	}
}

static void test_covered(void)
{
	struct hf_mounts mounts;
	struct hf_err err = { 0 };

	ok(read_text(ROOT DEV HUGE_2M "32 31 0:30 / /dev/hugepages rw - hugetlbfs h rw,pagesize=1024M\n",
		     &mounts, &err) == 0 &&
		   mounts.count == 2,
	   "two hugetlbfs at one place");
	ok(hf_mounts_at(&mounts, "/dev/hugepages") == &mounts.mounts[1], "the later one is on top");
	ok(mounts.mounts[0].hidden && !mounts.mounts[1].hidden, "and hides the other");
	hf_mounts_free(&mounts);
}

static void test_broken(void)
{
	static const struct {
		const char *what, *mountinfo, *message;
	} t[] = {
		{ "garbage at the end", ROOT HUGE_2M "not a mount\n", "line 3" },
		{ "garbage in the middle", ROOT "31 28 0:27 / /x rw\n" HUGE_2M, "line 2" },
		{ "cut off", ROOT "31 28 0:27 / /dev/huge", "line 2" },
		{ "garbage first", "not a mount at all\n" ROOT HUGE_2M, "" },
		{ "an fstab", "/dev/sda1 / ext4 defaults 0 1\n", "not a table of mounts" },
		{ "one word", "mountinfo\n", "" },
	};
	struct hf_mounts mounts;
	struct hf_err err = { 0 };

	for (size_t i = 0; i < HF_LENGTH(t); i++) {
		memset(&err, 0, sizeof(err));
		ok(read_text(t[i].mountinfo, &mounts, &err) == -EBADMSG, "broken: %s", t[i].what);
		has_text(err.object, "/proc/self/mountinfo", "names the file");
		has_text(err.what, t[i].message, "and says where");
		ok(!mounts.table && !mounts.count, "and leaves nothing");
		hf_mounts_free(&mounts);
	}
	ok(read_text("", &mounts, &err) == 0 && mounts.count == 0, "an empty table has no mounts");
	ok(!hf_mounts_type_at(&mounts, "/") && !hf_mounts_holding(&mounts, "/x"), "and holds nothing");
	hf_mounts_free(&mounts);
	ok(!hf_mounts_at(&mounts, "/"), "nor does a freed one");
	tree_new();
	ok(read_dir(tree_dir, &mounts, &err) == -ENOENT, "no mountinfo at all");
}

static void test_act(void)
{
	struct hf_mount_request request = {
		.page_size = 2 * MIB,
		.size_limit = HF_MOUNTS_NONE,
		.min_size = HF_MOUNTS_NONE,
		.nr_inodes = HF_MOUNTS_NONE,
		.mode = 0755,
	};
	struct hf_err err = { 0 };
	char path[128];

	tree_new();
	snprintf(path, sizeof(path), "%s/absent", tree_dir);
	request.target = path;
	ok(hf_mounts_mount(&request, &err) < 0 && (err.errnum == ENOENT || err.errnum == EPERM),
	   "no directory, or no right to mount: errno %d", err.errnum);
	is_text(err.object, path, "the target is named");
	ok(hf_mounts_umount(path, &err) == -ENOENT, "umount: no directory");
	ok(hf_mounts_umount(tree_dir, &err) == -EINVAL, "umount: no hugetlbfs");
	has_text(err.what, "no hugetlbfs", "is seen before the kernel is asked");
	if (symlink("/proc", path) < 0)
		abort();
	ok(hf_mounts_umount(path, &err) == -ENOTDIR, "umount: no symbolic link is followed");
}

static void test_machine(void)
{
	struct hf_machine machine;
	struct hf_spec_rules rules;
	struct hf_nodeset nodes = { { 0 } };
	struct hf_err err = { 0 };

	ok(hf_machine_read(FIXTURES "arm64", &machine, &err) == 0, "a whole machine");
	hf_machine_rules(&machine, &nodes, &rules);
	is_u64(rules.npage_sizes, 4, "rules: page sizes");
	is_u64(rules.page_sizes[3], GIB, "rules: the largest");
	is_u64(rules.default_page_size, 2 * MIB, "rules: the default");
	ok(rules.online == &machine.topo.online && rules.memory == &machine.topo.memory &&
		   rules.nodes == &nodes,
	   "rules: nodes");
	hf_machine_free(&machine);

	ok(hf_machine_read(FIXTURES "no-hugetlb", &machine, &err) == 0, "a machine without huge pages");
	hf_machine_rules(&machine, NULL, &rules);
	ok(rules.npage_sizes == 0 && rules.default_page_size == 0 && !rules.nodes, "has no sizes");
	hf_machine_free(&machine);
	ok(hf_machine_read(FIXTURES "broken", &machine, &err) == -EBADMSG, "a broken machine");
	hf_machine_free(&machine);
	ok(hf_machine_read(FIXTURES "absent", &machine, &err) == -ENOENT, "no machine");
	hf_machine_free(&machine);
}

static void test_refresh(void)
{
	struct hf_machine machine;
	struct hf_err err = { 0 };

	tree_copy("two-nodes");
	ok(hf_machine_read(tree_dir, &machine, &err) == 0, "a copy of two-nodes");
	tree_put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "6300\n");
	tree_put("proc/self/mountinfo", ROOT);
	ok(hf_machine_refresh(&machine, &err) == 0, "refresh");
	ok(machine.pools.pools[0].nr == 6300 && machine.mounts.count == 0, "reads pools and mounts again");
	tree_put("proc/self/mountinfo", "x\n");
	tree_put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1\n");
	ok(hf_machine_refresh(&machine, &err) == -EBADMSG, "a refresh that fails");
	ok(machine.pools.pools[0].nr == 6300 && machine.topo.nnodes == 2, "leaves all as it was");
	hf_machine_free(&machine);
}

int main(void)
{
	struct hf_mounts mounts;
	struct hf_err err = { 0 };

	test_fixtures();
	test_options();
	test_bad_options();
	test_walk();
	test_covered();
	test_broken();
	test_act();
	test_machine();
	test_refresh();
	ok(read_dir(NULL, &mounts, &err) == 0 && hf_mounts_type_at(&mounts, "/proc"), "this machine is read");
	hf_mounts_free(&mounts);
	return tap_done();
}
