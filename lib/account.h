/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account - which of a pool's used pages are held by something that was seen.
 *
 * Each object counts once, however many processes have it. Private copies of several processes that
 * come from one fork cannot be told apart exactly: pages that are shared count once, those that one
 * process alone has mapped are added. Pure.
 */
#ifndef HF_ACCOUNT_H
#define HF_ACCOUNT_H

#include "files.h"
#include "processes.h"

/* Pages of one size. */
struct hf_account {
	uint64_t files;     /* in files that can be seen */
	uint64_t elsewhere; /* in files with a name that processes hold, on no mount that can be seen */
	uint64_t unlinked, memfd, sysv;
	uint64_t anonymous; /* private copies of files too */
};

int hf_account_pages(const struct hf_files *files, const struct hf_processes *processes, uint64_t page_size,
		     struct hf_account *account, struct hf_err *err) _must_check _nonnull(1, 2, 4, 5);

uint64_t hf_account_sum(const struct hf_account *account);

#endif
