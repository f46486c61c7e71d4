/*
 * merge: a policy from a base and a child that extends it.
 *
 *	lists		base then child, each entry once; "!x" of the child
 *			takes x out of the base
 *	maps		the child's entry replaces the base's of that name
 *	booleans	true if either says so
 *	other values	the child's if it is written
 *
 * `extends` of the result is empty, and so is `also`.
 */
#ifndef FENCE_POLICY_MERGE_H
#define FENCE_POLICY_MERGE_H

#include "platform/base/err.h"
#include "policy/policy.h"

/*
 * A deep copy with an arena of its own: base and child may be freed.  Name,
 * workspace, homes and warnings are the child's, fs.own is both.  base NULL:
 * a copy of child without its "!x".
 */
struct policy	*policy_merge(const struct policy *base,
		    const struct policy *child);
/*
 * Does every "!x" of the child take something out of base (NULL: of
 * nothing)?  -1: the first that does not, with its place.
 */
int	 policy_check_removals(const struct policy *base,
	    const struct policy *child, struct err *);
/* Do both say the same?  Places, names and layers do not count. */
bool	 policy_equal(const struct policy *, const struct policy *);

#endif
