/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file of specs, as --from reads it: the first byte holds flags. */
#include "specs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_spec_rules rules = specs_rules(size ? data[0] : 0);
	struct hf_spec_list list = { 0 };
	struct hf_err err = { 0 };
	FILE *in;
	int r;

	/* fmemopen has no empty files. */
	if (size < 2)
		return 0;
	in = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
	fuzz_must(in);
	r = hf_spec_read(in, "specs", &rules, &list, &err);
	fclose(in);
	if (r < 0) {
		fuzz_check_err(r, &err);
		fuzz_must(err.usage);
	}
	/* Also those before the line that is wrong. */
	specs_check(&list, &rules);
	hf_spec_list_free(&list);
	return 0;
}
