/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spec.h"

#include <errno.h>
#include <string.h>

#define NAME_LARGEST 255  /* NAME_MAX of every filesystem, hugetlbfs too */
#define PATH_LARGEST 4095 /* PATH_MAX without its NUL */
#define LIST_TEXT 256
#define SHOWN 192

/* A piece of the text: not terminated. */
struct piece {
	const char *text;
	size_t len;
};

/* Cut and escaped, so that it may stand in a message. */
static const char *show(const char *text, size_t len, char buf[static SHOWN])
{
	char copy[SHOWN];

	snprintf(copy, sizeof(copy), "%.*s", (int)(len < SHOWN ? len : SHOWN), text);
	return hf_err_escape(copy, buf, SHOWN);
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct piece strip(const char *text, size_t len)
{
	while (len && is_blank(*text)) {
		text++;
		len--;
	}
	while (len && is_blank(text[len - 1]))
		len--;
	return (struct piece){ text, len };
}

static bool is_word(struct piece piece, const char *word)
{
	return piece.len == strlen(word) && memcmp(piece.text, word, piece.len) == 0;
}

/* "2M", "+1.5G", " 64k": digits and a unit of bytes, whatever their value. */
static bool is_size(const char *text, size_t len)
{
	struct piece p = strip(text, len);
	struct hf_amount amount;
	struct hf_err ignored = { 0 };
	char one[8] = "1";

	if (p.len && *p.text == '+') {
		p.text++;
		p.len--;
	}
	if (p.len == 0 || *p.text < '0' || *p.text > '9')
		return false;
	while (p.len && ((*p.text >= '0' && *p.text <= '9') || *p.text == '.')) {
		p.text++;
		p.len--;
	}
	if (p.len == 0 || p.len >= sizeof(one) - 1)
		return false;
	memcpy(one + 1, p.text, p.len);
	return hf_size_parse_amount(one, p.len + 1, &amount, &ignored) == 0 && amount.unit == HF_UNIT_BYTES;
}

static bool is_pool(const char *text, size_t len)
{
	return is_word((struct piece){ text, len }, "default") || is_size(text, len);
}

/* The text up to the first of stops is an amount. */
static bool begins_with_amount(const char *text, const char *stops)
{
	struct hf_amount amount;
	struct hf_err ignored = { 0 };

	return hf_size_parse_amount(text, strcspn(text, stops), &amount, &ignored) == 0;
}

static const char *list_sizes(const struct hf_spec_rules *rules, char buf[static LIST_TEXT])
{
	char size[HF_SIZE_TEXT];
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < rules->npage_sizes && used < LIST_TEXT; i++)
		used += (size_t)snprintf(buf + used, LIST_TEXT - used, "%s%s", i ? ", " : "",
					 hf_size_exact(rules->page_sizes[i], size));
	return buf;
}

static int fail_no_node(const struct hf_spec_rules *rules, const char *object, int node, const char *what,
			struct hf_err *err)
{
	char list[LIST_TEXT];

	hf_nodeset_format(rules->memory, '+', list, sizeof(list));
	return hf_err_usage(err, object, "node %d %s: the nodes with memory are %s", node, what, list);
}

static int check_nodes(const struct hf_nodeset *nodes, const struct hf_spec_rules *rules, const char *object,
		       struct hf_err *err)
{
	for (int n = hf_nodeset_next(nodes, 0); n >= 0; n = hf_nodeset_next(nodes, (unsigned)n + 1)) {
		if (hf_nodeset_has(rules->memory, (unsigned)n))
			continue;
		return fail_no_node(
			rules, object, n,
			hf_nodeset_has(rules->online, (unsigned)n) ? "has no memory" : "does not exist", err);
	}
	return 0;
}

int hf_spec_parse_nodes(const char *text, size_t len, const struct hf_spec_rules *rules,
			struct hf_nodeset *out, struct hf_err *err)
{
	char object[HF_ERR_OBJECT];
	int rc;

	snprintf(object, sizeof(object), "%.*s", (int)(len < HF_ERR_OBJECT ? len : HF_ERR_OBJECT), text);
	if (is_word((struct piece){ text, len }, "all")) {
		*out = *rules->memory;
	} else {
		rc = hf_nodeset_parse(text, len, '+', out, err);
		/* A number that is not there is no text to point at. */
		if (rc < 0 && !err->object[0])
			snprintf(err->object, sizeof(err->object), "%s", object);
		if (rc == 0)
			rc = check_nodes(out, rules, object, err);
		if (rc < 0)
			return rc;
	}
	if (hf_nodeset_is_empty(out))
		return hf_err_usage(err, object, "no node has memory");
	return 0;
}

