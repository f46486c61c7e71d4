/*
 * hides: does a policy that was written hide the credentials that the built-in
 * one hides?  Whoever writes a first policy should not have fewer of them
 * hidden than without one, unknowingly.
 */
#ifndef FENCE_POLICY_HIDES_H
#define FENCE_POLICY_HIDES_H

#include "platform/base/arena.h"
#include "policy/resolve.h"

/*
 * A line for the user, in the arena: how many places below the home the
 * command may read, the first of them, and the cure.  NULL where all are
 * hidden, and for the built-in policies.  What an -r opens is not counted.
 */
const char	*hides_less(struct arena *, const struct resolve_request *,
		    const struct resolved *);

#endif
