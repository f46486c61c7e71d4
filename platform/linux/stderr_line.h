/*
 * stderr_line: a line on another process's standard error, for the tracer
 * (platform/tracer.h).  Never waits: what cannot be written at once is
 * dropped.
 */
#ifndef FENCE_LINUX_STDERR_LINE_H
#define FENCE_LINUX_STDERR_LINE_H

#include <stddef.h>
#include <sys/types.h>

/* len is at most PIPE_BUF.  tid may be that of a thread. */
void	 stderr_line(pid_t tid, const char *line, size_t len);

#endif
