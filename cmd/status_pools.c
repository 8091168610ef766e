/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "status.h"

/* From TOTAL on in the same order twice: pages, then bytes. */
enum { SIZE, NODE, TOTAL, FREE, RSVD, SURPLUS, OVERCOMMIT, USED, AVAIL, PERSISTENT, TOTAL_BYTES };
#define TO_BYTES (TOTAL_BYTES - TOTAL)

static const struct hf_column columns[] = {
	[SIZE] = { "SIZE", HF_BYTES, false, "huge page size" },
	[NODE] = { "NODE", HF_TEXT, false, "NUMA node, or all: the machine" },
	[TOTAL] = { "TOTAL", HF_COUNT, false, "pages of the pool: persistent and surplus" },
	[FREE] = { "FREE", HF_COUNT, false, "pages that are not in use, reserved ones too" },
	[RSVD] = { "RSVD", HF_COUNT, false, "free pages that are promised; of the machine only" },
	[SURPLUS] = { "SURPLUS", HF_COUNT, false, "pages that go back to the system when they are freed" },
	[OVERCOMMIT] = { "OVERCOMMIT", HF_COUNT, false, "surplus pages that may be; of the machine only" },
	[USED] = { "USED", HF_COUNT, false, "TOTAL - FREE" },
	[AVAIL] = { "AVAIL", HF_COUNT, false, "FREE - RSVD; of the machine only" },
	[PERSISTENT] = { "PERSISTENT", HF_COUNT, true, "TOTAL - SURPLUS" },
	[TOTAL + TO_BYTES] = { "TOTAL_BYTES", HF_BYTES, true, "TOTAL in bytes" },
	[FREE + TO_BYTES] = { "FREE_BYTES", HF_BYTES, true, "FREE in bytes" },
	[RSVD + TO_BYTES] = { "RSVD_BYTES", HF_BYTES, true, "RSVD in bytes" },
	[SURPLUS + TO_BYTES] = { "SURPLUS_BYTES", HF_BYTES, true, "SURPLUS in bytes" },
	[OVERCOMMIT + TO_BYTES] = { "OVERCOMMIT_BYTES", HF_BYTES, true, "OVERCOMMIT in bytes" },
	[USED + TO_BYTES] = { "USED_BYTES", HF_BYTES, true, "USED in bytes" },
	[AVAIL + TO_BYTES] = { "AVAIL_BYTES", HF_BYTES, true, "AVAIL in bytes" },
	[PERSISTENT + TO_BYTES] = { "PERSISTENT_BYTES", HF_BYTES, true, "PERSISTENT in bytes" },
};

uint64_t status_used(const struct hf_pool *pool)
{
	return pool->nr > pool->free ? pool->nr - pool->free : 0;
}

bool status_is_short(const struct hf_pool *pool)
{
	return pool->nr && !hf_pool_available(pool);
}

void status_bytes(struct hf_table *table, size_t column, uint64_t pages, uint64_t page_size)
{
	uint64_t bytes;

	if (!__builtin_mul_overflow(pages, page_size, &bytes) && bytes <= INT64_MAX)
		hf_table_u64(table, column, bytes);
}

static void set(struct hf_table *table, const struct hf_pool *pool, size_t column, uint64_t pages)
{
	hf_table_u64(table, column, pages);
	status_bytes(table, column + TO_BYTES, pages, pool->page_size);
}

static void add_row(struct hf_table *table, const struct hf_pool *pool, const char *node,
		    const struct hf_pool_node *counts)
{
	hf_table_row(table);
	hf_table_u64(table, SIZE, pool->page_size);
	hf_table_text(table, NODE, node);
	set(table, pool, TOTAL, counts->nr);
	set(table, pool, FREE, counts->free);
	set(table, pool, SURPLUS, counts->surplus);
	set(table, pool, USED, counts->nr > counts->free ? counts->nr - counts->free : 0);
	set(table, pool, PERSISTENT, counts->nr > counts->surplus ? counts->nr - counts->surplus : 0);
}

static void add_pool(const struct status_view *view, struct hf_table *table, const struct hf_pool *pool)
{
	const struct hf_pool_node machine = { pool->nr, pool->free, pool->surplus };
	const struct hf_topology *topo = &view->machine.topo;
	char node[16];

	for (size_t n = 0; n < topo->nnodes; n++) {
		if (!topo->nodes[n].has_memory || !hf_nodeset_has(&view->nodes, topo->nodes[n].id))
			continue;
		snprintf(node, sizeof(node), "%u", topo->nodes[n].id);
		add_row(table, pool, node, &pool->nodes[n]);
	}
	if (!view->all_nodes)
		return;
	add_row(table, pool, "all", &machine);
	set(table, pool, RSVD, pool->reserved);
	set(table, pool, OVERCOMMIT, pool->overcommit);
	set(table, pool, AVAIL, hf_pool_available(pool));
}

static int fill(struct status_view *view, struct hf_table *table, struct hf_err *err)
{
	const struct hf_pools *pools = &view->machine.pools;

	(void)err;
	for (size_t i = 0; i < pools->count; i++)
		if (status_wants(view, pools->pools[i].page_size))
			add_pool(view, table, &pools->pools[i]);
	return 0;
}

static const struct hf_metric_label labels[] = { { SIZE, "pagesize", NULL }, { NODE, "node", "all" } };
static const struct hf_metric metrics[] = {
	{ TOTAL, "hugefill_pool_pages", "pages", "Huge pages of the pool, persistent and surplus.", false,
	  false },
	{ FREE, "hugefill_pool_free_pages", "pages", "Huge pages that are not in use, reserved ones too.",
	  false, false },
	{ SURPLUS, "hugefill_pool_surplus_pages", "pages",
	  "Huge pages that go back to the system when they are freed.", false, false },
	{ RSVD, "hugefill_pool_reserved_pages", "pages", "Free huge pages that are promised.", false, true },
	{ OVERCOMMIT, "hugefill_pool_overcommit_pages", "pages", "Surplus huge pages that may be.", false,
	  true },
	{ AVAIL, "hugefill_pool_available_pages", "pages", "Free huge pages that are not promised.", false,
	  true },
};
static const struct hf_metric_set set_of_metrics = { labels, HF_LENGTH(labels), metrics, HF_LENGTH(metrics) };

const struct status_part status_pools = { "pools", columns, HF_LENGTH(columns), fill, &set_of_metrics };
