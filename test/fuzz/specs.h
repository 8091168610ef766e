/* SPDX-License-Identifier: GPL-2.0-or-later */
/* specs - a machine for the targets that read specs, and what must hold of every list of specs. */
#ifndef SPECS_H
#define SPECS_H

#include "../../lib/spec.h"
#include "fuzz.h"

static const uint64_t specs_page_sizes[] = { 65536, 2 << 20, 1 << 30 };
static const struct hf_nodeset specs_online = { { 0xf } }, specs_memory = { { 0xb } },
			       specs_nodes = { { 0x9 } };

/* flags: bit 0: free's rules, bit 1: --nodes was given, bit 2: a kernel without huge pages */
static inline struct hf_spec_rules specs_rules(unsigned flags)
{
	bool none = flags & 4;

	return (struct hf_spec_rules){ .page_sizes = specs_page_sizes,
				       .npage_sizes = none ? 0 : HF_LENGTH(specs_page_sizes),
				       .default_page_size = none ? 0 : 2 << 20,
				       .online = &specs_online,
				       .memory = &specs_memory,
				       .nodes = flags & 2 ? &specs_nodes : NULL,
				       .amount_optional = flags & 1 };
}

static inline void specs_check_one(const struct hf_spec *spec, const struct hf_spec_rules *rules)
{
	struct hf_nodeset taken = { { 0 } };

	fuzz_must(spec->text && (spec->nparts || rules->amount_optional));
	fuzz_must(spec->kind == HF_SPEC_POOL ? spec->page_size && !spec->name
					     : !spec->page_size && spec->name && *spec->name);
	for (size_t i = 0; i < spec->nparts; i++) {
		const struct hf_nodeset *nodes = &spec->parts[i].nodes;

		fuzz_must(!hf_nodeset_is_empty(nodes));
		for (int n = hf_nodeset_next(nodes, 0); n >= 0; n = hf_nodeset_next(nodes, (unsigned)n + 1)) {
			fuzz_must(hf_nodeset_has(rules->memory, (unsigned)n) &&
				  !hf_nodeset_has(&taken, (unsigned)n));
			hf_nodeset_add(&taken, (unsigned)n);
		}
	}
}

static inline void specs_check(const struct hf_spec_list *list, const struct hf_spec_rules *rules)
{
	for (size_t i = 0; i < list->count; i++)
		specs_check_one(&list->specs[i], rules);
}

#endif
