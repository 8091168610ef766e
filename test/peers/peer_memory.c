/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define HUGE_2M (21 << 26)

static int has(const char *flags, const char *flag)
{
	return strstr(flags, flag) != NULL;
}

static void keep(struct call *call, void *at, size_t length)
{
	struct thing *map;

	if (at == MAP_FAILED)
		return failed(call);
	map = add(call, call->word[0]);
	if (!map)
		return;
	map->at = at;
	map->length = length;
}

void peer_map(struct call *call)
{
	const char *how = call->word[4];
	struct thing *file = strcmp(call->word[1], "-") == 0 ? NULL : find(call, call->word[1]);
	int flags = has(how, "private") ? MAP_PRIVATE : MAP_SHARED;
	size_t length = size_of(call->word[3]);

	if (strcmp(call->reply, "ok") != 0)
		return;
	flags |= file ? 0 : MAP_ANONYMOUS | MAP_HUGETLB | HUGE_2M;
	flags |= has(how, "noreserve") ? MAP_NORESERVE : 0;
	flags |= has(how, "populate") ? MAP_POPULATE : 0;
	keep(call,
	     mmap(NULL, length, has(how, "read") ? PROT_READ : PROT_READ | PROT_WRITE, flags,
		  file ? file->fd : -1, (off_t)size_of(call->word[2])),
	     length);
}

void peer_unmap(struct call *call)
{
	struct thing *map = find(call, call->word[0]);
	int whole = !*call->word[2];

	if (!map)
		return;
	if (munmap(map->at + (whole ? 0 : size_of(call->word[1])),
		   whole ? map->length : size_of(call->word[2])) < 0)
		return failed(call);
	if (whole)
		drop(map);
}

/* At the page's end, so that a page that is too small or misplaced shows. */
static void stamp(const struct call *call, char *text, size_t size, size_t from)
{
	snprintf(text, size, "%s%zu", *call->word[3] ? call->word[3] : "page", from / PAGE);
}

static void write_page(struct call *call, struct thing *map, size_t from, size_t to)
{
	stamp(call, map->at + to - 32, 32, from);
}

static void check_page(struct call *call, struct thing *map, size_t from, size_t to)
{
	char text[32], got[32];

	stamp(call, text, sizeof(text), from);
	memcpy(got, map->at + to - 32, sizeof(got));
	got[31] = '\0';
	if (strcmp(got, text) != 0)
		snprintf(call->reply, REPLY, "page %zu has \"%s\", not \"%s\"", from / PAGE, got, text);
}

static void check_zero(struct call *call, struct thing *map, size_t from, size_t to)
{
	for (size_t at = from; at < to; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, map->at + at, sizeof(word));
		if (!word)
			continue;
		snprintf(call->reply, REPLY, "page %zu is not zero", from / PAGE);
		return;
	}
}

void peer_write(struct call *call)
{
	guarded(call, write_page);
}

void peer_check(struct call *call)
{
	guarded(call, check_page);
}

void peer_zero(struct call *call)
{
	guarded(call, check_zero);
}

void peer_protect(struct call *call)
{
	struct thing *map = find(call, call->word[0]);
	int rights = has(call->word[3], "write")  ? PROT_READ | PROT_WRITE
		     : has(call->word[3], "read") ? PROT_READ
						  : PROT_NONE;

	if (map && mprotect(map->at + size_of(call->word[1]), size_of(call->word[2]), rights) < 0)
		failed(call);
}

void peer_advise(struct call *call)
{
	static const struct {
		const char *name;
		int advice;
	} advices[] = {
		{ "dontneed", MADV_DONTNEED }, { "remove", MADV_REMOVE },
		{ "willneed", MADV_WILLNEED }, { "populate", MADV_POPULATE_WRITE },
		{ "dontfork", MADV_DONTFORK },
	};
	struct thing *map = find(call, call->word[0]);

	for (size_t i = 0; map && i < sizeof(advices) / sizeof(*advices); i++)
		if (strcmp(advices[i].name, call->word[3]) == 0 &&
		    madvise(map->at + size_of(call->word[1]), size_of(call->word[2]), advices[i].advice) < 0)
			failed(call);
}