static int check_name(const char *name, struct hf_err *err)
{
	const char *last = name, *slash;
	size_t len = strlen(name);

	if (len == 0)
		return hf_err_usage(err, name, "a file needs a name");
	if (len > PATH_LARGEST)
		return hf_err_usage(err, name, "a path has at most %d bytes, this one has %zu: shorten it",
				    PATH_LARGEST, len);
	for (const char *at = name; at; at = slash ? slash + 1 : NULL) {
		last = at;
		slash = strchr(at, '/');
		len = slash ? (size_t)(slash - at) : strlen(at);
		if (len > NAME_LARGEST)
			return hf_err_usage(err, name,
					    "a name in a path has at most %d bytes, this one has %zu: "
					    "shorten it",
					    NAME_LARGEST, len);
	}
	if (*last == '\0')
		return hf_err_usage(err, name,
				    "ends in a slash, as a directory does: add the name of the file");
	if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return hf_err_usage(err, name, "is a directory: write the name of a file");
	return 0;
}

/* name reads as a page size: which one, or why not. */
static int parse_page_size(const char *name, const struct hf_spec_rules *rules, uint64_t *page_size,
			   struct hf_err *err)
{
	struct piece p = strip(name, strlen(name));
	char list[LIST_TEXT], shown[SHOWN];
	struct hf_amount amount;
	struct hf_err ignored = { 0 };

	show(p.text, p.len, shown);
	if (p.len != strlen(name))
		return hf_err_usage(err, name, "a blank beside the page size: write %s", shown);
	if (*name == '+')
		return hf_err_usage(err, name, "the + belongs to the amount: write %s=+AMOUNT", shown + 1);
	if (hf_size_parse_amount(name, p.len, &amount, &ignored) == 0 && amount.whole)
		for (size_t i = 0; i < rules->npage_sizes; i++)
			if (rules->page_sizes[i] == amount.value) {
				*page_size = amount.value;
				return 0;
			}
	if (rules->npage_sizes)
		hf_err_usage(err, name, "the kernel has no huge pages of this size, it has %s",
			     list_sizes(rules, list));
	else
		hf_err_usage(err, name, "the kernel has no huge pages");
	hf_err_hint(err, "for a file of this name write ./%s", shown);
	return -err->errnum;
}

/* "2M=1G vm0=4G" in one argument, "2M=1G=2G": as a file name it would be an accident. */
static int check_bare_name(const char *name, struct hf_err *err)
{
	const char *equals = strchr(name, '=');
	char shown[SHOWN];

	if (!equals)
		return 0;
	if (!is_pool(name, (size_t)(equals - name)) && !begins_with_amount(equals + 1, "@, \t\r\n"))
		return 0;
	hf_err_usage(err, name,
		     "reads as a spec of its own: each spec is one argument, or one line of a file, "
		     "and has one amount");
	hf_err_hint(err, "for a file of this name write ./%s", show(name, strlen(name), shown));
	return -err->errnum;
}

static int parse_target(struct hf_spec *spec, const char *target, size_t len,
			const struct hf_spec_rules *rules, struct hf_err *err)
{
	spec->name = strndup(target, len);
	if (!spec->name)
		return hf_err_nomem(err);
	spec->kind = HF_SPEC_FILE;
	if (strchr(spec->name, '/'))
		return check_name(spec->name, err);
	if (is_pool(spec->name, len)) {
		int rc = 0;

		spec->kind = HF_SPEC_POOL;
		spec->page_size = rules->default_page_size;
		if (is_size(spec->name, len))
			rc = parse_page_size(spec->name, rules, &spec->page_size, err);
		else if (spec->page_size == 0)
			rc = hf_err_usage(err, spec->name, "the kernel has no huge pages");
		free(spec->name);
		spec->name = NULL;
		return rc;
	}
	if (check_bare_name(spec->name, err) < 0)
		return -err->errnum;
	return check_name(spec->name, err);
}

