/*
 * find: where policy files are looked for.  In each directory the names are
 * fence.jsonc, fence.json, fence.ini; the first that is a file wins.
 */
#ifndef FENCE_POLICY_FIND_H
#define FENCE_POLICY_FIND_H

struct arena;

/* From cwd (absolute) up to the root, the nearest; NULL if there is none. */
const char	*find_project(struct arena *, const char *cwd);
/*
 * The user's own: ${XDG_CONFIG_HOME:-~/.config}/fence/, then the places of
 * older versions.  NULL if there is none; *ret_canonical is where it would
 * be, or NULL without a home.
 */
const char	*find_user(struct arena *, const char *home,
		    char *const *env, const char **ret_canonical);

#endif
