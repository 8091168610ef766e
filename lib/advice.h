/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advice - how to make huge pages last over a reboot: kernel arguments, which find memory in one piece,
 * and a unit that calls alloc, which also makes files. Texts only; nothing is written. Thread safe.
 */
#ifndef HF_ADVICE_H
#define HF_ADVICE_H

#include "plan.h"

struct hf_advice {
	char *arguments; /* one line, "" where no pool has pages */
	char *conf;      /* specs, one a line: of /etc/hugefill.conf */
	char *unit;      /* of a hugefill.service */
};

/*
 * plan NULL: for the pools as they are, surplus pages left out. Else for the plan's specs, with the
 * pools as they would be then. start and stop: options of alloc and free, each with a blank before it.
 * A file name that does not fit on a line of its own is a usage error. The caller frees.
 */
int hf_advice_make(const struct hf_machine *machine, const struct hf_plan *plan, const char *start,
		   const char *stop, struct hf_advice *advice, struct hf_err *err) _must_check
	_nonnull(1, 3, 4, 5, 6);
void hf_advice_free(struct hf_advice *advice);

#endif
