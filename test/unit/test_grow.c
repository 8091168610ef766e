/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../lib/grow_parts.h"
#include "tap.h"

/* The rule of --grow=auto, on what was measured: seconds a page takes in the serial write. */
static const struct {
	const char *name;
	double page_cost;
	uint64_t pages, workers;
	bool pays;
} cases[] = {
	{ "16 GiB that need not be cleared", 9e-6, 8192, 2, true },
	{ "8 GiB that need not be cleared", 10e-6, 4096, 2, true },
	{ "6 GiB that need not be cleared", 10e-6, 3072, 2, false },
	{ "16 GiB that need not be cleared, and 64 workers to be made for it", 9e-6, 8192, 64, false },
	{ "1 TiB that need not be cleared, a busy kernel", 15e-6, 524288, 64, true },
	{ "2 GiB that are cleared at 8 GiB/s", 245e-6, 1024, 2, true },
	{ "2 GiB that are cleared by emulated CPUs", 4e-3, 992, 2, true },
	{ "400 GiB that are cleared at 8 GiB/s", 245e-6, 204800, 16, true },
	{ "64 MiB that are cleared at 8 GiB/s", 245e-6, 32, 2, false },
	{ "512 MiB, and 64 workers to be made for it", 245e-6, 256, 64, false },
	{ "one worker", 4e-3, 204800, 1, false },
	{ "nothing lacks", 4e-3, 0, 16, false },
	{ "nothing is known of the cost", 0, 204800, 16, false },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(hf_grow_pays(cases[i].page_cost, cases[i].pages, cases[i].workers) == cases[i].pays, "%s",
		   cases[i].name);
	return tap_done();
}
