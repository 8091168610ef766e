/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cause - why a pool did not grow as asked, from the numbers that the kernel shows.
 */
#ifndef HF_CAUSE_H
#define HF_CAUSE_H

#include "machine.h"
#include "plan.h"

/*
 * Words finding->id, text and hint for a node that lacks `missing` pages of the pool after
 * everything was tried; wanted and got (bytes) are the caller's. Reads meminfo and buddyinfo afresh.
 * dropped: caches were dropped already.
 */
void hf_cause_of_shortage(const struct hf_machine *machine, const struct hf_pool *pool, size_t node,
			  uint64_t missing, bool dropped, struct hf_finding *finding);

/*
 * After a reservation or a page of a file was refused although the plan had counted on it: what
 * the numbers show now, as a finding of its own added to the plan. node: topology index of the
 * worker that failed; SIZE_MAX: the reservation. Reads pools and cgroups afresh into machine.
 */
void hf_cause_of_refusal(struct hf_machine *machine, struct hf_plan *plan, const struct hf_place *place,
			 size_t pool, size_t node, uint64_t pages);

/* Bytes of free memory on the node that lie in blocks of at least page_size, by proc/buddyinfo;
 * *total: all free bytes it lists. -ENOENT where there is no such file or node. */
int hf_cause_contiguous(const struct hf_sysroot *root, unsigned node, uint64_t page_size,
			uint64_t *contiguous, uint64_t *total);

/* Bytes of the largest block that the kernel keeps a list of free ones of, by proc/buddyinfo: larger
 * pages are gigantic. 0: not known. */
uint64_t hf_cause_largest_block(const struct hf_sysroot *root);

#endif
