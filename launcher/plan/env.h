/*
 * env: the command's environment.  The loader's variables of the host go,
 * proxy variables of every spelling are replaced by ours, the rest passes.
 */
#ifndef FENCE_LAUNCHER_ENV_H
#define FENCE_LAUNCHER_ENV_H

#include <stdbool.h>

#include "platform/base/arena.h"
#include "platform/base/environ.h"
#include "policy/policy.h"

/*
 * What these variables are inside, where the host has them; NULL: gone.  The
 * host's folders may be private or read-only there.
 */
struct env_dirs {
	const char	*tmp;		/* TMPDIR */
	const char	*runtime;	/* XDG_RUNTIME_DIR */
	/* git is to leave reflogs as they are: `git gc` fails where it cannot
	 * shorten those of other work trees (git 2.39). */
	bool		 keeps_reflogs;
	/* NAME=VALUE, where neither host nor policy says otherwise. */
	const char	**agents;
	size_t		 nagents;
};

/*
 * Pure.  host: NULL-terminated NAME=VALUE strings; so is the result.  The
 * policy's env.* and network.proxyVariables hold.
 */
char	**env_compose(struct arena *, char *const *host,
	    const struct policy *, const struct env_dirs *);
/* Of NAME or NAME=VALUE: the host's is never taken; nobody's is. */
bool	 env_is_ours(const char *var);
bool	 env_is_fixed(const char *var);

#endif
