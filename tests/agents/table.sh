# agents/table.sh: the agents of agents-table.t, a row of functions each.
#
#	PACKAGE[a]	what npm has of it
#	FULL, ONCE	agents with every row, and those of one row
#	a_env		what its users export, beside the world's
#	a_lived		settings, a login and an addition of the user in $H, as
#			people who use it have them; $KEY is the login
#	a_fresh		what a start in an empty home cannot do without, in $W
#	a_once		its one-shot command for $task, in once=()
#	a_tui		its terminal program, in tui=(); DIALOGS: what it asks
#			at its first start and the keys that answer; READY: the
#			screen where it takes a task; LEAVE: the key that ends
#			it, pressed again and again
#	LOGIN[a]	where it keeps the login, which has to outlive the run
# shellcheck shell=bash disable=SC2034,SC2154

FULL="claude codex opencode gemini qwen copilot"
ONCE="cline continue droid auggie pi crush"
declare -A PACKAGE LOGIN READY LEAVE DIALOGS
KEY=lived-in-key

claude_env() { export ANTHROPIC_BASE_URL=https://model.test; }
PACKAGE[claude]=@anthropic-ai/claude-code@2.1.328
LOGIN[claude]=.claude/.credentials.json
claude_fresh() { export ANTHROPIC_API_KEY=none; }
claude_lived() {
	mkdir -p "$H/.claude/hooks" "$H/.claude/commands"
	cat >"$H/.claude/settings.json" <<-EOF
	{
		"theme": "dark",
		"hooks": { "SessionStart": [ { "hooks": [ { "type": "command",
		    "command": "$H/.claude/hooks/mine" } ] } ] }
	}
	EOF
	mine "$H/.claude/hooks/mine"
	echo 'Say hello.' >"$H/.claude/commands/hello.md"
	cat >"$H/.claude.json" <<-EOF
	{ "hasCompletedOnboarding": true, "theme": "dark",
	  "oauthAccount": { "accountUuid": "a", "organizationUuid": "o",
	    "emailAddress": "me@model.test" } }
	EOF
	cat >"$H/.claude/.credentials.json" <<-EOF
	{ "claudeAiOauth": { "accessToken": "$KEY", "refreshToken": "again",
	    "expiresAt": 4102444800000, "scopes": [ "user:inference",
	    "user:profile" ], "subscriptionType": "max" } }
	EOF
	chmod 600 "$H/.claude/.credentials.json"
}
claude_once() { once=(claude -p "$task" --allowedTools Bash); }
claude_tui() { tui=(claude --allowedTools Bash); }
READY[claude]='shift.tab to cycle|for shortcuts'
LEAVE[claude]=C-c
DIALOGS[claude]='Choose the text style|Enter
custom API key|Up Enter
Do you want to use this API key|Up Enter
Select login method|Enter
I trust this folder|Down Enter
Press Enter to continue|Enter'

# Its model is told on the command line where the home is empty.
far='{name="far",base_url="https://model.test/v1",wire_api="responses"}'
PACKAGE[codex]=@openai/codex@0.169.0
LOGIN[codex]=.codex/auth.json
codex_far=()
codex_env() { :; }
codex_fresh() {
	codex_far=(-c model=one -c model_provider=far
	    -c "model_providers.far=$far")
}
codex_lived() {
	mkdir -p "$H/.codex/rules" "$H/.codex/prompts"
	cat >"$H/.codex/config.toml" <<-EOF
	model = "one"
	model_provider = "far"
	notify = ["$H/.codex/mine"]
	[model_providers.far]
	name = "far"
	base_url = "https://model.test/v1"
	wire_api = "responses"
	requires_openai_auth = true
	EOF
	mine "$H/.codex/mine"
	echo 'Say hello.' >"$H/.codex/prompts/hello.md"
	echo "{\"auth_mode\":\"apikey\",\"OPENAI_API_KEY\":\"$KEY\"}" \
	    >"$H/.codex/auth.json"
	chmod 600 "$H/.codex/auth.json"
}
codex_once() {
	once=(codex exec --skip-git-repo-check "${codex_far[@]}"
	    --dangerously-bypass-approvals-and-sandbox "$task")
}
codex_tui() {
	tui=(codex "${codex_far[@]}"
	    --dangerously-bypass-approvals-and-sandbox)
}
READY[codex]='^ *› '
LEAVE[codex]=C-c
DIALOGS[codex]='Do you trust|Enter
Press enter to continue|Enter'

opencode_config() {
	cat <<-EOF
	{ "model": "far/one", "provider": { "far": {
	    "npm": "@ai-sdk/openai-compatible",
	    "options": { "baseURL": "https://model.test/v1" $1 },
	    "models": { "one": { "name": "one" } } } } }
	EOF
}
PACKAGE[opencode]=opencode-ai@1.18.33
LOGIN[opencode]=.local/share/opencode/auth.json
opencode_env() { :; }
opencode_fresh() {
	opencode_config ', "apiKey": "none"' >"$W/opencode.json"
}
opencode_lived() {
	mkdir -p "$H/.config/opencode/commands" "$H/.local/share/opencode"
	opencode_config '' >"$H/.config/opencode/opencode.json"
	# No plugin: for it a package comes from npm, which the world has not.
	echo 'Say hello.' >"$H/.config/opencode/commands/hello.md"
	echo "{\"far\":{\"type\":\"api\",\"key\":\"$KEY\"}}" \
	    >"$H/.local/share/opencode/auth.json"
	chmod 600 "$H/.local/share/opencode/auth.json"
}
opencode_once() { once=(opencode run "$task"); }
opencode_tui() { tui=(opencode); }
READY[opencode]='Ask anything'
LEAVE[opencode]=C-c
DIALOGS[opencode]=

PACKAGE[gemini]=@google/gemini-cli@0.61.0
LOGIN[gemini]=.gemini/.env
gemini_env() {
	export GOOGLE_GEMINI_BASE_URL=https://model.test
	export GEMINI_CLI_NO_RELAUNCH=true
}
# It takes a base URL for a gateway, which its one-shot command refuses.
gemini_fresh() {
	export GEMINI_API_KEY=none GEMINI_CLI_TRUST_WORKSPACE=true
	mkdir -p "$W/.gemini"
	echo '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }' \
	    >"$W/.gemini/settings.json"
}
gemini_lived() {
	mkdir -p "$H/.gemini/extensions/mine" "$H/.gemini/commands"
	cat >"$H/.gemini/settings.json" <<-EOF
	{ "security": { "auth": { "selectedType": "gemini-api-key" } },
	  "general": { "enableAutoUpdate": false } }
	EOF
	echo '{ "name": "mine", "version": "1.0.0" }' \
	    >"$H/.gemini/extensions/mine/gemini-extension.json"
	echo "{ \"$W\": \"TRUST_FOLDER\" }" >"$H/.gemini/trustedFolders.json"
	echo "GEMINI_API_KEY=$KEY" >"$H/.gemini/.env"
	chmod 600 "$H/.gemini/.env"
}
gemini_once() { once=(gemini -m gemini-2.5-flash --yolo -p "$task"); }
gemini_tui() { tui=(gemini -m gemini-2.5-flash --yolo); }
READY[gemini]='Type your message'
LEAVE[gemini]=C-c
DIALOGS[gemini]='Do you trust|Enter
How would you like to authenticate|Enter
Enter Gemini API Key|Enter'

PACKAGE[qwen]=@qwen-code/qwen-code@0.24.4
LOGIN[qwen]=.qwen/.env
qwen_env() { :; }
qwen_fresh() {
	export OPENAI_API_KEY=none OPENAI_MODEL=one
	export OPENAI_BASE_URL=https://model.test/v1
}
qwen_lived() {
	mkdir -p "$H/.qwen/extensions/mine" "$H/.qwen/skills/mine"
	cat >"$H/.qwen/settings.json" <<-EOF
	{ "\$version": 4, "security": { "auth": { "selectedType": "openai" } },
	  "general": { "enableAutoUpdate": false } }
	EOF
	echo '{ "name": "mine", "version": "1.0.0" }' \
	    >"$H/.qwen/extensions/mine/qwen-extension.json"
	printf '%s\n' "OPENAI_API_KEY=$KEY" OPENAI_MODEL=one \
	    OPENAI_BASE_URL=https://model.test/v1 >"$H/.qwen/.env"
	chmod 600 "$H/.qwen/.env"
}
qwen_once() { once=(qwen --yolo -p "$task"); }
qwen_tui() { tui=(qwen --yolo); }
READY[qwen]='Type your message'
LEAVE[qwen]=C-c
DIALOGS[qwen]='Do you trust|Enter'

# Its vendor's login is a web page; a model of one's own is told by variables.
PACKAGE[copilot]=@github/copilot@1.0.102
LOGIN[copilot]=
copilot_env() {
	export COPILOT_PROVIDER_BASE_URL=https://model.test/v1
	export COPILOT_PROVIDER_TYPE=openai COPILOT_MODEL=gpt-4o
	export COPILOT_PROVIDER_API_KEY=$KEY
}
copilot_fresh() { :; }
copilot_lived() {
	mkdir -p "$H/.copilot/hooks" "$H/.copilot/skills/mine"
	cat >"$H/.copilot/hooks/mine.json" <<-EOF
	{ "version": 1, "hooks": { "sessionStart": [
	    { "type": "command", "bash": "$H/.copilot/mine" } ] } }
	EOF
	mine "$H/.copilot/mine"
	echo '{ "mcpServers": {} }' >"$H/.copilot/mcp-config.json"
}
copilot_once() { once=(copilot -p "$task" --allow-all-tools); }
copilot_tui() { tui=(copilot --allow-all-tools); }
READY[copilot]='^ *[❯>] *($|Type|Ask|Describe)|/ commands|for shortcuts'
LEAVE[copilot]=C-c
DIALOGS[copilot]='and remember this folder|Down Enter'

PACKAGE[cline]=cline@3.0.65
LOGIN[cline]=.cline/data/settings/providers.json
cline_env() { :; }
cline_lived() {
	mkdir -p "$H/.cline/hooks"
	outside cline auth -p openai -k "$KEY" -m one \
	    -b https://model.test/v1
}
cline_once() { once=(cline "$task"); }

PACKAGE[continue]=@continuedev/cli@1.5.47
LOGIN[continue]=.continue/config.yaml
continue_env() { :; }
continue_lived() {
	mkdir -p "$H/.continue"
	cat >"$H/.continue/config.yaml" <<-EOF
	name: mine
	version: 1.0.0
	schema: v1
	models:
	  - name: one
	    provider: openai
	    model: one
	    apiKey: $KEY
	    apiBase: https://model.test/v1
	    capabilities:
	      - tool_use
	    roles:
	      - chat
	EOF
}
continue_once() { once=(cn -p --auto "$task"); }

PACKAGE[droid]=droid@0.215.0
LOGIN[droid]=.factory/settings.json
droid_env() { export FACTORY_API_KEY=fk-none FACTORY_AIRGAP_ENABLED=1; }
droid_lived() {
	mkdir -p "$H/.factory/droids"
	cat >"$H/.factory/settings.json" <<-EOF
	{ "customModels": [ { "model": "one", "displayName": "one",
	    "baseUrl": "https://model.test/v1", "apiKey": "$KEY",
	    "provider": "generic-chat-completion-api",
	    "maxOutputTokens": 1000 } ] }
	EOF
}
droid_once() {
	once=(droid exec --skip-permissions-unsafe -m custom:one "$task")
}

PACKAGE[auggie]=@augmentcode/auggie@0.36.0
LOGIN[auggie]=.augment/session.json
auggie_env() { export AUGMENT_DISABLE_AUTO_UPDATE=1; }
auggie_lived() {
	mkdir -p "$H/.augment"
	cat >"$H/.augment/session.json" <<-EOF
	{ "accessToken": "$KEY", "tenantURL": "https://model.test/",
	  "scopes": [ "read", "write" ] }
	EOF
	chmod 600 "$H/.augment/session.json"
}
auggie_once() { once=(auggie -p -i "$task"); }

PACKAGE[pi]=@mariozechner/pi-coding-agent@0.73.1
LOGIN[pi]=.pi/agent/auth.json
pi_env() { :; }
pi_lived() {
	mkdir -p "$H/.pi/agent/extensions"
	cat >"$H/.pi/agent/models.json" <<-EOF
	{ "providers": { "far": { "baseUrl": "https://model.test/v1",
	    "api": "openai-completions", "apiKey": "none",
	    "models": [ { "id": "one" } ] } } }
	EOF
	echo "{ \"far\": { \"type\": \"api_key\", \"key\": \"$KEY\" } }" \
	    >"$H/.pi/agent/auth.json"
	chmod 600 "$H/.pi/agent/auth.json"
	echo 'export default function (pi) {}' \
	    >"$H/.pi/agent/extensions/mine.ts"
}
pi_once() { once=(pi --provider far --model one -p "$task"); }

PACKAGE[crush]=@charmland/crush@0.96.1
LOGIN[crush]=.config/crush/crush.json
crush_env() { export CRUSH_DISABLE_PROVIDER_AUTO_UPDATE=1; }
crush_lived() {
	mkdir -p "$H/.config/crush"
	cat >"$H/.config/crush/crush.json" <<-EOF
	{ "providers": { "far": { "type": "openai-compat",
	    "base_url": "https://model.test/v1", "api_key": "$KEY",
	    "models": [ { "id": "one", "name": "one",
	    "context_window": 100000, "default_max_tokens": 1000 } ] } },
	  "models": { "large": { "model": "one", "provider": "far" },
	    "small": { "model": "one", "provider": "far" } } }
	EOF
}
crush_once() { once=(crush run -q "$task"); }
