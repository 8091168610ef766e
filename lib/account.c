/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account.h"

/* What the processes that hold one object tell of it. */
struct object {
	uint64_t cached;      /* pages in the file */
	uint64_t copies;      /* private, of one process each */
	uint64_t shared_most; /* private copies that are shared after a fork: most that one has */
};

static int by_object(const void *a, const void *b)
{
	const struct hf_holding *x = *(const struct hf_holding *const *)a,
				*y = *(const struct hf_holding *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_holding(struct object *object, const struct hf_holding *holding)
{
	uint64_t mapped = holding->shared + holding->exclusive;
	uint64_t anon = holding->anon, alone;

	/* numa_maps names anonymous pages; without it, all of a mapping without a file are some. */
	if (holding->kind == HF_OBJECT_ANONYMOUS && !anon && !holding->has_filled)
		anon = mapped;
	if (anon > mapped)
		anon = mapped;
	alone = anon < holding->exclusive ? anon : holding->exclusive;
	object->copies += alone;
	object->shared_most = larger(object->shared_most, anon - alone);
	object->cached = larger(object->cached, holding->has_filled ? holding->filled : mapped - anon);
}

static void add_object(const struct hf_files *files, const struct hf_holding *holding,
		       const struct object *object, struct hf_account *account)
{
	account->anonymous += object->copies + object->shared_most;
	switch (holding->kind) {
	case HF_OBJECT_FILE:
		if (!hf_files_find(files, holding->dev, holding->ino))
			account->elsewhere += object->cached;
		break;
	case HF_OBJECT_UNLINKED:
		account->unlinked += object->cached;
		break;
	case HF_OBJECT_MEMFD:
		account->memfd += object->cached;
		break;
	case HF_OBJECT_SYSV:
		account->sysv += object->cached;
		break;
	case HF_OBJECT_ANONYMOUS:
		account->anonymous += object->cached;
		break;
	}
}

int hf_account_pages(const struct hf_files *files, const struct hf_processes *processes, uint64_t page_size,
		     struct hf_account *account, struct hf_err *err)
{
	_cleanup_free_ const struct hf_holding **all = calloc(processes->count + 1, sizeof(*all));
	size_t count = 0;

	*account = (struct hf_account){ 0 };
	if (!all)
		return hf_err_nomem(err);
	for (size_t i = 0; i < files->count; i++)
		if (files->files[i].page_size == page_size)
			account->files += files->files[i].filled;
	for (size_t i = 0; i < processes->count; i++)
		if (processes->holdings[i].page_size == page_size)
			all[count++] = &processes->holdings[i];
	if (count)
		qsort(all, count, sizeof(*all), by_object);
	for (size_t i = 0; i < count;) {
		const struct hf_holding *first = all[i];
		struct object object = { 0 };

		for (; i < count && by_object(&all[i], &first) == 0; i++)
			add_holding(&object, all[i]);
		add_object(files, first, &object, account);
	}
	return 0;
}

uint64_t hf_account_sum(const struct hf_account *account)
{
	return account->files + account->elsewhere + account->unlinked + account->memfd + account->sysv +
	       account->anonymous;
}
