/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "../../lib/tracer.h"
#include "tap.h"

static const char hist[] =
	"# event histogram\n#\n"
	"# trigger info: hist:keys=ns.log2:vals=hitcount:sort=hitcount:size=2048 [active]\n#\n\n"
	"{ ns: ~ 2^14                } hitcount:          4\n"
	"{ ns: ~ 2^10                } hitcount:       7518\n"
	"{ ns: ~ 2^11 } hitcount: 158\n"
	"{ ns: ~ 2^99 } hitcount: 1\n"
	"{ ns: ~ 2^12 }\n"
	"{ ns: ~ 2^13 } hitcount: nothing\n\n"
	"Totals:\n    Hits: 7680\n    Entries: 3\n    Dropped: 0\n";

static void check_parse(void)
{
	struct hf_histogram h = { 0 };

	hf_tracer_parse(hist, &h);
	is_u64(h.count, 7680, "calls");
	is_u64(h.buckets[10], 7518, "[512, 1K)");
	is_u64(h.buckets[11], 158, "[1K, 2K)");
	is_u64(h.buckets[12], 0, "a line without a count is passed over");
	is_u64(h.buckets[14], 4, "[8K, 16K)");
	ok(h.min == 512 && h.max == 16383, "from the first bucket to the last");
	h = (struct hf_histogram){ 0 };
	hf_tracer_parse("", &h);
	hf_tracer_parse("{ ns: ~ 2^", &h);
	is_u64(h.count, 0, "nothing");
	hf_tracer_parse("{ ns: ~ 2^0 } hitcount: 3\n", &h);
	is_u64(h.count, 0, "a clock that went back");
	hf_tracer_parse("{ ns: ~ 2^1 } hitcount: 3\n", &h);
	ok(h.buckets[1] == 3 && h.min == 1 && h.max == 1, "the smallest");
}

static void check_add(void)
{
	static const char *const bad[] = { "", "a b", "a-b", "1st", "x;y", "$x", "naïve" };
	struct hf_tracer tracer = { 0 };
	struct hf_err err = { 0 };
	char name[HF_TRACER_NAME + 1];

	for (size_t i = 0; i < HF_LENGTH(bad); i++)
		ok(hf_tracer_add(&tracer, bad[i], &err) == -EINVAL, "no name: \"%s\"", bad[i]);
	memset(name, 'x', sizeof(name) - 1);
	name[HF_TRACER_NAME] = '\0';
	ok(hf_tracer_add(&tracer, name, &err) == -EINVAL, "too long");
	ok(hf_tracer_add(&tracer, name + 1, &err) == 0, "as long as can be");
	ok(hf_tracer_add(&tracer, "__filemap_get_folio.isra.0", &err) == 0,
	   "with a suffix of the compiler's");
	ok(hf_tracer_add(&tracer, name + 1, &err) == -EINVAL, "twice");
	is_u64(tracer.count, 2, "functions");
	for (unsigned i = 2; i < HF_TRACER_MOST; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		ok(hf_tracer_add(&tracer, name, &err) == 0, "%s", name);
	}
	ok(hf_tracer_add(&tracer, "more", &err) == -EINVAL, "too many");
}

int main(void)
{
	check_parse();
	check_add();
	return tap_done();
}
