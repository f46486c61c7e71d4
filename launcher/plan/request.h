/*
 * request: the options of a command line and where this process stands, as a
 * question to policy_resolve().
 */
#ifndef FENCE_LAUNCHER_REQUEST_H
#define FENCE_LAUNCHER_REQUEST_H

#include "launcher/options.h"
#include "platform/base/arena.h"
#include "policy/resolve.h"

/* Borrows the options' and the environment's strings. */
int	 request_make(struct arena *, const struct run_options *, char **env,
	    struct resolve_request *ret, struct err *);

/* $HOME if it is absolute, else the user database's, real; or NULL. */
const char	*request_home(struct arena *, char *const *env);

/* An argument that is a path, absolute and clean; NULL if it is too long. */
const char	*request_path(struct arena *, const char *cwd,
		    const char *path);

#endif
