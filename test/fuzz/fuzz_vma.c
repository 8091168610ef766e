/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of maps, smaps and numa_maps: every line is read as each of them. */
#include <string.h>

#include "../../lib/vma.h"
#include "fuzz.h"

static void read_as_all(const char *line, size_t len)
{
	struct hf_node nodes[] = { { .id = 0 }, { .id = 3 } };
	const struct hf_topology topo = { .nnodes = 2, .nodes = nodes };
	uint64_t on[2];
	struct hf_vma_nodes places = { .on = on };
	struct hf_vma vma = { 0 };
	char *copy = fuzz_text((const uint8_t *)line, len);

	if (hf_vma_parse_head(copy, &vma)) {
		fuzz_must(vma.end > vma.start && vma.path >= copy &&
			  vma.path + strlen(vma.path) <= copy + len);
		fuzz_must(!vma.huge && !vma.page_size);
	}
	memcpy(copy, line, len);
	hf_vma_parse_field(copy, &vma);
	fuzz_must(!hf_vma_parse_nodes(copy, &topo, &places) || places.start || copy[0] == '0');
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");

		read_as_all(line, len + (line[len] == '\n'));
		line += len + (line[len] == '\n');
	}
	free(text);
	return 0;
}
