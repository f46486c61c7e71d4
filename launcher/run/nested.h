/*
 * nested: fence-run started inside a jail of fence's.  The outer jail holds
 * for everything in it; an inner run can only take more away, with what adds
 * up (Landlock, filters, limits, the environment).  What a policy named by -s
 * or an option asks for beyond that is an error; of policies that are found or
 * built in, what is not held is told.
 */
#ifndef FENCE_LAUNCHER_NESTED_H
#define FENCE_LAUNCHER_NESTED_H

#include "launcher/options.h"
#include "launcher/plan/plan.h"

/* Becomes the command.  Returns on failure alone. */
int	 nested_run(const struct run_options *, const struct plan *,
	    struct err *);

#endif
