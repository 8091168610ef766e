/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "advice.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "survey_parts.h"

/* Text that grows; bad once memory is out. */
struct text {
	char *text;
	bool bad;
};

static void put(struct text *t, const char *fmt, ...) _printf(2, 3);

static void put(struct text *t, const char *fmt, ...)
{
	char *more, *grown;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&more, fmt, ap);
	va_end(ap);
	if (len < 0) {
		t->bad = true;
		return;
	}
	if (asprintf(&grown, "%s%s", t->text ? t->text : "", more) < 0) {
		t->bad = true;
	} else {
		free(t->text);
		t->text = grown;
	}
	free(more);
}

/* Pages that the pool has on the node, or is to have. */
static uint64_t pages_on(const struct hf_machine *machine, const struct hf_plan *plan, size_t pool,
			 size_t node)
{
	uint64_t now = hf_pool_node_persistent(&machine->pools.pools[pool], node);

	if (!plan)
		return now;
	if (!plan->pools[pool].used)
		return 0;
	return plan->pools[pool].write[node] ? plan->pools[pool].write[node] : now;
}

static uint64_t pages_of(const struct hf_machine *machine, const struct hf_plan *plan, size_t pool)
{
	uint64_t pages = 0;

	for (size_t n = 0; n < machine->topo.nnodes; n++)
		pages += pages_on(machine, plan, pool, n);
	return pages;
}

/* Linux 5.16 and later take hugepages=NODE:PAGES,...; where there is one node it says no more. */
static bool by_node(const struct hf_machine *machine)
{
	return hf_nodeset_count(&machine->topo.memory) > 1 && !hf_survey_is_older(machine, 5, 16);
}

static void put_argument(struct text *t, const struct hf_machine *machine, const struct hf_plan *plan,
			 size_t pool)
{
	char size[HF_SIZE_TEXT];
	const char *before = "";

	put(t, " hugepagesz=%s hugepages=", hf_size_exact(machine->page_sizes[pool], size));
	if (!by_node(machine)) {
		put(t, "%" PRIu64, pages_of(machine, plan, pool));
		return;
	}
	for (size_t n = 0; n < machine->topo.nnodes; n++) {
		uint64_t pages = pages_on(machine, plan, pool, n);

		if (!pages)
			continue;
		put(t, "%s%u:%" PRIu64, before, machine->topo.nodes[n].id, pages);
		before = ",";
	}
}

static void put_arguments(struct text *t, const struct hf_machine *machine, const struct hf_plan *plan)
{
	const struct hf_pool *standard = hf_pools_default(&machine->pools);
	char size[HF_SIZE_TEXT];
	bool any = false;

	put(t, "%s", "");
	for (size_t i = 0; i < machine->pools.count; i++) {
		if (!pages_of(machine, plan, i))
			continue;
		if (!any && standard)
			put(t, "default_hugepagesz=%s", hf_size_exact(standard->page_size, size));
		put_argument(t, machine, plan, i);
		any = true;
	}
}

/* "2M=8G@0,4G@1": the pool as it is. */
static void put_pool(struct text *t, const struct hf_machine *machine, size_t pool)
{
	uint64_t page_size = machine->page_sizes[pool];
	char size[HF_SIZE_TEXT], amount[HF_SIZE_TEXT];
	char before = '=';

	put(t, "%s", hf_size_exact(page_size, size));
	for (size_t n = 0; n < machine->topo.nnodes; n++) {
		uint64_t pages = pages_on(machine, NULL, pool, n);

		if (!pages)
			continue;
		put(t, "%c%s", before, hf_size_exact(pages * page_size, amount));
		if (hf_nodeset_count(&machine->topo.memory) > 1)
			put(t, "@%u", machine->topo.nodes[n].id);
		before = ',';
	}
	put(t, "\n");
}

/* +AMOUNT would be more at each start: what it comes to now. */
static void put_relative(struct text *t, const struct hf_plan *plan, const struct hf_target *target)
{
	uint64_t page_size = plan->machine->page_sizes[target->pool];
	char size[HF_SIZE_TEXT], amount[HF_SIZE_TEXT];
	char before = '=';

	put(t, "%s", hf_size_exact(page_size, size));
	for (size_t i = 0; i < target->nshares; i++) {
		if (!target->asked[i].pages)
			continue;
		put(t, "%c%s", before, hf_size_exact(target->asked[i].pages * page_size, amount));
		if (hf_nodeset_count(&plan->machine->topo.memory) > 1)
			put(t, "@%u", plan->machine->topo.nodes[target->asked[i].node].id);
		before = ',';
	}
	put(t, "\n");
}

/* A path is written whole: the unit starts in another directory. So is a name that a reader of specs would
 * take for a comment, or shorten. */
static void put_options(struct text *t, const struct hf_spec *spec)
{
	const struct hf_spec_options *with = &spec->with;
	_cleanup_free_ char *mount = with->mount ? hf_mounts_mangle(with->mount) : NULL;
	char size[HF_SIZE_TEXT];
	const char *before = " ";

	if (with->page_size) {
		put(t, "%spage-size=%s", before, hf_size_exact(with->page_size, size));
		before = ",";
	}
	if (with->has_mode) {
		put(t, "%smode=%04o", before, (unsigned)with->mode);
		before = ",";
	}
	if (with->has_owner) {
		put(t, "%sowner=", before);
		if (with->uid != (uid_t)-1)
			put(t, "%u", (unsigned)with->uid);
		if (with->gid != (gid_t)-1)
			put(t, ":%u", (unsigned)with->gid);
		before = ",";
	}
	if (with->layout) {
		put(t, "%slayout=%s", before, with->layout);
		before = ",";
	}
	if (!mount)
		return;
	put(t, "%smount=", before);
	for (const char *c = mount; *c; c++)
		put(t, *c == ',' ? "\\054" : "%c", *c);
}

