#!/usr/bin/env bash
# Claude Code from npm does a task with its model as the only name allowed.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" @anthropic-ai/claude-code@2.1.197 "$@"

export ANTHROPIC_BASE_URL=https://model.test ANTHROPIC_API_KEY=none
for vars in on off; do
	begin "proxy variables $vars" workspace-write "$vars" \
	    '"~/.claude", "~/.claude.json"'
	does claude -p "$task" --allowedTools Bash
	called api.anthropic.com claude
done
begin "-t code" code on '"."'
does claude -p "$task" --allowedTools Bash
only denied.test
finally
