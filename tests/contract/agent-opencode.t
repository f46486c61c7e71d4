#!/usr/bin/env bash
# OpenCode from npm, which has not heard of proxies, does a task with its model
# as the only name allowed.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" opencode-ai@1.18.33 "$@"

project() {
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
}

state='"~/.local/share/opencode", "~/.local/state/opencode",
    "~/.cache/opencode", "~/.config/opencode"'
for vars in on off; do
	begin "proxy variables $vars" workspace-write "$vars" "$state"
	project
	does opencode run "$task"
	called models.opencode.ai opencode
done
begin "-t code" code on '"."'
project
does opencode run "$task"
only denied.test
finally
