/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "peer.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THINGS 32

static struct thing things[THINGS];
static sigjmp_buf escape;
static volatile size_t visited;
static volatile sig_atomic_t guarding;

static struct {
	pid_t pid;
	FILE *to, *from;
} child;

uint64_t size_of(const char *word)
{
	char *end;
	uint64_t number = strtoull(word, &end, 10);

	return *end == 'b' ? number : *end == 'G' ? number << 30 : number * PAGE;
}

void failed(struct call *call)
{
	snprintf(call->reply, REPLY, "%s", strerrorname_np(errno));
}

struct thing *find(struct call *call, const char *name)
{
	for (size_t i = 0; i < THINGS; i++)
		if (*name && strcmp(things[i].name, name) == 0)
			return &things[i];
	snprintf(call->reply, REPLY, "there is no %s", name);
	return NULL;
}

struct thing *add(struct call *call, const char *name)
{
	for (size_t i = 0; i < THINGS; i++) {
		if (things[i].name[0])
			continue;
		things[i] = (struct thing){ .fd = -1 };
		snprintf(things[i].name, sizeof(things[i].name), "%s", name);
		return &things[i];
	}
	snprintf(call->reply, REPLY, "no place for %s", name);
	return NULL;
}

void drop(struct thing *thing)
{
	thing->name[0] = '\0';
}

static void caught(int number)
{
	if (guarding)
		siglongjmp(escape, number);
	signal(number, SIG_DFL);
	raise(number);
}

static __attribute__((noinline)) void visit_all(struct call *call, struct thing *map,
						void (*visit)(struct call *call, struct thing *map,
							      size_t from, size_t to))
{
	size_t from = size_of(call->word[1]), end = from + size_of(call->word[2]);

	guarding = 1;
	for (size_t at = from; at < end && strcmp(call->reply, "ok") == 0; at += PAGE) {
		visited = at / PAGE;
		visit(call, map, at, at + PAGE);
	}
}

void guarded(struct call *call, void (*visit)(struct call *call, struct thing *map, size_t from, size_t to))
{
	struct thing *map = find(call, call->word[0]);
	int number;

	if (!map)
		return;
	number = sigsetjmp(escape, 1);
	if (number)
		snprintf(call->reply, REPLY, "%s at %zu", number == SIGBUS ? "SIGBUS" : "SIGSEGV", visited);
	else
		visit_all(call, map, visit);
	guarding = 0;
}

/* From here on there are two: "child ..." is for the younger one. */
static void peer_fork(struct call *call)
{
	int down[2], up[2];

	if (pipe(down) < 0 || pipe(up) < 0)
		return failed(call);
	child.pid = fork();
	if (child.pid < 0)
		return failed(call);
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(down[0], STDIN_FILENO);
		dup2(up[1], STDOUT_FILENO);
		/* What the parent had read ahead is not the child's. */
		setvbuf(stdin, NULL, _IONBF, 0);
		child.pid = 0;
		call->reply[0] = '\0';
	}
	close(down[child.pid ? 0 : 1]);
	close(up[child.pid ? 1 : 0]);
	if (!child.pid)
		return;
	child.to = fdopen(down[1], "w");
	child.from = fdopen(up[0], "r");
}

/* Waits until it is gone, so that what it had is free. */
static void bury(struct call *call)
{
	int status;

	fclose(child.to);
	fclose(child.from);
	waitpid(child.pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		snprintf(call->reply, REPLY, "it ended with %x", (unsigned)status);
	child.pid = 0;
}

static void peer_child(struct call *call)
{
	if (!child.pid) {
		snprintf(call->reply, REPLY, "there is no child");
		return;
	}
	for (size_t i = 0; i < WORDS && *call->word[i]; i++)
		fprintf(child.to, "%s ", call->word[i]);
	fputs("\n", child.to);
	fflush(child.to);
	if (strcmp(call->word[0], "exit") == 0)
		return bury(call);
	if (!fgets(call->reply, REPLY, child.from))
		snprintf(call->reply, REPLY, "it is dead");
	call->reply[strcspn(call->reply, "\n")] = '\0';
}

pid_t child_of(void)
{
	return child.pid;
}

static void peer_exit(struct call *call)
{
	(void)call;
	exit(0);
}

static const struct {
	const char *name;
	void (*run)(struct call *call);
} commands[] = {
	{ "open", peer_open },         /* FILE PATH [create|read] */
	{ "memfd", peer_memfd },       /* FILE LENGTH */
	{ "close", peer_close },       /* FILE */
	{ "truncate", peer_truncate }, /* FILE LENGTH */
	{ "allocate", peer_allocate }, /* FILE OFFSET LENGTH */
	{ "punch", peer_punch },       /* FILE OFFSET LENGTH */
	{ "pages", peer_pages },       /* FILE: that it has */
	{ "size", peer_size },         /* FILE: in pages */
	{ "pread", peer_pread },       /* FILE OFFSET LENGTH: bytes that came */
	{ "pwrite", peer_pwrite },     /* FILE OFFSET LENGTH */
	{ "ahead", peer_ahead },       /* FILE OFFSET LENGTH: readahead and fadvise */
	{ "map", peer_map },         /* MAP FILE OFFSET LENGTH shared|private[,noreserve][,populate][,read] */
	{ "unmap", peer_unmap },     /* MAP [OFFSET LENGTH] */
	{ "write", peer_write },     /* MAP OFFSET LENGTH [MARK] */
	{ "check", peer_check },     /* MAP OFFSET LENGTH [MARK]: what write wrote */
	{ "zero", peer_zero },       /* MAP OFFSET LENGTH: nothing was written */
	{ "protect", peer_protect }, /* MAP OFFSET LENGTH none|read|write */
	{ "advise", peer_advise },   /* MAP OFFSET LENGTH dontneed|remove|willneed|populate|dontfork */
	{ "remap", peer_remap },     /* MAP LENGTH [move] */
	{ "lock", peer_lock },       /* MAP */
	{ "shm", peer_shm },         /* MAP LENGTH [noreserve] */
	{ "send", peer_send },       /* MAP OFFSET PATH: a page by direct I/O to a file, and back */
	{ "poke", peer_poke },       /* MAP OFFSET MARK: into the child's memory, from outside */
	{ "userfault", peer_userfault }, /* MAP MARK: from now on missing pages are filled by a thread */
	{ "fork", peer_fork },
	{ "child", peer_child }, /* COMMAND... */
	{ "exit", peer_exit },
};

static void run(char *line, char *reply)
{
	struct call call = { .reply = reply };
	char *rest = NULL, *name = strtok_r(line, " \n", &rest);

	for (size_t i = 0; i < WORDS; i++) {
		const char *word = strtok_r(NULL, " \n", &rest);

		call.word[i] = word ? word : "";
	}
	strcpy(reply, "ok");
	for (size_t i = 0; name && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(&call);
	snprintf(reply, REPLY, "no such command: %s", name ? name : "");
}

int main(void)
{
	static const struct sigaction action = { .sa_handler = caught };
	char line[1024], reply[REPLY];

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		run(line, reply);
		if (*reply)
			puts(reply);
		fflush(stdout);
	}
	return 0;
}
