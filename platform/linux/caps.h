/*
 * caps: the capabilities of the calling process.  For fence-init and for
 * processes that confine themselves.  System calls only.
 */
#ifndef FENCE_LINUX_CAPS_H
#define FENCE_LINUX_CAPS_H

/*
 * Drops all of them for good: no_new_privs is set, so that an execve brings
 * none back.  The bounding set stays as it is.  -1 with errno.
 */
int	 caps_drop(void);

#endif
