/* jsonc: text -> policy, row by row of policy/keys.h. */
#ifndef FENCE_POLICY_JSONC_H
#define FENCE_POLICY_JSONC_H

#include <stddef.h>

#include "platform/base/err.h"
#include "policy/policy.h"

/*
 * Fills a policy whose arena and name are set.  Every list has its place
 * afterwards, also those that are not written.
 */
int	 jsonc_read(struct policy *, const char *text, size_t len,
	    const struct policy_env *, struct err *);

#endif
