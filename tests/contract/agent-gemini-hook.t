#!/usr/bin/env bash
# Gemini CLI from npm asks fence before it uses its shell.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" @google/gemini-cli@0.61.0 "$@"
. "$TESTS/agents/hooks.sh"

export GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL=https://model.test
export GEMINI_CLI_TRUST_WORKSPACE=true
hooked gemini .gemini/settings.json '{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "general": { "enableAutoUpdate": false }
}
'
refused "with --yolo" gemini --yolo -p "$denied_task"
jailed gemini --yolo -p "$allowed_task"
unhooked
exit 0
