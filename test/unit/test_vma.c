/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of maps, smaps and numa_maps, as the kernel writes them and as it does not. */
#include <sys/sysmacros.h>

#include "../../lib/vma.h"
#include "tap.h"

static void test_heads(void)
{
	static const struct {
		const char *line, *path;
		uint64_t start, end, ino;
		unsigned minor;
		bool shared, deleted;
	} cases[] = {
		{ "7f884e200000-7f884e600000 rw-s 00000000 00:27 230683                     /mnt/h/a\n",
		  "/mnt/h/a", 0x7f884e200000, 0x7f884e600000, 230683, 0x27, true, false },
		{ "7f884e600000-7f884ea00000 rw-p 00000000 00:27 7 /mnt/h/un ink (deleted)\n",
		  "/mnt/h/un ink", 0x7f884e600000, 0x7f884ea00000, 7, 0x27, false, true },
		{ "1000-2000 rw-p 00000000 00:00 0 \n", "", 0x1000, 0x2000, 0, 0, false, false },
		{ "1000-2000 rw-p 00000000 00:00 0\n", "", 0x1000, 0x2000, 0, 0, false, false },
		{ "1000-2000 r--s 00000000 00:11 0  /SYSV00001234 (deleted)", "/SYSV00001234", 0x1000, 0x2000,
		  0, 0x11, true, true },
		{ "1000-2000 r--s 00000000 00:11 1  /m/a\\012(deleted)\n", "/m/a\n(deleted)", 0x1000, 0x2000,
		  1, 0x11, true, false },
		{ "1000-2000 r--s 00000000 00:11 1  /m/(deleted) (deleted)\n", "/m/(deleted)", 0x1000, 0x2000,
		  1, 0x11, true, true },
		{ "1000-2000 r--s 00000000 00:11 1   (deleted)\n", "(deleted)", 0x1000, 0x2000, 1, 0x11, true,
		  false },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n", "[vsyscall]",
		  0xffffffffff600000, 0xffffffffff601000, 0, 0, false, false },
	};

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		struct hf_vma vma;
		char line[256];

		snprintf(line, sizeof(line), "%s", cases[i].line);
		ok(hf_vma_parse_head(line, &vma), "%s", cases[i].line);
		is_u64(vma.start, cases[i].start, "start");
		is_u64(vma.end, cases[i].end, "end");
		is_u64(vma.ino, cases[i].ino, "inode");
		is_u64(vma.dev, makedev(0, cases[i].minor), "device");
		is_text(vma.path, cases[i].path, "path");
		ok(vma.shared == cases[i].shared, "shared");
		ok(vma.deleted == cases[i].deleted, "deleted");
	}
}

static void test_bad_heads(void)
{
	static const char *const cases[] = {
		"",
		"\n",
		"Size:  4 kB\n",
		"1000-1000 rw-p 00000000 00:00 0\n",
		"2000-1000 rw-p 00000000 00:00 0\n",
		"-1000-2000 rw-p 00000000 00:00 0\n",
		" 1000-2000 rw-p 00000000 00:00 0\n",
		"0x1000-2000 rw-p 00000000 00:00 0\n",
		"1000-fffffffffffffffff rw-p 00000000 00:00 0\n",
		"1000-2000 rwxps 00000000 00:00 0\n",
		"1000-2000 rw- 00000000 00:00 0\n",
		"1000-2000 rw-p\n",
		"1000-2000 rw-p 0 00\n",
		"1000-2000 rw-p 0 00:00 \n",
		"1000-2000 rw-p 0 00:00 x\n",
		"1000-2000 rw-p 0 00:00 -1\n",
		"1000-2000 rw-p 0 00:00 99999999999999999999\n",
		"1000-2000 rw-p 0 1ffffffff:00 0\n",
	};

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		struct hf_vma vma;
		char line[256];

		snprintf(line, sizeof(line), "%s", cases[i]);
		ok(!hf_vma_parse_head(line, &vma), "no head: %s", cases[i]);
	}
}

