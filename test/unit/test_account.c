/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each page counts once, whoever holds it. */
#include "../../lib/account.h"
#include "tap.h"

#define M2 (2ULL << 20)
#define G1 (1ULL << 30)

static struct hf_file seen_files[] = {
	{ .page_size = M2, .filled = 10, .dev = 1, .ino = 5 },
	{ .page_size = G1, .filled = 3, .dev = 2, .ino = 5 },
};

struct scene {
	const char *name;
	struct hf_holding holdings[4];
	struct hf_account want;
};

static const struct scene scenes[] = {
	{ "nobody", { { 0 } }, { .files = 10 } },
	{ "a file that is seen counts once",
	  { { .pid = 1, .kind = HF_OBJECT_FILE, .page_size = M2, .dev = 1, .ino = 5, .exclusive = 10 } },
	  { .files = 10 } },
	{ "private copies of it count besides",
	  { { .pid = 1,
	      .kind = HF_OBJECT_FILE,
	      .page_size = M2,
	      .dev = 1,
	      .ino = 5,
	      .exclusive = 4,
	      .anon = 3 } },
	  { .files = 10, .anonymous = 3 } },
	{ "a file elsewhere, in two processes",
	  { { .pid = 1, .kind = HF_OBJECT_FILE, .page_size = M2, .dev = 9, .ino = 5, .shared = 4 },
	    { .pid = 2,
	      .kind = HF_OBJECT_FILE,
	      .page_size = M2,
	      .dev = 9,
	      .ino = 5,
	      .shared = 4,
	      .exclusive = 2 } },
	  { .files = 10, .elsewhere = 6 } },
	{ "an unlinked file by what it has, not by what is mapped",
	  { { .pid = 1,
	      .kind = HF_OBJECT_UNLINKED,
	      .page_size = M2,
	      .dev = 1,
	      .ino = 6,
	      .exclusive = 2,
	      .has_filled = true,
	      .filled = 8 },
	    { .pid = 2,
	      .kind = HF_OBJECT_UNLINKED,
	      .page_size = M2,
	      .dev = 1,
	      .ino = 6,
	      .has_filled = true,
	      .filled = 8 } },
	  { .files = 10, .unlinked = 8 } },
	{ "memfd and segment of one inode number are two",
	  { { .pid = 1, .kind = HF_OBJECT_MEMFD, .page_size = M2, .dev = 7, .ino = 3, .exclusive = 2 },
	    { .pid = 1, .kind = HF_OBJECT_SYSV, .page_size = M2, .dev = 7, .ino = 3, .exclusive = 4 } },
	  { .files = 10, .memfd = 2, .sysv = 4 } },
	{ "after a fork, what is shared counts once",
	  { { .pid = 1,
	      .kind = HF_OBJECT_ANONYMOUS,
	      .page_size = M2,
	      .dev = 7,
	      .ino = 9,
	      .shared = 2,
	      .exclusive = 1,
	      .anon = 3 },
	    { .pid = 2,
	      .kind = HF_OBJECT_ANONYMOUS,
	      .page_size = M2,
	      .dev = 7,
	      .ino = 9,
	      .shared = 2,
	      .exclusive = 1,
	      .anon = 3 } },
	  { .files = 10, .anonymous = 4 } },
	{ "without numa_maps too",
	  { { .pid = 1, .kind = HF_OBJECT_ANONYMOUS, .page_size = M2, .dev = 7, .ino = 9, .exclusive = 5 } },
	  { .files = 10, .anonymous = 5 } },
	{ "more copies than pages are none",
	  { { .pid = 1,
	      .kind = HF_OBJECT_MEMFD,
	      .page_size = M2,
	      .dev = 7,
	      .ino = 9,
	      .exclusive = 5,
	      .anon = UINT64_MAX } },
	  { .files = 10, .anonymous = 5 } },
	{ "other page sizes do not count",
	  { { .pid = 1, .kind = HF_OBJECT_MEMFD, .page_size = G1, .dev = 8, .ino = 9, .exclusive = 5 } },
	  { .files = 10 } },
};

static void test_scene(const struct scene *scene)
{
	struct hf_files files = { .count = 2, .files = seen_files };
	struct hf_holding holdings[4];
	struct hf_processes processes = { .holdings = holdings };
	struct hf_account got;
	struct hf_err err = { 0 };

	memcpy(holdings, scene->holdings, sizeof(holdings));
	while (processes.count < 4 && holdings[processes.count].pid)
		processes.count++;
	ok(hf_account_pages(&files, &processes, M2, &got, &err) == 0, "%s", scene->name);
	is_u64(got.files, scene->want.files, "files");
	is_u64(got.elsewhere, scene->want.elsewhere, "elsewhere");
	is_u64(got.unlinked, scene->want.unlinked, "unlinked");
	is_u64(got.memfd, scene->want.memfd, "memfd");
	is_u64(got.sysv, scene->want.sysv, "sysv");
	is_u64(got.anonymous, scene->want.anonymous, "anonymous");
	is_u64(hf_account_sum(&got), hf_account_sum(&scene->want), "sum");
}

int main(void)
{
	for (size_t i = 0; i < HF_LENGTH(scenes); i++)
		test_scene(&scenes[i]);
	return tap_done();
}
