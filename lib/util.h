/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes and cleanup helpers that every module shares.
 *
 * Cleanup attributes run when the variable leaves its scope. The descriptor and memory forms
 * accept "nothing held" (-1, NULL). A descriptor that was written to is closed by hand, so that
 * the result of close is seen.
 */
#ifndef HF_UTIL_H
#define HF_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _must_check __attribute__((warn_unused_result))
#define _nonnull(...) __attribute__((nonnull(__VA_ARGS__)))
#define _printf(f, a) __attribute__((format(printf, f, a)))

#define _cleanup_free_ __attribute__((cleanup(hf_cleanup_free)))
#define _cleanup_close_ __attribute__((cleanup(hf_cleanup_close)))
#define _cleanup_fclose_ __attribute__((cleanup(hf_cleanup_fclose)))

#define HF_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static inline void hf_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void hf_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void hf_cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#endif
