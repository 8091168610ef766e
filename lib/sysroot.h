/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysroot - the one place that knows "/": small kernel files, read and written below a directory.
 *
 * Paths are relative ("sys/kernel/mm/hugepages"), printf formats. Live: below "/". Captured: below
 * DIR of --sysroot, where symbolic links cannot lead out (openat2 RESOLVE_IN_ROOT, or plain openat
 * where the kernel has none) and every write is refused with EROFS. Messages name the path as a
 * person finds it ("/sys/...", "DIR/sys/..."). A struct is used by one thread at a time for
 * opening and closing; reads are thread safe.
 */
#ifndef HF_SYSROOT_H
#define HF_SYSROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct hf_sysroot {
	int fd;     /* directory, O_PATH */
	bool live;  /* "/" itself: may act */
	char *name; /* "" when live, else DIR without trailing slash */
};

/* dir NULL: the running machine. The caller closes. */
int hf_sysroot_open(struct hf_sysroot *root, const char *dir, struct hf_err *err) _must_check _nonnull(1, 3);
void hf_sysroot_close(struct hf_sysroot *root);

/* open(2) below the root; flags get O_CLOEXEC, a file that O_CREAT makes is 0600. Returns the
 * descriptor or -errno. Here and below err may be NULL where nobody asks. */
int hf_sysroot_fd(const struct hf_sysroot *root, int flags, struct hf_err *err, const char *fmt,
		  ...) _must_check _printf(4, 5);

/* The whole file, at most size-1 bytes (more: EFBIG), NUL-terminated; *len may be NULL. */
int hf_sysroot_read(const struct hf_sysroot *root, char *buf, size_t size, size_t *len, struct hf_err *err,
		    const char *fmt, ...) _must_check _printf(6, 7);

/* A decimal number and nothing else but a newline; anything else: EBADMSG with what was there. */
int hf_sysroot_read_u64(const struct hf_sysroot *root, uint64_t *value, struct hf_err *err, const char *fmt,
			...) _must_check _printf(4, 5);

/* open(O_WRONLY|O_TRUNC), one write, close checked. EINTR is returned, not retried: a signal
 * that stops a pool's growth must be seen. */
int hf_sysroot_write(const struct hf_sysroot *root, const char *text, struct hf_err *err, const char *fmt,
		     ...) _must_check _printf(4, 5);
int hf_sysroot_write_u64(const struct hf_sysroot *root, uint64_t value, struct hf_err *err, const char *fmt,
			 ...) _must_check _printf(4, 5);

/* A file of this text in place of what was there, at once: mode 0600. The last directory of the path is made
 * where it lacks, mode 0755. */
int hf_sysroot_replace(const struct hf_sysroot *root, const char *text, struct hf_err *err, const char *fmt,
		       ...) _must_check _printf(4, 5);
/* 0 also when there is none. */
int hf_sysroot_remove(const struct hf_sysroot *root, struct hf_err *err, const char *fmt, ...) _must_check
	_printf(3, 4);

/* False only where it is certain that there is no such file. */
bool hf_sysroot_exists(const struct hf_sysroot *root, const char *fmt, ...) _printf(2, 3);

/* Calls each(name, arg) for every entry but "." and ".."; stops at and returns its first non-zero. */
int hf_sysroot_list(const struct hf_sysroot *root, int (*each)(const char *name, void *arg), void *arg,
		    struct hf_err *err, const char *fmt, ...) _must_check _printf(5, 6);

/* The path as a person would type it, malloc'd: "/sys/..." or "DIR/sys/...". NULL: no memory. */
char *hf_sysroot_path(const struct hf_sysroot *root, const char *fmt, ...) _must_check _printf(2, 3);

/* In the text of a meminfo file: the line "KEY:   N kB", as bytes. -ENOENT: no such line;
 * -EBADMSG: it holds no such number. Pure. */
int hf_sysroot_parse_kib(const char *text, const char *key, uint64_t *bytes) _must_check _nonnull(1, 2, 3);

/* Gives an open unnamed file (O_TMPFILE) a name, by its descriptor's link in proc: what works
 * without CAP_DAC_READ_SEARCH. Returns 0 or -errno. */
int hf_sysroot_link(int fd, int dirfd, const char *name) _must_check _nonnull(3);

#endif
