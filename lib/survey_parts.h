/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * survey_parts - the rooms of survey, not for others: the list, pools, mounts and limits (survey.c), the
 * kernel and its settings (survey_kernel.c), a plan's chances (survey_plan.c), the kernel command line
 * (survey_boot.c).
 */
#ifndef HF_SURVEY_PARTS_H
#define HF_SURVEY_PARTS_H

#include "survey.h"

enum hf_severity { HF_ERROR, HF_WARNING, HF_INFO };

/* A survey that is being made. */
struct hf_surveying {
	struct hf_survey *survey;
	const struct hf_machine *machine;
	bool failed;             /* memory is out */
	struct hf_finding spare; /* worded in vain then */
};

/* Appends a finding for the caller to word; never NULL. node: an id, or -1. */
struct hf_finding *hf_survey_add(struct hf_surveying *s, enum hf_severity severity, const char *id, int node,
				 const char *object);
void hf_survey_say(struct hf_finding *f, const char *fmt, ...) _printf(2, 3);
void hf_survey_hint(struct hf_finding *f, const char *fmt, ...) _printf(2, 3);

/* Sorted; the only error is of memory. */
int hf_survey_end(struct hf_surveying *s, struct hf_err *err) _must_check;

void hf_survey_kernel(struct hf_surveying *s);
void hf_survey_boot(struct hf_surveying *s);

/* The kernel zeroes what it allocates, by its command line; without a word there it is not known. */
bool hf_survey_zeroes(const struct hf_machine *machine);
/* The running kernel, or the captured one, is older than that. False where it is not known. */
bool hf_survey_is_older(const struct hf_machine *machine, unsigned major, unsigned minor);
/* Gigantic pages cannot be made at run time by this kernel. */
bool hf_survey_lacks_compaction(const struct hf_machine *machine);

/* The value of the last NAME= on the kernel command line; false: it is not there. */
bool hf_survey_argument(const char *cmdline, const char *name, char *value, size_t size);
/* proc/cmdline, "" where it cannot be read; malloc'd, NULL: no memory. */
char *hf_survey_cmdline(const struct hf_machine *machine);

#endif
