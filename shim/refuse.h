/*
 * refuse: the only refusal that is the shim's own.  A guarded name that did
 * not exist when the run began must not be made, and the kernel would allow
 * it, so the hook refuses the call before the kernel hears of it.  This keeps
 * honest programs from making the name; the launcher watches for the others.
 *
 * Called by the hooks that can make a name.  Removing a name, and opening a
 * file that exists, are not asked about.
 */
#ifndef FENCE_SHIM_REFUSE_H
#define FENCE_SHIM_REFUSE_H

#include "shim/table.h"

SHIM_HIDDEN bool refuse_look(const struct table *, unsigned nr, int dir_fd,
	    const char *path);

/* True: told as nr, errno is EACCES, and the call is not to be made. */
static inline bool
refuse_name(unsigned nr, int dir_fd, const char *path)
{
	const struct table *t = table_get();

	return __builtin_expect(t->nguards > 0, 0) &&
	    refuse_look(t, nr, dir_fd, path);
}

/*
 * Is it one that existed, which the kernel calls busy because it is a mount
 * point?  "Permission denied" is what its user can make something of.  The
 * one change of an errno here; keeps it itself.
 */
SHIM_HIDDEN bool refuse_is_bound(int dir_fd, const char *path);

#endif
