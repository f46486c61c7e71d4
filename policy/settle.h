/*
 * settle: what several layers (layers.h) say about one key, settled in the
 * first layer, so that a reader of the key needs to know nothing of layers.
 * Each row of policy_keys names one of these functions.
 */
#ifndef FENCE_POLICY_SETTLE_H
#define FENCE_POLICY_SETTLE_H

#include <stdbool.h>

#include "policy/keys.h"

/* Nothing to settle: a decider asks each layer about its own value. */
void	 settle_asked(const struct key *, struct policy *,
	    const struct policy *layer);
/* Nothing to settle: the key says how, and the first layer says that. */
void	 settle_first(const struct key *, struct policy *,
	    const struct policy *layer);
/*
 * By the row's type and way: a grant needs every layer, a restriction is any
 * layer's, a limit is the smallest one.
 */
void	 settle_strictest(const struct key *, struct policy *,
	    const struct policy *layer);
/* limits.tmp: the smallest, and only the first layer may enlarge /tmp. */
void	 settle_room(const struct key *, struct policy *,
	    const struct policy *layer);

/*
 * Do two entries of one key mean the same?  Paths are compared as they lead:
 * "." of two layers may be two places.
 */
bool	 settle_same(const struct entry *, const struct entry *);
bool	 settle_lists(const struct strlist *, const struct entry *);

#endif
