/*
 * init_apply: what a plan takes away from the process that calls it, besides
 * landlock_apply().  -1 with errno.
 */
#ifndef FENCE_LINUX_INIT_APPLY_H
#define FENCE_LINUX_INIT_APPLY_H

#include "platform/linux/initplan.h"

int	 init_limits(const struct init_plan *);
int	 init_filter(const struct init_plan *);
/*
 * The filter that holds calls (notify.h).  Its listener, close-on-exec; EBUSY:
 * a sandbox around us listens already.
 */
int	 init_listen(const struct init_plan *);

#endif
