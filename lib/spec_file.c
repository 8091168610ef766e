/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spec.h"

#include <errno.h>
#include <string.h>

#include "mounts.h"

#define LINE_LARGEST 65536 /* the longest path, and amounts for as many nodes as Linux has */
#define BAD_MOST 12        /* lines: a file that holds something else has thousands */
#define BLANKS " \t\r\v\f"

struct reader {
	const struct hf_spec_rules *rules;
	struct hf_spec_list *list;
	unsigned bad; /* lines */
};

static const char *const names[] = { "page-size", "mode", "owner", "layout", "mount" };

/*
 * One line without its newline, terminated. 1: a line; 0: the end; else -errno: EFBIG, EBADMSG for
 * a NUL byte, or what the stream says. Unlike getline(3) it ends on an endless file.
 */
static int read_line(FILE *in, char *line, size_t *len)
{
	int c;

	*len = 0;
	errno = 0;
	while ((c = getc(in)) != EOF && c != '\n') {
		if (c == '\0')
			return -EBADMSG;
		if (*len == LINE_LARGEST)
			return -EFBIG;
		line[(*len)++] = (char)c;
	}
	line[*len] = '\0';
	if (c == EOF && ferror(in))
		return errno ? -errno : -EIO;
	return c == '\n' || *len;
}

/* One word, its \ooo replaced. */
static char *decode(const char *word, struct hf_err *err)
{
	char *text;

	if (strstr(word, "\\000")) {
		hf_err_usage(err, word, "\\000 is no character of a name");
		return NULL;
	}
	text = hf_mounts_unmangle(word);
	if (!text)
		hf_err_nomem(err);
	return text;
}

static int set_page_size(const char *value, const struct hf_spec_rules *rules, struct hf_spec_options *with,
			 struct hf_err *err)
{
	char size[HF_SIZE_TEXT];
	int r;

	if (strcmp(value, "default") == 0 && rules->default_page_size) {
		with->page_size = rules->default_page_size;
		return 0;
	}
	r = hf_size_parse(value, &with->page_size, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < rules->npage_sizes; i++)
		if (rules->page_sizes[i] == with->page_size)
			return 0;
	hf_err_usage(err, value, "is no page size of this kernel");
	for (size_t i = 0; i < rules->npage_sizes; i++)
		hf_err_hint(err, "it has %s pages", hf_size_exact(rules->page_sizes[i], size));
	return -EINVAL;
}

static int set_mode(const char *value, struct hf_spec_options *with, struct hf_err *err)
{
	size_t len = strlen(value);

	if (!len || len > 4 || strspn(value, "01234567") != len || strtoul(value, NULL, 8) > 0777)
		return hf_err_usage(err, value, "is no octal mode from 0 to 0777");
	with->mode = (mode_t)strtoul(value, NULL, 8);
	with->has_mode = true;
	return 0;
}

static int set_layout(const char *value, struct hf_spec_options *with, struct hf_err *err)
{
	with->layout = strcmp(value, "block") == 0 ? "block" : "interleave";
	return strcmp(value, with->layout) == 0 ? 0
						: hf_err_usage(err, value, "is none of interleave, block");
}

