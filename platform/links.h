/*
 * links: the symlinks on the way to a path.
 */
#ifndef FENCE_PLATFORM_LINKS_H
#define FENCE_PLATFORM_LINKS_H

#include "platform/base/arena.h"

/*
 * Calls fn for each, with the place where it lies (no symlink in that) and
 * its text, both in the arena.  At most 40, as in the kernel.  Returns where
 * they lead, in the arena, or NULL if that cannot be told; what is missing at
 * the end of a path leads to itself.
 */
const char *links_on_way(struct arena *, const char *path,
	    void (*fn)(const char *at, const char *text, void *arg),
	    void *arg);

#endif
