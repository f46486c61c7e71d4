#include "policy/agents.h"

#include <stddef.h>
#include <string.h>

const struct agent_folder agent_folders[] = {
	{ ".claude", ".credentials.json" },
	{ ".local/share/claude", "" },
	{ ".codex", "auth.json" },
	{ ".copilot", "" }, { ".cache/copilot", "" },
	{ ".cursor", "" }, { ".local/share/cursor-agent", "" },
	{ ".gemini", "oauth_creds.json google_accounts.json "
	    "mcp-oauth-tokens.json" },
	{ ".qwen", "oauth_creds.json mcp-oauth-tokens.json" },
	{ ".opencode", "" }, { ".config/opencode", "" },
	{ ".local/share/opencode", "auth.json mcp-auth.json" },
	{ ".cache/opencode", "" },
	{ ".amp", "" }, { ".config/amp", "" },
	{ ".factory", "auth.json auth.encrypted auth.v2.file auth.v2.key" },
	{ ".kiro", "" },
	{ ".pi/agent", "auth.json" },
	{ ".continue", ".env" },
	{ ".augment", "session.json" },
	{ ".cline", "" }, { ".cline/data/locks", "" },
	{ ".cline/data/settings", "providers.json" },
	{ ".config/goose", "" },
	{ ".config/crush", "" }, { ".local/share/crush", "" },
	{ ".codeium/windsurf", "" },
	{ NULL, NULL },
};

const struct agent_state agent_states[] = {
	{ ".claude.json", ".claude", "CLAUDE_CONFIG_DIR" },
	{ NULL, NULL, NULL },
};

bool
agent_is_credential(const struct agent_folder *f, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = f->credentials; *p != '\0'; ) {
		size_t k = strcspn(p, " ");

		if (k == n && memcmp(p, name, n) == 0)
			return true;
		p += k;
		p += strspn(p, " ");
	}
	return false;
}
