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
refused "trusted once" "${codex[@]}" "${trusting[@]}" "$denied_task"

# As /hooks does it: Codex's own digest of the hook, in its config.
cat >"$T/trust.py" <<'PY'
import json
import subprocess
import sys

codex = subprocess.Popen(['codex', 'app-server'], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)


def call(number, method, params):
    codex.stdin.write(json.dumps({'jsonrpc': '2.0', 'id': number,
                                  'method': method, 'params': params}) + '\n')
    codex.stdin.flush()
    for line in codex.stdout:
        answer = json.loads(line)
        if answer.get('id') == number:
            return answer['result']


call(1, 'initialize', {'clientInfo': {'name': 'test', 'version': '1'}})
codex.stdin.write('{"jsonrpc": "2.0", "method": "initialized"}\n')
for hook in call(2, 'hooks/list', {'cwds': [sys.argv[1]]})['data'][0]['hooks']:
    print(f'[hooks.state."{hook["key"]}"]\n'
          f'trusted_hash = "{hook["currentHash"]}"')
codex.terminate()
codex.wait()
PY
at_home /usr/bin/python3 "$T/trust.py" "$W"
printf '%s\n' "$out" >>"$H/.codex/config.toml"
at_home "$FENCE" hooks status --codex
is "$status" 0 "$who: codex: status sees that it is trusted" || note "$out"
refused "trusted for good" "${codex[@]}" "$denied_task"
jailed "${codex[@]}" "$allowed_task"
unhooked
exit 0
