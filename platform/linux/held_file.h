/*
 * held_file: will the kernel refuse this held call on a file because of the
 * jail?  The looker asks (looker.c); the call goes on whatever the answer is,
 * so a caller that changes a path meanwhile fools the record alone.
 *
 * Refusals of the jail's are those by its mounts: read-only ones, masks, mount
 * points that cannot be removed, and names on two mounts.  What the file's own
 * mode, owner or absence refuses as well is nobody's refusal: it makes no
 * record.
 */
#ifndef FENCE_LINUX_HELD_FILE_H
#define FENCE_LINUX_HELD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/calls.h"

struct held_refusal {
	int		sys;		/* what the caller will get; 0: nothing */
	bool		is_told[2];	/* the names that may be the reason */
	uint32_t	open_flags;	/* of the opens */
	char		path[2][2 * PATH_MAX];	/* absolute, as it is written */
};

/* root_fd: exec_root().  The call has a file. */
void	 held_file_look(int root_fd, const struct held_call *,
	    struct held_refusal *ret);

#endif
