/* unixlist: the parts of platform/sockets.h that are pure, for tests. */
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
