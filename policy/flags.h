/*
 * flags: the one-shot options of a command line (-a, -w, -r, --deny-read,
 * --env) as entries of a policy.  They add to the user's policy and to an
 * untrusted project's, never to a profile or a ceiling.
 */
#ifndef FENCE_POLICY_FLAGS_H
#define FENCE_POLICY_FLAGS_H

#include <stdbool.h>

#include "platform/base/err.h"
#include "policy/policy.h"
#include "policy/resolve.h"

/* The origin.file of every entry that a flag made. */
#define FLAGS_NAME	"<command line>"

/*
 * Replaces *p by itself and the flags.  -1: ERR_USAGE, a value that means
 * nothing; *p is as it was.
 */
int	 flags_merge(const struct resolve_request *, struct policy **p,
	    struct err *);
/* Did a flag make this entry? */
bool	 flags_made(const struct entry *);
/*
 * Does each -a, -w and -r grant what it says, under all layers?  -1: the first
 * that does not, with the rule that denies it.
 */
int	 flags_check(const struct resolve_request *,
	    const struct policy *first, struct err *);

#endif
