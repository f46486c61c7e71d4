#include "launcher/hooks/agent.h"

#include <string.h>

#define TRIAL(event, name, tool)					\
	"{\"" event "\":\"" name "\",\"tool_name\":\"" tool "\","	\
	"\"tool_input\":{\"command\":%s}}"

/* The order of `fence hooks status`, of the usage and of the manual. */
const struct agent agents[] = {
	{ .name = "claude", .title = "Claude", .noun = "hook",
	  .dialect = DIALECT_CLAUDE, .path = ".claude/settings.json",
	  .folder_env = "CLAUDE_CONFIG_DIR",
	  .events = { "PreToolUse" },
	  .entry = "{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\","
		   "\"command\":%p,\"args\":%a,\"timeout\":10,"
		   "\"statusMessage\":\"fence\"}]}",
	  .old_flag = "--claude-pre-tool-use", .can_rewrite = true,
	  .trial = TRIAL("hook_event_name", "PreToolUse", "Bash") },
	{ .name = "codex", .title = "Codex", .noun = "hook",
	  .dialect = DIALECT_CODEX, .path = ".codex/hooks.json",
	  .folder_env = "CODEX_HOME",
	  .events = { "PreToolUse" },
	  .entry = "{\"matcher\":\"Bash|apply_patch\",\"hooks\":[{\"type\":"
		   "\"command\",\"command\":%s,\"timeout\":10,"
		   "\"statusMessage\":\"Checking with Fence\"}]}",
	  .old_flag = "--codex-pre-tool-use", .can_rewrite = true,
	  .trial = TRIAL("hook_event_name", "PreToolUse", "Bash"),
	  .advice = "Codex runs no hook that is not trusted: start Codex, open "
		    "/hooks and trust it, again after each change of it" },
	{ .name = "gemini", .title = "Gemini", .noun = "hook",
	  .dialect = DIALECT_GEMINI, .path = ".gemini/settings.json",
	  .events = { "BeforeTool" },
	  .entry = "{\"matcher\":\"^run_shell_command$\",\"hooks\":[{"
		   "\"type\":\"command\",\"command\":%s,\"name\":\"fence\","
		   "\"timeout\":10000}]}", .can_rewrite = true,
	  .trial = TRIAL("hook_event_name", "BeforeTool",
	      "run_shell_command") },
	{ .name = "opencode", .title = "OpenCode", .noun = "plugin",
	  .dialect = DIALECT_OPENCODE, .file = AGENT_OWN,
	  .path = ".config/opencode/plugins/fence.js",
	  .folder_env = "XDG_CONFIG_HOME",
	  .old_flag = "--opencode-pre-tool-use", .can_rewrite = true,
	  .trial = TRIAL("event", "", "bash"),
	  .advice = "restart OpenCode: it reads plugins when it starts; "
		    "commands that you type with ! are not asked about" },
	{ .name = "copilot", .title = "Copilot", .noun = "hook",
	  .dialect = DIALECT_COPILOT, .path = ".copilot/hooks/fence.json",
	  .folder_env = "COPILOT_HOME",
	  .events = { "PreToolUse" }, .has_version = true,
	  .entry = "{\"type\":\"command\",\"matcher\":\"Bash\",\"exec\":%p,"
		   "\"args\":%a,\"timeoutSec\":10}", .can_rewrite = true,
	  .trial = TRIAL("hook_event_name", "PreToolUse", "Bash"),
	  .advice = "a hook that takes longer than its 10 seconds lets the "
		    "command through" },
	{ .name = "cursor", .title = "Cursor", .noun = "hook",
	  .dialect = DIALECT_CURSOR, .path = ".cursor/hooks.json",
	  .events = { "preToolUse" }, .has_version = true,
	  .entry = "{\"command\":%s,\"matcher\":\"Shell\",\"timeout\":10,"
		   "\"failClosed\":true}",
	  .old_flag = "--cursor-pre-tool-use", .can_rewrite = true,
	  .trial = TRIAL("hook_event_name", "preToolUse", "Shell") },
	{ .name = "qwen", .title = "Qwen", .noun = "hook",
	  .dialect = DIALECT_CODEX, .path = ".qwen/settings.json",
	  .events = { "PreToolUse" },
	  .entry = "{\"matcher\":\"^run_shell_command$\",\"hooks\":[{"
		   "\"type\":\"command\",\"command\":%s,\"name\":\"fence\","
		   "\"timeout\":10000}]}",
	  .trial = TRIAL("hook_event_name", "PreToolUse",
	      "run_shell_command"),
	  .advice = "Qwen Code takes no other command from a hook (0.24.4): "
		    "its commands run outside of the jail" },
	{ .name = "crush", .title = "Crush", .noun = "hook",
	  .dialect = DIALECT_CRUSH, .path = ".config/crush/crush.json",
	  .folder_env = "XDG_CONFIG_HOME",
	  .events = { "PreToolUse" },
	  .entry = "{\"name\":\"fence\",\"matcher\":\"^bash$\","
		   "\"command\":%s,\"timeout\":10}", .can_rewrite = true,
	  .trial = TRIAL("event", "PreToolUse", "bash") },
	{ .name = "windsurf", .title = "Windsurf", .noun = "hooks",
	  .dialect = DIALECT_WINDSURF, .path = ".codeium/windsurf/hooks.json",
	  .events = { "pre_run_command", "pre_write_code" },
	  .entry = "{\"command\":%s,\"show_output\":true}",
	  .old_flag = "--windsurf-hook",
	  .trial = "{\"agent_action_name\":\"pre_run_command\","
		   "\"tool_info\":{\"command_line\":%s}}",
	  .advice = "Windsurf cannot put commands into the jail: it asks, "
		    "and refuses" },
	{ .name = "hermes", .title = "Hermes", .noun = "hooks",
	  .dialect = DIALECT_HERMES, .file = AGENT_YAML,
	  .path = ".hermes/config.yaml",
	  .folder_env = "HERMES_HOME", .events = { "pre_tool_call" },
	  .old_flag = "--hermes-pre-tool-use",
	  .trial = TRIAL("hook_event_name", "pre_tool_call", "terminal"),
	  .advice = "Hermes asks for consent when the hook first runs; "
		    "without a terminal it runs none unless hooks_auto_accept is true" },
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
