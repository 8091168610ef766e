/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/spec.h"
#include "tap.h"

#define MIB (1024 * 1024ull)
#define GIB (1024 * MIB)

/* Nodes 0, 1 and 3 have memory, 2 is online without, all others do not exist. */
static const struct hf_nodeset online = { { 0xf } }, memory = { { 0xb } }, none = { { 0 } };
static const uint64_t sizes[] = { 64 * 1024, 2 * MIB, GIB };

static struct hf_spec_rules rules_usual(void)
{
	return (struct hf_spec_rules){
		.page_sizes = sizes,
		.npage_sizes = HF_LENGTH(sizes),
		.default_page_size = 2 * MIB,
		.online = &online,
		.memory = &memory,
	};
}

static struct hf_spec_rules rules_free(void)
{
	struct hf_spec_rules rules = rules_usual();

	rules.amount_optional = true;
	return rules;
}

/* "500@0-1,p3@all": values (p: pages, %: millionths, + first) and nodes where the part was placed. */
static const char *describe(const struct hf_spec *spec, char buf[256])
{
	char nodes[64];
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < spec->nparts && used < 200; i++) {
		const struct hf_spec_part *part = &spec->parts[i];

		used += (size_t)snprintf(buf + used, 256 - used, "%s%s%s%llu%s%s", i ? "," : "",
					 part->amount.relative ? "+" : "",
					 part->amount.unit == HF_UNIT_PAGES     ? "p"
					 : part->amount.unit == HF_UNIT_PERCENT ? "%"
										: "",
					 (unsigned long long)part->amount.value, part->placed ? "@" : "/",
					 hf_nodeset_format(&part->nodes, '+', nodes, sizeof(nodes)));
	}
	return buf;
}

struct good {
	const char *text;
	const char *name; /* NULL: a pool */
	uint64_t page_size;
	const char *parts;
};

static void check_good(const struct good *row, const struct hf_spec_rules *rules)
{
	struct hf_spec_list list = { 0 };
	struct hf_err err = { 0 };
	char buf[256];

	if (!ok(hf_spec_parse(row->text, rules, &list, &err) == 0 && list.count == 1, "%s parses",
		row->text)) {
		printf("#   %s: %s\n", err.object, err.what);
		return;
	}
	is_text(list.specs->text, row->text, "%s: text", row->text);
	ok(list.specs->kind == (row->name ? HF_SPEC_FILE : HF_SPEC_POOL), "%s: kind", row->text);
	is_u64(list.specs->page_size, row->page_size, "%s: page size", row->text);
	if (row->name)
		is_text(list.specs->name, row->name, "%s: name", row->text);
	else
		ok(!list.specs->name, "%s: a pool has no name", row->text);
	is_text(describe(list.specs, buf), row->parts, "%s: parts", row->text);
	hf_spec_list_free(&list);
	ok(list.count == 0 && !list.specs, "%s: freed", row->text);
}

