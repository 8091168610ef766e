/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spec - TARGET=AMOUNT[@NODES][,AMOUNT@NODES]... from text.
 *
 * The amounts begin after the last '=' of the text, so that paths may hold '=', ',' and '@'.
 * TARGET: a page size the kernel has, by value (2M, 2MiB, 2048K), or "default", is a pool;
 * anything else is a file: a name with '/' is a path, one without is a bare name. A bare name that
 * reads as a size the kernel has no pages of ("3M", "4G=...") is an error that lists the sizes and
 * shows "./3M": a file by accident would be worse. For the same reason a bare name that itself reads
 * as a spec ("2M=1G vm0=4G" in one argument) is an error. Pure functions; thread safe.
 */
#ifndef HF_SPEC_H
#define HF_SPEC_H

#include <sys/types.h>

#include "nodeset.h"
#include "size.h"

enum hf_spec_kind { HF_SPEC_POOL, HF_SPEC_FILE };

struct hf_spec_part {
	struct hf_amount amount;
	bool placed;             /* had @NODES: the placement is strict */
	struct hf_nodeset nodes; /* meant: as written, or all with memory; never empty */
};

/* What a line of a file of specs says beside its spec; it counts before what is said for all specs. */
struct hf_spec_options {
	uint64_t page_size; /* bytes; 0: not said */
	char *mount;        /* directory of the hugetlbfs; NULL: not said */
	const char *layout; /* "interleave", "block"; NULL: not said */
	bool has_mode, has_owner;
	mode_t mode;
	uid_t uid; /* (uid_t)-1, (gid_t)-1: not changed */
	gid_t gid;
};

struct hf_spec {
	char *text; /* as written, for messages */
	enum hf_spec_kind kind;
	uint64_t page_size; /* pools: bytes; files: 0 */
	char *name;         /* files: path or bare name, raw bytes; pools: NULL */
	size_t nparts;      /* 0 only where rules->amount_optional allowed it */
	struct hf_spec_part *parts;
	struct hf_spec_options with; /* only from a file */
};

struct hf_spec_list {
	size_t count;
	struct hf_spec *specs;
};

/* What the machine has. All pointers borrowed for the call. */
struct hf_spec_rules {
	const uint64_t *page_sizes; /* bytes */
	size_t npage_sizes;
	uint64_t default_page_size; /* 0: the kernel has no huge pages */
	const struct hf_nodeset *online;
	const struct hf_nodeset *memory; /* nodes that have memory */
	const struct hf_nodeset *nodes;  /* --nodes: strict, for specs without @; NULL: none given */
	bool amount_optional;            /* free: "2M" and "PATH" stand alone; a tail after '='
					  * that is no amount then belongs to the path,
					  * unless what is before it is a pool */

	/* For files of specs. */
	int (*owner)(const char *text, uid_t *uid, gid_t *gid, struct hf_err *err);
	void (*bad_line)(const struct hf_err *err, void *arg); /* of all bad lines but the last; or NULL */
	void *arg;
};

/*
 * Appends the parsed spec to list, which the caller zeroed and frees. Errors (usage) name the
 * offending piece: no '=' ("2M:3M", shows the spelling with '='), nothing before or after it,
 * every amount error, "@" without amount or without nodes, a node that does not exist or has no
 * memory (lists the nodes there are), a node named twice, several amounts where one has no @,
 * "+" or nothing or zero for a file, a file name component over 255 bytes or a path over 4095,
 * a name that is "", ".", ".." or ends in "/".
 */
int hf_spec_parse(const char *text, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		  struct hf_err *err) _must_check _nonnull(1, 2, 3, 4);

/*
 * The short form: --size and --file. amounts is AMOUNT[@NODES][,...]; name as in TARGET, always a
 * file. Appends.
 */
int hf_spec_make(const char *name, const char *amounts, const struct hf_spec_rules *rules,
		 struct hf_spec_list *list, struct hf_err *err) _must_check _nonnull(1, 2, 3, 4, 5);

/* "0-3+6" or "all" (every node with memory), checked against rules->online and ->memory. */
int hf_spec_parse_nodes(const char *text, size_t len, const struct hf_spec_rules *rules,
			struct hf_nodeset *out, struct hf_err *err) _must_check _nonnull(1, 3, 4, 5);

/*
 * Specs from a stream, one a line, and after blanks NAME=VALUE[,NAME=VALUE]... (struct hf_spec_options).
 * A blank inside a spec or a value is \040, as in fstab, a comma in a value \054, a backslash before three
 * octal digits \134. An amount with + is an error: a file states the end. Blank lines and lines whose first
 * non-blank is '#' are passed over. Usage errors carry "NAME:LINE" as the object, and the offending piece in
 * what. All bad lines are told, a dozen at most. A NUL byte and a line over 64 KiB end the reading. Appends.
 */
int hf_spec_read(FILE *in, const char *name, const struct hf_spec_rules *rules, struct hf_spec_list *list,
		 struct hf_err *err) _must_check _nonnull(1, 2, 3, 4, 5);

void hf_spec_list_free(struct hf_spec_list *list);

#endif
