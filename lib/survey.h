/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * survey - what is to be said about a machine, or about a plan for it, before anything is touched.
 *
 * Findings as the plan has them. A finding about the machine is fatal where no huge page can be had at
 * all. What cannot be read (a captured tree without it, an older kernel) is no finding: only what is
 * known is said. Not thread safe on the same struct.
 */
#ifndef HF_SURVEY_H
#define HF_SURVEY_H

#include "plan.h"

struct hf_survey {
	const struct hf_machine *machine; /* borrowed */
	size_t nfindings;
	struct hf_finding *findings; /* errors first, then warnings, then notices */
};

/* Into *survey, zeroed by the caller, who frees it also after a failure. -ENOMEM is the only one. */
int hf_survey_machine(const struct hf_machine *machine, struct hf_survey *survey,
		      struct hf_err *err) _must_check _nonnull(1, 2, 3);

/* The plan's own findings, and what only the numbers of the machine foretell: memory of a node that is
 * short or fragmented, gigantic pages at run time. */
int hf_survey_plan(const struct hf_plan *plan, struct hf_survey *survey, struct hf_err *err) _must_check
	_nonnull(1, 2, 3);

void hf_survey_free(struct hf_survey *survey);

bool hf_survey_is_fatal(const struct hf_survey *survey);

/* "error", "warning", "info". */
const char *hf_survey_severity(const struct hf_finding *finding);

#endif
