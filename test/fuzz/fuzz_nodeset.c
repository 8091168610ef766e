/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of nodes and CPUs: the first byte chooses the separator, the rest is the text. */
#include <string.h>

#include "../../lib/nodeset.h"
#include "fuzz.h"

#define WHOLE 65536 /* every second number, written out */

/* What is formatted reads back as the same set; cut anywhere it stays within its room. */
static void check_format(const struct hf_nodeset *set, char separator, size_t room)
{
	static char text[WHOLE];
	struct hf_err err = { 0 };
	struct hf_nodeset again;
	unsigned count = 0;
	char *small = malloc(room + 1);

	fuzz_must(small);
	hf_nodeset_format(set, separator, small, room);
	free(small);
	hf_nodeset_format(set, separator, text, sizeof(text));
	fuzz_must(hf_nodeset_parse(text, strlen(text), separator, &again, &err) == 0);
	fuzz_must(hf_nodeset_is_equal(set, &again));
	for (int n = hf_nodeset_next(set, 0); n >= 0; n = hf_nodeset_next(set, (unsigned)n + 1))
		count++;
	fuzz_must(count == hf_nodeset_count(set));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char separator = size && data[0] & 1 ? '+' : ',';
	struct hf_nodeset set;
	struct hf_err err = { 0 };
	int r;

	if (!size)
		return 0;
	r = hf_nodeset_parse((const char *)data + 1, size - 1, separator, &set, &err);
	if (r < 0) {
		fuzz_check_err(r, &err);
		fuzz_must(err.usage);
		return 0;
	}
	fuzz_must(separator == ',' || !hf_nodeset_is_empty(&set));
	if (!hf_nodeset_is_empty(&set) || separator == ',')
		check_format(&set, separator, data[0]);
	return 0;
}
