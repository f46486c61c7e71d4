/*
 * find: where policy files are looked for.  In each directory the names are
 * fence.jsonc, fence.json, fence.ini.  A name that is not there (or is no
 * regular file) is none; one that cannot be looked at is ERR_POLICY.
 */
#ifndef FENCE_POLICY_FIND_H
#define FENCE_POLICY_FIND_H

#include <stddef.h>

struct arena;
struct err;

enum { FIND_NAMES = 3 };

/* Those of one directory, in the order of the names. */
struct found {
	const char	*path[FIND_NAMES];
	size_t		 n;
};

/*
 * From cwd (absolute) up to the root: all of the nearest directory that has
 * one.  Directories of other users that we may not search are passed over.
 */
int	 find_project(struct arena *, const char *cwd, struct found *ret,
	    struct err *);
/*
 * The user's own: ${XDG_CONFIG_HOME:-~/.config}/fence/, then the places of
 * older versions.  *ret: NULL if there is none; two in one directory are an
 * error.  *ret_canonical is where it would be, or NULL without a home.
 */
int	 find_user(struct arena *, const char *home, char *const *env,
	    const char **ret, const char **ret_canonical, struct err *);

#endif
