/*
 * gitjournal: what the end of a run needs to know of its beginning, written
 * down in fence's state directory, for the case that nobody is left to do it
 * (kill -9 of everything, power loss).  One file a run, locked as long as the
 * guard's process lives; the next start takes up those that are not.
 */
#ifndef FENCE_LAUNCHER_GITJOURNAL_H
#define FENCE_LAUNCHER_GITJOURNAL_H

#include "launcher/guard/gitend.h"

/*
 * path: "…/fence/runs/RUN"; what is missing above it, but for a home, is made,
 * 0700, and counted.  The descriptor holds the lock, also in children; -1: it
 * cannot be kept.
 */
int	 gitjournal_write(const char *path, const struct gitend *,
	    unsigned *made);
/* The end was done.  Folders that were made go, unless another run uses them. */
void	 gitjournal_remove(const char *path, unsigned made);
/*
 * state: "…/fence", or NULL.  To be called before anything is looked at: git
 * directories are changed.
 */
void	 gitjournal_sweep(const char *state,
	    void (*told)(const struct guard_told *, void *), void *arg);

#endif
