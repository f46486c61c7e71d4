/*
 * kept_fds: the descriptors a command keeps: 0, 1, 2, those of --keep-fd, and
 * the two of a make jobserver.  Bytes may go through them, and nothing else:
 * a directory, or a handle of the kernel's, would lead around the walls.
 */
#ifndef FENCE_LAUNCHER_KEPT_FDS_H
#define FENCE_LAUNCHER_KEPT_FDS_H

#include <stddef.h>

#include "launcher/options.h"
#include "platform/base/arena.h"
#include "platform/base/err.h"

/*
 * Before fence-run opens anything: a number that the caller left closed must
 * not come to mean a descriptor of our own.
 */
int	 kept_fds_check(const struct run_options *, struct err *);

/* Those above 2, checked before, in the arena. */
void	 kept_fds_list(struct arena *, const struct run_options *,
	    char *const *env, const int **ret_fds, size_t *ret_n);

#endif
