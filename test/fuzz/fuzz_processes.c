/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who holds huge pages: two processes and SysV segments, in a tree whose files the input changes. */
#include "../../lib/account.h"
#include "../../lib/shm.h"
#include "fuzz.h"

#define SMAPS(address, name, flags)                                            \
	address " rw-s 00000000 00:1b 25 " name                                \
		"\nKernelPageSize:     2048 kB\nShared_Hugetlb:     2048 kB\n" \
		"Private_Hugetlb:    4096 kB\nVmFlags: rd wr sh mr mw me ms " flags "\n"

static const struct fuzz_file files[] = {
	{ "proc/12/status",
	  "Name:\tdb\nState:\tS (sleeping)\nUid:\t0\t7\t0\t0\nHugetlbPages:\t   12288 kB\n" },
	{ "proc/12/comm", "db\n" },
	{ "proc/12/smaps", SMAPS("7f0000000000-7f0000600000", "/dev/hugepages/a\\012b", "ht")
				   SMAPS("7f0001000000-7f0001600000", "/memfd:x (deleted)", "ht de") },
	{ "proc/12/numa_maps",
	  "7f0000000000 default file=/dev/hugepages/a huge dirty=3 N0=2 N1=1 "
	  "kernelpagesize_kB=2048\n7f0001000000 bind:0 file=/memfd:x huge anon=1 N0=3\n" },
	{ "proc/12/maps", "7f0000000000-7f0000600000 rw-s 00000000 00:1b 25 /dev/hugepages/a\n" },
	{ "proc/345/status", "Name:\tvm\nUid:\t1000\t1000\t1000\t1000\nHugetlbPages:\t       0 kB\n" },
	{ "proc/345/comm", "vm\n" },
	{ "proc/345/maps", "7f0000000000-7f0000600000 r--p 00200000 00:1b 26 /SYSV0000abcd (deleted)\n" },
	{ "proc/sysvipc/shm", "       key      shmid perms                  size  cpid  lpid nattch\n"
			      "     43981          3   600               4194304    12    12      0\n" },
};

static void check_holding(const struct hf_holding *h)
{
	fuzz_must(h->pid > 0 && h->name && h->command[sizeof(h->command) - 1] == '\0');
	fuzz_must(h->mapped || h->open);
	hf_object_kind_name(h->kind);
}

static void read_processes(const struct hf_sysroot *root)
{
	static const uint64_t page_sizes[] = { 2 << 20, 1 << 30 };
	static const dev_t devices[] = { 0x1b };
	struct hf_node nodes[] = { { .id = 0 }, { .id = 1 } };
	const struct hf_topology topo = { .nnodes = 2, .nodes = nodes };
	const struct hf_processes_request request = { .root = root,
						      .topo = &topo,
						      .page_sizes = page_sizes,
						      .npage_sizes = HF_LENGTH(page_sizes),
						      .open = true,
						      .devices = devices,
						      .ndevices = HF_LENGTH(devices) };
	const struct hf_files none = { 0 };
	struct hf_processes found;
	struct hf_account account;
	struct hf_err err = { 0 };

	fuzz_must(hf_processes_read(&request, &found, &err) == 0);
	fuzz_must(found.seen <= 2 && found.hidden <= found.seen);
	for (size_t i = 0; i < found.count; i++)
		check_holding(&found.holdings[i]);
	fuzz_must(hf_account_pages(&none, &found, page_sizes[0], &account, &err) == 0);
	hf_account_sum(&account);
	hf_processes_free(&found);
}

static void read_segments(const struct hf_sysroot *root)
{
	struct hf_shm_list list;
	struct hf_err err = { 0 };

	fuzz_must(hf_shm_detached(root, 2 << 20, &list, &err) == 0);
	for (size_t i = 0; i < list.count; i++)
		fuzz_must(list.segments[i].size && list.segments[i].size % (2 << 20) == 0);
	hf_shm_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_tree tree;
	int fd;

	fuzz_tree_make(&tree, files, HF_LENGTH(files));
	fd = fuzz_first_fd();
	fuzz_tree_write(&tree, data, size);
	read_processes(&tree.root);
	read_segments(&tree.root);
	fuzz_tree_restore(&tree);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