static void test_good(void)
{
	static const struct good table[] = {
		{ "2M=1G", NULL, 2 * MIB, "1073741824/0-1+3" },
		{ "2MiB=1G", NULL, 2 * MIB, "1073741824/0-1+3" },
		{ "2m=1g", NULL, 2 * MIB, "1073741824/0-1+3" },
		{ "2048K=1G", NULL, 2 * MIB, "1073741824/0-1+3" },
		{ "0.0625M=64K", NULL, 64 * 1024, "65536/0-1+3" },
		{ "default=512p", NULL, 2 * MIB, "p512/0-1+3" },
		{ "2M=0", NULL, 2 * MIB, "0/0-1+3" },
		{ "2M=25%", NULL, 2 * MIB, "%25000000/0-1+3" },
		{ "2M=12.5%@0", NULL, 2 * MIB, "%12500000@0" },
		{ "2M=+512p@0", NULL, 2 * MIB, "+p512@0" },
		{ "1G=16p@0,48p@1", NULL, GIB, "p16@0,p48@1" },
		{ "2M=1G@all", NULL, 2 * MIB, "1073741824@0-1+3" },
		{ "2M=1G@0-1+3", NULL, 2 * MIB, "1073741824@0-1+3" },
		{ "2M=+1G@0,2G@1,3p@3", NULL, 2 * MIB, "+1073741824@0,2147483648@1,p3@3" },
		{ "2M=1.3G", NULL, 2 * MIB, "1395864371/0-1+3" },
		{ "vm0=16G@0", "vm0", 0, "17179869184@0" },
		{ "./2M=1G", "./2M", 0, "1073741824/0-1+3" },
		{ "/dev/hugepages/2M=1G", "/dev/hugepages/2M", 0, "1073741824/0-1+3" },
		{ "/dev/hugepages/db=100G@0,300G@1", "/dev/hugepages/db", 0,
		  "107374182400@0,322122547200@1" },
		{ "/mnt/a b=1G", "/mnt/a b", 0, "1073741824/0-1+3" },
		{ "/mnt/a=b=1G", "/mnt/a=b", 0, "1073741824/0-1+3" },
		{ "./2M=1G=1G", "./2M=1G", 0, "1073741824/0-1+3" },
		{ "/mnt/a,b@c=1G@3", "/mnt/a,b@c", 0, "1073741824@3" },
		{ "/mnt/a\nb=1G", "/mnt/a\nb", 0, "1073741824/0-1+3" },
		{ "/mnt/\xff\x01=1G", "/mnt/\xff\x01", 0, "1073741824/0-1+3" },
		{ "a b=1G", "a b", 0, "1073741824/0-1+3" },
		{ "a=b=1G", "a=b", 0, "1073741824/0-1+3" },
		{ "a@0,b=1G", "a@0,b", 0, "1073741824/0-1+3" },
		{ "a\nb=1G", "a\nb", 0, "1073741824/0-1+3" },
		{ "=x/y=1G", "=x/y", 0, "1073741824/0-1+3" },
		{ "../x=1G", "../x", 0, "1073741824/0-1+3" },
		{ ".hidden=1G", ".hidden", 0, "1073741824/0-1+3" },
		{ "100=4G", "100", 0, "4294967296/0-1+3" }, /* a virtual machine's number, say */
		{ "2Mx=4G", "2Mx", 0, "4294967296/0-1+3" },
		{ "Default=4G", "Default", 0, "4294967296/0-1+3" },
	};
	const struct hf_spec_rules rules = rules_usual();

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		check_good(&table[i], &rules);
}

static void test_good_free(void)
{
	static const struct good table[] = {
		{ "2M", NULL, 2 * MIB, "" },
		{ "default", NULL, 2 * MIB, "" },
		{ "2M=1G@0", NULL, 2 * MIB, "1073741824@0" },
		{ "vm0", "vm0", 0, "" },
		{ "vm0=1G", "vm0", 0, "1073741824/0-1+3" },
		{ "/mnt/a", "/mnt/a", 0, "" },
		{ "/mnt/a=b", "/mnt/a=b", 0, "" },
		{ "/mnt/a=", "/mnt/a=", 0, "" },
		{ "/mnt/a=1/b", "/mnt/a=1/b", 0, "" },
		{ "=a", "=a", 0, "" },
		{ "./2M", "./2M", 0, "" },
	};
	const struct hf_spec_rules rules = rules_free();

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		check_good(&table[i], &rules);
}

struct bad {
	const char *text, *object, *what, *hint;
};

static void check_bad(const struct bad *row, const struct hf_spec_rules *rules)
{
	struct hf_spec_list list = { 0 };
	struct hf_err err = { 0 };

	ok(hf_spec_parse(row->text, rules, &list, &err) == -EINVAL && err.usage, "\"%s\" is a usage error",
	   row->text);
	ok(list.count == 0, "\"%s\" adds nothing", row->text);
	is_text(err.object, row->object, "\"%s\": object", row->text);
	has_text(err.what, row->what, "\"%s\": what", row->text);
	has_text(err.hint, row->hint ? row->hint : "", "\"%s\": hint", row->text);
	if (!row->hint)
		is_text(err.hint, "", "\"%s\": no hint", row->text);
	hf_spec_list_free(&list);
}