static int check_file_amount(const struct hf_amount *amount, const char *object, struct hf_err *err)
{
	if (amount->relative)
		return hf_err_usage(err, object,
				    "a file has a size, not an increase: leave out the + (it is for pools)");
	if (amount->value == 0)
		return hf_err_usage(err, object,
				    "a file of no pages cannot be filled: write an amount above 0");
	return 0;
}

/* p has no nodes and is one of several; next is what follows its comma, or NULL. */
static int fail_part(struct piece p, bool first, const char *next, const char *object, struct hf_err *err)
{
	char shown[SHOWN];

	if (p.len == 0)
		return hf_err_usage(err, object,
				    "a comma without an amount beside it: write AMOUNT@NODES,AMOUNT@NODES");
	hf_err_usage(err, object, "of several amounts each needs its nodes: write AMOUNT@NODES,AMOUNT@NODES");
	if (first && next && strspn(p.text, "+0123456789") == p.len && *next >= '0' && *next <= '9')
		hf_err_hint(err, "a fraction is written with a point, as in 1.5G");
	else if (!first && strspn(p.text, "0123456789-+") == p.len)
		hf_err_hint(err, "nodes are joined with +, as in AMOUNT@0+%s", show(p.text, p.len, shown));
	return -err->errnum;
}

static int parse_placed(struct hf_spec_part *part, const char *at, const char *end, const char *object,
			const struct hf_spec_rules *rules, struct hf_err *err)
{
	char shown[SHOWN];

	part->placed = true;
	if (at + 1 == end)
		return hf_err_usage(err, object, "no nodes after the @: write %s0 or %sall",
				    show(object, strlen(object), shown), shown);
	return hf_spec_parse_nodes(at + 1, (size_t)(end - at - 1), rules, &part->nodes, err);
}

static int parse_default_nodes(struct hf_spec_part *part, const struct hf_spec_rules *rules,
			       struct hf_err *err)
{
	part->placed = rules->nodes;
	part->nodes = rules->nodes ? *rules->nodes : *rules->memory;
	if (hf_nodeset_is_empty(&part->nodes))
		return hf_err_usage(err, part->amount.text, "no node has memory");
	return 0;
}

/* p is one AMOUNT[@NODES]; many: it is one of several; next: what follows its comma, or NULL. */
static int parse_part(struct piece p, bool many, const char *next, struct hf_spec *spec,
		      const struct hf_spec_rules *rules, struct hf_err *err)
{
	struct hf_spec_part *part = &spec->parts[spec->nparts];
	const char *at = memchr(p.text, '@', p.len);
	char object[HF_ERR_OBJECT], shown[SHOWN];
	int rc;

	memset(part, 0, sizeof(*part));
	snprintf(object, sizeof(object), "%.*s", (int)(p.len < HF_ERR_OBJECT ? p.len : HF_ERR_OBJECT),
		 p.text);
	if (!at && many)
		return fail_part(p, spec->nparts == 0, next, *object ? object : spec->text, err);
	if (at == p.text)
		return hf_err_usage(err, object, "no amount before the @: write AMOUNT%s",
				    show(object, strlen(object), shown));
	rc = hf_size_parse_amount(p.text, at ? (size_t)(at - p.text) : p.len, &part->amount, err);
	if (rc == 0 && spec->kind == HF_SPEC_FILE)
		rc = check_file_amount(&part->amount, object, err);
	if (rc < 0)
		return rc;
	if (!at)
		return parse_default_nodes(part, rules, err);
	return parse_placed(part, at, p.text + p.len, object, rules, err);
}

/* Adds the part's nodes to those taken. */
static int take_nodes(const struct hf_spec_part *part, const char *object, struct hf_nodeset *taken,
		      struct hf_err *err)
{
	for (int n = hf_nodeset_next(&part->nodes, 0); n >= 0;
	     n = hf_nodeset_next(&part->nodes, (unsigned)n + 1)) {
		if (hf_nodeset_has(taken, (unsigned)n))
			return hf_err_usage(err, object, "node %d is named twice: give it one amount", n);
		hf_nodeset_add(taken, (unsigned)n);
	}
	return 0;
}

/* Parts cannot outnumber the nodes, because none may be named twice: growing one by one is fine. */
static int parse_amounts(struct hf_spec *spec, const char *text, const struct hf_spec_rules *rules,
			 struct hf_err *err)
{
	struct hf_nodeset taken = { 0 };
	bool many = strchr(text, ',');

