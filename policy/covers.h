/*
 * covers: does the user's policy grant what an entry of another file asks
 * for?  For the notice about an untrusted file: what it asked for in vain.
 * Rows of policy_keys name these; an entry that stands in both is covered
 * without being asked about here.
 */
#ifndef FENCE_POLICY_COVERS_H
#define FENCE_POLICY_COVERS_H

#include "policy/keys.h"

/* A host, or a pattern of hosts, that the user's patterns contain. */
bool	 covers_domain(const struct policy *user, const struct strlist *,
	    const struct entry *asked);
/* A path; a glob is asked about by the folder above its first wildcard. */
bool	 covers_read(const struct policy *user, const struct strlist *,
	    const struct entry *asked);
bool	 covers_write(const struct policy *user, const struct strlist *,
	    const struct entry *asked);
bool	 covers_exec(const struct policy *user, const struct strlist *,
	    const struct entry *asked);
/* A variable that the user's policy does not take away. */
bool	 covers_variable(const struct policy *user, const struct strlist *,
	    const struct entry *asked);

#endif
