/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>

#include "../lib/size.h"

void hf_option_fail(const struct argp_state *state, const struct hf_err *err)
{
	char what[4 * HF_ERR_TEXT];

	argp_error(state, "%s: %s", err->object, hf_err_printable(err->what, what, sizeof(what)));
}

int hf_option_blame(const char *option, struct hf_err *err)
{
	char what[HF_ERR_TEXT], text[HF_ERR_OBJECT];

	snprintf(what, sizeof(what), "%s", err->what);
	hf_err_escape(err->object, text, sizeof(text));
	snprintf(err->what, sizeof(err->what), "\"%.200s\": %.700s", text, what);
	snprintf(err->object, sizeof(err->object), "%s", option);
	return -err->errnum;
}

int hf_option_file(const char *name, const char *size, const struct hf_spec_rules *rules,
		   struct hf_spec_list *list, struct hf_err *err)
{
	int r;

	if (!*size)
		return hf_err_usage(err, "--size", "an amount is missing; write one as 4G");
	if (name && !*name)
		return hf_err_usage(err, "--file", "a name is missing");
	r = hf_spec_make(name ? name : "hugefill", size, rules, list, err);
	if (r < 0 && !err->object[0])
		snprintf(err->object, sizeof(err->object), "--size");
	return r;
}

int hf_option_u64(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value,
		  struct hf_err *err)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= least && *value <= most)
		return 0;
	return hf_err_usage(err, option, "\"%s\" is no number from %llu to %llu", text,
			    (unsigned long long)least, (unsigned long long)most);
}

int hf_option_seconds(const char *option, const char *text, double *seconds, struct hf_err *err)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 }, { "min", 60 }, { "h", 3600 } };
	char *end = NULL;

	errno = 0;
	*seconds = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
	for (size_t i = 0; end && i < HF_LENGTH(units); i++) {
		if (strcmp(end, units[i].unit) != 0 || errno || strpbrk(text, "xXeE"))
			continue;
		*seconds *= units[i].seconds;
		if (*seconds > 0 && *seconds < 1e9)
			return 0;
	}
	return hf_err_usage(err, option, "\"%s\" is no time; write 90, 90s, 500ms, 1.5m or 2h", text);
}

int hf_option_mode(const char *option, const char *text, mode_t most, mode_t *mode, struct hf_err *err)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 8);
	if (*text < '0' || *text > '7' || *end || errno || value > most)
		return hf_err_usage(err, option, "\"%s\" is no octal mode from 0 to 0%o", text, most);
	*mode = (mode_t)value;
	return 0;
}

static bool as_number(const char *text, unsigned *id)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	*id = (unsigned)value;
	return *text >= '0' && *text <= '9' && !*end && !errno && value < UINT32_MAX;
}

int hf_option_owner(const char *option, const char *text, uid_t *uid, gid_t *gid, struct hf_err *err)
{
	const char *colon = strchr(text, ':'), *group = colon ? colon + 1 : "";
	_cleanup_free_ char *user = strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	const struct passwd *pw;
	const struct group *gr;
	unsigned id;

	if (!user)
		return hf_err_nomem(err);
	pw = *user ? getpwnam(user) : NULL;
	gr = *group ? getgrnam(group) : NULL;
	*uid = (uid_t)-1;
	*gid = (gid_t)-1;
	if (pw)
		*uid = pw->pw_uid;
	else if (as_number(user, &id))
		*uid = id;
	else if (*user || !*group)
		return hf_err_usage(err, option,
				    "\"%s\": there is no user \"%s\"; write USER[:GROUP] or :GROUP", text,
				    user);
	if (gr)
		*gid = gr->gr_gid;
	else if (as_number(group, &id))
		*gid = id;
	else if (*group)
		return hf_err_usage(err, option, "\"%s\": there is no group \"%s\"", text, group);
	/* As chown(1) does: "user:" is the user's own group. */
	else if (colon && pw)
		*gid = pw->pw_gid;
	return 0;
}

int hf_option_share(const char *option, const char *text, uint64_t memory, uint64_t *bytes,
		    struct hf_err *err)
{
	struct hf_amount amount;
	int r = hf_size_parse_amount(text, strlen(text), &amount, err);

	if (r < 0)
		return hf_option_blame(option, err);
	if (amount.relative || amount.unit == HF_UNIT_PAGES ||
	    (amount.unit == HF_UNIT_BYTES && !amount.whole))
		return hf_err_usage(err, option, "\"%s\" is neither a size in whole bytes nor a percentage",
				    text);
	if (amount.unit == HF_UNIT_PERCENT)
		*bytes = (uint64_t)((unsigned __int128)memory * amount.value / 100000000);
	else
		*bytes = amount.value;
	return 0;
}

int hf_option_page_size(const struct hf_machine *machine, const char *text, uint64_t *bytes,
			struct hf_err *err)
{
	const struct hf_pool *standard = hf_pools_default(&machine->pools);
	char size[HF_SIZE_TEXT];

	*bytes = standard ? standard->page_size : 0;
	if (!machine->pools.count)
		return hf_err_set(
			err, ENOTSUP, "huge pages",
			"this kernel has none (hugetlb is not built in, or the CPU has no huge pages)");
	if ((!text || strcmp(text, "default") == 0) && standard)
		return 0;
	if (text && strcmp(text, "default") != 0) {
		int r = hf_size_parse(text, bytes, err);

		if (r < 0)
			return hf_option_blame("--page-size", err);
		if (hf_pools_find(&machine->pools, *bytes))
			return 0;
	}
	hf_err_usage(err, "--page-size", "\"%s\" is no page size of this kernel", text ? text : "default");
	for (size_t i = 0; i < machine->pools.count; i++)
		hf_err_hint(err, "it has %s pages", hf_size_exact(machine->page_sizes[i], size));
	return -EINVAL;
}

int hf_option_choice(const char *option, const char *text, const char *const *names, int *index,
		     struct hf_err *err)
{
	char all[256] = "";

	for (*index = 0; names[*index]; (*index)++) {
		size_t used = strlen(all);

		if (strcmp(names[*index], text) == 0)
			return 0;
		snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "", names[*index]);
	}
	return hf_err_usage(err, option, "\"%s\" is none of %s", text, all);
}

static int owner_of_line(const char *text, uid_t *uid, gid_t *gid, struct hf_err *err)
{
	return hf_option_owner("owner", text, uid, gid, err);
}

static void tell_bad_line(const struct hf_err *err, void *arg)
{
	hf_print_err(arg, err);
}

bool hf_option_is_stdin(const char *path)
{
	return strcmp(path, "-") == 0;
}

int hf_option_from(const struct hf_common *common, const char *path, const struct hf_spec_rules *rules,
		   struct hf_spec_list *list, struct hf_err *err)
{
	_cleanup_fclose_ FILE *file = NULL;
	struct hf_spec_rules of_files = *rules;

	of_files.owner = owner_of_line;
	of_files.bad_line = tell_bad_line;
	of_files.arg = (void *)(uintptr_t)common;
	if (hf_option_is_stdin(path))
		return hf_spec_read(stdin, "standard input", &of_files, list, err);
	file = fopen(path, "re");
	if (!file) {
		hf_err_sys(err, errno, path, "cannot open the spec file");
		err->usage = true;
		return -err->errnum;
	}
	return hf_spec_read(file, path, &of_files, list, err);
}
