/*
 * flags: the one-shot options of a command line (-a, -w, -r, --deny-read,
 * --env) as entries of a policy.  They add to the user's policy and to an
 * untrusted project's, never to a profile or a ceiling.
 */
#ifndef FENCE_POLICY_FLAGS_H
#define FENCE_POLICY_FLAGS_H

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

#endif
