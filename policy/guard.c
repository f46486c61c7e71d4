#include "policy/guard.h"

#include <stdint.h>
#include <string.h>

#include "platform/base/str.h"

enum {
	ROOTS = GUARD_IN_ROOTS,
	HOME = GUARD_IN_HOME,
	BOTH = GUARD_IN_ROOTS | GUARD_IN_HOME,
	OURS = GUARD_OURS,
	AGENT = GUARD_AGENT,
	AGENTS = HOME | AGENT,
	FRESH = HOME | AGENT | GUARD_FRESH,
};

const struct guard_name guarded_names[] = {
	/* What the next run of fence believes. */
	{ "fence.json", ROOTS | OURS }, { "fence.jsonc", ROOTS | OURS },
	{ "fence.ini", ROOTS | OURS },
	{ ".fence.json", HOME | OURS }, { ".fence.jsonc", HOME | OURS },
	{ ".fence.ini", HOME | OURS },
	{ "Library/Application Support/fence", HOME | OURS },
	{ ".config/fence", HOME | OURS },
	{ ".local/state/fence", HOME | OURS },

	/* git */
	{ ".gitconfig", BOTH }, { ".gitmodules", ROOTS },
	{ ".config/git", HOME },

	/* Mercurial and Jujutsu, whose configuration executes. */
	{ ".hgrc", HOME }, { ".config/hg", HOME }, { ".hg/hgrc", ROOTS },
	{ ".hg/hgrc-not-shared", ROOTS }, { ".hg/sharedpath", ROOTS },
	{ ".config/jj", HOME }, { ".jj/repo/config.toml", ROOTS },

	/* Shells, and what they read on their own. */
	{ ".bashrc", BOTH }, { ".bash_profile", BOTH },
	{ ".bash_login", BOTH }, { ".bash_logout", BOTH },
	{ ".bash_aliases", HOME }, { ".profile", BOTH },
	{ ".zshrc", BOTH }, { ".zshenv", BOTH }, { ".zprofile", BOTH },
	{ ".zlogin", BOTH }, { ".zlogout", HOME }, { ".config/zsh", HOME },
	{ ".config/fish", HOME }, { ".envrc", BOTH },
	{ ".config/direnv", HOME }, { ".inputrc", HOME },
	{ ".ripgreprc", BOTH }, { ".npmrc", BOTH },

	/* What starts by itself. */
	{ ".xprofile", HOME }, { ".xsessionrc", HOME }, { ".xinitrc", HOME },
	{ ".config/autostart", HOME }, { ".config/environment.d", HOME },
	{ ".config/systemd", HOME }, { ".local/share/systemd", HOME },
	{ ".local/share/applications", HOME },
	{ ".local/share/dbus-1", HOME }, { ".config/tmux", HOME },
	{ ".tmux.conf", HOME },

	/* Programs, found before the system's. */
	{ ".local/bin", HOME }, { "bin", HOME }, { ".cargo/bin", HOME },
	{ ".cargo/env", HOME }, { ".cargo/config", HOME },
	{ ".cargo/config.toml", HOME }, { "go/bin", HOME },
	{ ".bun/bin", HOME }, { ".bun/install/global", HOME },
	{ ".deno/bin", HOME }, { ".local/lib", HOME },
	{ ".local/pipx", HOME }, { ".local/share/pipx", HOME },
	{ ".local/share/uv", HOME }, { ".local/share/mise", HOME },
	{ ".nvm", HOME }, { ".pyenv", HOME }, { ".rbenv", HOME },
	{ ".rustup", HOME }, { ".volta", HOME },

	/* Who one is to others. */
	{ ".ssh", HOME }, { ".gnupg", HOME }, { ".aws/config", HOME },
	{ ".kube/config", HOME }, { ".docker/config.json", HOME },

	/* Editors */
	{ ".vscode", BOTH }, { ".vscode-server", HOME }, { ".idea", ROOTS },
	{ ".config/Code/User", HOME }, { ".config/Cursor/User", HOME },
	{ ".vimrc", BOTH }, { ".exrc", BOTH }, { ".nvimrc", ROOTS },
	{ ".nvim.lua", ROOTS }, { ".zed", ROOTS }, { ".config/zed", HOME },
	{ ".helix", ROOTS }, { ".config/helix", HOME }, { ".vim", HOME },
	{ ".config/nvim", HOME },
	{ ".local/share/nvim", HOME }, { ".emacs", HOME },
	{ ".emacs.d", HOME }, { ".config/emacs", HOME },

	/* Hooks of a repository that are no part of .git. */
	{ ".husky", ROOTS }, { ".github/workflows", ROOTS },
	{ ".github/hooks", ROOTS },

	/*
	 * Agents: what they execute and what configures that.  The rest of
	 * their folders is state, and writable where it is granted.  In a home
	 * a run gets copies of its own (policy/agents.h).
	 */
	{ ".mcp.json", BOTH },
	{ ".claude/settings.json", BOTH | AGENT },
	{ ".claude/settings.local.json", BOTH | AGENT },
	{ ".claude/hooks", BOTH | AGENT }, { ".claude/plugins", AGENTS },
	{ ".claude/local", AGENTS }, { ".local/share/claude", AGENTS },
	{ ".claude/agents", AGENTS }, { ".claude/commands", AGENTS },
	{ ".claude/skills", AGENTS }, { ".claude/output-styles", AGENTS },
	{ ".claude/rules", AGENTS }, { ".claude/CLAUDE.md", AGENTS },
	/* Shells of a session begin with these. */
	{ ".claude/shell-snapshots", FRESH },
	{ ".codex/config.toml", BOTH | AGENT }, { ".codex/packages", AGENTS },
	{ ".codex/hooks", BOTH | AGENT }, { ".codex/hooks.json", BOTH | AGENT },
	{ ".codex/plugins", AGENTS }, { ".codex/rules", BOTH | AGENT },
	{ ".codex/bin", AGENTS }, { ".codex/.env", AGENTS },
	{ ".codex/skills", AGENTS }, { ".codex/agents", AGENTS },
	{ ".codex/prompts", AGENTS }, { ".codex/AGENTS.md", AGENTS },
	{ ".codex/AGENTS.override.md", AGENTS },
	{ ".codex/managed_config.toml", AGENTS },
	{ ".codex/requirements.toml", AGENTS },
	{ ".codex/*.config.toml", AGENTS },
	{ ".codex/shell_snapshots", FRESH },
	/* Its PATH begins with a folder in it. */
	{ ".codex/tmp", FRESH },
	{ ".cache/copilot/pkg", AGENTS }, { ".copilot/pkg", AGENTS },
	{ ".copilot/config.json", AGENTS },
	{ ".copilot/settings.json", AGENTS },
	{ ".copilot/mcp-config.json", AGENTS }, { ".copilot/hooks", AGENTS },
	{ ".copilot/plugins", AGENTS },
	{ ".copilot/installed-plugins", AGENTS },
	{ ".copilot/agents", AGENTS }, { ".copilot/skills", AGENTS },
	{ ".copilot/extensions", AGENTS },
	{ ".copilot/copilot-instructions.md", AGENTS },
	{ ".copilot/instructions", AGENTS },
	{ ".copilot/permissions-config.json", AGENTS },
	{ ".copilot/lsp-config.json", AGENTS },
	{ ".cursor/mcp.json", BOTH | AGENT }, { ".cursor/rules", ROOTS },
	{ ".cursor/hooks.json", BOTH | AGENT },
	{ ".cursor/hooks", BOTH | AGENT },
	{ ".cursor/cli.json", ROOTS }, { ".cursor/worktrees.json", ROOTS },
	{ ".cursor/cli-config.json", AGENTS },
	{ ".cursor/extensions", AGENTS }, { ".cursor/commands", AGENTS },
	{ ".cursor/skills", AGENTS }, { ".cursor/agents", AGENTS },
	{ ".cursor/plugins", AGENTS },
	{ ".local/share/cursor-agent", AGENTS },
	{ ".gemini/settings.json", BOTH | AGENT },
	{ ".gemini/extensions", BOTH | AGENT },
	{ ".gemini/hooks", BOTH | AGENT },
	{ ".gemini/trustedFolders.json", AGENTS }, { ".gemini/.env", AGENTS },
	{ ".gemini/policies", AGENTS }, { ".gemini/tmp/bin", AGENTS },
	{ ".gemini/commands", AGENTS }, { ".gemini/agents", AGENTS },
	{ ".gemini/skills", AGENTS }, { ".gemini/GEMINI.md", AGENTS },
	{ ".gemini/system.md", AGENTS },
	{ ".qwen/settings.json", BOTH | AGENT }, { ".qwen/extensions", AGENTS },
	{ ".qwen/hooks", AGENTS }, { ".qwen/.env", AGENTS },
	{ ".qwen/trustedFolders.json", AGENTS }, { ".qwen/bin", AGENTS },
	{ ".qwen/commands", AGENTS }, { ".qwen/agents", AGENTS },
	{ ".qwen/skills", AGENTS }, { ".qwen/QWEN.md", AGENTS },
	{ ".qwen/channels", AGENTS },
	{ ".qwen/output-language.md", AGENTS },
	{ ".opencode/bin", AGENTS }, { ".opencode/plugin", BOTH | AGENT },
	{ ".opencode/plugins", BOTH | AGENT },
	{ ".opencode/tool", BOTH | AGENT }, { ".opencode/tools", BOTH | AGENT },
	{ ".opencode/opencode.json", BOTH | AGENT },
	{ ".opencode/opencode.jsonc", BOTH | AGENT },
	{ "opencode.json", ROOTS }, { "opencode.jsonc", ROOTS },
	{ ".config/opencode/opencode.json", AGENTS },
	{ ".config/opencode/opencode.jsonc", AGENTS },
	{ ".config/opencode/config.json", AGENTS },
	{ ".config/opencode/plugin", AGENTS },
	{ ".config/opencode/plugins", AGENTS },
	{ ".config/opencode/tool", AGENTS },
	{ ".config/opencode/tools", AGENTS },
	{ ".config/opencode/package.json", AGENTS },
	{ ".config/opencode/node_modules", AGENTS },
	{ ".config/opencode/command", AGENTS },
	{ ".config/opencode/commands", AGENTS },
	{ ".config/opencode/agent", AGENTS },
	{ ".config/opencode/agents", AGENTS },
	{ ".config/opencode/mode", AGENTS },
	{ ".config/opencode/modes", AGENTS },
	{ ".config/opencode/skill", AGENTS },
	{ ".config/opencode/skills", AGENTS },
	{ ".config/opencode/AGENTS.md", AGENTS },
	{ ".local/share/opencode/bin", AGENTS },
	{ ".local/share/opencode/plugin", AGENTS },
	{ ".cache/opencode/bin", AGENTS },
	{ ".cache/opencode/package.json", AGENTS },
	{ ".cache/opencode/packages", AGENTS },
	{ ".cache/opencode/node_modules", AGENTS },
	{ ".amp/bin", AGENTS }, { ".config/amp/settings.json", AGENTS },
	{ ".config/amp/AGENTS.md", AGENTS },
	{ ".config/amp/commands", AGENTS }, { ".config/amp/skills", AGENTS },
	{ ".config/amp/plugins", AGENTS }, { ".config/amp/tools", AGENTS },
	{ ".agents", HOME },
	{ ".factory/bin", AGENTS }, { ".factory/settings.json", BOTH | AGENT },
	{ ".factory/mcp.json", BOTH | AGENT },
	{ ".factory/hooks", BOTH | AGENT },
	{ ".factory/hooks.json", BOTH | AGENT }, { ".factory/plugins", AGENTS },
	{ ".factory/droids", AGENTS }, { ".factory/commands", AGENTS },
	{ ".factory/skills", AGENTS }, { ".factory/config.json", AGENTS },
	{ ".factory/settings.local.json", AGENTS },
	{ ".factory/AGENTS.md", AGENTS },
	{ ".kiro/settings", BOTH | AGENT }, { ".kiro/hooks", BOTH | AGENT },
	{ ".kiro/agents", AGENTS }, { ".kiro/steering", AGENTS },
	{ ".kiro/skills", AGENTS }, { ".kiro/prompts", AGENTS },
	{ ".pi/extensions", ROOTS }, { ".pi/settings.json", ROOTS },
	{ ".pi/agent/extensions", AGENTS },
	{ ".pi/agent/settings.json", AGENTS },
	{ ".pi/agent/models.json", AGENTS }, { ".pi/agent/hooks", AGENTS },
	{ ".pi/agent/tools", AGENTS }, { ".pi/agent/bin", AGENTS },
	{ ".pi/agent/npm", AGENTS }, { ".pi/agent/git", AGENTS },
	{ ".pi/agent/skills", AGENTS }, { ".pi/agent/prompts", AGENTS },
	{ ".pi/agent/AGENTS.md", AGENTS }, { ".pi/agent/SYSTEM.md", AGENTS },
	{ ".continue/config.json", AGENTS },
	{ ".continue/config.yaml", AGENTS }, { ".continue/config.ts", AGENTS },
	{ ".continue/permissions.yaml", AGENTS },
	{ ".continue/agents", AGENTS }, { ".continue/rules", AGENTS },
	{ ".continue/mcpServers", AGENTS }, { ".continue/skills", AGENTS },
	{ ".continue/settings.json", AGENTS }, { ".continue/prompts", AGENTS },
	{ ".augment/settings.json", AGENTS }, { ".augment/plugins", AGENTS },
	{ ".augment/commands", AGENTS }, { ".augment/agents", AGENTS },
	{ ".augment/rules", AGENTS }, { ".augment/skills", AGENTS },
	{ ".augment/hooks", AGENTS },
	{ ".cline/cron", AGENTS }, { ".cline/hooks", AGENTS },
	{ ".cline/plugins", AGENTS }, { ".cline/skills", AGENTS },
	{ ".cline/rules", AGENTS }, { ".cline/workflows", AGENTS },
	{ ".cline/agents", AGENTS },
	{ ".cline/data/locks/hub", AGENTS },
	{ ".cline/data/settings/cline_mcp_settings.json", AGENTS },
	{ ".config/goose/config.yaml", AGENTS },
	{ ".config/goose/.goosehints", AGENTS },
	{ ".config/goose/recipes", AGENTS },
	{ ".config/crush/skills", AGENTS },
	{ ".config/crush/crush.json", AGENTS },
	{ ".local/share/crush/crush.json", AGENTS },
	{ ".crush.json", ROOTS }, { "crush.json", ROOTS },
	{ ".aider.conf.yml", BOTH },
	{ ".windsurf/hooks.json", ROOTS },
	{ ".codeium/windsurf/hooks.json", AGENTS },
	{ ".codeium/windsurf/mcp_config.json", AGENTS },
	{ ".roo/mcp.json", ROOTS }, { ".kilocode/mcp.json", ROOTS },
	{ ".amazonq/mcp.json", ROOTS }, { ".amazonq/cli-agents", ROOTS },
	{ NULL, 0 },
};

