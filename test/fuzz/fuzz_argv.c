/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of every command: after a byte of flags the input is argv[1] and so on, each ended
 * by a NUL. Flag 1: the command gets --dry-run, if it has one.
 *
 * The whole program runs, its main renamed, again and again in one process:
 *  - Whatever --sysroot says, the machine is a small tree. A request that would act ends before its
 *    first action; a dry run must not come there. What changes anything below that aborts.
 *  - argp leaves by exit() after an error. It is told not to, and argp_error, after which the
 *    program's parsers count on never coming back, jumps to where the parsing began.
 *  - Handlers of signals, of the exit and timers are libFuzzer's own.
 */
#include <argp.h>
#include <errno.h>
#include <sanitizer/allocator_interface.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include "../../lib/apply.h"
#include "../../lib/bench.h"
#include "../../lib/mountpoint.h"
#include "../../lib/release.h"
#include "fuzz.h"

#define MOST_WORDS 32

int hugefill_main(int argc, char **argv);

static struct fuzz_tree tree;

/* One parse at a time: the root's ends before the command's begins. */
static jmp_buf parsing;
static const volatile void *parser; /* what argp keeps during the parse: its first allocation */
static bool parse_begins;
static bool dry_wanted, is_dry;

static void note_allocation(const volatile void *memory, size_t size)
{
	(void)size;
	if (parse_begins)
		parser = memory;
	parse_begins = false;
}

static void note_release(const volatile void *memory)
{
	(void)memory;
}

static bool has_dry_run(const struct argp *argp)
{
	const struct argp_option *o = argp->options;

	for (; o && (o->name || o->key || o->doc); o++)
		if (o->name && strcmp(o->name, "dry-run") == 0)
			return true;
	return false;
}

error_t __real_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
			  void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
			  void *input);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index,
			  void *input)
{
	static char *words[MOST_WORDS + 3];

	/* Specs are handed on as a part of argv: it outlives this call. */
	if (dry_wanted && has_dry_run(argp)) {
		words[0] = argv[0];
		words[1] = (char *)(uintptr_t) "--dry-run";
		memcpy(words + 2, argv + 1, (size_t)argc * sizeof(*argv));
		argv = words;
		argc++;
		is_dry = true;
	}
	if (setjmp(parsing)) {
		free((void *)(uintptr_t)parser);
		return EINVAL;
	}
	parse_begins = true;
	return __real_argp_parse(argp, argc, argv, flags | ARGP_NO_EXIT, index, input);
}

void __wrap_argp_error(const struct argp_state *state, const char *fmt, ...) _printf(2, 3);
void __wrap_argp_error(const struct argp_state *state, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", state->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	longjmp(parsing, 1);
}

int __real_hf_machine_read(const char *sysroot, struct hf_machine *machine, struct hf_err *err);
int __wrap_hf_machine_read(const char *sysroot, struct hf_machine *machine, struct hf_err *err);
int __wrap_hf_machine_read(const char *sysroot, struct hf_machine *machine, struct hf_err *err)
{
	(void)sysroot;
	return __real_hf_machine_read(tree.dir, machine, err);
}

static int act(struct hf_err *err)
{
	fuzz_must(!is_dry);
	return hf_err_set(err, EROFS, "fuzz", "ends here");
}

int __wrap_hf_apply_run(struct hf_apply *apply, struct hf_err *err);
int __wrap_hf_apply_run(struct hf_apply *apply, struct hf_err *err)
{
	fuzz_must(!hf_plan_is_fatal(apply->plan));
	return act(err);
}

int __wrap_hf_bench_run(struct hf_bench *bench, struct hf_err *err);
int __wrap_hf_bench_run(struct hf_bench *bench, struct hf_err *err)
{
	fuzz_must(bench->ncases);
	return act(err);
}

int __real_hf_release_run(struct hf_release *release, struct hf_err *err);
int __wrap_hf_release_run(struct hf_release *release, struct hf_err *err);
int __wrap_hf_release_run(struct hf_release *release, struct hf_err *err)
{
	return release->request->dry_run ? __real_hf_release_run(release, err) : act(err);
}

int __wrap_hf_mountpoint_make(const struct hf_sysroot *root, struct hf_undo *undo,
			      const struct hf_mount_request *request, struct hf_err *err);
int __wrap_hf_mountpoint_make(const struct hf_sysroot *root, struct hf_undo *undo,
			      const struct hf_mount_request *request, struct hf_err *err)
{
	(void)root;
	(void)undo;
	fuzz_must(request->target);
	return act(err);
}

int __real_hf_mountpoint_remove(const struct hf_machine *machine, const char *target, bool force,
				bool dry_run, struct hf_err *err);
int __wrap_hf_mountpoint_remove(const struct hf_machine *machine, const char *target, bool force,
				bool dry_run, struct hf_err *err);
int __wrap_hf_mountpoint_remove(const struct hf_machine *machine, const char *target, bool force,
				bool dry_run, struct hf_err *err)
{
	return dry_run ? __real_hf_mountpoint_remove(machine, target, force, true, err) : act(err);
}

/* Nothing of the system is the program's to change here. */
#define NEVER(name)                \
	int __wrap_##name(void);   \
	int __wrap_##name(void)    \
	{                          \
		fuzz_must(!#name); \
		return -EROFS;     \
	}
NEVER(hf_sysroot_write)
NEVER(hf_sysroot_write_u64)
NEVER(hf_sysroot_link)
NEVER(hf_mounts_mount)
NEVER(hf_mounts_umount)
NEVER(hf_hugefile_create)
NEVER(hf_hugefile_open)
NEVER(hf_lock_take)
NEVER(hf_grow_run)
NEVER(hf_grow_shrink)
NEVER(run_command)

#define NOTHING(name)            \
	int __wrap_##name(void); \
	int __wrap_##name(void)  \
	{                        \
		return 0;        \
	}
NOTHING(atexit)
NOTHING(hf_signals_catch)
NOTHING(hf_signals_deadline)

/* glibc's argp has a hidden --HANG=SECONDS, any prefix will do. */
static bool hangs(const char *word)
{
	return strncmp(word, "--H", 3) == 0;
}

static void run(int argc, char **argv)
{
	char *name = program_invocation_name, *short_name = program_invocation_short_name;
	int status = hugefill_main(argc, argv);

	/* argp's hidden --program-name changes them, into text of the input. */
	program_invocation_name = name;
	program_invocation_short_name = short_name;
	/* 126 and 127: of run, whose command is looked up. */
	fuzz_must(status == 0 || status == 1 || status == 2 || status == 126 || status == 127);
	fflush(stdout);
	clearerr(stdout);
	clearerr(stdin);
}

static void begin(void)
{
	static bool done;

	if (!done)
		__sanitizer_install_malloc_and_free_hooks(note_allocation, note_release);
	done = true;
	fuzz_tree_make(&tree, fuzz_machine_files, fuzz_nmachine_files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *argv[MOST_WORDS + 2] = { (char *)(uintptr_t) "hugefill" };
	int argc = 1, fd;
	bool hang = false;

	if (!size)
		return 0;
	begin();
	fd = fuzz_first_fd();
	text = fuzz_text(data, size);
	dry_wanted = data[0] & 1;
	is_dry = false;
	for (size_t at = 1; at < size && argc <= MOST_WORDS; at += strlen(text + at) + 1) {
		argv[argc++] = text + at;
		hang = hang || hangs(text + at);
	}
	if (!hang)
		run(argc, argv);
	free(text);
	fuzz_must(fuzz_first_fd() == fd);
	return 0;
}
