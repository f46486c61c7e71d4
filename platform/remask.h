/*
 * remask: what a path shows in a jail that is already running, changed from
 * outside.  The guard (launcher/guard/guard_mask.c) covers a masked file again that
 * was replaced on the host, and makes a planted name read-only.
 *
 * Entering a jail cannot be undone, so the caller forks a process for it.
 * Nothing is left to own: what was laid over a path ends with the jail.
 */
#ifndef FENCE_PLATFORM_REMASK_H
#define FENCE_PLATFORM_REMASK_H

#include <sys/types.h>

#include "platform/jail.h"

/*
 * Moves this process into the file tree of the jail of that process, with the
 * right to change it.  -1 with errno.
 */
int	 remask_enter(pid_t jail_pid);
/*
 * Covers a path; kind: MOUNT_RO, MOUNT_RW, MOUNT_MASK_FILE or MOUNT_MASK_DIR.
 * 0: done.  1, and nothing done: the path is covered already.  -1 with errno:
 * ESTALE if something else lies there than dev:ino, as seen from outside,
 * ENOENT if the jail does not see the path, ENODEV if the jail has no masks.
 * A symlink is never followed, but may itself be covered.
 */
int	 remask_put(const char *path, enum mount_kind kind, dev_t dev,
	    ino_t ino);

#endif
