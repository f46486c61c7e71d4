/*
 * remask: a mount laid over a path in a jail that is already running, from
 * outside.  For a process of its own: entering cannot be undone.
 */
#ifndef FENCE_LINUX_REMASK_H
#define FENCE_LINUX_REMASK_H

#include <stdbool.h>
#include <sys/types.h>

#include "platform/jail.h"

/*
 * Enters the user namespace that owns the mount namespace of that process,
 * and the mount namespace.  -1 with errno.
 */
int	 remask_enter(pid_t jail_pid);
/*
 * kind: MOUNT_RO, MOUNT_RW, MOUNT_MASK_FILE or MOUNT_MASK_DIR.  Only if
 * what lies there is dev:ino, as seen from outside (else ESTALE); a symlink
 * is never followed, but may itself be covered.  1, and nothing done, where
 * there is a mount on the path already; ENOENT where the jail does not see
 * it; ENODEV where the jail has no masks.
 */
int	 remask_put(const char *path, enum mount_kind kind, dev_t dev,
	    ino_t ino);

#endif
