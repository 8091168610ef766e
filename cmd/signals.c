/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

/* A handler finds the request in no other way. */
static struct hf_stop *the_stop;
static bool pipe_ignored, pipe_broken;

/* What ends a process by default, and can be caught: all of it is undone first. */
static const int asking[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGUSR1, SIGUSR2, SIGALRM };
/* What is set differently here than a program that is started expects. */
static const int changed[] = { SIGPIPE, SIGXFSZ, SIGCHLD };
static struct sigaction changed_before[HF_LENGTH(changed)];
static sigset_t mask_before;

static void ask(int signo)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&the_stop->signal, &none, signo))
		atomic_fetch_add(&the_stop->again, 1);
}

static void pass_deadline(int signo)
{
	(void)signo;
	atomic_store(&the_stop->deadline, true);
}

/* No SA_RESTART: what waits in a system call is to notice. */
static void catch (int signo, void (*handler)(int))
{
	struct sigaction action = { .sa_handler = handler }, before;

	sigemptyset(&action.sa_mask);
	sigaction(signo, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(signo, &action, NULL);
}

void hf_signals_catch(struct hf_stop *stop)
{
	sigset_t wanted;

	the_stop = stop;
	sigemptyset(&wanted);
	for (size_t i = 0; i < HF_LENGTH(asking); i++) {
		catch (asking[i], ask);
		sigaddset(&wanted, asking[i]);
	}
	for (size_t i = 0; i < HF_LENGTH(changed); i++)
		sigaction(changed[i], NULL, &changed_before[i]);
	pipe_ignored = changed_before[0].sa_handler == SIG_IGN;
	/* Whoever started this may have them blocked, which exec passes on. */
	pthread_sigmask(SIG_UNBLOCK, &wanted, &mask_before);
	/* A limit on the size of files (ulimit -f) is then an error like others. */
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	/* Children of a process that ignores it cannot be waited for. */
	signal(SIGCHLD, SIG_DFL);
}

void hf_signals_as_before(void)
{
	struct sigaction now;

	for (size_t i = 0; i < HF_LENGTH(asking); i++) {
		sigaction(asking[i], NULL, &now);
		if (now.sa_handler != SIG_IGN)
			signal(asking[i], SIG_DFL);
	}
	for (size_t i = 0; i < HF_LENGTH(changed); i++)
		sigaction(changed[i], &changed_before[i], NULL);
	pthread_sigmask(SIG_SETMASK, &mask_before, NULL);
}

void hf_signals_write_failed(int errnum)
{
	pipe_broken = pipe_broken || errnum == EPIPE;
}

int hf_signals_deadline(double seconds, struct hf_err *err)
{
	/* Again and again, since the first may come just before a long system call. */
	struct itimerval timer = { .it_interval = { .tv_usec = 50000 } };
	struct sigaction action = { .sa_handler = pass_deadline };

	timer.it_value.tv_sec = (time_t)seconds;
	timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
	if (!timer.it_value.tv_sec && !timer.it_value.tv_usec)
		timer.it_value.tv_usec = 1;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &timer, NULL) < 0)
		return hf_err_sys(err, errno, NULL, "cannot set the deadline's timer");
	return 0;
}

void hf_signals_no_deadline(struct hf_stop *stop)
{
	const struct itimerval none = { 0 };

	setitimer(ITIMER_REAL, &none, NULL);
	atomic_store(&stop->deadline, false);
}

void hf_signals_die(int signo)
{
	sigset_t only;

	signal(signo, SIG_DFL);
	sigemptyset(&only);
	sigaddset(&only, signo);
	raise(signo);
	sigprocmask(SIG_UNBLOCK, &only, NULL);
}

int hf_signals_exit(const struct hf_common *common, int status)
{
	int signo = atomic_load(&common->stop->signal), again = atomic_load(&common->stop->again);

	if (signo && again)
		hf_print_note(common, "%d more signals came while changes were being undone", again);
	/* What was done stays done when the signal came too late to stop it. */
	if (signo && status == HF_EXIT_FAILED)
		hf_signals_die(signo);
	if (status == HF_EXIT_FAILED && pipe_broken && !pipe_ignored)
		hf_signals_die(SIGPIPE);
	return status;
}
