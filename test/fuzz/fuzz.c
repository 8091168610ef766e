/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define SEPARATOR 0xff

void fuzz_check(bool holds, const char *file, int line, const char *condition)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_must(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

static void check_shown(const char *text)
{
	for (; *text; text++)
		fuzz_must((unsigned char)*text >= 0x20 && *text != 0x7f);
}

void fuzz_check_err(int r, const struct hf_err *err)
{
	char shown[4 * HF_ERR_HINT], again[4 * HF_ERR_HINT];

	fuzz_must(r < 0 && err->errnum == -r);
	fuzz_must(err->what[0]);
	fuzz_must(memchr(err->object, '\0', sizeof(err->object)) &&
		  memchr(err->what, '\0', sizeof(err->what)) && memchr(err->hint, '\0', sizeof(err->hint)));
	check_shown(hf_err_escape(err->object, shown, sizeof(shown)));
	check_shown(hf_err_printable(err->what, shown, sizeof(shown)));
	check_shown(hf_err_printable(err->hint, shown, sizeof(shown)));
	/* What is printable once stays as it is: nothing was cut within a character. */
	fuzz_must(strcmp(hf_err_printable(shown, again, sizeof(again)), shown) == 0);
}

int fuzz_first_fd(void)
{
	int fd = dup(STDERR_FILENO);

	fuzz_must(fd >= 0);
	close(fd);
	return fd;
}

static void path_of(const struct fuzz_tree *tree, size_t i, char path[static 512])
{
	snprintf(path, 512, "%s/%s", tree->dir, tree->files[i].path);
}

void fuzz_tree_put(const struct fuzz_tree *tree, size_t i, const void *bytes, size_t len)
{
	char path[512];
	int fd;

	path_of(tree, i, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	fuzz_must(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
}

static void make_folders(const struct fuzz_tree *tree, size_t i)
{
	char path[512];

	path_of(tree, i, path);
	for (char *c = path + strlen(tree->dir) + 1; *c; c++)
		if (*c == '/') {
			*c = '\0';
			mkdir(path, 0755);
			*c = '/';
		}
}

void fuzz_tree_make(struct fuzz_tree *tree, const struct fuzz_file *files, size_t count)
{
	const char *tmp = getenv("TMPDIR");
	struct hf_err err = { 0 };

	if (tree->changed)
		return;
	tree->files = files;
	tree->count = count;
	tree->changed = calloc(count, sizeof(*tree->changed));
	snprintf(tree->dir, sizeof(tree->dir), "%s/hugefill-fuzz.XXXXXX", tmp ? tmp : "/tmp");
	fuzz_must(tree->changed && mkdtemp(tree->dir));
	for (size_t i = 0; i < count; i++) {
		make_folders(tree, i);
		fuzz_tree_put(tree, i, files[i].text, strlen(files[i].text));
	}
	fuzz_must(hf_sysroot_open(&tree->root, tree->dir, &err) == 0);
}

static void change(struct fuzz_tree *tree, const uint8_t *record, size_t size)
{
	/* The first character counts from '0'; adding multiples of count keeps it positive. */
	size_t i = ((size_t)(record[0] & 0x7f) + (tree->count - 1) * '0') % tree->count;
	char path[512];

	tree->changed[i] = true;
	if (!(record[0] & 0x80)) {
		fuzz_tree_put(tree, i, record + 1, size - 1);
		return;
	}
	path_of(tree, i, path);
	unlink(path);
}

void fuzz_tree_write(struct fuzz_tree *tree, const uint8_t *data, size_t size)
{
	while (size) {
		const uint8_t *end = memchr(data, SEPARATOR, size);
		size_t len = end ? (size_t)(end - data) : size;

		if (len)
			change(tree, data, len);
		data += end ? len + 1 : len;
		size -= end ? len + 1 : len;
	}
}

void fuzz_tree_restore(struct fuzz_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (tree->changed[i])
			fuzz_tree_put(tree, i, tree->files[i].text, strlen(tree->files[i].text));
		tree->changed[i] = false;
	}
}

#define NODES "sys/devices/system/node/"
#define NODE(n, cpus, distance)                                                                            \
	{ NODES "node" n "/cpulist", cpus "\n" }, { NODES "node" n "/distance", distance "\n" },           \
	{                                                                                                  \
		NODES "node" n "/meminfo",                                                                 \
			"Node " n " MemTotal:       67108864 kB\nNode " n " MemFree:        62914560 kB\n" \
	}
#define NODE_POOL(n, size, nr, free, surplus)                                                    \
	{ NODES "node" n "/hugepages/hugepages-" size "kB/nr_hugepages", nr "\n" },              \
		{ NODES "node" n "/hugepages/hugepages-" size "kB/free_hugepages", free "\n" },  \
	{                                                                                        \
		NODES "node" n "/hugepages/hugepages-" size "kB/surplus_hugepages", surplus "\n" \
	}
#define POOL(size, nr, free, resv, surplus, overcommit)                                                 \
	{ "sys/kernel/mm/hugepages/hugepages-" size "kB/nr_hugepages", nr "\n" },                       \
		{ "sys/kernel/mm/hugepages/hugepages-" size "kB/free_hugepages", free "\n" },           \
		{ "sys/kernel/mm/hugepages/hugepages-" size "kB/resv_hugepages", resv "\n" },           \
		{ "sys/kernel/mm/hugepages/hugepages-" size "kB/surplus_hugepages", surplus "\n" },     \
	{                                                                                               \
		"sys/kernel/mm/hugepages/hugepages-" size "kB/nr_overcommit_hugepages", overcommit "\n" \
	}
#define GROUP "sys/fs/cgroup/a/b/hugetlb."

/* Seeds name them by their position: new ones come last. */
const struct fuzz_file fuzz_machine_files[] = {
	{ "proc/meminfo", "MemTotal:       134217728 kB\nMemFree:        125829120 kB\n"
			  "MemAvailable:   127926272 kB\nHugepagesize:       2048 kB\n" },
	{ NODES "online", "0-1\n" },
	{ NODES "has_memory", "0-1\n" },
	{ "proc/self/status", "Cpus_allowed_list:\t0-7\nMems_allowed_list:\t0-1\n" },
	NODE("0", "0-3", "10 20"),
	NODE("1", "4-7", "20 10"),
	POOL("2048", "6208", "4000", "500", "64", "1024"),
	NODE_POOL("0", "2048", "4096", "3000", "0"),
	NODE_POOL("1", "2048", "2112", "1000", "64"),
	{ "proc/self/mountinfo",
	  "28 1 8:1 / / rw - ext4 ext4 rw\n"
	  "29 28 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,memory_hugetlb_accounting\n"
	  "31 28 0:27 / /dev/hugepages rw - hugetlbfs hugetlbfs rw,pagesize=2M\n" },
	{ "proc/self/cgroup", "0::/a/b\n" },
	{ "proc/buddyinfo", "Node 0, zone   Normal     12      7      5      9      3      2      4\n"
			    "Node 1, zone   Normal      1      0      5      9      3      2  40000\n" },
	{ GROUP "2MB.max", "max\n" },
	{ GROUP "2MB.current", "0\n" },
	{ GROUP "2MB.rsvd.max", "max\n" },
	{ GROUP "2MB.rsvd.current", "0\n" },
	{ "sys/fs/cgroup/a/memory.max", "max\n" },
	{ "sys/fs/cgroup/a/memory.current", "0\n" },
	{ "sys/devices/system/cpu/online", "0-7\n" },
	POOL("1048576", "6", "5", "1", "0", "0"),
	NODE_POOL("0", "1048576", "4", "4", "0"),
	NODE_POOL("1", "1048576", "2", "1", "0"),
	{ "proc/cmdline", "quiet hugepagesz=1G hugepages=0:2,1:4 init_on_alloc=1\n" },
	{ "proc/sys/kernel/osrelease", "6.1.0-30-amd64\n" },
	{ "proc/sys/vm/hugetlb_optimize_vmemmap", "1\n" },
	{ "proc/sys/vm/hugetlb_shm_group", "0\n" },
	{ "proc/self/limits", "Max locked memory         8388608              8388608              bytes\n" },
};
const size_t fuzz_nmachine_files = HF_LENGTH(fuzz_machine_files);
