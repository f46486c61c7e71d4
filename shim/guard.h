/*
 * guard: the one refusal of the shim's own.  A name that did not exist when
 * the run began, and must not be made, is refused before the kernel hears of
 * it: it would say yes.  This keeps honest programs off; for the others the
 * launcher watches.
 *
 * Only calls that may make a name ask; removing one, or opening what is there,
 * does not.
 */
#ifndef FENCE_SHIM_GUARD_H
#define FENCE_SHIM_GUARD_H

#include "shim/names.h"

SHIM_HIDDEN bool guard_look(const struct names *, int dir_fd,
	    const char *path);

/* True: told, errno is EACCES, and the call is not to be made. */
static inline bool
guard_refuses(int dir_fd, const char *path)
{
	const struct names *t = names_get();

	return __builtin_expect(t->nguards > 0, 0) &&
	    guard_look(t, dir_fd, path);
}

#endif