static int put_file(struct text *t, const struct hf_spec *spec, const struct hf_place *place,
		    struct hf_err *err)
{
	const char *amounts = strrchr(spec->text, '=');
	_cleanup_free_ char *word = NULL;
	bool whole = strchr(spec->name, '/') || *spec->name == '#' || isspace((unsigned char)*spec->name);

	if (strchr(place->path, '\n'))
		return hf_err_usage(err, place->path,
				    "a name with a newline does not fit into a file of specs");
	word = hf_mounts_mangle(whole ? place->path : spec->name);
	if (!word)
		return hf_err_nomem(err);
	put(t, "%s%s", word, amounts ? amounts : "");
	put_options(t, spec);
	put(t, "\n");
	return 0;
}

static int put_specs(struct text *t, const struct hf_plan *plan, struct hf_err *err)
{
	const struct hf_spec_list *specs = plan->request->specs;
	int r = 0;

	for (size_t i = 0; i < specs->count && r == 0; i++) {
		const struct hf_spec *spec = &specs->specs[i];

		if (spec->kind == HF_SPEC_FILE)
			r = put_file(t, spec, &plan->request->places[i], err);
		else if (spec->nparts && spec->parts[0].amount.relative)
			put_relative(t, plan, &plan->targets[i]);
		else
			put(t, "%s\n", spec->text);
	}
	return r;
}

/* systemd/hugefill.service is the same but for options and the program's path: a test compares them. */
static void put_unit(struct text *t, const char *start, const char *stop)
{
	put(t,
	    "[Unit]\n"
	    "Description=Huge pages, as /etc/hugefill.conf wants them\n"
	    "Documentation=man:hugefill(8)\n"
	    "ConditionPathExists=/etc/hugefill.conf\n"
	    "After=dev-hugepages.mount local-fs.target nss-user-lookup.target\n"
	    "# Those that use huge pages, or count them once, when they start.\n"
	    "Before=libvirtd.service virtqemud.service libvirt-guests.service\n"
	    "Before=postgresql.service mariadb.service mysql.service\n"
	    "Before=openvswitch-switch.service openvswitch.service vpp.service\n"
	    "Before=kubelet.service containerd.service docker.service\n"
	    "\n"
	    "[Service]\n"
	    "Type=oneshot\n"
	    "RemainAfterExit=yes\n"
	    "ExecStart=hugefill alloc%s --from=/etc/hugefill.conf\n"
	    "ExecReload=hugefill alloc%s --from=/etc/hugefill.conf\n"
	    "ExecStop=hugefill free%s --shrink --from=/etc/hugefill.conf\n"
	    "TimeoutStartSec=infinity\n"
	    "%s",
	    start, start, stop,
	    /* What could be had is kept then, and the units that want it start. */
	    strstr(start, "--best-effort") ? "SuccessExitStatus=64\n" : "");
	put(t, "%s",
	    "# What is mounted here is for the whole machine: nothing that gives the unit mounts of its "
	    "own.\n"
	    "PrivateMounts=no\n"
	    "NoNewPrivileges=yes\n"
	    "CapabilityBoundingSet=CAP_SYS_ADMIN CAP_SYS_PTRACE CAP_DAC_OVERRIDE CAP_FOWNER CAP_CHOWN "
	    "CAP_LEASE\n"
	    "DevicePolicy=closed\n"
	    "IPAddressDeny=any\n"
	    "KeyringMode=private\n"
	    "LockPersonality=yes\n"
	    "MemoryDenyWriteExecute=yes\n"
	    "ProtectClock=yes\n"
	    "ProtectHostname=yes\n"
	    "RestrictAddressFamilies=AF_UNIX\n"
	    "RestrictNamespaces=yes\n"
	    "RestrictRealtime=yes\n"
	    "RestrictSUIDSGID=yes\n"
	    "SystemCallArchitectures=native\n"
	    "SystemCallFilter=@system-service @mount\n"
	    "SystemCallErrorNumber=EPERM\n"
	    "\n"
	    "[Install]\n"
	    "WantedBy=multi-user.target\n");
}

int hf_advice_make(const struct hf_machine *machine, const struct hf_plan *plan, const char *start,
		   const char *stop, struct hf_advice *advice, struct hf_err *err)
{
	struct text arguments = { 0 }, conf = { 0 }, unit = { 0 };
	int r = 0;

	put_arguments(&arguments, machine, plan);
	put(&conf, "%s", "");
	if (plan)
		r = put_specs(&conf, plan, err);
	for (size_t i = 0; i < machine->pools.count && !plan; i++)
		if (pages_of(machine, NULL, i))
			put_pool(&conf, machine, i);
	put_unit(&unit, start, stop);
	*advice = (struct hf_advice){ arguments.text, conf.text, unit.text };
	if (r == 0 && (arguments.bad || conf.bad || unit.bad))
		r = hf_err_nomem(err);
	return r;
}

void hf_advice_free(struct hf_advice *advice)
{
	free(advice->arguments);
	free(advice->conf);
	free(advice->unit);
	*advice = (struct hf_advice){ 0 };
}
