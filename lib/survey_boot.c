/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "survey_parts.h"

#include <inttypes.h>
#include <string.h>

#define CMDLINE_BYTES 65536

char *hf_survey_cmdline(const struct hf_machine *machine)
{
	char *text = malloc(CMDLINE_BYTES);

	if (text && hf_sysroot_read(&machine->root, text, CMDLINE_BYTES, NULL, NULL, "proc/cmdline") < 0)
		*text = '\0';
	return text;
}

/* The next NAME[=VALUE] from *at on, a quoted one as a whole; NULL at the end, or at "--", where init's
 * arguments begin. */
static const char *next_argument(const char **at, size_t *len)
{
	const char *start = *at + strspn(*at, " \t\n");
	bool quoted = false;

	for (*len = 0; start[*len] && (quoted || !strchr(" \t\n", start[*len])); (*len)++)
		if (start[*len] == '"')
			quoted = !quoted;
	*at = start + *len;
	return *len && !(*len == 2 && strncmp(start, "--", 2) == 0) ? start : NULL;
}

static bool is_named(const char *argument, size_t len, const char *name, char *value, size_t size)
{
	size_t name_len = strlen(name), rest;

	if (len <= name_len || strncmp(argument, name, name_len) != 0 || argument[name_len] != '=')
		return false;
	rest = len - name_len - 1;
	rest = rest < size - 1 ? rest : size - 1;
	memcpy(value, argument + name_len + 1, rest);
	value[rest] = '\0';
	return true;
}

bool hf_survey_argument(const char *cmdline, const char *name, char *value, size_t size)
{
	const char *argument;
	bool found = false;
	size_t len;

	while ((argument = next_argument(&cmdline, &len)) != NULL)
		found = is_named(argument, len, name, value, size) || found;
	return found;
}

/* "512", or by node "0:256,1:256". */
static uint64_t count_pages(const char *text)
{
	uint64_t pages = 0;

	while (*text) {
		char *end;
		uint64_t number = strtoull(text, &end, 10);

		if (end == text)
			return pages;
		if (*end == ':')
			number = strtoull(end + 1, &end, 10);
		if (__builtin_add_overflow(pages, number, &pages))
			return UINT64_MAX;
		text = end + (*end == ',');
		if (*end && *end != ',')
			return pages;
	}
	return pages;
}

/* hugepages= belongs to the size named last before it, else to the default one; of several for one size
 * the last one counts. */
static void count_boot(const struct hf_machine *machine, const char *cmdline, uint64_t *boot)
{
	const struct hf_pool *pool = hf_pools_default(&machine->pools);
	const char *argument;
	char value[1024];
	size_t len;

	while ((argument = next_argument(&cmdline, &len)) != NULL) {
		struct hf_err ignored = { 0 };
		uint64_t size;

		if (is_named(argument, len, "hugepagesz", value, sizeof(value)) ||
		    is_named(argument, len, "default_hugepagesz", value, sizeof(value)))
			pool = hf_size_parse(value, &size, &ignored) < 0
				       ? NULL
				       : hf_pools_find(&machine->pools, size);
		else if (pool && is_named(argument, len, "hugepages", value, sizeof(value)))
			boot[pool - machine->pools.pools] = count_pages(value);
	}
}

static void compare(struct hf_surveying *s, const struct hf_pool *pool, uint64_t boot)
{
	uint64_t now = hf_pool_persistent(pool), most = UINT64_MAX / pool->page_size;
	char size[HF_SIZE_TEXT], wanted[HF_SIZE_TEXT];
	struct hf_finding *f;

	boot = boot < most ? boot : most;
	if (boot == now)
		return;
	f = hf_survey_add(s, now < boot ? HF_WARNING : HF_INFO, now < boot ? "boot-short" : "boot", -1,
			  hf_size_exact(pool->page_size, size));
	f->wanted = boot * pool->page_size;
	f->got = now * pool->page_size;
	if (now < boot) {
		hf_survey_say(f,
			      "the kernel command line asks for %" PRIu64 " pages, the pool has %" PRIu64
			      ": not all could be had, or some were given back",
			      boot, now);
		hf_survey_hint(f, "hugefill alloc %s=%s", size, hf_size_exact(f->wanted, wanted));
		return;
	}
	hf_survey_say(f,
		      "%" PRIu64 " of the pool's %" PRIu64
		      " pages are not on the kernel command line: after a "
		      "reboot they must be made again",
		      now - boot, now);
	hf_survey_hint(f, "hugefill check --persist");
}

void hf_survey_boot(struct hf_surveying *s)
{
	size_t count = s->machine->pools.count;
	_cleanup_free_ uint64_t *boot = calloc(count + 1, sizeof(*boot));
	_cleanup_free_ char *cmdline = hf_survey_cmdline(s->machine);

	if (!boot || !cmdline) {
		s->failed = true;
		return;
	}
	count_boot(s->machine, cmdline, boot);
	for (size_t i = 0; i < count; i++)
		compare(s, &s->machine->pools.pools[i], boot[i]);
}
