/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lease.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* The holder of a lease is sent a signal when somebody opens the file, SIGIO unless told otherwise, which
 * would kill; SIGURG is ignored by default. */
int hf_lease_take(int fd)
{
	if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return -errno;
	return 0;
}

bool hf_lease_is_whole(int fd)
{
	return fcntl(fd, F_GETLEASE) == F_WRLCK;
}

bool hf_lease_is_refused(int r)
{
	return r == -EAGAIN || r == -EBUSY;
}
