/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz - what the fuzz targets share: checks that hold whatever the input, and a small tree of system
 * files that the input overwrites. A target that finds something aborts; libFuzzer keeps the input.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "../../lib/sysroot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_must(condition) fuzz_check(condition, __FILE__, __LINE__, #condition)
void fuzz_check(bool holds, const char *file, int line, const char *condition);

/* A terminated copy; the caller frees. */
char *fuzz_text(const uint8_t *data, size_t size);

/* r < 0 of a call came with an err that tells a person something, and that a terminal can show. */
void fuzz_check_err(int r, const struct hf_err *err);

/* The first descriptor that is free: the same before and after what leaks none. */
int fuzz_first_fd(void);

struct fuzz_file {
	const char *path;
	const char *text; /* what it holds unless the input says otherwise */
};

/* One tree for all inputs; below TMPDIR. */
struct fuzz_tree {
	char dir[256];
	const struct fuzz_file *files;
	size_t count;
	bool *changed; /* [count] */
	struct hf_sysroot root;
};

/*
 * Makes the tree once. data is then records, 0xff between them: a character for the file ('0': the
 * first, and so on in ASCII, round and round) and what it holds; with the highest bit set there is no
 * such file. After the run restore puts everything back.
 */
void fuzz_tree_make(struct fuzz_tree *tree, const struct fuzz_file *files, size_t count);
void fuzz_tree_write(struct fuzz_tree *tree, const uint8_t *data, size_t size);
/* One file of it, which restore does not know of. */
void fuzz_tree_put(const struct fuzz_tree *tree, size_t i, const void *bytes, size_t len);
void fuzz_tree_restore(struct fuzz_tree *tree);

/* A whole machine: two nodes, pages of 2 MiB and 1 GiB, one mount, cgroup v2. */
extern const struct fuzz_file fuzz_machine_files[];
extern const size_t fuzz_nmachine_files;

#endif
