/*
 * Guarded names: files that make someone's next command do something else.
 * A grant of the folder around them does not mean them.
 */
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

/* rest is behind ".git/": how much of it is guarded, or 0. */
static size_t
git_part(const char *rest, bool may_config)
{
	static const char *const parts[] = { "hooks", "info/attributes",
	    "config.worktree", "config" };

	/* Submodules and worktrees have folders like it. */
	if (strncmp(rest, "modules/", 8) == 0 ||
	    strncmp(rest, "worktrees/", 10) == 0) {
		const char *slash = strchr(strchr(rest, '/') + 1, '/');
		size_t n = slash != NULL ? git_part(slash + 1, may_config) :
		    0;

		return n != 0 ? (size_t)(slash + 1 - rest) + n : 0;
	}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		size_t n = strlen(parts[i]);

		if (strncmp(rest, parts[i], n) == 0 &&
		    (rest[n] == '\0' || rest[n] == '/') &&
		    !(may_config && strncmp(parts[i], "config", 6) == 0))
			return n;
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

static size_t
look_below(const struct policy *p, const char *root, unsigned place,
    const char *path, bool *ret_is_own)
{
	size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root), n;
	const struct guarded *g;
	const char *rest;

	if (!str_path_below(path, root) || path[root_len] != '/')
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

size_t
decide_guarded(const struct policy *p, const char *path, bool *ret_is_own)
{
	const struct strlist *l = &p->fs.allow_write;
	size_t len = look_below(p, p->workspace, IN_ROOTS, path, ret_is_own);

	if (len == 0 && p->home != NULL)
		len = look_below(p, p->home, IN_HOME, path, ret_is_own);
	for (size_t i = 0; len == 0 && i < l->n; i++)
		if (l->v[i].pattern->kind == PATTERN_PATH)
			len = look_below(p, l->v[i].pattern->text, IN_ROOTS,
			    path, ret_is_own);
	return len;
}
