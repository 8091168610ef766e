/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hugefill - preallocates huge pages: the command line's root, the table of commands, dispatch. */
#include <errno.h>
#include <locale.h>
#include <stdio_ext.h>
#include <poll.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "lib/doc.h"
#include "lib/mounts.h"
#include "lib/policy.h"

extern char **environ;

const struct hf_command hf_commands[] = {
	{ "alloc", "grow pools, mount hugetlbfs if needed, create files and fill them", hf_cmd_alloc },
	{ "run", "allocate as alloc does, run a command, and give everything back", hf_cmd_run },
	{ "free", "remove or punch files, give pool pages back to the system", hf_cmd_free },
	{ "status", "show pools, mounts, files and who holds which pages", hf_cmd_status },
	{ "check", "tell whether an allocation can succeed, and what stands against it", hf_cmd_check },
	{ "mount", "mount hugetlbfs with safe options, if it is not mounted so already", hf_cmd_mount },
	{ "umount", "unmount a hugetlbfs that nobody uses", hf_cmd_umount },
	{ "bench", "timed runs: speedup and stdev tables, rates, latency histograms", hf_cmd_bench },
	{ NULL, NULL, NULL },
};

struct root {
	struct hf_common *common;
	int first; /* index of COMMAND in argv, 0: none */
};

static void print_version(FILE *out, struct argp_state *state)
{
	(void)state;
	fprintf(out, "hugefill %s\n", HF_VERSION);
	fprintf(out, "libnuma %s (as built)\n", hf_policy_version());
	fprintf(out, "libmount %s\n", hf_mounts_version());
	fprintf(out, "libsmartcols %s\n", hf_table_version());
	fprintf(out, "json-c %s\n", hf_doc_version());
}

void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct root *root = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = root->common;
		return 0;
	case ARGP_KEY_ARG:
		root->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a command is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The list of commands in --help comes from the table. */
static char *list_commands(int key, const char *text, void *input)
{
	char *help = NULL;
	size_t size = 0;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&help, &size);
	if (!out)
		return (char *)(uintptr_t)text;
	fputs("Commands:\n", out);
	for (const struct hf_command *c = hf_commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fputs("\n`hugefill COMMAND --help' tells the rest; hugefill(8) tells all.", out);
	if (fclose(out) == 0)
		return help;
	free(help);
	return (char *)(uintptr_t)text;
}

/* Everything that was printed must have arrived: --help >/dev/full fails too. */
static void close_stdout(void)
{
	/* What was flushed before was told of then, and undone: the close itself undoes nothing more. */
	bool pending = __fpending(stdout) || ferror(stdout);

	if (fclose(stdout) == 0 || errno == EINTR || !pending || hf_print_has_failed())
		return;
	fprintf(stderr, "hugefill: standard output: cannot write: %s\n", strerror(errno));
	_exit(HF_EXIT_FAILED);
}

#ifdef HF_DEBUG_FDS
static struct pollfd inherited[1024];
static nfds_t looked_at; /* of them: those below the limit, which may be raised later */

/* By one call, since tests count and delay others. */
static void look_at_fds(struct pollfd *fds)
{
	for (int fd = 0; fd < (int)HF_LENGTH(inherited); fd++)
		fds[fd] = (struct pollfd){ .fd = fd, .revents = POLLNVAL };
	poll(fds, looked_at, 0);
}

/* Aborts with a list when a descriptor is open that was not there at the start. */
static void check_fds(void)
{
	struct pollfd now[HF_LENGTH(inherited)];
	bool leaked = false;
	struct stat st;

	look_at_fds(now);
	for (int fd = STDERR_FILENO + 1; fd < (int)looked_at; fd++) {
		if (now[fd].revents & POLLNVAL || !(inherited[fd].revents & POLLNVAL) || fstat(fd, &st) < 0)
			continue;
		fprintf(stderr, "hugefill: descriptor %d is still open: mode %o, device %lx, inode %lu\n", fd,
			(unsigned)st.st_mode, (unsigned long)st.st_dev, (unsigned long)st.st_ino);
		leaked = true;
	}
	if (leaked)
		abort();
}

/* Before every other atexit: what is registered first runs last. */
static void watch_fds(void)
{
	looked_at = (nfds_t)sysconf(_SC_OPEN_MAX);
	if (looked_at > HF_LENGTH(inherited))
		looked_at = HF_LENGTH(inherited);
	look_at_fds(inherited);
	atexit(check_fds);
}
#endif

/* Variables that would steer argp's help or libmount are not for whoever calls. */
static void clean_environment(void)
{
	unsetenv("ARGP_HELP_FMT");
	for (size_t i = 0; environ && environ[i];) {
		char name[64];
		size_t len = strcspn(environ[i], "=");

		if (strncmp(environ[i], "LIBMOUNT_", 9) != 0 || len >= sizeof(name)) {
			i++;
			continue;
		}
		memcpy(name, environ[i], len);
		name[len] = '\0';
		unsetenv(name);
		i = 0;
	}
}

static int dispatch(int argc, char **argv, struct hf_common *common)
{
	char shown[256];

	for (const struct hf_command *c = hf_commands; c->name; c++) {
		char name[64], label[72];

		if (strcmp(c->name, argv[0]) != 0)
			continue;
		snprintf(name, sizeof(name), "hugefill %s", c->name);
		snprintf(label, sizeof(label), "%s%s", hf_journal_level(HF_LEVEL_INFO), name);
		argv[0] = name;
		common->name = name;
		common->label = label;
		return c->run(argc, argv, common);
	}
	fprintf(stderr, "hugefill: %s: there is no such command\n",
		hf_err_escape(argv[0], shown, sizeof(shown)));
	fputs("hint: `hugefill --help' lists the commands\n", stderr);
	return HF_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const char doc[] = "Preallocates huge pages: pools, hugetlbfs mounts and files, filled in "
				  "parallel, all or nothing.\v";
	const struct argp_child children[] = { { &hf_common_argp, 0, NULL, 0 }, { 0 } };
	const struct argp argp = { NULL,          parse_root, "COMMAND [OPTION...] [SPEC...]", doc, children,
				   list_commands, NULL };
	struct hf_stop stop = { 0 };
	struct hf_common common = { .name = "hugefill", .stop = &stop };
	struct root root = { .common = &common };

	hf_journal_attach();
	if (getauxval(AT_SECURE)) {
		fputs("hugefill: setuid and file capabilities are not supported: run it as root\n", stderr);
		return HF_EXIT_FAILED;
	}
#ifdef HF_DEBUG_FDS
	watch_fds();
#endif
	clean_environment();
	setlocale(LC_CTYPE, "");
	atexit(close_stdout);
	argp_err_exit_status = HF_EXIT_USAGE;
	argv[0] = (char *)(uintptr_t) "hugefill";
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &root))
		return HF_EXIT_USAGE;
	return dispatch(argc - root.first, argv + root.first, &common);
}