static void test_bad_target(void)
{
	static const struct bad table[] = {
		{ "", "", "a spec is missing: write TARGET=AMOUNT", NULL },
		{ "2M", "2M", "no amount: write 2M=AMOUNT", NULL },
		{ "2M:3M", "2M:3M", "no = between target and amount: write 2M=3M", NULL },
		{ "vm0:4G@0", "vm0:4G@0", "write vm0=4G@0", NULL },
		{ "a\nb:4G", "a\nb:4G", "write a\\nb=4G", NULL },
		{ ":4G", ":4G", "write :4G=AMOUNT", NULL },
		{ "=1G", "=1G", "nothing before the =: write TARGET=1G", NULL },
		{ "=", "=", "nothing before the =", NULL },
		{ "2M=", "2M=", "nothing after the =: write 2M=AMOUNT", NULL },
		{ "vm0=", "vm0=", "nothing after the =", NULL },
		{ "3M=1G", "3M", "no huge pages of this size, it has 64K, 2M, 1G", "write ./3M" },
		{ "4G=4G", "4G", "no huge pages of this size", "write ./4G" },
		{ "2048kB=4G", "2048kB", "no huge pages of this size", "write ./2048kB" },
		{ "17179870208G=4G", "17179870208G", "no huge pages of this size", "write ./" },
		{ "1.3G=4G", "1.3G", "no huge pages of this size", "write ./1.3G" },
		{ "2M =4G", "2M ", "a blank beside the page size: write 2M", NULL },
		{ " 2M=4G", " 2M", "a blank beside the page size: write 2M", NULL },
		{ "2M = 4G", "2M ", "a blank beside the page size", NULL },
		{ "+2M=4G", "+2M", "write 2M=+AMOUNT", NULL },
		{ "2M=1G=2G", "2M=1G", "reads as a spec of its own", "write ./2M=1G" },
		{ "2M=1G vm0=4G", "2M=1G vm0", "reads as a spec of its own", "write ./2M=1G vm0" },
		{ "vm0=1G@0 vm1=4G", "vm0=1G@0 vm1", "reads as a spec of its own", "write ./" },
		{ "vm0=1G=2G", "vm0=1G", "reads as a spec of its own", "write ./vm0=1G" },
		{ ".=1G", ".", "is a directory", NULL },
		{ "..=1G", "..", "is a directory", NULL },
		{ "/mnt/..=1G", "/mnt/..", "is a directory", NULL },
		{ "/mnt/=1G", "/mnt/", "ends in a slash", NULL },
		{ "/=1G", "/", "ends in a slash", NULL },
	};
	const struct hf_spec_rules rules = rules_usual();

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		check_bad(&table[i], &rules);
}

static void test_bad_amount(void)
{
	static const struct bad table[] = {
		{ "2M=-2", "-2", "cannot be negative", NULL },
		{ "2M=10x", "10x", "unknown unit", NULL },
		{ "2M=512", "512", "write 512p for pages or 512M for MiB", NULL },
		{ "2M=17179870208G", "17179870208G", "too large", NULL },
		{ "2M=101%", "101%", "more than 100%", NULL },
		{ "2M= 1G", " 1G", "a blank before", NULL },
		{ "2M=1G ", "1G ", "a blank in or after", NULL },
		{ "2M=1,5G", "1", "of several amounts each needs its nodes", "as in 1.5G" },
		{ "2M=1,5G@0", "1", "of several amounts each needs its nodes", "as in 1.5G" },
		{ "2M=1G@0,1", "1", "of several amounts each needs its nodes", "AMOUNT@0+1" },
		{ "2M=1G@0,1-2", "1-2", "of several amounts each needs its nodes", "AMOUNT@0+1-2" },
		{ "2M=1G@0,1,3", "1", "of several amounts each needs its nodes", "AMOUNT@0+1" },
		{ "2M=1G@0,2G", "2G", "of several amounts each needs its nodes", NULL },
		{ "2M=1G,2G@1", "1G", "of several amounts each needs its nodes", NULL },
		{ "2M=1G@0,", "2M=1G@0,", "a comma without an amount", NULL },
		{ "2M=,1G@0", "2M=,1G@0", "a comma without an amount", NULL },
		{ "2M=1G@0,,1G@1", "2M=1G@0,,1G@1", "a comma without an amount", NULL },
		{ "2M=,", "2M=,", "a comma without an amount", NULL },
		{ "2M=@0", "@0", "no amount before the @: write AMOUNT@0", NULL },
		{ "2M=1G@0,@1", "@1", "no amount before the @", NULL },
		{ "2M=@", "@", "no amount before the @", NULL },
		{ "2M=1G@", "1G@", "no nodes after the @: write 1G@0 or 1G@all", NULL },
		{ "2M=1G@5", "5", "node 5 does not exist: the nodes with memory are 0-1+3", NULL },
		{ "2M=1G@2", "2", "node 2 has no memory: the nodes with memory are 0-1+3", NULL },
		{ "2M=1G@0-3", "0-3", "node 2 has no memory", NULL },
		{ "2M=1G@9999", "9999", "the largest number is 8191", NULL },
		{ "2M=1G@x", "x", "neither a number nor a range", NULL },
		{ "2M=1G@ALL", "ALL", "neither a number nor a range", NULL },
		{ "2M=1G@0@1", "0@1", "neither a number nor a range", NULL },
		{ "2M=1G@0+0", "0", "node 0 is named twice", NULL },
		{ "2M=1G@0,1G@0", "2M=1G@0,1G@0", "node 0 is named twice", NULL },
		{ "2M=1G@3,1G@all", "2M=1G@3,1G@all", "node 3 is named twice", NULL },
		{ "vm0=+1G", "+1G", "leave out the +", NULL },
		{ "vm0=+1G@0", "+1G@0", "leave out the +", NULL },
		{ "vm0=0", "0", "a file of no pages", NULL },
		{ "vm0=0p", "0p", "a file of no pages", NULL },
		{ "vm0=0%", "0%", "a file of no pages", NULL },
		{ "vm0=1G@0,0M@1", "0M@1", "a file of no pages", NULL },
	};
	const struct hf_spec_rules rules = rules_usual();

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		check_bad(&table[i], &rules);
}

