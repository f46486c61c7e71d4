/*
 * trace: where --trace-file leads: a file, an inherited descriptor, a socket.
 */
#ifndef FENCE_LAUNCHER_TRACE_H
#define FENCE_LAUNCHER_TRACE_H

#include <stdbool.h>

#include "platform/base/err.h"

/*
 * FILE (made 0600), fd:N or unix:PATH.  The fd is the caller's, and so is
 * emptying a file: the way to it may turn out to be somebody else's.
 */
bool	 trace_is_file(const char *dest);
int	 trace_open(const char *dest, int *ret_fd, struct err *);
/* Where the file was opened, or "": log_create(). */
const char	*trace_real(void);
/* There will be no run: a file that was made for it goes. */
void	 trace_undo(int fd);

#endif
