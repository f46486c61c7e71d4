/*
 * layers: several policies that must all agree.  policy->also leads from the
 * user's policy to the next one; deciders ask each, and the first denial
 * speaks.  Values that no decider is asked about are settled beforehand: the
 * first layer is given the strictest of all, so whoever reads it needs to
 * know nothing of layers.
 */
#ifndef FENCE_POLICY_LAYERS_H
#define FENCE_POLICY_LAYERS_H

#include <stddef.h>

#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "policy/policy.h"

/* At the end of the chain that begins with first. */
void	 layers_add(struct policy *first, struct policy *layer);
/*
 * Settles in the first layer what is not a question of path, host, variable or
 * command, each key as its row says (settle.h).  What only says how (env.set,
 * upstreamProxy, via) is the first layer's, which has a ceiling's via by then
 * (resolve.c).
 */
void	 layers_settle(struct policy *first);
/* A glob in a ceiling is an error: it could not be mounted as a whole. */
int	 layers_check_ceiling(const struct policy *, struct err *);
/*
 * What `asked` grants and the user's policy does not, as words for a notice:
 * `network.allowedDomains "x", filesystem.allowWrite "~/y"`.  Returns how
 * many; at most `most` are named.
 */
size_t	 layers_refused(const struct policy *user, const struct policy *asked,
	    size_t most, struct buf *);

#endif