	for (const char *next; text; text = next) {
		size_t len = strcspn(text, ",");
		struct hf_spec_part *parts = reallocarray(spec->parts, spec->nparts + 1, sizeof(*parts));
		int rc;

		if (!parts)
			return hf_err_nomem(err);
		spec->parts = parts;
		next = text[len] ? text + len + 1 : NULL;
		rc = parse_part((struct piece){ text, len }, many, next, spec, rules, err);
		if (rc == 0)
			rc = take_nodes(&parts[spec->nparts], spec->text, &taken, err);
		if (rc < 0)
			return rc;
		spec->nparts++;
	}
	return 0;
}

static void free_spec(struct hf_spec *spec)
{
	free(spec->text);
	free(spec->name);
	free(spec->parts);
	free(spec->with.mount);
}

/* Takes spec over: into the list, or freed. */
static int append(struct hf_spec_list *list, struct hf_spec *spec, int rc, struct hf_err *err)
{
	struct hf_spec *specs = NULL;

	if (rc == 0) {
		specs = reallocarray(list->specs, list->count + 1, sizeof(*specs));
		if (!specs)
			rc = hf_err_nomem(err);
	}
	if (rc < 0) {
		free_spec(spec);
		return rc;
	}
	list->specs = specs;
	specs[list->count++] = *spec;
	return 0;
}

static int fail_no_equals(const char *text, struct hf_err *err)
{
	const char *colon = strrchr(text, ':');
	char shown[SHOWN], rest[SHOWN];

	if (*text == '\0')
		return hf_err_usage(err, text,
				    "a spec is missing: write TARGET=AMOUNT, as in 2M=4G or vm0=4G");
	if (colon && colon > text && colon[1])
		return hf_err_usage(err, text, "no = between target and amount: write %s=%s",
				    show(text, (size_t)(colon - text), shown),
				    show(colon + 1, strlen(colon + 1), rest));
	return hf_err_usage(err, text, "no amount: write %s=AMOUNT, as in 2M=4G or vm0=4G",
			    show(text, strlen(text), shown));
}

static int parse_spec(struct hf_spec *spec, const char *text, const struct hf_spec_rules *rules,
		      struct hf_err *err)
{
	const char *equals = strrchr(text, '=');
	char shown[SHOWN];
	int rc;

	spec->text = strdup(text);
	if (!spec->text)
		return hf_err_nomem(err);
	if (equals && rules->amount_optional && !is_pool(text, (size_t)(equals - text)) &&
	    !begins_with_amount(equals + 1, "@,"))
		equals = NULL;
	if (!equals && (!rules->amount_optional || *text == '\0'))
		return fail_no_equals(text, err);
	if (!equals)
		return parse_target(spec, text, strlen(text), rules, err);
	if (equals == text)
		return hf_err_usage(err, text, "nothing before the =: write TARGET%s",
				    show(text, strlen(text), shown));
	if (equals[1] == '\0')
		return hf_err_usage(err, text, "nothing after the =: write %sAMOUNT",
				    show(text, strlen(text), shown));
	rc = parse_target(spec, text, (size_t)(equals - text), rules, err);
	return rc < 0 ? rc : parse_amounts(spec, equals + 1, rules, err);
}

int hf_spec_parse(const char *text, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		  struct hf_err *err)
{
	struct hf_spec spec = { 0 };
	int rc = parse_spec(&spec, text, rules, err);

	return append(list, &spec, rc, err);
}

static int make_spec(struct hf_spec *spec, const char *name, const char *amounts,
		     const struct hf_spec_rules *rules, struct hf_err *err)
{
	int rc;

	spec->kind = HF_SPEC_FILE;
	spec->name = strdup(name);
	if (!spec->name || asprintf(&spec->text, "%s=%s", name, amounts) < 0) {
		spec->text = NULL; /* asprintf leaves it undefined */
		return hf_err_nomem(err);
	}
	rc = check_name(name, err);
	return rc < 0 ? rc : parse_amounts(spec, amounts, rules, err);
}

int hf_spec_make(const char *name, const char *amounts, const struct hf_spec_rules *rules,
		 struct hf_spec_list *list, struct hf_err *err)
{
	struct hf_spec spec = { 0 };
	int rc = make_spec(&spec, name, amounts, rules, err);

	return append(list, &spec, rc, err);
}

void hf_spec_list_free(struct hf_spec_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free_spec(&list->specs[i]);
	free(list->specs);
	*list = (struct hf_spec_list){ 0 };
}
