/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vma.h"

#include <string.h>
#include <sys/sysmacros.h>

#define DELETED " (deleted)"

/* -1: none of the base. */
static int digit(char c, unsigned base)
{
	int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

	return value < (int)base ? value : -1;
}

/* Digits and nothing else, up to one of the characters in ends (or the end of the text, when ends is
 * ""). Moves *text behind it. */
static bool take_number(char **text, unsigned base, const char *ends, uint64_t *value)
{
	char *at = *text;

	*value = 0;
	for (int d; (d = digit(*at, base)) >= 0; at++)
		if (__builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, (unsigned)d, value))
			return false;
	if (at == *text || (*ends ? !*at || !strchr(ends, *at) : *at != '\0'))
		return false;
	*text = at + (*at != '\0');
	return true;
}

/* Only the newline is escaped, not the backslash: what looks like one is taken for one. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

static bool cut_suffix(char *path)
{
	size_t len = strlen(path), suffix = sizeof(DELETED) - 1;

	if (len < suffix || strcmp(path + len - suffix, DELETED) != 0)
		return false;
	path[len - suffix] = '\0';
	return true;
}

bool hf_vma_parse_head(char *line, struct hf_vma *vma)
{
	uint64_t offset, major, minor, ino;

	*vma = (struct hf_vma){ 0 };
	line[strcspn(line, "\n")] = '\0';
	if (!take_number(&line, 16, "-", &vma->start) || !take_number(&line, 16, " ", &vma->end) ||
	    vma->end <= vma->start)
		return false;
	if (strcspn(line, " ") != 4 || line[4] != ' ')
		return false;
	vma->shared = line[3] == 's';
	line += 5;
	if (!take_number(&line, 16, " ", &offset) || !take_number(&line, 16, ":", &major) ||
	    !take_number(&line, 16, " ", &minor))
		return false;
	if (!take_number(&line, 10, " ", &ino) && !take_number(&line, 10, "", &ino))
		return false;
	if (major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	line += strspn(line, " ");
	unescape(line);
	vma->dev = makedev((unsigned)major, (unsigned)minor);
	vma->ino = (ino_t)ino;
	vma->deleted = cut_suffix(line);
	vma->path = line;
	return true;
}

/* "Name:   N kB"; false where it is another line, or no number. */
static bool field_bytes(const char *line, const char *name, uint64_t *bytes)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len) != 0 || line[len] != ':')
		return false;
	return hf_sysroot_parse_kib(line, name, bytes) == 0;
}

static bool has_word(const char *line, const char *word)
{
	size_t len = strlen(word);

	for (; *line; line += strcspn(line, " \n")) {
		line += strspn(line, " \n");
		if (strncmp(line, word, len) == 0 && strchr(" \n", line[len]))
			return true;
	}
	return false;
}

void hf_vma_parse_field(const char *line, struct hf_vma *vma)
{
	if (field_bytes(line, "KernelPageSize", &vma->page_size) ||
	    field_bytes(line, "Shared_Hugetlb", &vma->shared_bytes) ||
	    field_bytes(line, "Private_Hugetlb", &vma->private_bytes)) {
		/* Kernels before 3.8 have no VmFlags. */
		vma->huge |= vma->shared_bytes || vma->private_bytes;
		return;
	}
	if (strncmp(line, "VmFlags:", 8) == 0)
		vma->huge |= has_word(line + 8, "ht");
}

/* "N3=17": pages on a node; nodes that the topology does not know are passed over. */
static void add_node(char *word, const struct hf_topology *topo, uint64_t *on)
{
	uint64_t node, pages;
	int index;

	word++;
	if (!take_number(&word, 10, "=", &node) || !take_number(&word, 10, "", &pages) ||
	    node > HF_NODESET_MAX)
		return;
	index = hf_topology_index(topo, (unsigned)node);
	if (index >= 0)
		on[index] = pages;
}

bool hf_vma_parse_nodes(char *line, const struct hf_topology *topo, struct hf_vma_nodes *nodes)
{
	bool huge = false;
	char *word;

	nodes->anon = 0;
	memset(nodes->on, 0, topo->nnodes * sizeof(*nodes->on));
	line[strcspn(line, "\n")] = '\0';
	if (!take_number(&line, 16, " ", &nodes->start))
		return false;
	while ((word = strsep(&line, " ")) != NULL) {
		huge |= strcmp(word, "huge") == 0;
		if (strncmp(word, "anon=", 5) == 0) {
			word += 5;
			if (!take_number(&word, 10, "", &nodes->anon))
				nodes->anon = 0;
		} else if (*word == 'N') {
			add_node(word, topo, nodes->on);
		}
	}
	return huge;
}
