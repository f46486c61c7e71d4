/*
 * Is a path one of the guarded names (guard.h) of a policy, or below one?  By
 * what is on disk where that is known, else by the lists of the policy.
 */
#include <limits.h>
#include <string.h>

#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/guard.h"
#include "policy/index.h"
#include "policy/pattern.h"

static bool
begins(const char *rest, const char *name)
{
	size_t n = strlen(name);

	return strncmp(rest, name, n) == 0 &&
	    (rest[n] == '\0' || rest[n] == '/');
}

static const char *
next_name(const char *p)
{
	p = strchr(p, '/');
	return p != NULL ? p + 1 : NULL;
}

/*
 * The path is in a git directory, whose path is its first `at` bytes, or in a
 * folder like it of a submodule or worktree.  The name of a submodule may have
 * slashes, so any name behind "modules" may be one of such a folder, except
 * below "refs": a branch has any name.
 */
static size_t
git_part(const char *path, size_t at, bool may_config)
{
	const char *rest = path + at + 1, *p = rest;
	bool is_own;

	while (p != NULL) {
		size_t n = guard_match_at(path, (size_t)(p - path) - 1,
		    GUARD_IN_GIT, may_config, &is_own);

		if (n != 0)
			return n;
		if (begins(p, "modules") || begins(p, "worktrees"))
			p = next_name(p);
		else if (p == rest || begins(p, "refs"))
			return 0;
		if (p != NULL)
			p = next_name(p);
	}
	return 0;
}

static size_t
git_name(const char *path, size_t root_len, bool may_config)
{
	const char *p = path + root_len + 1;

	for (unsigned depth = 0; depth <= GUARD_GIT_DEPTH; depth++) {
		if (strncmp(p, "node_modules/", 13) == 0)
			return 0;
		if (strncmp(p, ".git/", 5) == 0)
			return git_part(path, (size_t)(p + 4 - path),
			    may_config);
		p = strchr(p, '/');
		if (p == NULL)
			return 0;
		p++;
	}
	return 0;
}

static bool
is_hidden_in(const char *home, const char *folder)
{
	size_t n = home != NULL ? strlen(home) : 0;

	return n > 1 && str_path_below(folder, home) && folder[n] == '/' &&
	    folder[n + 1] == '.';
}

bool
decide_is_root(const struct policy *p, const char *folder, bool is_named)
{
	if (str_path_below(folder, p->workspace)) {
		struct verdict v;

		if (is_named || strcmp(folder, p->workspace) == 0)
			return true;
		decide_fs(p, FS_WRITE, p->workspace, &v);
		return v.action == ACTION_DENY;
	}
	/* Work trees inside it are beside what the command leaves there. */
	if (p->fs.git_dir != NULL && strcmp(folder, p->fs.git_dir) == 0)
		return p->fs.git_top != NULL &&
		    str_path_below(p->fs.git_top, folder);
	return !is_hidden_in(p->home, folder) &&
	    !is_hidden_in(p->other_home, folder);
}

/* The root is the first root_len bytes of the path. */
static size_t
look_below(const struct policy *p, size_t root_len, unsigned place,
    const char *path, bool *ret_is_own)
{
	size_t n = guard_match_at(path, root_len, place,
	    p->fs.allow_git_config.value, ret_is_own);

	if (root_len == 1)
		root_len = 0;		/* "/": its slash is the next one */
	if (n != 0 || path[root_len] != '/' || place != GUARD_IN_ROOTS)
		return n;
	return git_name(path, root_len, p->fs.allow_git_config.value);
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
		if (decide_is_root(p, around, grant->kind == PATTERN_PATH))
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
	const char *const homes[] = { p->home, p->other_home };
	size_t len = 0;

	if (p->places != NULL)
		return guard_match(p->places, path,
		    p->fs.allow_git_config.value, ret_is_own);
	if (str_path_below(path, p->workspace))
		len = look_below(p, strlen(p->workspace), GUARD_IN_ROOTS, path,
		    ret_is_own);
	for (size_t i = 0; len == 0 && i < 2; i++)
		if (homes[i] != NULL && str_path_below(path, homes[i]))
			len = look_below(p, strlen(homes[i]), GUARD_IN_HOME,
			    path, ret_is_own);
	for (size_t i = 0; len == 0 && i < l->n; i++)
		len = look_in_grant(p, l->v[i].pattern, path, ret_is_own);
	return len;
}
