#!/usr/bin/env bash
# Codex from npm asks fence before it uses its shell, where its user trusts the
# hook.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"
. "$TESTS/agents/lib.sh" @openai/codex@0.169.0 "$@"
. "$TESTS/agents/hooks.sh"

far='{name="far",base_url="https://model.test/v1",wire_api="responses"}'
codex=(codex exec --skip-git-repo-check -c model=one -c model_provider=far
    -c "model_providers.far=$far"
    --dangerously-bypass-approvals-and-sandbox)
hooked codex .codex/hooks.json '{"hooks": {"Stop": []}}' --wrap
at_home "$FENCE" hooks status --codex
like "$status$out" '1.*not trusted' "$who: codex: status says that trust misses"
at_home "${codex[@]}" "$denied_task"
[ -e "$W/pushed" ]
ok $? "$who: codex: as it is: an untrusted hook is not asked"
rm -f "$W/pushed"
trusting=(--dangerously-bypass-hook-trust)
refused trusted "${codex[@]}" "${trusting[@]}" "$denied_task"
jailed "${codex[@]}" "${trusting[@]}" "$allowed_task"
unhooked
exit 0
