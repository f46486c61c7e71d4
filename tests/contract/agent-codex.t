#!/usr/bin/env bash
# Codex from npm does a task with its model as the only name allowed.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" @openai/codex@0.169.0 "$@"

far='{name="far",base_url="https://model.test/v1",wire_api="responses"}'
codex=(codex exec --skip-git-repo-check -c model=one -c model_provider=far
    -c "model_providers.far=$far")
bare=(--dangerously-bypass-approvals-and-sandbox)
for vars in on off; do
	begin "proxy variables $vars" workspace-write "$vars" '"~/.codex"'
	does "${codex[@]}" "${bare[@]}" "$task"
	called chatgpt.com codex
	called github.com git-remote-http
done
begin "-t code" code on '"."'
does "${codex[@]}" "${bare[@]}" "$task"
only denied.test ab.chatgpt.com

# With its own sandbox, which lets nobody call anywhere.
begin "its own sandbox" code on '"."' '"allowNestedSandbox": true,'
tries "${codex[@]}" -s workspace-write "$task"
if [ "$who" = root ]; then
	is "$status" 1 "$name: not when root starts the run"
else
	is "$(cat "$W/made.txt" 2>&1)" made "$name: the file is written"
	is "$(denials "$trace" denied.test)" 0 "$name: it holds by itself"
fi
begin "its own sandbox, not allowed" code on '"."'
tries "${codex[@]}" -s workspace-write "$task"
is "$(ls "$W")" "" "$name: nothing is written"
note "$(grep -i 'sandbox\|namespace' <<<"$err" | tail -n 4)"
finally
