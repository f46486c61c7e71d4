#!/usr/bin/env bash
# Claude Code from npm asks fence before it uses its shell.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" @anthropic-ai/claude-code@2.1.197 "$@"
. "$TESTS/agents/hooks.sh"

export ANTHROPIC_BASE_URL=https://model.test ANTHROPIC_API_KEY=none
hooked claude .claude/settings.json '{
    "includeCoAuthoredBy": false,
    "hooks": { "PreToolUse": [ { "matcher": "Edit", "hooks": [] } ] }
}
'
refused "with its shell allowed" claude -p "$denied_task" --allowedTools Bash
jailed claude -p "$allowed_task" --allowedTools Bash
unhooked
exit 0
