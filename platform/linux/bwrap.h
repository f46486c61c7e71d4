/*
 * bwrap: jail_spec -> the arguments of bubblewrap.  Pure: data in, bytes
 * out, golden-tested.  They travel in a memfd (--args), never through a
 * shell and never past the limit of a command line.
 */
#ifndef FENCE_LINUX_BWRAP_H
#define FENCE_LINUX_BWRAP_H

#include "platform/jail.h"

/*
 * NUL-terminated arguments, one after the other.  data_fds: one descriptor
 * for each MOUNT_MASK_FILE, in order; it reads as an empty file.
 */
void	 bwrap_args(const struct jail_spec *, const int *data_fds,
	    struct buf *);
size_t	 bwrap_data_fds(const struct jail_spec *);	/* how many it needs */

#endif
