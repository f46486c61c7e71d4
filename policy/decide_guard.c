/* Is a path one of the guarded names (guard.h) of a policy, or below one? */
#include <limits.h>
#include <string.h>

#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/guard.h"
#include "policy/index.h"
#include "policy/pattern.h"

static const struct guard_name *
find(const char *rest, unsigned place, size_t *ret_len)
{
	for (const struct guard_name *g = guarded_names; g->name != NULL; g++) {
		size_t n;

		if ((g->places & place) == 0 || g->name[0] != rest[0])
			continue;
		n = strlen(g->name);
		if (strncmp(rest, g->name, n) == 0 &&
		    (rest[n] == '\0' || rest[n] == '/')) {
			*ret_len = n;
			return g;
		}
	}
	return NULL;
}

static bool
begins(const char *rest, const char *name)
{
	size_t n = strlen(name);

	return strncmp(rest, name, n) == 0 &&
	    (rest[n] == '\0' || rest[n] == '/');
}

/* rest is behind the slash of a git directory: how much is guarded, or 0. */
static size_t
gitdir_part(const char *rest, bool may_config)
{
	for (const char *const *g = guarded_git_names; *g != NULL; g++)
		if (begins(rest, *g) &&
		    !(may_config && strncmp(*g, "config", 6) == 0))
			return strlen(*g);
	return 0;
}

static const char *
next_name(const char *p)
{
	p = strchr(p, '/');
	return p != NULL ? p + 1 : NULL;
}

/*
 * The same with the folders like it of submodules and worktrees.  The name
 * of a submodule may have slashes, so any name behind "modules" may be one of
 * such a folder, except below "refs": a branch has any name.
 */
static size_t
git_part(const char *rest, bool may_config)
{
	const char *p = rest;

	while (p != NULL) {
		size_t n = gitdir_part(p, may_config);

		if (n != 0)
			return (size_t)(p - rest) + n;
		if (begins(p, "modules") || begins(p, "worktrees"))
			p = next_name(p);
		else if (p == rest || begins(p, "refs"))
			return 0;
		if (p != NULL)
			p = next_name(p);
	}
	return 0;
}

/* rest is behind the root's slash. */
static size_t
git_name(const char *rest, bool may_config)
{
	const char *p = rest;

	for (unsigned depth = 0; depth <= GUARD_GIT_DEPTH; depth++) {
		if (strncmp(p, "node_modules/", 13) == 0)
			return 0;
		if (strncmp(p, ".git/", 5) == 0) {
			size_t n = git_part(p + 5, may_config);

			return n != 0 ? (size_t)(p + 5 - rest) + n : 0;
		}
		p = strchr(p, '/');
		if (p == NULL)
			return 0;
		p++;
	}
	return 0;
}

bool
decide_is_root(const struct policy *p, const char *folder)
{
	size_t n = p->home != NULL ? strlen(p->home) : 0;

	if (str_path_below(folder, p->workspace))
		return strcmp(folder, p->workspace) == 0;
	return !(n > 1 && str_path_below(folder, p->home) &&
	    folder[n] == '/' && folder[n + 1] == '.');
}

/* The root is the first root_len bytes of the path. */
static size_t
look_below(const struct policy *p, size_t root_len, unsigned place,
    const char *path, bool *ret_is_own)
{
	const struct guard_name *g;
	const char *rest;
	size_t n;

	if (root_len == 1)
		root_len = 0;		/* "/": its slash is the next one */
	if (path[root_len] != '/')
		return 0;
	rest = path + root_len + 1;
	if ((g = find(rest, place, &n)) != NULL) {
		*ret_is_own = (g->places & GUARD_OURS) != 0;
		return root_len + 1 + n;
	}
	*ret_is_own = false;
	n = place == GUARD_IN_ROOTS ? git_name(rest,
	    p->fs.allow_git_config.value) : 0;
	return n != 0 ? root_len + 1 + n : 0;
}

/* A glob may match several of the folders around the path: all are roots. */
static size_t
look_in_grant(const struct policy *p, const struct pattern *grant,
    const char *path, bool *ret_is_own)
{
	char around[PATH_MAX];
	size_t len = 0, n;

	if (strlen(path) >= sizeof around)
		return 0;		/* no call takes it */
	strcpy(around, path);
	while (len == 0 && around[0] != '\0' &&
	    (n = pattern_match_path(grant, around)) != 0) {
		around[n] = '\0';
		if (decide_is_root(p, around))
			len = look_below(p, n, GUARD_IN_ROOTS, path,
			    ret_is_own);
		do
			around[n--] = '\0';
		while (around[n] != '/');
		around[n] = '\0';
	}
	return len;
}

size_t
decide_guarded(const struct policy *p, const char *path, bool *ret_is_own)
{
	const struct strlist *l = &p->fs.allow_write;
	size_t len = 0;

	if (str_path_below(path, p->workspace))
		len = look_below(p, strlen(p->workspace), GUARD_IN_ROOTS, path,
		    ret_is_own);
	if (len == 0 && p->home != NULL && str_path_below(path, p->home))
		len = look_below(p, strlen(p->home), GUARD_IN_HOME, path,
		    ret_is_own);
	for (size_t i = 0; len == 0 && i < l->n; i++)
		len = look_in_grant(p, l->v[i].pattern, path, ret_is_own);
	return len;
}
