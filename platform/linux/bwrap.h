/*
 * bwrap: jail_spec -> the arguments of bubblewrap.  Pure: data in, bytes
 * out, golden-tested.  They travel in a memfd (--args), never through a
 * shell and never past the limit of a command line.
 */
#ifndef FENCE_LINUX_BWRAP_H
#define FENCE_LINUX_BWRAP_H

#include "platform/jail.h"

/*
 * NUL-terminated arguments, one after the other.  The mounts are made by
 * root.c before bwrap starts, and /proc by fence-init after it.
 */
void	 bwrap_args(const struct jail_spec *, struct buf *);

#endif