static void test_bad_free(void)
{
	static const struct bad table[] = {
		{ "", "", "a spec is missing", NULL },
		{ "2M=10x", "10x", "unknown unit", NULL },
		{ "2M=", "2M=", "nothing after the =", NULL },
		{ "3M", "3M", "no huge pages of this size", "write ./3M" },
		{ "db=1G@9", "9", "node 9 does not exist", NULL },
		{ "db=1G@", "1G@", "no nodes after the @", NULL },
		{ "/mnt/", "/mnt/", "ends in a slash", NULL },
	};
	const struct hf_spec_rules rules = rules_free();

	for (size_t i = 0; i < HF_LENGTH(table); i++)
		check_bad(&table[i], &rules);
}

static void test_rules(void)
{
	static const struct hf_nodeset one = { { 0x2 } };
	struct hf_spec_rules rules = rules_usual();

	rules.nodes = &one;
	check_good(&(struct good){ "2M=1G", NULL, 2 * MIB, "1073741824@1" }, &rules);
	check_good(&(struct good){ "2M=1G@0", NULL, 2 * MIB, "1073741824@0" }, &rules);

	rules = rules_usual();
	rules.memory = &none;
	check_bad(&(struct bad){ "2M=1G", "1G", "no node has memory", NULL }, &rules);
	check_bad(&(struct bad){ "2M=1G@all", "all", "no node has memory", NULL }, &rules);

	rules = rules_usual();
	rules.page_sizes = NULL;
	rules.npage_sizes = 0;
	rules.default_page_size = 0;
	check_bad(&(struct bad){ "2M=1G", "2M", "the kernel has no huge pages", "write ./2M" }, &rules);
	check_bad(&(struct bad){ "default=1G", "default", "the kernel has no huge pages", NULL }, &rules);
	check_good(&(struct good){ "vm0=1G", "vm0", 0, "1073741824/0-1+3" }, &rules);
}

/* dirs directories of width bytes and a last name of last bytes, then "=1G". */
static int parse_path(size_t dirs, size_t width, size_t last, struct hf_err *err)
{
	const struct hf_spec_rules rules = rules_usual();
	struct hf_spec_list list = { 0 };
	char *text = malloc(dirs * (width + 1) + last + 8), *at = text;
	int rc;

	if (!text)
		abort();
	for (size_t i = 0; i < dirs; i++) {
		*at++ = '/';
		memset(at, 'd', width);
		at += width;
	}
	if (dirs)
		*at++ = '/';
	memset(at, 'f', last);
	strcpy(at + last, "=1G");
	rc = hf_spec_parse(text, &rules, &list, err);
	hf_spec_list_free(&list);
	free(text);
	return rc;
}

