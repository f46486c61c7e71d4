#!/usr/bin/env bash
# A program that asks the gate for something and is gone before anybody looks
# who asked is told by its name where the shim saw it call (leaver-shim), and
# without a name where it did not (leaver, which is static).  fence-net stands
# still until it is gone, so that nobody can be quick enough.
. "$(dirname "$0")/../lib.sh"
each_world "$@"

cat >"$T/p.json" <<POLICY
{
	"network": { "allowedDomains": ["allowed.test", "198.51.100.30:7"],
	    "allowLocalOutboundPorts": [8099], "allowLocalOutbound": true },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
trace=$T/trace

server() {	# prints the pid of fence-net, which has no other half yet
	local p
	for p in $(cat "/proc/$pid/task/$pid/children"); do
		[ "$(cat "/proc/$p/comm")" != fence-net ] || echo "$p"
	done
}
is_seen() {
	[ "$(denials "$trace" "$object")" -ge "${count:-1}" ]
}
is_served() {
	served=$(server)
	[ -n "$served" ]
}
# gone SCRIPT [OPTION…]: while nobody serves; then a last word, $W/last
gone() {
	local script=$1 served=
	shift
	rm -f "$trace" "$W"/{ready,go,done,end,last}
	printf '%s\n' "$script" >"$W/script"
	start "$who" "$FENCE_RUN" --settings "$T/p.json" \
	    --trace-file "$trace" "$@" -- sh -c '
	    touch ready
	    until [ -e go ]; do sleep 0.02; done
	    . ./script
	    touch done
	    until [ -e end ]; do sleep 0.02; done' >"$T/out" 2>"$T/err"
	wait_for 30 test -e "$W/ready"
	wait_for 30 is_served
	kill -STOP "$served"
	touch "$W/go"
	wait_for 30 test -e "$W/done"
	ok $? "$who: ${script%%$'\n'*}: asked, and gone"
	kill -CONT "$served"
	wait_for 30 is_seen
	touch "$W/end"
	wait "$pid"
	err=$(cat "$T/err")
}
named() {	# named WHAT: who asked for it, and how often
	denials "$trace" "$1" '' actor.process.name | sort | uniq -c |
	    tr -s ' \n' ' '
}

for leaver in leaver leaver-shim; do
	l=$PROBES/$leaver
	name="unknown " guess=
	[ "$leaver" = leaver ] || name="$leaver " guess=guess
	object=gone3.test
	gone "$l dns 127.0.0.1 53 gone1.test
	    $l dns-message 192.0.2.7 53 gone2.test
	    $l dns-connected 127.0.0.1 53 gone3.test"
	for i in 1 2 3; do
		is "$(named "gone$i.test")" " 1 $name" \
		    "$who: $leaver: a question for a name ($i)"
	done
	object=198.51.100.30
	for way in connect reset; do
		gone "$l $way 198.51.100.30 8"
		is "$(named 198.51.100.30)" " 1 $name" \
		    "$who: $leaver: $way"
	done
	is "$(denials "$trace" 198.51.100.30 '' unmapped.fence.actor)" "$guess" \
	    "$who: $leaver: a name is said to be a guess"
	object=gone4.test
	gone "$l http 127.0.0.1 3128 gone4.test"
	is "$(named gone4.test)" " 1 $name" "$who: $leaver: http"
	object=gone5.test
	gone "$l socks 127.0.0.1 1080 gone5.test"
	is "$(named gone5.test)" " 1 $name" "$who: $leaver: socks"
	# Alive, but the connection is nobody's any more.
	object=198.51.100.30
	gone "mkfifo f$leaver; $l close 198.51.100.30 8 <f$leaver &
	    exec 9>f$leaver; sleep 0.2"
	is "$(named 198.51.100.30)" " 1 $name" "$who: $leaver: close"
done

# A process that is still there is found by its socket, one that is gone by the
# port it called from.
l=$PROBES/leaver-shim
object=198.51.100.30 count=2
gone "$l connect 198.51.100.30 8
    curl -sS -m 10 --noproxy '*' http://198.51.100.30:8/ 2>curl.err &
    until [ \$(grep -c :0008 /proc/net/tcp) -ge 4 ]; do sleep 0.02; done"
is "$(named 198.51.100.30)" ' 1 curl 1 leaver-shim ' "$who: each by its own name"
is "$(denials "$trace" 198.51.100.30 '' unmapped.fence.actor |
    sort | tr '\n' .)" .guess. "$who: one of them is none"
cp "$l" "$W/other"
gone "$l connect 198.51.100.30 8
    ./other connect 198.51.100.30 8"
is "$(named 198.51.100.30)" ' 1 leaver-shim 1 other ' \
    "$who: of two that are gone each"
count=1

# In passing: nobody is blamed for what others asked.
fence "$who" --settings "$T/p.json" --trace-file "$trace" -- sh -c "
    getent hosts allowed.test >/dev/null
    curl -sS http://allowed.test/ >/dev/null
    $l dns 127.0.0.1 53 gone6.test
    $l http 127.0.0.1 3128 gone7.test
    until [ \"\$(curl -sS http://fence.internal/ | grep -c '+= .gone[67]')\" \
	-eq 2 ]; do sleep 0.05; done"
is "$status" 0 "$who: in passing"
is "$(named gone6.test)" ' 1 leaver-shim ' "$who: in passing: a question"
is "$(named gone7.test)" ' 1 leaver-shim ' "$who: in passing: a request"

# Nobody wants to know: nobody is noted, nothing is told of it.
fence "$who" --settings "$T/p.json" -- sh -c "
    $l dns 127.0.0.1 53 gone8.test; exit 3"
like "$status $err" '^3 fence: 1 refusal' "$who: without -m it is counted"

# The last thing that a command does is heard, too, and then it is over.
for leaver in leaver leaver-shim; do
	for ask in 'dns 127.0.0.1 53 last.test' 'connect 198.51.100.30 8' \
	    'confined 198.51.100.30 8' \
	    'reset 198.51.100.30 8' 'http 127.0.0.1 3128 last.test' \
	    'socks 127.0.0.1 1080 last.test'; do
		rm -f "$trace"
		# shellcheck disable=SC2086
		fence "$who" --settings "$T/p.json" --trace-file "$trace" -- \
		    "$PROBES/$leaver" $ask
		is "$status" 0 "$who: $leaver: last: $ask"
		is "$(denials "$trace")" 1 "$who: $leaver: last: $ask: told"
		[ "$leaver" = leaver-shim ] || continue
		is "$(denials "$trace" '' '' actor.process.name)" "$leaver" \
		    "$who: $leaver: last: $ask: and by whom"
	done
done

# Everything has a route, but for a few that are denied.
cat >"$T/p.json" <<POLICY
{
	"network": { "allowedDomains": ["*"],
	    "deniedDomains": ["198.51.100.30"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
gone "$l connect 198.51.100.30 8"
is "$(named 198.51.100.30)" ' 1 leaver-shim ' "$who: denied, where all is allowed"
exit 0
