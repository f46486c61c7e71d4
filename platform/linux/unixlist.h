/*
 * unixlist: how platform/sockets.h is done, and its pure parts, for tests.
 * Sockets come from sock_diag, with uid from Linux 5.3 on; where that is
 * refused, as in containers, or not there, from /proc/net/unix, which knows
 * nothing of files.  Both know a socket by its number in /proc/PID/fd.
 */
#ifndef FENCE_LINUX_UNIXLIST_H
#define FENCE_LINUX_UNIXLIST_H

#include "platform/sockets.h"

/* The parts of it.  Pure: the text of /proc/net/unix; changes it. */
void	 unixlist_parse(char *text, size_t len, unixlist_fn *, void *arg);
/* Pure: one answer of sock_diag's; 1 at its end, -1: it is none. */
int	 unixdiag_parse(const char *data, size_t len, unixlist_fn *,
	    void *arg);
int	 unixdiag_read(unixlist_fn *, void *arg);

#endif