static void test_lengths(void)
{
	struct hf_err err = { 0 };

	ok(parse_path(0, 0, 255, &err) == 0, "a bare name of 255 bytes");
	ok(parse_path(0, 0, 256, &err) == -EINVAL, "a bare name of 256 bytes");
	has_text(err.what, "at most 255 bytes, this one has 256", "it says so");
	ok(parse_path(1, 255, 255, &err) == 0, "a directory of 255 bytes");
	ok(parse_path(1, 256, 5, &err) == -EINVAL, "a directory of 256 bytes");
	ok(parse_path(40, 100, 54, &err) == 0, "a path of 4095 bytes");
	ok(parse_path(40, 100, 55, &err) == -EINVAL, "a path of 4096 bytes");
	has_text(err.what, "at most 4095 bytes, this one has 4096", "it says so");
	ok(parse_path(100000, 100, 5, &err) == -EINVAL, "a path of 10 MB");
}

static void test_make(void)
{
	static const struct {
		const char *name, *amounts, *parts, *what;
	} table[] = {
		{ "hugefill", "4G", "4294967296/0-1+3", NULL },
		{ "2M", "1G@0,2G@1", "1073741824@0,2147483648@1", NULL },
		{ "default", "1p", "p1/0-1+3", NULL },
		{ "a=1G", "1p", "p1/0-1+3", NULL },
		{ "", "4G", NULL, "a file needs a name" },
		{ "a/", "4G", NULL, "ends in a slash" },
		{ "a", "", NULL, "an amount is missing" },
		{ "a", "+1G", NULL, "leave out the +" },
		{ "a", "1G@5", NULL, "node 5 does not exist" },
		{ "a", "x=1G", NULL, "does not begin with a digit" },
	};
	const struct hf_spec_rules rules = rules_usual();
	char buf[256];

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		struct hf_spec_list list = { 0 };
		struct hf_err err = { 0 };
		int rc = hf_spec_make(table[i].name, table[i].amounts, &rules, &list, &err);

		if (table[i].what) {
			ok(rc == -EINVAL && err.usage && list.count == 0, "make row %zu fails", i);
			has_text(err.what, table[i].what, "make row %zu: what", i);
		} else if (ok(rc == 0 && list.count == 1 && list.specs->kind == HF_SPEC_FILE, "make row %zu",
			      i)) {
			is_text(list.specs->name, table[i].name, "make row %zu: name", i);
			is_text(describe(list.specs, buf), table[i].parts, "make row %zu: parts", i);
		}
		hf_spec_list_free(&list);
	}
}

static int read_bytes(const char *text, size_t len, struct hf_spec_list *list, struct hf_err *err)
{
	const struct hf_spec_rules rules = rules_usual();
	FILE *in = tmpfile();
	int rc;

	if (!in || fwrite(text, 1, len, in) != len || fseek(in, 0, SEEK_SET) < 0)
		abort();
	memset(err, 0, sizeof(*err));
	memset(list, 0, sizeof(*list));
	rc = hf_spec_read(in, "specs", &rules, list, err);
	fclose(in);
	return rc;
}

static void test_read(void)
{
	static const struct {
		const char *text;
		size_t count; /* of specs, all of them "vm0=1G" */
		const char *object, *what, *hint;
	} table[] = {
		{ "", 0, NULL, NULL, NULL },
		{ "\n\n \t \n", 0, NULL, NULL, NULL },
		{ "vm0=1G", 1, NULL, NULL, NULL },
		{ "vm0=1G\n", 1, NULL, NULL, NULL },
		{ "# comment\n   # another: 2M=x\n\n  vm0=1G\t\nvm0=1G\n", 2, NULL, NULL, NULL },
		{ "vm0=1G\r\n# c\r\n\r\nvm0=1G\r\n", 2, NULL, NULL, NULL },
		{ "\xef\xbb\xbfvm0=1G\n", 1, NULL, NULL, NULL },
		{ "\xef\xbb\xbf# c\n", 0, NULL, NULL, NULL },
		{ "vm0=1G\n\n2M=10x\n", 1, "specs:3", "10x: unknown unit \"x\"", "" },
		{ "2M", 0, "specs:1", "2M: no amount", "" },
		{ "vm0=1G # the first\n", 1, "specs:1", "#: is no option of a line", "a line of its own" },
		{ "vm0=1G vm1=2G\n", 1, "specs:1", "vm1=2G: is no option of a line",
		  "a blank in a name is written \\040" },
		{ "vm0=1G mode=640, \n", 1, NULL, NULL, NULL },
		{ "vm0=1G mode=640 x\n", 1, "specs:1", "x: after the spec and its options", "" },
		{ "vm0=1G mount=/a\\000b\n", 1, "specs:1", "\\000 is no character", "" },
		{ "2M=1,5G\n", 0, "specs:1", "1: of several", "as in 1.5G" },
		{ "a\033b\n", 0, "specs:1", "a\\x1bb: no amount", "" },
		{ "2M=\r\n", 0, "specs:1", "2M=: nothing after the =", "" },
	};
	struct hf_spec_list list;
	struct hf_err err;

	for (size_t i = 0; i < HF_LENGTH(table); i++) {
		int rc = read_bytes(table[i].text, strlen(table[i].text), &list, &err);

		is_u64(list.count, table[i].count, "read row %zu: count", i);
		for (size_t n = 0; n < list.count; n++)
			is_text(list.specs[n].text, "vm0=1G", "read row %zu: spec %zu", i, n);
		ok(rc == (table[i].what ? -EINVAL : 0) && err.usage == !!table[i].what,
		   "read row %zu: result", i);
		if (table[i].what) {
			is_text(err.object, table[i].object, "read row %zu: object", i);
			has_text(err.what, table[i].what, "read row %zu: what", i);
			has_text(err.hint, table[i].hint, "read row %zu: hint", i);
		}
		hf_spec_list_free(&list);
	}
}

