/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of captured trees: who holds what, merged by object, and what is none. */
#include "../../lib/processes.h"
#include "../../lib/shm.h"
#include "tree.h"

#define M2 (2ULL << 20)

static const uint64_t page_sizes[] = { M2, 1ULL << 30 };
static struct hf_node nodes[] = { { .id = 0 }, { .id = 1 } };
static const struct hf_topology topo = { .nnodes = 2, .nodes = nodes };

static void put(unsigned pid, const char *file, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/%s", pid, file);
	tree_put(path, text);
}

static void put_process(unsigned pid, const char *comm, unsigned uid, unsigned huge_kib)
{
	char status[256], name[64];

	snprintf(
		status, sizeof(status),
		"Name:\tHugetlbPages: 7 kB\nState:\tS (sleeping)\nUid:\t1\t%u\t1\t1\nHugetlbPages:\t%8u kB\n",
		uid, huge_kib);
	snprintf(name, sizeof(name), "%s\n", comm);
	put(pid, "status", status);
	put(pid, "comm", name);
}

#define FIELDS(size, shared, private)                          \
	"KernelPageSize: " size " kB\nShared_Hugetlb: " shared \
	" kB\nPrivate_Hugetlb: " private " kB\nVmFlags: rd ht\n"
#define SMALL "9000-a000 rw-p 00000000 00:00 0 [heap]\nKernelPageSize: 4 kB\nVmFlags: rd\n"

static void make_tree(void)
{
	tree_new();
	tree_put("proc/meminfo", "");
	put_process(20, "db writer", 1000, 10240);
	put(20, "smaps",
	    "1000-2000 rw-s 00000000 00:27 5 /m/a\n" FIELDS("2048", "4096", "0") SMALL
	    "2000-3000 rw-s 00000000 00:27 6 /m/b (deleted)\n" FIELDS(
		    "2048", "0",
		    "2048") "3000-4000 rw-p 00000000 00:27 5 /m/a\n" FIELDS("2048", "0",
									    "2048") "4000-5000 rw-p "
										    "00000000 00:11 "
										    "7 "
										    "/anon_hugepage "
										    "(deleted)"
										    "\n" FIELDS("204"
												"8",
												"0",
												"204"
												"8"));
	put(20, "numa_maps",
	    "1000 default file=/m/a huge dirty=2 N0=2\n2000 default file=/m/b huge N1=1\n"
	    "3000 default file=/m/a huge anon=1 dirty=1 N1=1\n9000 default heap N0=1\n");
	put_process(3, "vm", 0, 4194304);
	put(3, "smaps",
	    "1000-2000 rw-s 00000000 00:12 9 /memfd:guest ram (deleted)\n" FIELDS(
		    "1048576", "0",
		    "3145728") "2000-3000 rw-s 00000000 00:12 2 /SYSVdeadbeef "
			       "(deleted)\n" FIELDS("1048576", "1048576",
						    "0") "3000-4000 rw-s 00000000 00:12 "
							 "3 /SYSVdeadbeef0 "
							 "(deleted)\n" FIELDS("1048576", "0",
									      "0") "4000-"
										   "5000 "
										   "rw-s "
										   "00000"
										   "000 "
										   "00:"
										   "12 4 "
										   "/memf"
										   "d:"
										   "x"
										   "\n" FIELDS("1048576", "0",
											       "0"));
	put_process(4, "small", 0, 0);
	put(4, "smaps", "1000-2000 rw-s 00000000 00:27 5 /m/a\n" FIELDS("2048", "4096", "0"));
	put(4, "maps", "1000-2000 rw-s 00000000 00:27 5 /m/a\n2000-3000 rw-s 00000000 00:28 5 /n/a\n");
	put_process(5, "gone", 0, 2048);
	put_process(6, "a comm that is far longer than any", 0, 2048);
	put(6, "smaps",
	    "garbage\nShared_Hugetlb: 2048 kB\nVmFlags: ht\n\n1000-2000 rw-s 0 00:27 1 /m/c\n" FIELDS(
		    "0", "2048", "0"));
	put(7, "status", "Name:\tz\nState:\tZ (zombie)\nUid:\t0\t0\t0\t0\nHugetlbPages:\t2048 kB\n");
	put(8, "status", "");
	put_process(9, "kernel", 0, 0);
	tree_put("proc/20x/status", "Uid:\t0\t0\n");
	tree_put("proc/99999999999/status", "Name:\tx\nUid:\t0\t0\nHugetlbPages: 2 kB\n");
}

static void check_db(const struct hf_processes *p, size_t at)
{
	const struct hf_holding *a = &p->holdings[at], *b = a + 1, *anon = a + 2;

	is_u64(a->pid, 20, "by pid: 20");
	is_text(a->command, "db writer", "its command");
	is_u64(a->uid, 1000, "its effective user");
	ok(a->kind == HF_OBJECT_FILE, "a file");
	is_text(a->name, "/m/a", "its path");
	is_u64(a->shared, 2, "shared pages");
	is_u64(a->exclusive, 1, "pages of another mapping of the same file");
	is_u64(a->anon, 1, "a private copy");
	ok(a->nodes && a->nodes[0] == 2 && a->nodes[1] == 1, "nodes of both mappings");
	ok(b->kind == HF_OBJECT_UNLINKED, "an unlinked file");
	is_text(b->name, "/m/b", "its path");
	ok(b->nodes && b->nodes[1] == 1, "its node");
	ok(anon->kind == HF_OBJECT_ANONYMOUS && anon->exclusive == 1, "an anonymous mapping");
	ok(!anon->nodes, "whose nodes numa_maps does not tell");
}

