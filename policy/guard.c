#include "policy/guard.h"

#include <stddef.h>

enum {
	ROOTS = GUARD_IN_ROOTS,
	HOME = GUARD_IN_HOME,
	BOTH = GUARD_IN_ROOTS | GUARD_IN_HOME,
	OURS = GUARD_OURS,
};

const struct guard_name guarded_names[] = {
	/* What the next run of fence believes. */
	{ "fence.json", ROOTS | OURS }, { "fence.jsonc", ROOTS | OURS },
	{ "fence.ini", ROOTS | OURS },
	{ ".fence.json", HOME | OURS }, { ".fence.jsonc", HOME | OURS },
	{ ".config/fence", HOME | OURS },
	{ ".local/state/fence", HOME | OURS },

	/* git */
	{ ".gitconfig", BOTH }, { ".gitmodules", ROOTS },
	{ ".config/git", HOME },

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
	{ ".vimrc", HOME }, { ".vim", HOME }, { ".config/nvim", HOME },
	{ ".local/share/nvim", HOME }, { ".emacs", HOME },
	{ ".emacs.d", HOME }, { ".config/emacs", HOME },

	/* Hooks of a repository that are no part of .git. */
	{ ".husky", ROOTS }, { ".github/workflows", ROOTS },

	/*
	 * Agents: what they execute and what configures that.  The rest of
	 * their folders is state, and writable where it is granted.
	 */
	{ ".mcp.json", BOTH },
	{ ".claude/settings.json", BOTH },
	{ ".claude/settings.local.json", BOTH },
	{ ".claude/hooks", BOTH }, { ".claude/plugins", HOME },
	{ ".claude/local", HOME }, { ".local/share/claude", HOME },
	{ ".codex/config.toml", BOTH }, { ".codex/packages", HOME },
	{ ".codex/hooks", BOTH }, { ".codex/hooks.json", BOTH },
	{ ".codex/plugins", HOME }, { ".codex/rules", HOME },
	{ ".codex/bin", HOME },
	{ ".cache/copilot/pkg", HOME }, { ".copilot/pkg", HOME },
	{ ".copilot/config.json", HOME },
	{ ".copilot/mcp-config.json", HOME }, { ".copilot/hooks", HOME },
	{ ".copilot/plugins", HOME },
	{ ".cursor/mcp.json", BOTH }, { ".cursor/rules", ROOTS },
	{ ".cursor/hooks.json", BOTH }, { ".cursor/hooks", BOTH },
	{ ".cursor/cli-config.json", HOME }, { ".cursor/extensions", HOME },
	{ ".local/share/cursor-agent", HOME },
	{ ".gemini/settings.json", BOTH }, { ".gemini/extensions", HOME },
	{ ".gemini/hooks", BOTH }, { ".gemini/trustedFolders.json", HOME },
	{ ".qwen/settings.json", BOTH }, { ".qwen/extensions", HOME },
	{ ".opencode/bin", HOME }, { ".opencode/plugin", BOTH },
	{ ".opencode/plugins", BOTH },
	{ "opencode.json", ROOTS }, { "opencode.jsonc", ROOTS },
	{ ".config/opencode/opencode.json", HOME },
	{ ".config/opencode/opencode.jsonc", HOME },
	{ ".config/opencode/config.json", HOME },
	{ ".config/opencode/plugin", HOME },
	{ ".config/opencode/plugins", HOME },
	{ ".config/opencode/tool", HOME },
	{ ".config/opencode/node_modules", HOME },
	{ ".local/share/opencode/bin", HOME },
	{ ".cache/opencode/bin", HOME },
	{ ".cache/opencode/node_modules", HOME },
	{ ".amp/bin", HOME }, { ".config/amp/settings.json", HOME },
	{ ".factory/bin", HOME }, { ".factory/settings.json", BOTH },
	{ ".factory/mcp.json", BOTH }, { ".factory/hooks", BOTH },
	{ ".kiro/settings", BOTH }, { ".kiro/hooks", BOTH },
	{ ".continue/config.json", HOME }, { ".continue/config.yaml", HOME },
	{ ".continue/config.ts", HOME },
	{ ".augment/settings.json", HOME },
	{ ".config/goose/config.yaml", HOME },
	{ ".config/crush/crush.json", HOME },
	{ NULL, 0 },
};

const char *const guarded_git_names[] = { "hooks", "info/attributes",
    "config.worktree", "config", "commondir", NULL };
