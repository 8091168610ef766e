/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "apply_parts.h"

#include "mountpoint.h"

int hf_apply_mounts(struct hf_transaction *t, struct hf_err *err)
{
	for (size_t i = 0; i < t->apply->plan->nmounts; i++) {
		const struct hf_plan_mount *mount = &t->apply->plan->mounts[i];
		const struct hf_wanted wanted = hf_plan_wanted(t->apply->request, mount->spec);
		const struct hf_mount_request what = {
			.target = mount->target,
			.page_size = mount->page_size,
			.size_limit = HF_MOUNTS_NONE,
			.min_size = HF_MOUNTS_NONE,
			.nr_inodes = HF_MOUNTS_NONE,
			/* A directory that may be read must be entered, too. */
			.mode = wanted.has_mode ? wanted.mode | (wanted.mode & 0444) >> 2 : 0755,
			.uid = wanted.uid == (uid_t)-1 ? getuid() : wanted.uid,
			.gid = wanted.gid == (gid_t)-1 ? getgid() : wanted.gid,
		};
		int r = hf_mountpoint_make(&t->apply->machine->root, &t->undo, &what, err);

		if (r < 0)
			return r;
		t->apply->changed = true;
	}
	return 0;
}
