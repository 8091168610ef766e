/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document that is read back, as bench --compare does: the input is the file. */
#include <math.h>

#include "../../lib/doc.h"
#include "fuzz.h"

static void look_into(const struct hf_doc *doc)
{
	static const char *const keys[] = { "command", "workload", "case", "value", "phases.fill", "a.b.c" };
	size_t rows = hf_doc_rows(doc, "samples");

	for (size_t k = 0; k < HF_LENGTH(keys); k++) {
		hf_doc_get_text(doc, NULL, 0, keys[k]);
		for (size_t i = 0; i < rows; i++) {
			const char *text = hf_doc_get_text(doc, "samples", i, keys[k]);

			fuzz_must(!text || isnan(hf_doc_get_real(doc, "samples", i, keys[k])));
		}
		fuzz_must(!hf_doc_get_text(doc, "samples", rows, keys[k]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_doc *doc = NULL;
	struct hf_err err = { 0 };
	FILE *in;
	int r;

	/* fmemopen has no empty files. */
	if (!size)
		return 0;
	in = fmemopen((void *)(uintptr_t)data, size, "r");
	fuzz_must(in);
	r = hf_doc_read(in, "earlier", &doc, &err);
	fclose(in);
	fuzz_must((r == 0) == (doc != NULL));
	if (r < 0)
		fuzz_check_err(r, &err);
	else
		look_into(doc);
	hf_doc_free(doc);
	return 0;
}