static void check_vm(const struct hf_processes *p)
{
	const struct hf_holding *all = p->holdings;

	is_u64(all[0].pid, 3, "pid 3");
	ok(all[0].kind == HF_OBJECT_FILE && all[0].ino == 4, "a file called memfd:x");
	is_text(all[0].name, "/memfd:x", "is one");
	ok(all[1].kind == HF_OBJECT_UNLINKED && all[1].ino == 3, "a key of nine digits is none");
	ok(all[2].kind == HF_OBJECT_MEMFD && all[2].exclusive == 3, "a memfd");
	is_text(all[2].name, "guest ram", "its name");
	ok(all[3].kind == HF_OBJECT_SYSV && all[3].shared == 1, "a segment");
	is_u64(all[3].ino, 2, "its id");
	is_text(all[3].name, "deadbeef", "its key");
	is_u64(all[3].page_size, 1 << 30, "its page size");
}

static void read_tree(struct hf_processes_request *request, struct hf_processes *processes)
{
	struct hf_sysroot root;
	struct hf_err err = { 0 };

	tree_open(&root, tree_dir);
	request->root = &root;
	request->topo = &topo;
	request->page_sizes = page_sizes;
	request->npage_sizes = HF_LENGTH(page_sizes);
	ok(hf_processes_read(request, processes, &err) == 0, "processes are read: %s", err.what);
	hf_sysroot_close(&root);
}

static void test_tree(void)
{
	struct hf_processes_request request = { 0 };
	struct hf_processes processes;

	make_tree();
	read_tree(&request, &processes);
	is_u64(processes.count, 7, "holdings");
	is_u64(processes.seen, 6, "processes, without a zombie and what is none");
	is_u64(processes.hidden, 0, "one that has gone is not hidden");
	check_vm(&processes);
	check_db(&processes, 4);
	hf_processes_free(&processes);
}

static void test_filters(void)
{
	const pid_t pids[] = { 4, 77 };
	const dev_t devices[] = { 0x27 };
	struct hf_processes_request request = { .pids = pids, .npids = 2, .devices = devices, .ndevices = 1 };
	struct hf_processes processes;

	read_tree(&request, &processes);
	is_u64(processes.seen, 1, "only what is asked for");
	is_u64(processes.count, 1, "a mapping that nobody has touched");
	ok(processes.count == 1 && processes.holdings[0].mapped && !processes.holdings[0].shared, "is found");
	hf_processes_free(&processes);
}

static void test_no_processes(void)
{
	struct hf_processes_request request = { 0 };
	struct hf_processes processes;

	tree_new();
	tree_put("proc/self/status", "Uid:\t0\t0\n");
	read_tree(&request, &processes);
	is_u64(processes.count + processes.seen, 0, "a tree without processes");
	hf_processes_free(&processes);
}

/* A head that cannot be read has no path for what follows it. */
static void test_no_head(void)
{
	struct hf_processes_request request = { 0 };
	struct hf_processes processes;

	tree_new();
	put_process(12, "odd", 0, 2048);
	put(12, "smaps", "1000-2000 rw-p 0 00:)1b 7 /x\n" FIELDS("2048", "0", "2048"));
	read_tree(&request, &processes);
	is_u64(processes.count, 0, "fields without a head belong to nothing");
	hf_processes_free(&processes);
}

static void test_many(void)
{
	_cleanup_free_ char *text = NULL;
	struct hf_processes_request request = { 0 };
	struct hf_processes processes;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	tree_new();
	put_process(30, "many", 0, 2048);
	for (unsigned i = 0; i < 5000; i++)
		fprintf(out, "%x000-%x000 rw-s 00000000 00:27 %u /m/%u\n" FIELDS("2048", "0", "2048"), i + 1,
			i + 2, i % 1000, i % 1000);
	fclose(out);
	put(30, "smaps", text);
	read_tree(&request, &processes);
	is_u64(processes.count, 1000, "5000 mappings of 1000 files");
	ok(processes.count == 1000 && processes.holdings[7].exclusive == 5, "five of each");
	hf_processes_free(&processes);
}

static void test_segments(void)
{
	static const char shm[] = "       key      shmid perms    size  cpid  lpid nattch   uid\n"
				  "-123  5   600  4194304 1 1 0 0 0\n"
				  "   1  6  1600  4194304 1 1 1 0 0\n"
				  "   1  7   600  4194305 1 1 0 0 0\n"
				  "   1  8   600        0 1 1 0 0 0\n"
				  "   1  9   600  2097152 1 1\n";
	struct hf_shm_list list;
	struct hf_sysroot root;
	struct hf_err err = { 0 };

	tree_new();
	tree_open(&root, tree_dir);
	ok(hf_shm_detached(&root, M2, &list, &err) == 0 && !list.count, "no SysV shared memory");
	tree_put("proc/sysvipc/shm", shm);
	ok(hf_shm_detached(&root, M2, &list, &err) == 0, "segments");
	is_u64(list.count, 1, "one that is detached and of whole pages");
	ok(list.count == 1 && list.segments[0].id == 5 && list.segments[0].size == 2 * M2, "id and size");
	hf_shm_free(&list);
	hf_sysroot_close(&root);
}

int main(void)
{
	test_tree();
	test_filters();
	test_no_processes();
	test_no_head();
	test_many();
	test_segments();
	return tap_done();
}
