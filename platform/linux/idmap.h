/*
 * idmap: one user and one group for the user namespace that this process has
 * just made.  For ahead.c, mini.c and fence-init.  System calls only: the
 * child between clone and exec may use it (early.h).
 */
#ifndef FENCE_LINUX_IDMAP_H
#define FENCE_LINUX_IDMAP_H

#include <sys/types.h>

struct idmap {
	uid_t	uid;		/* in the namespace */
	uid_t	outer_uid;	/* the same as seen from its parent */
	gid_t	gid, outer_gid;
};

/*
 * proc_fd: a /proc that is not read-only, the caller's; -1 for the one at
 * /proc.  Gives up setgroups(2) first, as the kernel wants of a process
 * without a right over the outer group.  -1 with errno.
 */
int	 idmap_write(int proc_fd, const struct idmap *);

#endif
