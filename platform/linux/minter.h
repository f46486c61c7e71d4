/*
 * minter: a process that makes sockets inside a jail's network namespace, for
 * a launcher that has given up the right to enter it.  For each byte it is
 * sent it answers with one message of one byte and unconnected, non-blocking
 * TCP sockets: IPv4, and IPv6 where there is any; none if it could not.  It
 * can do nothing else, and ends with its socket or its parent.
 */
#ifndef FENCE_LINUX_MINTER_H
#define FENCE_LINUX_MINTER_H

#include <sys/types.h>

#include "platform/base/err.h"

enum { MINTER_SOCKETS = 2 };

/* inside_fd: any internet socket of the namespace.  *ret_fd: to ask by. */
int	 minter_start(int inside_fd, int *ret_fd, pid_t *ret_pid,
	    struct err *);

#endif