static void test_read_odd(void)
{
	static char line[70000];
	const struct hf_spec_rules rules = rules_usual();
	struct hf_spec_list list;
	struct hf_err err;
	FILE *in;

	ok(read_bytes("vm0=1G\nvm1\0=1G\n", 15, &list, &err) == -EINVAL && err.usage, "a NUL byte");
	is_text(err.object, "specs:2", "NUL: the line");
	has_text(err.what, "a NUL byte", "NUL: what");
	hf_spec_list_free(&list);

	memset(line, '#', sizeof(line));
	ok(read_bytes(line, 65536, &list, &err) == 0 && list.count == 0, "a line of 64 KiB");
	ok(read_bytes(line, 65537, &list, &err) == -EINVAL && err.usage, "a longer line");
	has_text(err.what, "longer than 65536 bytes", "longer: what");
	memset(line, 'a', sizeof(line));
	ok(read_bytes(line, 60000, &list, &err) == -EINVAL, "a long line that is no spec");
	is_text(err.object, "specs:1", "a long line: the object is the place");
	has_text(err.what, ": no amount: write ", "a long line: what is all there");

	in = fopen("/", "r");
	memset(&err, 0, sizeof(err));
	ok(in && hf_spec_read(in, "/", &rules, &list, &err) == -EISDIR && err.usage, "a directory");
	is_text(err.object, "/", "a directory: object");
	if (in)
		fclose(in);
}

static void test_append(void)
{
	const struct hf_spec_rules rules = rules_usual();
	struct hf_spec_list list = { 0 };
	struct hf_err err = { 0 };

	ok(hf_spec_parse("2M=1G", &rules, &list, &err) == 0 &&
		   hf_spec_parse("vm0=1G", &rules, &list, &err) == 0 &&
		   hf_spec_parse("x", &rules, &list, &err) < 0 &&
		   hf_spec_make("f", "1G", &rules, &list, &err) == 0 && list.count == 3,
	   "specs are appended, a bad one is not");
	is_text(list.specs[2].text, "f=1G", "in their order");
	hf_spec_list_free(&list);
	hf_spec_list_free(&list);
	ok(list.count == 0, "an empty list is freed again");
}

static void test_nodes(void)
{
	const struct hf_spec_rules rules = rules_usual();
	struct hf_nodeset set = { 0 };
	struct hf_err err = { 0 };

	ok(hf_spec_parse_nodes("all", 3, &rules, &set, &err) == 0 && hf_nodeset_is_equal(&set, &memory),
	   "all");
	ok(hf_spec_parse_nodes("0+3xx", 3, &rules, &set, &err) == 0 && hf_nodeset_count(&set) == 2, "0+3");
	ok(hf_spec_parse_nodes("0,1", 3, &rules, &set, &err) == -EINVAL, "a comma");
	has_text(err.hint, "joined with +", "a comma: hint");
	ok(hf_spec_parse_nodes("", 0, &rules, &set, &err) == -EINVAL, "no nodes");
	has_text(err.what, "a number is missing", "no nodes: what");
}

int main(void)
{
	test_good();
	test_good_free();
	test_bad_target();
	test_bad_amount();
	test_bad_free();
	test_rules();
	test_lengths();
	test_make();
	test_read();
	test_read_odd();
	test_append();
	test_nodes();
	return tap_done();
}
