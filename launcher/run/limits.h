/*
 * limits: what `limits.*` holds a run to.  Limits of a process, and for a
 * user the number of processes, are the jail's own (struct jail_limits);
 * memory of all together, and for root their number, need a cgroup; time is
 * ours.  A limit that cannot be held is an error before anything starts; one
 * that was met is told where the kernel tells us.
 */
#ifndef FENCE_LAUNCHER_LIMITS_H
#define FENCE_LAUNCHER_LIMITS_H

#include <stdbool.h>

#include "launcher/record/witness.h"
#include "platform/jail.h"
#include "platform/loop.h"
#include "policy/policy.h"

struct limits;

struct limits_config {
	const struct policy	*policy;	/* borrowed, outlives it */
	struct loop		*loop;
	struct witness		*witness;
	unsigned		 nown;		/* our processes in the jail */
	bool			 is_told;	/* records go to stderr: -m */
	void			(*kill)(void *);	/* end the jail */
	void			*arg;
};

/* Makes the cgroup, if one is needed, and lets the jail join it. */
struct limits	*limits_new(const struct limits_config *,
		    struct jail_limits *, struct err *);
/* The command runs: from now on its time does. */
int		 limits_started(struct limits *, int command_fd);
/* May fence-run stop with the command?  Its time goes on meanwhile. */
bool		 limits_may_stop(const struct limits *);
/* The jail is gone: tells what was met. */
void		 limits_ended(struct limits *);
/* Did its time end it? */
bool		 limits_is_over(const struct limits *);
void		 limits_free(struct limits *);		/* NULL is fine */

#endif
