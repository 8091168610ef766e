/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "facts.h"

#include <fcntl.h>
#include <string.h>

static void read_line(const struct hf_machine *machine, const char *path, char *text)
{
	if (hf_sysroot_read(&machine->root, text, HF_FACTS_TEXT, NULL, NULL, "%s", path) < 0)
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* The file is as long as there are CPUs: its beginning is enough. */
static void read_cpu(const struct hf_machine *machine, char *text)
{
	_cleanup_close_ int fd = hf_sysroot_fd(&machine->root, O_RDONLY, NULL, "proc/cpuinfo");
	char buf[4096], *value;
	ssize_t got = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);

	*text = '\0';
	if (got <= 0)
		return;
	buf[got] = '\0';
	value = strstr(buf, "model name");
	value = value ? strchr(value, ':') : NULL;
	if (!value)
		return;
	value += 1 + strspn(value + 1, " \t");
	snprintf(text, HF_FACTS_TEXT, "%.*s", (int)strcspn(value, "\n"), value);
}

int hf_facts_init_on_alloc(const char *cmdline)
{
	static const char name[] = "init_on_alloc=";
	int value = -1;

	for (const char *at = cmdline; (at = strstr(at, name)); at += sizeof(name) - 1) {
		const char *text = at + sizeof(name) - 1;

		if (at > cmdline && at[-1] != ' ')
			continue;
		if (strchr("1yYt", *text) && *text)
			value = 1;
		else if (strchr("0nNf", *text) && *text)
			value = 0;
		else if (strncmp(text, "on", 2) == 0)
			value = 1;
		else if (strncmp(text, "of", 2) == 0)
			value = 0;
	}
	return value;
}

static void read_governor(const struct hf_machine *machine, struct hf_facts *facts)
{
	const struct hf_nodeset *cpus = &machine->topo.cpus_allowed;
	char path[128];

	for (int cpu = hf_nodeset_next(cpus, 0); cpu >= 0 && !facts->governor[0];
	     cpu = hf_nodeset_next(cpus, (unsigned)cpu + 1)) {
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
		read_line(machine, path, facts->governor);
	}
}

void hf_facts_read(const struct hf_machine *machine, struct hf_facts *facts)
{
	char cmdline[8192], size[HF_SIZE_TEXT];
	int init = -1;

	*facts = (struct hf_facts){ .cpus = hf_nodeset_count(&machine->topo.cpus_allowed),
				    .nodes = (unsigned)machine->topo.nnodes,
				    .memory_nodes = hf_nodeset_count(&machine->topo.memory),
				    .memory = machine->topo.mem_total,
				    .hvo = hf_pool_is_optimized(&machine->root) };
	read_line(machine, "proc/sys/kernel/osrelease", facts->kernel);
	read_cpu(machine, facts->cpu);
	read_governor(machine, facts);
	if (hf_sysroot_read(&machine->root, cmdline, sizeof(cmdline), NULL, NULL, "proc/cmdline") == 0)
		init = hf_facts_init_on_alloc(cmdline);
	facts->init_told = init >= 0;
	facts->init_on_alloc = init == 1;
	for (size_t i = 0; i < machine->pools.count; i++) {
		size_t at = strlen(facts->page_sizes);

		snprintf(facts->page_sizes + at, sizeof(facts->page_sizes) - at, "%s%s", at ? " " : "",
			 hf_size_exact(machine->page_sizes[i], size));
	}
}
