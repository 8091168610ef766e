/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One spec as an argument, and the short form of --file and --size: the first byte holds flags. */
#include <string.h>

#include "specs.h"

#define SHORT_FORM 8

static int parse(unsigned flags, char *text, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		 struct hf_err *err)
{
	char *newline = flags & SHORT_FORM ? strchr(text, '\n') : NULL;

	if (!newline)
		return hf_spec_parse(text, rules, list, err);
	*newline = '\0';
	return hf_spec_make(text, newline + 1, rules, list, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned flags = size ? data[0] : 0;
	struct hf_spec_rules rules = specs_rules(flags);
	struct hf_spec_list list = { 0 };
	struct hf_err err = { 0 };
	char *text;
	int r;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	r = parse(flags, text, &rules, &list, &err);
	if (r < 0) {
		fuzz_check_err(r, &err);
		fuzz_must(err.usage && !list.count);
	} else {
		fuzz_must(list.count == 1);
		specs_check(&list, &rules);
	}
	hf_spec_list_free(&list);
	free(text);
	return 0;
}
