/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define LOOK_MS 5

static void be_child(int (*act)(void *arg), void *arg, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
	_exit(act(arg) < 0 ? 1 : 0);
}

int hf_child_run(int (*act)(void *arg), void *arg, const struct hf_stop *stop)
{
	pid_t parent = getpid(), child = fork();
	int status = 0;

	if (child < 0)
		return -errno;
	if (child == 0)
		be_child(act, arg, parent);
	for (;;) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		if (ended == child)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
		if (ended < 0 && errno != EINTR)
			return -errno;
		if (hf_stop_requested(stop)) {
			kill(child, SIGKILL);
			while (waitpid(child, &status, 0) < 0 && errno == EINTR)
				;
			return -ECANCELED;
		}
		poll(NULL, 0, LOOK_MS);
	}
}
