/*
 * facts: what the policy's paths are on this disk.  The I/O of planning, and
 * the refusals that can only be made once one has looked.  launcher/mounts.c
 * turns the facts into mounts.
 */
#ifndef FENCE_LAUNCHER_FACTS_H
#define FENCE_LAUNCHER_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/mounts.h"
#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "policy/policy.h"

struct facts {
	struct mount_fact	*v;
	size_t			 n, cap;
};

struct facts_request {
	struct arena	*arena;
	struct policy	*policy;	/* first layer; gets policy_own() */
	const char	*cwd;
	const char	*bwrap;		/* must stay visible */
	/* fence's own: policy files in force, record, programs. */
	const struct own_file {
		const char	*path;
		const char	*what;
		/* A directory that is made where the command could make it
		 * in our stead. */
		bool		 must_exist;
	}		*own;
	size_t		 nown;
	/* For lines to the user. */
	void		(*notice)(const char *text, void *arg);
	void		*arg;
};

int	 facts_gather(const struct facts_request *, struct facts *,
	    struct err *);
/* After planning: is each writable tree one that can be made so? */
int	 facts_check_roots(const struct path_list *, struct err *);

#endif
