/*
 * enforce: what a policy asks and this version cannot give.  A restriction,
 * or a value whose enforcer is not built, is an error before anything is
 * started.
 */
#ifndef FENCE_LAUNCHER_ENFORCE_H
#define FENCE_LAUNCHER_ENFORCE_H

#include "platform/base/err.h"
#include "policy/policy.h"

/* Looks at the first layer, in which the strictest of all is settled. */
int	 enforce_check(const struct policy *, struct err *);

#endif
