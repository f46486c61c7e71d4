/*
 * proxyvars: variables by which programs are told of a proxy.  The gate takes
 * every connection, told or not, so they are a courtesy: a program that uses
 * them gets a refusal in words.  Of the host's none is left, under no policy:
 * what they name cannot be reached from inside.
 */
#ifndef FENCE_LAUNCHER_PROXYVARS_H
#define FENCE_LAUNCHER_PROXYVARS_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"
#include "policy/policy.h"

/* The nth that is set under this policy, NAME=VALUE; NULL behind the last. */
char		*proxyvars_nth(struct arena *, const struct policy *,
		    size_t n);
size_t		 proxyvars_count(void);		/* at most */
/* Of NAME or NAME=VALUE: is it one, of whatever spelling? */
bool		 proxyvars_is(const char *var);
/*
 * Options of Java name a proxy among other things: var without those, or var
 * itself where there are none.
 */
char		*proxyvars_scrub(struct arena *, char *var);

#endif