static bool ends_in(const char *text, size_t len, const char *end)
{
	return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

static int set_mount(const char *value, struct hf_spec_options *with, struct hf_err *err)
{
	size_t len = strlen(value);

	if (*value != '/' || strstr(value, "//") || strstr(value, "/./") || strstr(value, "/../") ||
	    ends_in(value, len, "/.") || ends_in(value, len, "/.."))
		return hf_err_usage(err, value, "is no absolute path of a directory");
	with->mount = strdup(value);
	if (!with->mount)
		return hf_err_nomem(err);
	while (len > 1 && with->mount[len - 1] == '/')
		with->mount[--len] = '\0';
	return 0;
}

static int set_option(size_t which, const char *value, const struct hf_spec_rules *rules,
		      struct hf_spec_options *with, struct hf_err *err)
{
	switch (which) {
	case 0:
		return set_page_size(value, rules, with, err);
	case 1:
		return set_mode(value, with, err);
	case 2:
		with->has_owner = true;
		return rules->owner ? rules->owner(value, &with->uid, &with->gid, err) : 0;
	case 3:
		return set_layout(value, with, err);
	default:
		return set_mount(value, with, err);
	}
}

/* The option's place in names, or their number. */
static size_t find_option(const char *word)
{
	size_t len = strcspn(word, "="), i = 0;

	while (i < HF_LENGTH(names) && (strncmp(word, names[i], len) != 0 || names[i][len] || !word[len]))
		i++;
	return i;
}

static int parse_option(char *word, const struct hf_spec_rules *rules, struct hf_spec_options *with,
			unsigned *given, struct hf_err *err)
{
	_cleanup_free_ char *value = NULL;
	const char *text = strchr(word, '=');
	size_t i = find_option(word);

	if (i == HF_LENGTH(names))
		return hf_err_usage(err, word,
				    "is no option of a line: there are page-size=, mode=, owner=, layout=, "
				    "mount=, separated by commas");
	if (*given & 1U << i)
		return hf_err_usage(err, word, "%s is said twice", names[i]);
	*given |= 1U << i;
	if (!text[1])
		return hf_err_usage(err, word, "nothing after the =");
	value = decode(text + 1, err);
	return value ? set_option(i, value, rules, with, err) : -err->errnum;
}

/* What makes no sense for this spec. */
static int check_options(const struct hf_spec *spec, unsigned given, struct hf_err *err)
{
	for (size_t i = 0; i < HF_LENGTH(names); i++) {
		if (!(given & 1U << i))
			continue;
		if (spec->kind == HF_SPEC_POOL)
			return hf_err_usage(err, spec->text, "a pool has no %s: it is for files", names[i]);
		if (strchr(spec->name, '/') && (i == 0 || i == 4))
			return hf_err_usage(err, spec->text,
					    "%s is for bare names: a path says where it lies", names[i]);
	}
	return 0;
}

static int parse_options(char *text, const struct hf_spec_rules *rules, struct hf_spec *spec,
			 struct hf_err *err)
{
	unsigned given = 0;
	char *save = NULL;

	spec->with.uid = (uid_t)-1;
	spec->with.gid = (gid_t)-1;
	for (char *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int r = parse_option(word, rules, &spec->with, &given, err);

		if (r < 0)
			return r;
	}
	return check_options(spec, given, err);
}

/* The error's object becomes the place in the file, its text takes the former object in. */
static void place_error(const char *place, struct hf_err *err)
{
	char shown[HF_ERR_OBJECT], what[HF_ERR_TEXT];

	hf_err_escape(err->object, shown, sizeof(shown));
	memcpy(what, err->what, sizeof(what));
	snprintf(err->what, sizeof(err->what), "%s%s%.*s", shown, *shown ? ": " : "",
		 (int)(sizeof(what) - sizeof(shown) - 3), what);
	snprintf(err->object, sizeof(err->object), "%s", place);
}

/* The same file serves a second alloc, which changes nothing, and free. */
static int refuse_increase(const struct hf_spec *spec, struct hf_err *err)
{
	for (size_t i = 0; i < spec->nparts; i++)
		if (spec->parts[i].amount.relative)
			return hf_err_usage(err, spec->text,
					    "a spec file states the end; + has no meaning there: write the "
					    "whole amount");
	return 0;
}

static int parse_fields(struct reader *r, char *line, struct hf_err *err)
{
	char *save = NULL, *word = strtok_r(line, BLANKS, &save), *options = strtok_r(NULL, BLANKS, &save);
	char *more = options ? strtok_r(NULL, BLANKS, &save) : NULL;
	_cleanup_free_ char *spec = decode(word, err);
	int rc;

	if (!spec)
		return -err->errnum;
	rc = hf_spec_parse(spec, r->rules, r->list, err);
	if (rc == 0)
		rc = refuse_increase(&r->list->specs[r->list->count - 1], err);
	if (rc == 0 && more && *options != '#')
		rc = hf_err_usage(err, more, "after the spec and its options there is nothing more");
	else if (rc == 0 && options)
		rc = parse_options(options, r->rules, &r->list->specs[r->list->count - 1], err);
	if (rc == 0 || !err->usage)
		return rc;
	if ((options && *options == '#') || (more && *more == '#'))
		hf_err_hint(err, "a comment needs a line of its own");
	else if (options && !err->hint[0] && find_option(options) == HF_LENGTH(names))
		hf_err_hint(err, "a blank in a name is written \\040");
	return rc;
}

static int parse_line(struct reader *r, char *line, const char *place, struct hf_err *err)
{
	struct hf_err now = { 0 };
	int rc;

	line += strspn(line, BLANKS);
	if (!*line || *line == '#')
		return 0;
	rc = parse_fields(r, line, &now);
	if (rc == 0)
		return 0;
	if (!now.usage) {
		*err = now;
		return rc;
	}
	place_error(place, &now);
	if (r->bad++ && r->rules->bad_line)
		r->rules->bad_line(err, r->rules->arg);
	*err = now;
	return r->bad < BAD_MOST && r->rules->bad_line ? 0 : rc;
}

static int fail_line(int rc, const char *name, const char *place, struct hf_err *err)
{
	if (rc == -EBADMSG)
		return hf_err_usage(err, place, "a NUL byte: specs are plain text, one a line");
	if (rc == -EFBIG)
		return hf_err_usage(err, place,
				    "the line is longer than %d bytes: specs are plain text, one a line",
				    LINE_LARGEST);
	hf_err_sys(err, -rc, name, "cannot read specs");
	err->usage = true;
	return rc;
}

int hf_spec_read(FILE *in, const char *name, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		 struct hf_err *err)
{
	_cleanup_free_ char *line = malloc(LINE_LARGEST + 1);
	struct reader reader = { rules, list, 0 };
	char place[HF_ERR_OBJECT];
	size_t len;
	int rc;

	if (!line)
		return hf_err_nomem(err);
	for (unsigned long number = 1;; number++) {
		snprintf(place, sizeof(place), "%.*s:%lu", HF_ERR_OBJECT - 32, name, number);
		rc = read_line(in, line, &len);
		if (rc < 0 && reader.bad && rules->bad_line)
			rules->bad_line(err, rules->arg);
		if (rc < 0) {
			*err = (struct hf_err){ 0 };
			return fail_line(rc, name, place, err);
		}
		if (rc == 0)
			return reader.bad ? -err->errnum : 0;
		/* Editors of other systems begin a file with U+FEFF. */
		if (number == 1 && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
			memset(line, ' ', 3);
		rc = parse_line(&reader, line, place, err);
		if (rc < 0)
			return rc;
	}
}
