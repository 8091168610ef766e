/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What check says of a machine, and how it would last: a tree whose files the input changes (fuzz.h). */
#include <string.h>

#include "../../lib/advice.h"
#include "../../lib/survey.h"
#include "fuzz.h"

static void check_findings(const struct hf_survey *survey)
{
	for (size_t i = 0; i < survey->nfindings; i++) {
		const struct hf_finding *f = &survey->findings[i];

		fuzz_must(f->id && f->object[0] && f->text[0] && hf_survey_severity(f)[0]);
	}
	hf_survey_is_fatal(survey);
}

/* The kernel's arguments are one line. */
static void make_advice(const struct hf_machine *machine)
{
	struct hf_advice advice = { 0 };
	struct hf_err err = { 0 };
	int r = hf_advice_make(machine, NULL, " --quiet", "", &advice, &err);

	if (r < 0)
		fuzz_check_err(r, &err);
	else
		fuzz_must(advice.arguments && !strchr(advice.arguments, '\n') && advice.conf && advice.unit);
	hf_advice_free(&advice);
}

static void look(const char *dir)
{
	struct hf_machine machine = { 0 };
	struct hf_survey survey = { 0 };
	struct hf_err err = { 0 };
	int r = hf_machine_read(dir, &machine, &err);

	if (r < 0) {
		fuzz_check_err(r, &err);
	} else {
		fuzz_must(hf_survey_machine(&machine, &survey, &err) == 0);
		check_findings(&survey);
		make_advice(&machine);
	}
	hf_survey_free(&survey);
	hf_machine_free(&machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_tree tree;
	int fd;

	fuzz_tree_make(&tree, fuzz_machine_files, fuzz_nmachine_files);
	fd = fuzz_first_fd();
	fuzz_tree_write(&tree, data, size);
	look(tree.dir);
	fuzz_tree_restore(&tree);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
