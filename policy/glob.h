/*
 * glob: wildcards in absolute, clean paths.  '*' and '?' match within one
 * name, '[a-z]' and '[!a-z]' one character of it, '**' alone between slashes
 * any number of names, also none; a backslash takes the next byte as it is.
 * Names that begin with a dot are names like others.
 *
 * The cost is at most length of glob times length of path: both may be
 * hostile, so there is no backtracking beyond the last '*'.
 */
#ifndef FENCE_POLICY_GLOB_H
#define FENCE_POLICY_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"

enum { GLOB_MAX = 4096 };	/* bytes of a glob; longer ones match nothing */

struct arena;

/*
 * The texts that the braces of a glob stand for: "a{b,c}" is "ab" and "ac".
 * One, the glob itself, where it has none.  Braces nest; "{x}" is x.
 */
int	 glob_braces(struct arena *, const char *glob, const char **ret,
	    size_t max, size_t *ret_n, struct err *);
/* Does it have a wildcard that is not escaped? */
bool	 glob_is_wild(const char *, size_t len);
/* 0, or -1 with what is wrong in one name ("*.c") of a glob. */
int	 glob_check_name(const char *, size_t len, struct err *);
/* Length of the deepest ancestor of path, or path, that matches; or 0. */
size_t	 glob_match(const char *glob, const char *path);

#endif
