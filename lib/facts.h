/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * facts - what a measurement depends on, for whoever compares it with one of another machine.
 */
#ifndef HF_FACTS_H
#define HF_FACTS_H

#include "machine.h"

#define HF_FACTS_TEXT 128

struct hf_facts {
	char kernel[HF_FACTS_TEXT];     /* release */
	char cpu[HF_FACTS_TEXT];        /* model; "": not told */
	char governor[HF_FACTS_TEXT];   /* of the first CPU that has one; "": none */
	char page_sizes[HF_FACTS_TEXT]; /* "2M 1G" */
	unsigned cpus, nodes, memory_nodes;
	uint64_t memory; /* bytes */
	bool hvo;        /* hugetlb_optimize_vmemmap is on */
	/* init_on_alloc as the kernel's command line says; where it says nothing the kernel's
	 * configuration decides, and told is false. */
	bool init_told, init_on_alloc;
};

/* What cannot be read is left empty. */
void hf_facts_read(const struct hf_machine *machine, struct hf_facts *facts) _nonnull(1, 2);

/* The last init_on_alloc= of a kernel command line: 0, 1, or -1 where there is none. Pure. */
int hf_facts_init_on_alloc(const char *cmdline) _nonnull(1);

#endif
