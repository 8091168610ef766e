/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd - what the commands share: their table, the common options, messages, signals.
 */
#ifndef HF_CMD_H
#define HF_CMD_H

#include <argp.h>

#include "../lib/machine.h"
#include "../lib/plan.h"
#include "../lib/progress.h"
#include "../lib/stop.h"
#include "../lib/table.h"

enum { HF_EXIT_DONE = 0, HF_EXIT_FAILED = 1, HF_EXIT_USAGE = 2, HF_EXIT_PARTLY = 64 };

/* The common options, wherever on the line they stood. */
struct hf_common {
	const char *name;  /* "hugefill alloc": in front of every message */
	const char *label; /* the same for progress, with the level where there is one */
	struct hf_format format;
	enum hf_progress_mode progress;
	unsigned verbose;
	bool quiet;
	const char *sysroot; /* NULL: this machine */
	struct hf_stop *stop;
};

struct hf_command {
	const char *name;
	const char *summary;
	/* argv[0] is "hugefill NAME". Returns the exit status. */
	int (*run)(int argc, char **argv, struct hf_common *common);
};

/* In the order of --help; ends with a NULL name. */
extern const struct hf_command hf_commands[];

int hf_cmd_alloc(int argc, char **argv, struct hf_common *common);
int hf_cmd_run(int argc, char **argv, struct hf_common *common);
int hf_cmd_mount(int argc, char **argv, struct hf_common *common);
int hf_cmd_umount(int argc, char **argv, struct hf_common *common);
int hf_cmd_free(int argc, char **argv, struct hf_common *common);
int hf_cmd_bench(int argc, char **argv, struct hf_common *common);
int hf_cmd_status(int argc, char **argv, struct hf_common *common);
int hf_cmd_check(int argc, char **argv, struct hf_common *common);

/* The common options as an argp child; its input is a struct hf_common. */
extern const struct argp hf_common_argp;

/* argp's help filter: appends the table of columns, "COLUMNS: NAME what it is", to an option's or
 * argp's text. malloc'd, or text itself. */
char *hf_columns_help(const char *text, const struct hf_column *columns, size_t count);

/* --- the journal (journal.c): levels in front of lines, as sd-daemon(3) has them --- */

enum hf_level { HF_LEVEL_ERROR = 3, HF_LEVEL_WARNING = 4, HF_LEVEL_INFO = 6 };

/* Where standard error is the journal's, stderr becomes a stream that puts "<3>" in front of each line that
 * has no level. First of all, once. */
void hf_journal_attach(void);
/* What a line of this level begins with: "" where standard error is not the journal's. */
const char *hf_journal_level(enum hf_level level);

/* --- messages (print.c): to stderr, nothing of it in colour, control bytes escaped --- */

/* "hugefill alloc: OBJECT: what: errno text" and "hint: ..." lines. Returns the exit status. */
int hf_print_err(const struct hf_common *common, const struct hf_err *err) _nonnull(1, 2);
/* A fatal finding is an error, another a warning, or less. */
enum hf_level hf_print_level(const struct hf_finding *finding);
void hf_print_finding(const struct hf_common *common, const struct hf_finding *finding);
/* Unless --quiet. A note is a warning. */
void hf_print_note(const struct hf_common *common, const char *fmt, ...) _printf(2, 3);
void hf_print_at(const struct hf_common *common, enum hf_level level, const char *fmt, ...) _printf(3, 4);
/* "hint: ..." after a note. Unless --quiet. */
void hf_print_note_hint(const struct hf_common *common, const char *fmt, ...) _printf(2, 3);

/* Flushes stdout. A failure is an err as everything else. */
int hf_print_flush(struct hf_err *err) _must_check;
/* It failed, and that was told. */
bool hf_print_has_failed(void);

/* --- option values (options.c): usage errors name the option and its text --- */

/* Ends the parsing with the error as argp's message, exit status 2. */
void hf_option_fail(const struct argp_state *state, const struct hf_err *err);
/* Makes the option the object of an error about its text. Returns -EINVAL. */
int hf_option_blame(const char *option, struct hf_err *err);

int hf_option_u64(const char *option, const char *text, uint64_t least, uint64_t most, uint64_t *value,
		  struct hf_err *err) _must_check;
int hf_option_seconds(const char *option, const char *text, double *seconds, struct hf_err *err) _must_check;
int hf_option_mode(const char *option, const char *text, mode_t most, mode_t *mode,
		   struct hf_err *err) _must_check;
int hf_option_owner(const char *option, const char *text, uid_t *uid, gid_t *gid,
		    struct hf_err *err) _must_check;
/* SIZE, or N% of memory bytes. */
int hf_option_share(const char *option, const char *text, uint64_t memory, uint64_t *bytes,
		    struct hf_err *err) _must_check;
/* A page size the kernel has; NULL text: its default. */
int hf_option_page_size(const struct hf_machine *machine, const char *text, uint64_t *bytes,
			struct hf_err *err) _must_check;
/* One of names[], which ends with NULL; its index. */
int hf_option_choice(const char *option, const char *text, const char *const *names, int *index,
		     struct hf_err *err) _must_check;
/* The spec of --size and --file (NULL: "hugefill"). */
int hf_option_file(const char *name, const char *size, const struct hf_spec_rules *rules,
		   struct hf_spec_list *list, struct hf_err *err) _must_check;
/* "-", also where a file has this name. */
bool hf_option_is_stdin(const char *path) _must_check;
/* Specs from --from, "-" is standard input. Tells all bad lines but the last, which is in err. */
int hf_option_from(const struct hf_common *common, const char *path, const struct hf_spec_rules *rules,
		   struct hf_spec_list *list, struct hf_err *err) _must_check;

/* --- signals (signals.c) --- */

/* SIGINT, SIGTERM, SIGHUP, and what else ends a process and can be caught, ask the stop, unless they
 * are ignored; SIGPIPE becomes EPIPE, SIGXFSZ EFBIG. */
void hf_signals_catch(struct hf_stop *stop);
/* A write to standard output failed: of EPIPE the process dies as of SIGPIPE, once all is undone. */
void hf_signals_write_failed(int errnum);
/* Asks the stop after this long. */
int hf_signals_deadline(double seconds, struct hf_err *err) _must_check;
/* It is over. */
void hf_signals_no_deadline(struct hf_stop *stop);
/* In a child: everything as this process had it when it was started. */
void hf_signals_as_before(void);
/* Dies of it, the default way. */
void hf_signals_die(int signo);
/* If a signal asked, dies of it; else returns status. After a failed write to a pipe nobody reads, of
 * SIGPIPE. */
int hf_signals_exit(const struct hf_common *common, int status);

#endif