const char *const guarded_git_names[] = { "hooks", "info/attributes",
    "config.worktree", "config", "commondir", "objects/info/alternates",
    NULL };

/* ---- the matcher ---- */

size_t
guard_name_len(const char *name, const char *path)
{
	size_t n = strcspn(name, "*"), end, k;

	if (strncmp(path, name, n) != 0)
		return 0;
	if (name[n] == '\0')
		return path[n] == '\0' || path[n] == '/' ? n : 0;
	end = n + strcspn(path + n, "/");
	k = strlen(name + n + 1);
	return end >= n + k && strncmp(path + end - k, name + n + 1, k) == 0 ?
	    end : 0;
}

bool
guard_is_pattern(const char *folder, const char *name)
{
	size_t len = strlen(folder);

	for (const struct guard_name *g = guarded_names; g->name != NULL; g++) {
		const char *last = strrchr(g->name, '/');
		size_t n;

		if (last == NULL || strchr(last, '*') == NULL)
			continue;
		n = (size_t)(last - g->name);
		if (len > n && folder[len - n - 1] == '/' &&
		    strncmp(folder + len - n, g->name, n) == 0 &&
		    guard_name_len(last + 1, name) == strlen(name))
			return true;
	}
	return false;
}

static const struct guard_name *
find(const char *rest, unsigned place, size_t *ret_len)
{
	for (const struct guard_name *g = guarded_names; g->name != NULL; g++) {
		size_t n;

		if ((g->places & place) == 0 || g->name[0] != rest[0])
			continue;
		n = guard_name_len(g->name, rest);
		if (n > 0) {
			*ret_len = n;
			return g;
		}
	}
	return NULL;
}

