/*
 * hidden: where reading has to be granted, what is hidden is not there, so
 * ENOENT may be a refusal.  Most of it is not: programs look for their files
 * in many places.
 */
#ifndef FENCE_SHIM_HIDDEN_H
#define FENCE_SHIM_HIDDEN_H

#include <errno.h>

#include "shim/table.h"

/*
 * Something on the way was made by the launcher, which makes folders on a
 * tmpfs alone: what is missing in any other is missing outside as well.  A
 * symlink that leads nowhere may lead to what is hidden.  Keeps errno.
 */
SHIM_HIDDEN bool hidden_look(int dir_fd, const char *path);

static inline bool
hidden_may(int err, int dir_fd, const char *path)
{
	return err == ENOENT && table_get()->needs_grant &&
	    hidden_look(dir_fd, path);
}

#endif
