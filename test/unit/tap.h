/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Test Anything Protocol for the unit tests: each check is one line, the plan comes last. */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned tap_count, tap_failed;

#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_u64(got, want, ...)                                            \
	do {                                                              \
		unsigned long long got_ = (got), want_ = (want);          \
		if (!ok(got_ == want_, __VA_ARGS__))                      \
			printf("#   got %llu, want %llu\n", got_, want_); \
	} while (0)
#define is_text(got, want, ...)                                                                     \
	do {                                                                                        \
		const char *got_ = (got), *want_ = (want);                                          \
		if (!ok(got_ && want_ && strcmp(got_, want_) == 0, __VA_ARGS__))                    \
			printf("#   got \"%s\"\n#   want \"%s\"\n", got_ ? got_ : "(null)", want_); \
	} while (0)
#define has_text(got, part, ...)                                                                       \
	do {                                                                                           \
		const char *got_ = (got), *part_ = (part);                                             \
		if (!ok(got_ && strstr(got_, part_), __VA_ARGS__))                                     \
			printf("#   got \"%s\"\n#   without \"%s\"\n", got_ ? got_ : "(null)", part_); \
	} while (0)

static inline bool __attribute__((format(printf, 4, 5)))
tap_ok(bool condition, const char *file, int line, const char *fmt, ...)
{
	char name[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	for (char *c = name; *c; c++)
		if (*c == '\n' || *c == '#')
			*c = ' ';
	printf("%sok %u - %s\n", condition ? "" : "not ", ++tap_count, name);
	if (!condition) {
		tap_failed++;
		printf("#   at %s:%d\n", file, line);
	}
	return condition;
}

static inline int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}

#endif
