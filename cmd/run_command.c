/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What goes on to the command, unless it is ignored. */
static const int forwarded[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1, SIGUSR2,  SIGALRM,
				 SIGTERM, SIGCONT, SIGTSTP, SIGPWR,  SIGWINCH, SIGXCPU };

struct life {
	pid_t child;
	sigset_t signals; /* that are waited for */
	bool ended;
	int status, died_of;
};

static int tell(const struct hf_common *common, const char *command, int errnum, const char *what)
{
	struct hf_err err = { 0 };

	hf_err_sys(&err, errnum, command, "%s", what);
	hf_print_err(common, &err);
	return errnum == ENOENT ? HF_EXIT_NOT_FOUND : HF_EXIT_NOT_EXECUTABLE;
}

/* 0 or an errno. */
static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* Along PATH; one that may not be executed is passed over, and told when there is no other. */
static int search(struct run_opts *run)
{
	const char *name = run->command[0], *path = getenv("PATH");
	int errnum = ENOENT;

	if (!*name)
		return ENOENT;
	if (!path)
		path = _PATH_DEFPATH;
	for (;; path++) {
		size_t len = strcspn(path, ":");
		int r;

		if (asprintf(&run->program, "%.*s%s%s", (int)len, path, len ? "/" : "", name) < 0) {
			run->program = NULL;
			return ENOMEM;
		}
		r = check_program(run->program);
		if (r == 0)
			return 0;
		/* A directory that may not be searched holds no program that could be meant. */
		if (r == EACCES && faccessat(AT_FDCWD, run->program, F_OK, AT_EACCESS) == 0)
			errnum = EACCES;
		free(run->program);
		run->program = NULL;
		path += len;
		if (!*path)
			return errnum;
	}
}

int run_find(const struct hf_common *common, struct run_opts *run)
{
	int r;

	if (strchr(run->command[0], '/')) {
		run->program = strdup(run->command[0]);
		r = run->program ? check_program(run->program) : ENOMEM;
	} else {
		r = search(run);
	}
	return r ? tell(common, *run->command[0] ? run->command[0] : "''", r, "cannot run it") : 0;
}

/* In the child. Everything of this process's own is taken back; what cannot be is an error. */
static int become(const struct run_opts *run, const char *file, pid_t parent)
{
	int r = hf_policy_restore(&run->policy);

	if (r < 0)
		return -r;
	if (run->descriptors.rlim_max && setrlimit(RLIMIT_NOFILE, &run->descriptors) < 0)
		return errno;
	if ((file ? setenv("HUGEFILL_FILE", file, 1) : unsetenv("HUGEFILL_FILE")) < 0)
		return errno;
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return errno;
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(HF_EXIT_FAILED);
	hf_signals_as_before();
	execv(run->program, run->command);
	/* A script without a first line that names its interpreter is the shell's, as for every shell. */
	if (errno == ENOEXEC)
		execvp(run->program, run->command);
	return errno;
}

/* 0, or the errno of what failed in the child: its exec closes the pipe. */
static int start(const struct run_opts *run, const char *file, pid_t *child)
{
	pid_t parent = getpid();
	int ends[2], errnum = 0;
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	*child = fork();
	if (*child == 0) {
		errnum = become(run, file, parent);
		_exit(write(ends[1], &errnum, sizeof(errnum)) < 0 ? HF_EXIT_NOT_EXECUTABLE
								  : HF_EXIT_NOT_FOUND);
	}
	if (*child < 0)
		errnum = errno;
	close(ends[1]);
	while (*child > 0 && (got = read(ends[0], &errnum, sizeof(errnum))) < 0 && errno == EINTR)
		;
	close(ends[0]);
	while (*child > 0 && errnum && waitpid(*child, NULL, 0) < 0 && errno == EINTR)
		;
	return errnum;
}

static void block(struct life *life)
{
	struct sigaction now;

	sigemptyset(&life->signals);
	sigaddset(&life->signals, SIGCHLD);
	for (size_t i = 0; i < HF_LENGTH(forwarded); i++) {
		sigaction(forwarded[i], NULL, &now);
		if (now.sa_handler != SIG_IGN)
			sigaddset(&life->signals, forwarded[i]);
	}
	pthread_sigmask(SIG_BLOCK, &life->signals, NULL);
}

/* With a command that a terminal's signal has stopped, so that the shell has a stopped job, and sees which
 * signal it was. It may be about to come here, too: continued, this process has lost it. */
static void stop_self(void)
{
	sigset_t only;

	/* Continued meanwhile: the command, too, will be. */
	if (sigpending(&only) == 0 && sigismember(&only, SIGCONT) == 1)
		return;
	sigemptyset(&only);
	sigaddset(&only, SIGTSTP);
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &only, NULL);
	pthread_sigmask(SIG_BLOCK, &only, NULL);
}

static bool is_terminals(int signo)
{
	return signo == SIGTSTP || signo == SIGTTIN || signo == SIGTTOU;
}

static void look_at_child(struct life *life)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_PID, (id_t)life->child, &info, WEXITED | WSTOPPED | WNOHANG) < 0 || !info.si_pid)
			return;
		if (info.si_code == CLD_STOPPED) {
			if (is_terminals(info.si_status))
				stop_self();
			continue;
		}
		life->ended = true;
		life->died_of = info.si_code == CLD_EXITED ? 0 : info.si_status;
		life->status = info.si_status + (life->died_of ? HF_EXIT_SIGNAL : 0);
		return;
	}
}

/* What the terminal sends goes to its whole foreground group, so that the command has it already while it is
 * in this process's group. A hang-up, SIGHUP and SIGCONT, may be told to the leader of the session only. */
static bool has_it_already(const struct life *life, const siginfo_t *info)
{
	bool hangup = info->si_signo == SIGHUP || info->si_signo == SIGCONT;

	return info->si_code == SI_KERNEL && !hangup && getpgid(life->child) == getpgrp();
}

static void live(struct life *life)
{
	while (!life->ended) {
		siginfo_t info;
		int signo = sigwaitinfo(&life->signals, &info);

		if (signo == SIGCHLD)
			look_at_child(life);
		if (signo <= 0 || signo == SIGCHLD)
			continue;
		if (!has_it_already(life, &info))
			kill(life->child, signo);
	}
}

int run_command(const struct hf_common *common, struct run_opts *run, const char *file)
{
	struct life life = { 0 };
	int r;

	block(&life);
	if (atomic_load(&common->stop->signal))
		return -ECANCELED;
	r = start(run, file, &life.child);
	if (r)
		return tell(common, run->command[0], r, "cannot run it");
	live(&life);
	run->died_of = life.died_of;
	return life.status;
}