static void parse_fields(const char *const *lines, struct hf_vma *vma)
{
	*vma = (struct hf_vma){ 0 };
	for (; *lines; lines++)
		hf_vma_parse_field(*lines, vma);
}

static void test_fields(void)
{
	static const char *const huge[] = { "KernelPageSize:     2048 kB\n", "Shared_Hugetlb:     4096 kB\n",
					    "Private_Hugetlb:    6144 kB\n", "VmFlags: rd wr sh ht \n",
					    NULL };
	static const char *const untouched[] = { "KernelPageSize:  1048576 kB\n", "VmFlags: ht\n", NULL };
	static const char *const small[] = { "KernelPageSize:        4 kB\n", "Shared_Hugetlb:        0 kB\n",
					     "AnonHugePages:      2048 kB\n", "VmFlags: rd wr hg nht htx \n",
					     NULL };
	static const char *const old[] = { "KernelPageSize: 2048 kB\n", "Private_Hugetlb: 2048 kB\n", NULL };
	static const char *const bad[] = { "KernelPageSize: x kB\n",
					   "Private_Hugetlb: -1 kB\n",
					   "Shared_Hugetlb: 18446744073709551615 kB\n",
					   "VmFlags:\n",
					   "VmFlags",
					   "",
					   NULL };
	struct hf_vma vma;

	parse_fields(huge, &vma);
	ok(vma.huge, "huge by its flags");
	is_u64(vma.page_size, 2 << 20, "page size");
	is_u64(vma.shared_bytes, 4 << 20, "shared");
	is_u64(vma.private_bytes, 6 << 20, "private");
	parse_fields(untouched, &vma);
	ok(vma.huge, "huge without a page");
	is_u64(vma.page_size, 1 << 30, "1 GiB pages");
	parse_fields(small, &vma);
	ok(!vma.huge, "transparent huge pages are none");
	parse_fields(old, &vma);
	ok(vma.huge, "huge by its counts");
	parse_fields(bad, &vma);
	ok(!vma.huge && !vma.page_size && !vma.private_bytes && !vma.shared_bytes,
	   "nothing of what is no number");
}

static void test_nodes(void)
{
	static const struct {
		const char *line;
		bool huge;
		uint64_t anon, on[2];
	} cases[] = {
		{ "7f0 default file=/m/a\\040b huge anon=1 dirty=1 N0=1 N2=3 kernelpagesize_kB=2048\n",
		  true,
		  1,
		  { 1, 3 } },
		{ "7f0 bind:0-1 file=/m/a huge dirty=1 N2=512 kernelpagesize_kB=2048\n",
		  true,
		  0,
		  { 0, 512 } },
		{ "7f0 prefer (many):0 file=/m/huge\\040N0=5 N0=1\n", false, 0, { 1, 0 } },
		{ "7f0 default huge N1=4 N9999999=1 Nx=1 N0=x N2= N0 N\n", true, 0, { 0, 0 } },
		{ "7f0 default huge N0=99999999999999999999 anon=-1\n", true, 0, { 0, 0 } },
		{ "7f0 default huger\n", false, 0, { 0, 0 } },
		{ "7f0\n", false, 0, { 0, 0 } },
		{ "huge N0=1\n", false, 0, { 0, 0 } },
		{ "", false, 0, { 0, 0 } },
	};
	struct hf_node nodes[] = { { .id = 0 }, { .id = 2 } };
	const struct hf_topology topo = { .nnodes = 2, .nodes = nodes };

	for (size_t i = 0; i < HF_LENGTH(cases); i++) {
		uint64_t on[2] = { 77, 77 };
		struct hf_vma_nodes vma = { .on = on };
		char line[256];

		snprintf(line, sizeof(line), "%s", cases[i].line);
		ok(hf_vma_parse_nodes(line, &topo, &vma) == cases[i].huge, "huge: %s", cases[i].line);
		is_u64(vma.anon, cases[i].anon, "anon");
		is_u64(on[0], cases[i].on[0], "node 0");
		is_u64(on[1], cases[i].on[1], "node 2");
	}
}

int main(void)
{
	test_heads();
	test_bad_heads();
	test_fields();
	test_nodes();
	return tap_done();
}