/* rest is behind the slash of a git directory: how much is guarded, or 0. */
static size_t
find_in_git(const char *rest, bool may_config)
{
	for (const char *const *g = guarded_git_names; *g != NULL; g++) {
		size_t n = strlen(*g);

		if (strncmp(rest, *g, n) == 0 &&
		    (rest[n] == '\0' || rest[n] == '/') &&
		    !(may_config && strncmp(*g, "config", 6) == 0))
			return n;
	}
	return 0;
}

size_t
guard_match_at(const char *path, size_t at_len, unsigned kind,
    bool may_config, bool *ret_is_own)
{
	const struct guard_name *g;
	const char *rest;
	size_t n;

	*ret_is_own = false;
	if ((kind & GUARD_ITSELF) != 0) {
		*ret_is_own = (kind & GUARD_OURS) != 0;
		return path[at_len] == '\0' || path[at_len] == '/' ?
		    at_len : 0;
	}
	if (at_len == 1)
		at_len = 0;		/* "/": its slash is the next one */
	if (path[at_len] != '/')
		return 0;
	rest = path + at_len + 1;
	if ((kind & GUARD_IN_GIT) != 0) {
		n = find_in_git(rest, may_config);
		return n != 0 ? at_len + 1 + n : 0;
	}
	if ((g = find(rest, kind, &n)) == NULL)
		return 0;
	*ret_is_own = (g->places & GUARD_OURS) != 0;
	return at_len + 1 + n;
}

