/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Amounts: the first byte chooses what they are counted in, the rest is the text. */
#include <string.h>

#include "../../lib/size.h"
#include "fuzz.h"

static const uint64_t page_sizes[] = { 4096, 65536, 2 << 20, 1 << 30, 1ULL << 34 };

/* Exact text reads back as what it came from. */
static void check_exact(uint64_t bytes)
{
	char text[HF_SIZE_TEXT];
	struct hf_err err = { 0 };
	uint64_t again;

	fuzz_must(hf_size_parse(hf_size_exact(bytes, text), &again, &err) == 0 && again == bytes);
	fuzz_must(strlen(hf_size_human(bytes, text)) < 8);
}

static void check_pages(const struct hf_amount *amount, uint64_t page_size, const char *text)
{
	static const uint64_t memories[] = { 0, 1, 1ULL << 37, UINT64_MAX };
	struct hf_err err = { 0 };
	uint64_t pages;

	for (size_t i = 0; i < HF_LENGTH(memories); i++) {
		int r = hf_size_pages(amount, page_size, memories[i], text, &pages, &err);

		if (r < 0) {
			fuzz_check_err(r, &err);
			continue;
		}
		if (amount->unit == HF_UNIT_PERCENT)
			fuzz_must(pages <= memories[i] / page_size);
		else
			fuzz_must(pages <= INT64_MAX / page_size);
		if (amount->unit == HF_UNIT_BYTES)
			fuzz_must(pages * page_size == amount->value);
	}
}

static void check_plain(const char *text)
{
	struct hf_err err = { 0 };
	uint64_t bytes;
	int r = hf_size_parse(text, &bytes, &err);

	if (r < 0)
		fuzz_check_err(r, &err);
	else
		fuzz_must(bytes <= INT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_amount amount;
	struct hf_err err = { 0 };
	char *text;
	int r;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	check_plain(text);
	/* By length: what lies behind it must not be read. */
	r = hf_size_parse_amount((const char *)data + 1, size - 1, &amount, &err);
	if (r < 0) {
		fuzz_check_err(r, &err);
		fuzz_must(err.usage);
	} else {
		fuzz_must(amount.value <= INT64_MAX);
		fuzz_must(amount.unit != HF_UNIT_PERCENT || amount.value <= 100000000);
		check_pages(&amount, page_sizes[data[0] % HF_LENGTH(page_sizes)], text);
		check_exact(amount.value);
	}
	free(text);
	return 0;
}
