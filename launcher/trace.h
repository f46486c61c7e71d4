/* trace: where --trace-file leads: a file, an inherited descriptor, a socket. */
#ifndef FENCE_LAUNCHER_TRACE_H
#define FENCE_LAUNCHER_TRACE_H

#include "platform/base/err.h"

/* FILE (made 0600, emptied), fd:N or unix:PATH.  The fd is the caller's. */
int	 trace_open(const char *dest, int *ret_fd, struct err *);

#endif
