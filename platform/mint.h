/*
 * mint: sockets that act in a jail's network, made for a launcher that stays
 * outside.  The launcher (launcher/run/run.c) starts one process for a run with
 * --port; launcher/gate/inbound.c asks that process for sockets and connects them.
 *
 * For each byte that it is sent, the process answers with one message of one
 * byte and unconnected, non-blocking TCP sockets: IPv4, and IPv6 where there
 * is any; none if it could not make them.  It can do nothing else (confine.h),
 * and ends with its socket or its parent.
 */
#ifndef FENCE_PLATFORM_MINT_H
#define FENCE_PLATFORM_MINT_H

#include <sys/types.h>

#include "platform/base/err.h"

enum { MINTER_SOCKETS = 2 };	/* in one answer, at most */

/*
 * inside_fd: any internet socket that was made in the jail's network; stays
 * the caller's.  The caller owns *ret_fd, to ask by, and waits for *ret_pid.
 */
int	 minter_start(int inside_fd, int *ret_fd, pid_t *ret_pid,
	    struct err *);

#endif
