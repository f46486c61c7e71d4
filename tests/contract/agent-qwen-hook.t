#!/usr/bin/env bash
# Qwen Code from npm asks fence before it uses its shell.  It does not take
# another command from a hook, so what is allowed runs as it is.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" @qwen-code/qwen-code@0.15.10 "$@"
. "$TESTS/agents/hooks.sh"

export OPENAI_API_KEY=none OPENAI_BASE_URL=https://model.test/v1
export OPENAI_MODEL=one
hooked qwen .qwen/settings.json '{
  // mine
  "$version": 4,
  "security": {
    "auth": {
      "selectedType": "openai"
    }
  },
  "general": {
    "enableAutoUpdate": false
  }
}'
refused "with --yolo" qwen --yolo -p "$denied_task"
at_home qwen --yolo -p "$allowed_task"
is "$(cat "$W/made.txt" 2>&1)" jail= "$who: qwen: an allowed command runs"
unhooked
exit 0
