#include "launcher/hooks/agent.h"

#include <string.h>

/* The order of `fence hooks status`, of the usage and of the manual. */
const struct agent agents[] = {
	{ .name = "claude", .title = "Claude Code", .noun = "hook",
	  .dialect = DIALECT_CLAUDE, .path = ".claude/settings.json",
	  .events = { "PreToolUse" },
	  .entry = "{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\","
		   "\"command\":%p,\"args\":%a,\"timeout\":10,"
		   "\"statusMessage\":\"fence\"}]}",
	  .old_flag = "--claude-pre-tool-use", .can_rewrite = true },
	{ .name = "codex", .title = "Codex", .noun = "hook",
	  .dialect = DIALECT_CODEX, .path = ".codex/hooks.json",
	  .events = { "PreToolUse" },
	  .entry = "{\"matcher\":\"Bash|apply_patch\",\"hooks\":[{\"type\":"
		   "\"command\",\"command\":%s,\"timeout\":10,"
		   "\"statusMessage\":\"Checking with Fence\"}]}",
	  .old_flag = "--codex-pre-tool-use", .can_rewrite = true },
	{ .name = "gemini", .title = "Gemini CLI", .noun = "hook",
	  .dialect = DIALECT_GEMINI, .path = ".gemini/settings.json",
	  .events = { "BeforeTool" },
	  .entry = "{\"matcher\":\"^run_shell_command$\",\"hooks\":[{"
		   "\"type\":\"command\",\"command\":%s,\"name\":\"fence\","
		   "\"timeout\":10000}]}", .can_rewrite = true },
	{ .name = "opencode", .title = "OpenCode", .noun = "plugin",
	  .dialect = DIALECT_OPENCODE, .file = AGENT_OWN,
	  .path = ".config/opencode/plugins/fence.js",
	  .old_flag = "--opencode-pre-tool-use", .can_rewrite = true },
	{ .name = "copilot", .title = "Copilot CLI", .noun = "hook",
	  .dialect = DIALECT_COPILOT, .file = AGENT_OWN,
	  .path = ".copilot/hooks/fence.json",
	  .events = { "PreToolUse" }, .has_version = true,
	  .entry = "{\"type\":\"command\",\"matcher\":\"Bash\",\"exec\":%p,"
		   "\"args\":%a,\"timeoutSec\":10}", .can_rewrite = true },
	{ .name = "cursor", .title = "Cursor", .noun = "hook",
	  .dialect = DIALECT_CURSOR, .path = ".cursor/hooks.json",
	  .events = { "preToolUse" }, .has_version = true,
	  .entry = "{\"command\":%s,\"matcher\":\"Shell\",\"timeout\":10,"
		   "\"failClosed\":true}",
	  .old_flag = "--cursor-pre-tool-use", .can_rewrite = true },
	{ .name = "qwen", .title = "Qwen Code", .noun = "hook",
	  .dialect = DIALECT_QWEN, .path = ".qwen/settings.json",
	  .events = { "PreToolUse" },
	  .entry = "{\"matcher\":\"^run_shell_command$\",\"hooks\":[{"
		   "\"type\":\"command\",\"command\":%s,\"name\":\"fence\","
		   "\"timeout\":10000}]}", .can_rewrite = true },
	{ .name = "crush", .title = "Crush", .noun = "hook",
	  .dialect = DIALECT_CRUSH, .path = ".config/crush/crush.json",
	  .events = { "PreToolUse" },
	  .entry = "{\"name\":\"fence\",\"matcher\":\"^bash$\","
		   "\"command\":%s,\"timeout\":10}", .can_rewrite = true },
	{ .name = "windsurf", .title = "Windsurf", .noun = "hooks",
	  .dialect = DIALECT_WINDSURF, .path = ".codeium/windsurf/hooks.json",
	  .events = { "pre_run_command", "pre_write_code" },
	  .entry = "{\"command\":%s,\"show_output\":true}",
	  .old_flag = "--windsurf-hook" },
	{ .name = "hermes", .title = "Hermes", .noun = "hooks",
	  .dialect = DIALECT_HERMES, .file = AGENT_YAML,
	  .path = ".hermes/config.yaml", .events = { "pre_tool_call" },
	  .old_flag = "--hermes-pre-tool-use" },
	{ .name = NULL },
};

const struct agent *
agent_find(const char *name)
{
	for (const struct agent *a = agents; a->name != NULL; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

const struct agent *
agent_by_flag(const char *flag)
{
	for (const struct agent *a = agents; a->name != NULL; a++)
		if (a->old_flag != NULL && strcmp(a->old_flag, flag) == 0)
			return a;
	return NULL;
}
