#!/usr/bin/env bash
# OpenCode from npm asks fence, by its plugin, before it uses its shell.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" opencode-ai@1.18.33 "$@"
. "$TESTS/agents/hooks.sh"

# It looks for its package of plugins in a registry that is not there.
export npm_config_fetch_retries=0
hooked opencode .config/opencode/plugins/fence.js ''
cat >"$W/opencode.json" <<'CONFIG'
{
	"model": "far/one",
	"provider": {
		"far": {
			"npm": "@ai-sdk/openai-compatible",
			"options": {
				"baseURL": "https://model.test/v1",
				"apiKey": "none"
			},
			"models": { "one": { "name": "one" } }
		}
	}
}
CONFIG
refused "by its plugin" opencode run "$denied_task"
jailed opencode run "$allowed_task"
unhooked
exit 0