void
guard_place_set(struct guard_at *at, const char *path, unsigned kind)
{
	*at = (struct guard_at){ path, strlen(path), kind };
}

size_t
guard_match(const struct guard_places *l, const char *path, bool may_config,
    bool *ret_is_own)
{
	size_t best = 0;

	*ret_is_own = false;
	for (size_t i = 0; i < l->n; i++) {
		const struct guard_at *at = &l->v[i];
		bool is_own;
		size_t n;

		if (strncmp(path, at->path, at->len) != 0)
			continue;
		n = guard_match_at(path, at->len, at->kind, may_config,
		    &is_own);
		*ret_is_own |= n != 0 && is_own;
		best = n > best ? n : best;
	}
	return best;
}

/* The folder is as it is written, stars and all. */
static bool
is_by_pattern(const struct guard_at *at, const char *path, size_t *ret_n)
{
	const char *name = strrchr(at->path, '/') + 1;
	size_t n = (size_t)(name - at->path), k;

	if (strncmp(path, at->path, n) != 0 ||
	    (k = guard_name_len(name, path + n)) == 0)
		return false;
	*ret_n = n + k;
	return true;
}

size_t
guard_shadowed(const struct guard_places *l, const char *path)
{
	for (size_t i = 0; i < l->nshadows; i++) {
		const struct guard_at *at = &l->shadows[i];
		size_t n = at->len;

		if ((at->kind & GUARD_PATTERN) != 0 ?
		    is_by_pattern(at, path, &n) :
		    strncmp(path, at->path, at->len) == 0 &&
		    (path[at->len] == '/' || path[at->len] == '\0'))
			return n;
	}
	return 0;
}

