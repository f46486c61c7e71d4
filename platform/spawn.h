/*
 * spawn: start one of fence's own workers.  It gets one descriptor, as
 * number 3, /dev/null for stdio (so that the caller's pipes close when the
 * command ends) and an environment of its own; nothing else is inherited.
 */
#ifndef FENCE_PLATFORM_SPAWN_H
#define FENCE_PLATFORM_SPAWN_H

#include <sys/types.h>

#include "platform/base/err.h"

enum { SPAWN_FD = 3 };

/* The child executes path with argv {name, "3"}. */
int	 spawn_worker(const char *path, const char *name, int fd,
	    char *const *envp, pid_t *ret_pid, struct err *);

#endif
