#!/usr/bin/env bash
# ssh and git over ssh print why a port is refused, since an ssh server has a
# place for the reason; other programs see a reset.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" != inside ]; then
	for who in $WHOS; do
		inside "$who"
	done
	finish
fi
who=$2
W=$T
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test:443", "wild.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
client() {	# client CMD…
	fence "$who" --settings "$T/p.json" -- "$@"
}
options='-F none -o BatchMode=yes -o StrictHostKeyChecking=no
    -o UserKnownHostsFile=/dev/null -o ConnectTimeout=20'
reason='Received disconnect.*fence: not allowed by the policy.*'
reason+='network.allowedDomains.*allow: .*allowed.test'

# shellcheck disable=SC2086 # words
client ssh $options nobody@allowed.test true
is "$status" 255 "$who: ssh ends"
like "$err" "$reason" "$who: ssh says why"
client env GIT_SSH_COMMAND="ssh ${options//$'\n'/ }" \
    git ls-remote ssh://nobody@allowed.test/repo.git
is "$status" 128 "$who: git over ssh ends"
like "$err" "$reason" "$who: git over ssh says why"
is "$("$TESTS/world/world-count" of allowed.test)" 0 \
    "$who: and nobody was called"

client bash -c 'exec 3<>/dev/tcp/allowed.test/25 && cat <&3'
like "$err" 'reset by peer' "$who: another port is reset"
client sh -c 'nc -w 5 wild.test 22 </dev/null | head -n 1'
unlike "$out" fence "$who: an allowed one gets no words of ours"
[ "$("$TESTS/world/world-count" of wild.test)" -gt 2 ]
ok $? "$who: it is called"
client curl -sS https://allowed.test/
is "$out" "https allowed.test" "$who: and the port that is allowed answers"
exit 0