/* First components of names that are guarded in roots, by their shape. */
static struct {
	uint64_t	bits[64];
	bool		is_filled;
} first;

/* Length and three letters: enough to tell these from nearly all others. */
static unsigned
shape(const char *name, size_t n)
{
	uint32_t hash = STR_HASH_START;

	if (n == 0)
		return 0;
	hash = str_hash_add(hash, (unsigned char)n);
	hash = str_hash_add(hash, (unsigned char)name[0]);
	hash = str_hash_add(hash, (unsigned char)name[n / 2]);
	hash = str_hash_add(hash, (unsigned char)name[n - 1]);
	return (hash ^ hash >> 16) % 4096;
}

static void
first_fill(void)
{
	for (const struct guard_name *g = guarded_names; g->name != NULL; g++) {
		unsigned bit = shape(g->name, strcspn(g->name, "/"));

		if ((g->places & GUARD_IN_ROOTS) != 0)
			first.bits[bit / 64] |= UINT64_C(1) << bit % 64;
	}
	first.is_filled = true;
}

bool
guard_may_begin(const char *name)
{
	size_t n = strlen(name);
	unsigned bit = shape(name, n);

	/* Asked of every entry of a tree: few get past this. */
	if (!first.is_filled)
		first_fill();
	if ((first.bits[bit / 64] >> bit % 64 & 1) == 0)
		return false;
	for (const struct guard_name *g = guarded_names; g->name != NULL; g++)
		if ((g->places & GUARD_IN_ROOTS) != 0 &&
		    strncmp(g->name, name, n) == 0 &&
		    (g->name[n] == '\0' || g->name[n] == '/'))
			return true;
	return false;
}
