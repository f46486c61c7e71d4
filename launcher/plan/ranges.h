/*
 * ranges: addresses that a policy names itself.  The gate takes connections to
 * them besides those to names; each needs a route.  Pure.
 */
#ifndef FENCE_LAUNCHER_RANGES_H
#define FENCE_LAUNCHER_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/jail.h"
#include "policy/pattern.h"

enum { RANGES_MAX = 2 };

/* How many a pattern names; every byte of them is set. */
size_t	 ranges_of(const struct pattern *, struct jail_range ret[RANGES_MAX]);
/* Is all of it within one of these? */
bool	 ranges_cover(const struct jail_range *, size_t n,
	    const struct jail_range *);

#endif
