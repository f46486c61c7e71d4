#!/usr/bin/env bash
# ssh and git over ssh print why a port is refused, since an ssh server has a
# place for the reason; other programs see a reset.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
W=$T
# By its path: HOME is below it, and "." does not mean that.
cat >"$T/p.json" <<POLICY
{
	"network": { "allowedDomains": ["allowed.test:443", "wild.test"] },
	"filesystem": { "allowWrite": ["$T"] }
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

# git over ssh as users have it set up: one connection for all, kept open.
export HOME=$T/h
mkdir -m 700 "$HOME" "$HOME/.ssh"
install -m 600 "$FENCE_WORLD_CA/ssh_login" "$HOME/.ssh/login"
cat >"$HOME/.ssh/config" <<SSH
Host *
	IdentityFile $HOME/.ssh/login
	BatchMode yes
	StrictHostKeyChecking no
	UserKnownHostsFile /dev/null
	LogLevel ERROR
	ControlMaster auto
	ControlPath $HOME/.ssh/c-%h
	ControlPersist 60
SSH
chmod 600 "$HOME/.ssh/config"
at=ssh://$FENCE_WORLD_LOGIN@wild.test$FENCE_WORLD_CA/repo.git
remote() {	# remote OPTION…: of ssh
	client env GIT_SSH_COMMAND="ssh -F $HOME/.ssh/config $*" \
	    git ls-remote "$at"
}
capture "$who" env GIT_SSH_COMMAND="ssh -F $HOME/.ssh/config" \
    git ls-remote "$at"
refs=$out
like "$refs" 'refs/heads' "$who: ControlMaster, without a jail"
remote
is "$status" 128 "$who: inside, a master of the host's cannot be reached"
like "$err" 'Control socket connect.*Permission denied' \
    "$who: as ssh says"
like "$err" 'network.allowUnixSockets \+= "~/.ssh/c-wild.test"' \
    "$who: and the line that would grant it"
ssh -F "$HOME/.ssh/config" -O exit "$FENCE_WORLD_LOGIN@wild.test" 2>/dev/null
remote -o ControlPath=/tmp/c-%h
is "$out" "$refs" "$who: as a master of its own"
# Where nothing may be written ssh gives up, and it is told what it wanted.
remote
is "$status" 128 "$who: without a place for its socket ssh ends"
like "$err" "fence: 1 refusal \(1 write to ~/.ssh/c-wild.test" \
    "$who: and it is told why"
remote -o ControlPath=none
is "$out" "$refs" "$who: and what helps"
exit 0
