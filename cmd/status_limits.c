/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <grp.h>
#include <pwd.h>

#include "status.h"

enum { TARGET, PAGESIZE, SIZE, MIN_SIZE, USED, INODES, MODE, OWNER, OPTIONS, INODES_USED, COVERED };

static const struct hf_column mount_columns[] = {
	[TARGET] = { "TARGET", HF_TEXT, false, "mount point" },
	[PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[SIZE] = { "SIZE", HF_BYTES, false, "size=: most that its files may have; blank: no limit" },
	[MIN_SIZE] = { "MIN_SIZE", HF_BYTES, false, "min_size=: what is reserved for it" },
	[USED] = { "USED", HF_BYTES, false, "used and reserved of SIZE; blank without it" },
	[INODES] = { "INODES", HF_COUNT, false, "nr_inodes=: most files, the root counts; blank: no limit" },
	[MODE] = { "MODE", HF_TEXT, false, "mode of its root" },
	[OWNER] = { "OWNER", HF_TEXT, false, "user and group of its root" },
	[OPTIONS] = { "OPTIONS", HF_TEXT, false, "as the kernel shows them" },
	[INODES_USED] = { "INODES_USED", HF_COUNT, true, "files there are; blank without a limit" },
	[COVERED] = { "COVERED", HF_BOOL, true, "something else is mounted over it" },
};

static void set_limit(struct hf_table *table, size_t column, uint64_t value)
{
	if (value != UINT64_MAX)
		hf_table_u64(table, column, value);
}

/* Names are this machine's: a captured tree has numbers. */
static void set_owner(const struct status_view *view, struct hf_table *table, const struct hf_mount *mount)
{
	bool live = view->machine.root.live;
	const struct passwd *user = live ? getpwuid(mount->uid) : NULL;
	const struct group *group = live ? getgrgid(mount->gid) : NULL;
	char uid[16], gid[16], owner[512];

	snprintf(uid, sizeof(uid), "%u", (unsigned)mount->uid);
	snprintf(gid, sizeof(gid), "%u", (unsigned)mount->gid);
	snprintf(owner, sizeof(owner), "%s:%s", user ? user->pw_name : uid, group ? group->gr_name : gid);
	hf_table_text(table, OWNER, owner);
}

static int fill_mounts(struct status_view *view, struct hf_table *table, struct hf_err *err)
{
	const struct hf_mounts *mounts = &view->machine.mounts;

	(void)err;
	for (size_t i = 0; i < mounts->count; i++) {
		const struct hf_mount *mount = &mounts->mounts[i];
		struct hf_mount_usage usage;
		char mode[16];

		/* What covers a mount at its very place would have the same labels. */
		if (!status_wants(view, mount->page_size) || (view->opts->metrics && mount->hidden))
			continue;
		hf_mount_usage(&view->machine.root, mount, &usage);
		snprintf(mode, sizeof(mode), "%04o", (unsigned)mount->mode);
		hf_table_row(table);
		hf_table_text(table, TARGET, mount->target);
		hf_table_u64(table, PAGESIZE, mount->page_size);
		set_limit(table, SIZE, mount->size_limit);
		set_limit(table, MIN_SIZE, mount->min_size);
		set_limit(table, USED, usage.used);
		set_limit(table, INODES, mount->nr_inodes);
		hf_table_text(table, MODE, mode);
		set_owner(view, table, mount);
		hf_table_text(table, OPTIONS, mount->options);
		set_limit(table, INODES_USED, usage.inodes);
		hf_table_bool(table, COVERED, mount->hidden);
	}
	return 0;
}

static const struct hf_metric_label mount_labels[] = { { TARGET, "mountpoint", NULL },
						       { PAGESIZE, "pagesize", NULL } };
static const struct hf_metric mount_metrics[] = {
	{ TARGET, "hugefill_mount_info", NULL, "A hugetlbfs mount that can be reached.", false, false },
	{ SIZE, "hugefill_mount_size_bytes", "bytes", "Most that its files may have.", false, false },
	{ MIN_SIZE, "hugefill_mount_min_size_bytes", "bytes", "What is reserved for the mount.", false,
	  false },
	{ USED, "hugefill_mount_used_bytes", "bytes", "Used and reserved, where there is a limit.", false,
	  false },
	{ INODES, "hugefill_mount_inodes", "inodes", "Most files, its root counts.", false, false },
	{ INODES_USED, "hugefill_mount_used_inodes", "inodes", "Files, where there is a limit.", false,
	  false },
};
static const struct hf_metric_set mount_set = { mount_labels, HF_LENGTH(mount_labels), mount_metrics,
						HF_LENGTH(mount_metrics) };

const struct status_part status_mounts = { "mounts", mount_columns, HF_LENGTH(mount_columns), fill_mounts,
					   &mount_set };

enum { CGROUP, CG_PAGESIZE, LIMIT, RSVD_LIMIT, USAGE, RSVD_USAGE, FAILURES, RSVD_FAILURES, HIERARCHY };

static const struct hf_column cgroup_columns[] = {
	[CGROUP] = { "CGROUP", HF_TEXT, false, "path in its hierarchy" },
	[CG_PAGESIZE] = { "PAGESIZE", HF_BYTES, false, "huge page size" },
	[LIMIT] = { "LIMIT", HF_BYTES, false, "most that may be used; blank: no limit" },
	[RSVD_LIMIT] = { "RSVD_LIMIT", HF_BYTES, false, "most that may be reserved; blank: no limit" },
	[USAGE] = { "USAGE", HF_BYTES, false, "used, with the cgroups below" },
	[RSVD_USAGE] = { "RSVD_USAGE", HF_BYTES, false, "reserved, used or not" },
	[FAILURES] = { "FAILURES", HF_COUNT, false, "how often LIMIT has refused a page" },
	[RSVD_FAILURES] = { "RSVD_FAILURES", HF_COUNT, true, "how often RSVD_LIMIT has; cgroup v1 only" },
	[HIERARCHY] = { "HIERARCHY", HF_TEXT, true, "v1 or v2" },
};

static int fill_cgroups(struct status_view *view, struct hf_table *table, struct hf_err *err)
{
	const struct hf_machine *machine = &view->machine;
	struct hf_cgroup_tree tree;
	char text[128];
	int rc;

	rc = hf_cgroup_tree_read(&machine->root, &machine->mounts, machine->page_sizes, machine->pools.count,
				 &tree, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < tree.count; i++) {
		const struct hf_cgroup_row *row = &tree.rows[i];

		if (!status_wants(view, row->page_size))
			continue;
		hf_table_row(table);
		hf_table_text(table, CGROUP, row->path);
		hf_table_u64(table, CG_PAGESIZE, row->page_size);
		set_limit(table, LIMIT, row->limit);
		set_limit(table, RSVD_LIMIT, row->rsvd_limit);
		set_limit(table, USAGE, row->usage);
		set_limit(table, RSVD_USAGE, row->rsvd_usage);
		set_limit(table, FAILURES, row->failures);
		set_limit(table, RSVD_FAILURES, row->rsvd_failures);
		hf_table_text(table, HIERARCHY, row->v2 ? "v2" : "v1");
	}
	if (tree.skipped) {
		snprintf(text, sizeof(text), "%zu could not be looked into", tree.skipped);
		hf_table_row(view->notes);
		hf_table_text(view->notes, STATUS_NOTE_OBJECT, "cgroups");
		hf_table_text(view->notes, STATUS_NOTE_TEXT, text);
	}
	hf_cgroup_tree_free(&tree);
	return 0;
}

static const struct hf_metric_label cgroup_labels[] = { { CGROUP, "cgroup", NULL },
							{ HIERARCHY, "hierarchy", NULL },
							{ CG_PAGESIZE, "pagesize", NULL } };
static const struct hf_metric cgroup_metrics[] = {
	{ LIMIT, "hugefill_cgroup_limit_bytes", "bytes", "Most that may be used.", false, false },
	{ RSVD_LIMIT, "hugefill_cgroup_reserved_limit_bytes", "bytes", "Most that may be reserved.", false,
	  false },
	{ USAGE, "hugefill_cgroup_usage_bytes", "bytes", "Used, with the cgroups below.", false, false },
	{ RSVD_USAGE, "hugefill_cgroup_reserved_usage_bytes", "bytes", "Reserved, used or not.", false,
	  false },
	{ FAILURES, "hugefill_cgroup_failures_total", NULL, "How often the limit has refused a page.", true,
	  false },
	{ RSVD_FAILURES, "hugefill_cgroup_reserved_failures_total", NULL,
	  "How often the limit of reservations has refused one.", true, false },
};
static const struct hf_metric_set cgroup_set = { cgroup_labels, HF_LENGTH(cgroup_labels), cgroup_metrics,
						 HF_LENGTH(cgroup_metrics) };

const struct status_part status_cgroups = { "cgroups", cgroup_columns, HF_LENGTH(cgroup_columns),
					    fill_cgroups, &cgroup_set };
