/*
 * The table: what agents of npm read from these files, as of November 2026.
 * Where a file is state with a few keys that execute, those are listed; where
 * it is configuration with a little state, the state is, and a key that no row
 * knows stays the host's.
 */
#include <string.h>

#include "launcher/guard/agentconf.h"

/* Claude Code: state of all kinds, and per project. */
static const char *const claude[] = {
	"mcpServers", "mcpLegacyKeyOwners", "env", "hooks", "apiKeyHelper",
	"proxyAuthHelper", "awsAuthRefresh", "awsCredentialExport",
	"gcpAuthRefresh", "otelHeadersHelper", "statusLine",
	"subagentStatusLine", "fileSuggestion", "permissions", "sandbox",
	"enabledPlugins", "pluginConfigs", "extraKnownMarketplaces",
	"enableAllProjectMcpServers", "enabledMcpjsonServers",
	"disabledMcpjsonServers", "bypassPermissionsModeAccepted",
	"skipDangerousModePermissionPrompt", "skipAutoPermissionPrompt",
	"autoModeEnvSetup", "chromeExtension", "deepLinkTerminal",
	"gitForWindowsLauncher", "githubRepoPaths", "hostBootstrapSeed",
	"remoteControlAtStartup", "remoteHomeSettingsMode",
	"autoAddRemoteControlDaemonWorker", "autoUploadSessions",
	"projects.*.mcpServers", "projects.*.mcpContextUris",
	"projects.*.allowedTools", "projects.*.permissions",
	"projects.*.additionalDirectories", "projects.*.env",
	"projects.*.enableAllProjectMcpServers",
	"projects.*.enabledMcpServers", "projects.*.disabledMcpServers",
	"projects.*.enabledMcpjsonServers",
	"projects.*.disabledMcpjsonServers",
	"projects.*.hasTrustDialogAccepted",
	"projects.*.hasClaudeMdExternalIncludesApproved",
	NULL };

/* Switches that its server sets; a jail could turn guards off with them. */
static const char *const claude_quiet[] = { "cachedGrowthBookFeatures",
    "cachedStatsigGates", "cachedDynamicConfigs", "cachedFeatureFlags",
    "clientDataCache", "clientDataCacheSlots", NULL };

static const char *const codex[] = { "model", "model_reasoning_effort",
    "plan_mode_reasoning_effort", "model_reasoning_summary",
    "model_verbosity", "service_tier", "personality",
    "hide_agent_reasoning", "show_raw_agent_reasoning", "tui.theme",
    "tui.animations", "tui.show_tooltips", "tui.alternate_screen",
    "tui.model_availability_nux", "notice.model_migrations",
    "notice.hide_rate_limit_model_nudge",
    "notice.hide_gpt5_1_migration_prompt",
    "notice.hide_gpt-5.1-codex-max_migration_prompt", NULL };

static const char *const gemini[] = { "$version", "theme",
    "selectedAuthType", "hasSeenIdeIntegrationNudge", "vimMode", "ui.theme",
    "ui.hideBanner", "ui.hideTips", "ui.autoThemeSwitching",
    "ide.hasSeenNudge", "=model.name", "general.vimMode",
    "security.auth.selectedType", "privacy.usageStatisticsEnabled", NULL };

static const char *const copilot[] = { "banner", "beep", "model", "theme",
    "mouse", "render_markdown", "renderMarkdown", "screen_reader",
    "screenReader", "reasoning_effort", "reasoningEffort", "effortLevel",
    "firstLaunchAt", "first_launch_at", "launch_messages",
    "askedSetupTerminals", "lastLoggedInUser", "last_logged_in_user",
    "loggedInUsers", "logged_in_users", "copilotTokens", "copilot_tokens",
    NULL };

static const char *const opencode[] = { "$schema", "=theme", "=model",
    "=small_model", NULL };

static const char *const cursor[] = { "version", "model", "selectedModel",
    "hasChangedDefaultModel", "modelParameters", "maxMode", "privacyCache",
    "authInfo", "editor.vimMode", "display", NULL };

static const char *const factory[] = { "model", "reasoningEffort",
    "diffMode", "theme", "sessionDefaultSettings.model",
    "sessionDefaultSettings.reasoningEffort", NULL };

/* Crush gives strings to a shell: "$(command)". */
static const char *const crush[] = { "$schema", "=models", "=recent_models",
    "=providers.*.api_key", "=providers.*.oauth", "=options.tui", NULL };

/* Cline: state, and what it may do unasked. */
static const char *const cline[] = { "autoApprovalSettings",
    "autoApproveAllToggled", "yoloModeToggled", "hooksEnabled",
    "globalClineRulesToggles", "globalWorkflowToggles",
    "globalSkillsToggles", "remoteRulesToggles", "remoteWorkflowToggles",
    "browserSettings", "customPrompt", "defaultTerminalProfile",
    "vscodeTerminalExecutionMode", "mcpMarketplaceEnabled",
    "openAiBaseUrl", "openAiHeaders", "anthropicBaseUrl", NULL };

static const char *const none[] = { NULL };

const struct agentconf_file agentconf_files[] = {
	{ ".claude.json", AGENTCONF_JSON, true, claude, claude_quiet },
	{ ".claude.json.backup*", AGENTCONF_JSON, true, claude,
	  claude_quiet },
	{ ".codex/config.toml", AGENTCONF_TOML, false, codex, NULL },
	{ ".gemini/settings.json", AGENTCONF_JSONC, false, gemini, NULL },
	{ ".qwen/settings.json", AGENTCONF_JSONC, false, gemini, NULL },
	{ ".copilot/config.json", AGENTCONF_JSONC, false, copilot, NULL },
	{ ".copilot/settings.json", AGENTCONF_JSONC, false, copilot, NULL },
	{ ".config/opencode/opencode.json", AGENTCONF_JSONC, false,
	  opencode, NULL },
	{ ".config/opencode/opencode.jsonc", AGENTCONF_JSONC, false,
	  opencode, NULL },
	{ ".cursor/cli-config.json", AGENTCONF_JSON, false, cursor, NULL },
	{ ".factory/settings.json", AGENTCONF_JSONC, false, factory, NULL },
	{ ".config/crush/crush.json", AGENTCONF_JSON, false, crush, NULL },
	{ ".local/share/crush/crush.json", AGENTCONF_JSON, false, crush,
	  NULL },
	{ ".cline/data/globalState.json", AGENTCONF_JSON, true, cline,
	  NULL },
	{ ".cline/data/settings/cline_mcp_settings.json", AGENTCONF_JSON,
	  false, none, NULL },
	{ NULL, AGENTCONF_JSON, false, NULL, NULL },
};

const struct agentconf_file *
agentconf_find(const char *name)
{
	for (const struct agentconf_file *f = agentconf_files;
	    f->name != NULL; f++) {
		size_t n = strlen(f->name);
		bool is_open = f->name[n - 1] == '*';

		if (is_open && strncmp(name, f->name, n - 1) == 0 &&
		    strchr(name + n - 1, '/') == NULL)
			return f;
		if (strcmp(name, f->name) == 0)
			return f;
	}
	return NULL;
}
