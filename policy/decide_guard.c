/*
 * Guarded names: files that make someone's next command do something else.
 * A grant of the folder around them does not mean them.
 */
#include <limits.h>
#include <string.h>

#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/index.h"
#include "policy/pattern.h"

enum place {
	IN_ROOTS = 1,		/* directly in a writable root, workspace */
	IN_HOME = 2,		/* directly in $HOME */
	OURS = 4,		/* fence's own: no line opens it */
};

/* A folder stands for all that is in it. */
static const struct guarded {
	const char	*name;
	unsigned	 places;
} guarded[] = {
	{ "fence.json", IN_ROOTS | OURS }, { "fence.jsonc", IN_ROOTS | OURS },
	{ "fence.ini", IN_ROOTS | OURS },
	{ ".fence.json", IN_HOME | OURS }, { ".fence.jsonc", IN_HOME | OURS },
	{ ".config/fence", IN_HOME | OURS },
	{ ".local/state/fence", IN_HOME | OURS },
	{ ".gitconfig", IN_ROOTS | IN_HOME },
	{ ".config/git", IN_HOME },
	{ ".gitmodules", IN_ROOTS },
	{ ".bashrc", IN_ROOTS | IN_HOME },
	{ ".bash_profile", IN_ROOTS | IN_HOME },
	{ ".bash_login", IN_ROOTS | IN_HOME },
	{ ".bash_logout", IN_ROOTS | IN_HOME },
	{ ".profile", IN_ROOTS | IN_HOME },
	{ ".zshrc", IN_ROOTS | IN_HOME }, { ".zshenv", IN_ROOTS | IN_HOME },
	{ ".zprofile", IN_ROOTS | IN_HOME },
	{ ".zlogin", IN_ROOTS | IN_HOME }, { ".zlogout", IN_HOME },
	{ ".config/fish", IN_HOME }, { ".envrc", IN_ROOTS | IN_HOME },
	{ ".ripgreprc", IN_ROOTS | IN_HOME },
	{ ".npmrc", IN_ROOTS | IN_HOME },
	{ ".config/autostart", IN_HOME }, { ".config/systemd", IN_HOME },
	{ ".mcp.json", IN_ROOTS | IN_HOME },
	{ ".vscode", IN_ROOTS }, { ".idea", IN_ROOTS },
	{ ".husky", IN_ROOTS }, { ".github/workflows", IN_ROOTS },
	{ ".claude/settings.json", IN_ROOTS | IN_HOME },
	{ ".claude/settings.local.json", IN_ROOTS | IN_HOME },
	{ ".claude/hooks", IN_ROOTS | IN_HOME },
	{ ".cursor/mcp.json", IN_ROOTS | IN_HOME },
	{ ".cursor/rules", IN_ROOTS }, { ".cursor/hooks.json", IN_ROOTS |
	    IN_HOME },
	{ ".codex/config.toml", IN_HOME },
	{ ".gemini/settings.json", IN_ROOTS | IN_HOME },
};

enum { GIT_DEPTH = 3 };		/* of a repository below its root */

static const struct guarded *
find(const char *rest, unsigned place, size_t *ret_len)
{
	for (size_t i = 0; i < sizeof guarded / sizeof *guarded; i++) {
		size_t n = strlen(guarded[i].name);

		if ((guarded[i].places & place) != 0 &&
		    strncmp(rest, guarded[i].name, n) == 0 &&
		    (rest[n] == '\0' || rest[n] == '/')) {
			*ret_len = n;
			return &guarded[i];
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
	static const char *const parts[] = { "hooks", "info/attributes",
	    "config.worktree", "config" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (begins(rest, parts[i]) &&
		    !(may_config && strncmp(parts[i], "config", 6) == 0))
			return strlen(parts[i]);
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

	for (unsigned depth = 0; depth <= GIT_DEPTH; depth++) {
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

/* The root is the first root_len bytes of the path. */
static size_t
look_below(const struct policy *p, size_t root_len, unsigned place,
    const char *path, bool *ret_is_own)
{
	const struct guarded *g;
	const char *rest;
	size_t n;

	if (root_len == 1)
		root_len = 0;		/* "/": its slash is the next one */
	if (path[root_len] != '/')
		return 0;
	rest = path + root_len + 1;
	if ((g = find(rest, place, &n)) != NULL) {
		*ret_is_own = (g->places & OURS) != 0;
		return root_len + 1 + n;
	}
	*ret_is_own = false;
	n = place == IN_ROOTS ? git_name(rest, p->fs.allow_git_config.value) :
	    0;
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
		len = look_below(p, n, IN_ROOTS, path, ret_is_own);
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
		len = look_below(p, strlen(p->workspace), IN_ROOTS, path,
		    ret_is_own);
	if (len == 0 && p->home != NULL && str_path_below(path, p->home))
		len = look_below(p, strlen(p->home), IN_HOME, path,
		    ret_is_own);
	for (size_t i = 0; len == 0 && i < l->n; i++)
		len = look_in_grant(p, l->v[i].pattern, path, ret_is_own);
	return len;
}
