/*
 * direct: network.mode "direct".  The command shares the host's network, and
 * nothing of it is filtered: what the policy says about hosts and ports could
 * not be held, so it is an error.  Pure.
 */
#ifndef FENCE_LAUNCHER_DIRECT_H
#define FENCE_LAUNCHER_DIRECT_H

#include <stdbool.h>

#include "platform/base/err.h"
#include "policy/policy.h"

bool	 direct_is(const struct policy *);
/* Of every layer: is there anything that the mode does not hold? */
int	 direct_check(const struct policy *, struct err *);

#endif
