/*
 * diff: what one policy lets through that another does not.  Every answer of
 * a decider that differs between the two comes from an entry or a value that
 * is told here.
 */
#ifndef FENCE_POLICY_DIFF_H
#define FENCE_POLICY_DIFF_H

#include <stddef.h>

#include "platform/base/buf.h"
#include "policy/policy.h"

/*
 * Lines "+ ..." for what b lets through and a does not, then "- ..." for the
 * reverse, each with its place.  Returns the number of the former.
 */
size_t	 diff_policies(const struct policy *a, const struct policy *b,
	    struct buf *);

#endif
