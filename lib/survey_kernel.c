/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "survey_parts.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"

bool hf_survey_zeroes(const struct hf_machine *machine)
{
	_cleanup_free_ char *cmdline = hf_survey_cmdline(machine);
	char value[16];

	/* What kstrtobool() takes for true. */
	return cmdline && hf_survey_argument(cmdline, "init_on_alloc", value, sizeof(value)) &&
	       (strchr("1yYtT", value[0]) || strncasecmp(value, "on", 2) == 0);
}

bool hf_survey_is_older(const struct hf_machine *machine, unsigned major, unsigned minor)
{
	unsigned have_major, have_minor;
	char release[128];

	if (hf_sysroot_read(&machine->root, release, sizeof(release), NULL, NULL,
			    "proc/sys/kernel/osrelease") < 0 ||
	    sscanf(release, "%u.%u", &have_major, &have_minor) != 2)
		return false;
	return have_major < major || (have_major == major && have_minor < minor);
}

bool hf_survey_lacks_compaction(const struct hf_machine *machine)
{
	return machine->root.live && !hf_sysroot_exists(&machine->root, "proc/sys/vm/compact_memory");
}

static void look_at_zeroing(struct hf_surveying *s)
{
	struct hf_finding *f;

	if (!hf_survey_zeroes(s->machine))
		return;
	f = hf_survey_add(s, HF_INFO, "init-on-alloc", -1, "kernel");
	hf_survey_say(
		f, "init_on_alloc=1: the kernel zeroes each page when a pool grows, one after the other, and "
		   "again when it is filled: growing takes as long as filling by one thread");
	hf_survey_hint(f, "init_on_alloc=0 on the kernel command line, where the security policy allows it");
}

static void look_at_hvo(struct hf_surveying *s)
{
	uint64_t on;
	struct hf_finding *f;

	if (hf_sysroot_read_u64(&s->machine->root, &on, NULL, "proc/sys/vm/hugetlb_optimize_vmemmap") < 0 ||
	    !on)
		return;
	f = hf_survey_add(s, HF_INFO, "hvo", -1, "kernel");
	hf_survey_say(
		f,
		"vm.hugetlb_optimize_vmemmap=1 saves memory for page structures, but pools grow and shrink "
		"more slowly, and are not grown in parallel");
	hf_survey_hint(f, "sysctl vm.hugetlb_optimize_vmemmap=0");
}

static void look_at_version(struct hf_surveying *s)
{
	struct hf_finding *f;

	if (!hf_survey_is_older(s->machine, 5, 14))
		return;
	f = hf_survey_add(s, HF_WARNING, "no-populate", -1, "kernel");
	hf_survey_say(
		f, "is older than Linux 5.14 and has no MADV_POPULATE_WRITE: files are filled by touching, "
		   "and a page that cannot be had is a SIGBUS for others");
}

static void look_at_gigantic(struct hf_surveying *s)
{
	uint64_t largest = hf_cause_largest_block(&s->machine->root);
	bool unable = hf_survey_lacks_compaction(s->machine);
	char size[HF_SIZE_TEXT];

	for (size_t i = 0; largest && i < s->machine->pools.count; i++) {
		uint64_t page_size = s->machine->page_sizes[i];
		struct hf_finding *f;

		if (page_size <= largest)
			continue;
		f = hf_survey_add(s, unable ? HF_WARNING : HF_INFO,
				  unable ? "gigantic-unsupported" : "gigantic", -1,
				  hf_size_exact(page_size, size));
		if (unable)
			hf_survey_say(
				f,
				"this kernel is built without compaction and makes such pages at boot only");
		else
			hf_survey_say(
				f,
				"such a page needs as much contiguous memory: easily had at boot, less and "
				"less likely later");
		hf_survey_hint(f, "hugepagesz=%s hugepages=N on the kernel command line", size);
	}
}

/* "Max locked memory  8388608  8388608  bytes": the soft limit; UINT64_MAX: none, or not known. */
static uint64_t memlock(const struct hf_machine *machine)
{
	static const char name[] = "Max locked memory";
	uint64_t bytes = UINT64_MAX;
	const char *line;
	char text[8192];

	if (hf_sysroot_read(&machine->root, text, sizeof(text), NULL, NULL, "proc/self/limits") < 0)
		return UINT64_MAX;
	line = strstr(text, name);
	if (!line || sscanf(line + strlen(name), " %" SCNu64, &bytes) != 1)
		return UINT64_MAX;
	return bytes;
}

static bool may_lock_memory(const struct hf_machine *machine)
{
	static const char name[] = "CapEff:";
	char text[8192];
	unsigned long long caps;
	const char *line;

	if (hf_sysroot_read(&machine->root, text, sizeof(text), NULL, NULL, "proc/self/status") < 0)
		return geteuid() == 0;
	line = strstr(text, name);
	return line && sscanf(line + strlen(name), " %llx", &caps) == 1 && caps >> CAP_IPC_LOCK & 1;
}

static bool is_in_group(gid_t group)
{
	int count = getgroups(0, NULL);
	_cleanup_free_ gid_t *groups = count > 0 ? calloc((size_t)count, sizeof(*groups)) : NULL;

	count = groups ? getgroups(count, groups) : 0;
	for (int i = 0; i < count; i++)
		if (groups[i] == group)
			return true;
	return getegid() == group;
}

/* Root asks for others, of whom nothing is known; so it is on a captured tree. */
static void look_at_shm(struct hf_surveying *s)
{
	bool own = s->machine->root.live && !may_lock_memory(s->machine);
	struct hf_finding *f;
	uint64_t group;

	if (hf_sysroot_read_u64(&s->machine->root, &group, NULL, "proc/sys/vm/hugetlb_shm_group") < 0 ||
	    (own && is_in_group((gid_t)group)))
		return;
	f = hf_survey_add(s, HF_INFO, "shm-group", -1, "limits");
	hf_survey_say(
		f,
		"SysV segments of huge pages (SHM_HUGETLB) are for CAP_IPC_LOCK and members of group %" PRIu64
		" (vm.hugetlb_shm_group)%s",
		group, own ? ": they are refused to this user" : "");
	if (own)
		hf_survey_hint(f, "sysctl vm.hugetlb_shm_group=%u", (unsigned)getegid());
	else
		hf_survey_hint(f, "sysctl vm.hugetlb_shm_group=GID");
}

/* What a user hits, though pages are there. */
static void look_at_users(struct hf_surveying *s)
{
	uint64_t lock = memlock(s->machine);
	char size[HF_SIZE_TEXT];
	struct hf_finding *f;

	if (lock != UINT64_MAX) {
		f = hf_survey_add(s, HF_INFO, "memlock", -1, "limits");
		f->got = lock;
		hf_survey_say(
			f,
			"a process without CAP_IPC_LOCK may lock %s: more is refused to what pins huge pages "
			"(mlock, VFIO, RDMA)",
			hf_size_exact(lock, size));
		hf_survey_hint(f,
			       "LimitMEMLOCK=infinity in the unit, memlock in limits.conf(5), or ulimit -l");
	}
	look_at_shm(s);
}

void hf_survey_kernel(struct hf_surveying *s)
{
	look_at_version(s);
	look_at_gigantic(s);
	look_at_zeroing(s);
	look_at_hvo(s);
	look_at_users(s);
}