/* move: to another place, which shows whether data and reservation come along. */
void peer_remap(struct call *call)
{
	struct thing *map = find(call, call->word[0]);
	size_t length = size_of(call->word[1]);
	char *place, *at;

	if (!map)
		return;
	if (!has(call->word[2], "move")) {
		at = mremap(map->at, map->length, length, MREMAP_MAYMOVE);
	} else {
		place = mmap(NULL, length + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		place = (char *)(((uintptr_t)place + PAGE - 1) & ~(PAGE - 1));
		at = mremap(map->at, map->length, length, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	}
	if (at == MAP_FAILED)
		return failed(call);
	map->at = at;
	map->length = length;
}

void peer_lock(struct call *call)
{
	struct thing *map = find(call, call->word[0]);

	if (map && mlock(map->at, map->length) < 0)
		failed(call);
}

/* Gone with its last user. */
void peer_shm(struct call *call)
{
	size_t length = size_of(call->word[1]);
	int id = shmget(IPC_PRIVATE, length,
			SHM_HUGETLB | HUGE_2M | 0600 | (has(call->word[2], "noreserve") ? SHM_NORESERVE : 0));

	if (id < 0)
		return failed(call);
	keep(call, shmat(id, NULL, 0), length);
	shmctl(id, IPC_RMID, NULL);
}

void peer_send(struct call *call)
{
	struct thing *map = find(call, call->word[0]);
	int fd = open(call->word[2], O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
	char *page, *copy = NULL;

	if (!map || fd < 0)
		return failed(call);
	page = map->at + size_of(call->word[1]);
	copy = malloc(PAGE);
	memcpy(copy, page, PAGE);
	if (pwrite(fd, page, PAGE, 0) != (ssize_t)PAGE)
		failed(call);
	memset(page, 0, PAGE);
	if (pread(fd, page, PAGE, 0) != (ssize_t)PAGE)
		failed(call);
	if (memcmp(copy, page, PAGE) != 0)
		snprintf(call->reply, REPLY, "what came back differs");
	free(copy);
	close(fd);
}

/* The child has the mapping at the same place. */
void peer_poke(struct call *call)
{
	struct thing *map = find(call, call->word[0]);
	size_t from = size_of(call->word[1]);
	struct iovec local, remote;
	char text[32] = "";

	if (!map)
		return;
	snprintf(text, sizeof(text), "%s%zu", call->word[2], from / PAGE);
	local = (struct iovec){ text, sizeof(text) };
	remote = (struct iovec){ map->at + from + PAGE - 32, sizeof(text) };
	if (process_vm_writev(child_of(), &local, 1, &remote, 1, 0) < 0)
		failed(call);
}

struct filler {
	int fd;
	char *at;
	char mark[16];
};

/* As a hypervisor does after a live migration. */
static void *fill(void *arg)
{
	struct filler *filler = arg;
	char *page = aligned_alloc(PAGE, PAGE);
	struct uffd_msg msg;

	while (page && read(filler->fd, &msg, sizeof(msg)) == sizeof(msg)) {
		size_t at = (size_t)(msg.arg.pagefault.address & ~(PAGE - 1));
		struct uffdio_copy copy = { .dst = at, .src = (uintptr_t)page, .len = PAGE };

		memset(page, 0, PAGE);
		snprintf(page + PAGE - 32, 32, "%s%zu", filler->mark, (at - (uintptr_t)filler->at) / PAGE);
		ioctl(filler->fd, UFFDIO_COPY, &copy);
	}
	return NULL;
}

void peer_userfault(struct call *call)
{
	static struct filler filler;
	struct thing *map = find(call, call->word[0]);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;

	if (!map)
		return;
	filler.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	filler.at = map->at;
	snprintf(filler.mark, sizeof(filler.mark), "%s", call->word[1]);
	range.range = (struct uffdio_range){ (uintptr_t)map->at, map->length };
	if (filler.fd < 0 || ioctl(filler.fd, UFFDIO_API, &api) < 0 ||
	    ioctl(filler.fd, UFFDIO_REGISTER, &range) < 0)
		return failed(call);
	errno = pthread_create(&thread, NULL, fill, &filler);
	if (errno)
		failed(call);
}
