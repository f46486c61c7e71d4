#!/usr/bin/env bash
# --watch-policy: what is allowed changes while the command runs.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
mkdir "$T/out"
mkfifo "$W/say"
policy() {	# policy NETWORK [FILESYSTEM]
	printf '{ "network": { %s },\n"filesystem": { "allowWrite": [%s] } }\n' \
	    "$1" "${2:-\".\"}" >"$T/p.json"
}
# The command: does what the pipe says, one line at a time.
cat >"$W/obey" <<'SH'
exec 3<>say
echo up >up
n=0
while read -r line <&3; do
	n=$((n + 1))
	eval "$line" >got 2>&1
	mv got "got.$n"
done
SH
# One connection to a server that repeats what it hears, kept open.
cat >"$W/hold" <<'SH'
mkfifo to from
bash -c 'exec 4<>/dev/tcp/allowed.test/7; cat <&4 >from & cat to >&4' 3<&- &
exec 5>to 6<from
echo one >&5
read -r x <&6
echo "$x"
SH
n=0
inner() {	# inner LINE: what the command printed
	n=$((n + 1))
	printf '%s\n' "$1" >"$W/say"
	wait_for 60 test -e "$W/got.$n"
	got=$(cat "$W/got.$n")
}
proxied() {	# proxied HOST
	inner "curl -s -o /dev/null -w '%{http_code}' -m 20 http://$1/"
}
direct() {	# direct HOST
	inner "curl -s -o /dev/null -w '%{http_code}' -m 20 --noproxy '*' http://$1/"
}
is_new() {	# is_new REGEX: a line of the log, not seen before
	tail -n "+$((seen + 1))" "$T/log" | grep -qE "$1"
}
told() {	# told REGEX NAME
	wait_for 20 is_new "$1"
	ok $? "$who: told: $2" || note "$(cat "$T/log")"
	seen=$(wc -l <"$T/log")
}

policy ''
: >"$T/log"
seen=0
start "$who" "$FENCE_RUN" --watch-policy --fence-log-file "$T/log" \
    --trace-file "$T/trace" --settings "$T/p.json" -- sh obey
wait_for 20 test -e "$W/up"
ok $? "$who: it runs, with an empty list"
proxied allowed.test
is "$got" 403 "$who: nothing is allowed"
direct allowed.test
is "$got" 000 "$who: nor without the proxy"

policy '"allowedDomains": ["allowed.test"]'
told '^fence: policy changed: \+ network.allowedDomains "allowed.test"  .*p.json:1:' \
    "what is new"
proxied allowed.test
is "$got" 200 "$who: then it is"
direct allowed.test
is "$got" 200 "$who: without the proxy, too"
proxied denied.test
is "$got" 403 "$who: and nothing else"

# A connection that is open when its host is blocked.
inner '. ./hold'
is "$got" one "$who: a connection is made"
policy '"allowedDomains": ["wild.test"]'
told '^fence: policy changed: connections that are open stay' "what stays"
proxied allowed.test
is "$got" 403 "$who: it is blocked again"
direct allowed.test
is "$got" 000 "$who: without the proxy, too"
proxied wild.test
is "$got" 200 "$who: another is not"
inner 'echo two >&5; read -r x <&6; echo "$x"'
is "$got" two "$who: what was open goes on"
inner 'exec 5>&- 6<&-; kill $!; echo gone'

# Saved by rename, as editors do; a deny list.
printf '{ "network": { "allowedDomains": ["*"], "deniedDomains": ["wild.test"] },
    "filesystem": { "allowWrite": ["."] } }' >"$T/new"
mv "$T/new" "$T/p.json"
told '^fence: policy changed: "\*": there is no route' "what has no route"
proxied wild.test
is "$got" 403 "$who: denied"
proxied denied.test
is "$got" 200 "$who: everything else is allowed"
direct denied.test
is "$got" 200 "$who: without the proxy, too"

# What makes no sense changes nothing, and is told once.
echo '{ "network": { "allowedDomain": [] } }' >"$T/p.json"
told '^fence: the policy was not changed' "an unknown key"
like "$(cat "$T/log")" 'p\.json:1:[0-9]+: network\.allowedDomain: ' \
    "$who: with its place"
echo '{ "network": { "allowedDomain": [] } }' >"$T/p.json"
rm "$T/p.json"
told '^fence: the policy was not changed' "a file that is gone"
is "$(grep -c 'network.allowedDomain: ' "$T/log")" 1 "$who: once"
policy '"via": "\u001b[31mred"'
told '^fence: the policy was not changed' "an escape sequence"
is "$(grep -c $'\033' "$T/log")" 0 "$who: which is not written as it is"
like "$(cat "$T/log")" 'x1b\[31mred' "$who: but in letters"
proxied denied.test
is "$got" 200 "$who: what was allowed still is"
proxied wild.test
is "$got" 403 "$who: what was denied still is"

policy '"upstreamProxy": "http://198.51.100.30:8080"'
told '^fence: network.upstreamProxy cannot change while the run lasts' \
    "another way out"
proxied denied.test
is "$got" 200 "$who: nothing has changed"

# An address: the proxy dials it, a route there is none.
policy '"allowedDomains": ["198.51.100.10"]' "\".\", \"$T/out\""
told '198.51.100.10": there is no route' "an address"
proxied 198.51.100.10
is "$got" 200 "$who: by the proxy it is reached"
direct 198.51.100.10
is "$got" 000 "$who: otherwise not"
late() {
	[ "$(denials "$T/trace" 198.51.100.10 '' status_detail)" = \
	    'it was not allowed when the run began' ]
}
wait_for 20 late
ok $? "$who: and why is told" || note "$(cat "$T/trace")"
like "$(cat "$T/log")" 'policy changed: 1 other change takes effect with the next run' \
    "$who: files are for the next run"
inner "echo x >$T/out/x; cat $T/out/x"
unlike "$got" '^x$' "$who: and not writable in this one"

# A file that is newly extended, in a directory of its own, is watched, too.
mkdir "$T/more"
more() {	# more NETWORK
	printf '{ "network": { %s } }\n' "$1" >"$T/more/more.json"
}
more '"allowedDomains": ["wild.test"]'
cat >"$T/p.json" <<POLICY
{ "extends": "./more/more.json", "filesystem": { "allowWrite": ["."] } }
POLICY
told '\+ network.allowedDomains "wild.test"  .*more.json:1:' "what it extends"
proxied wild.test
is "$got" 200 "$who: it is allowed"
more '"allowedDomains": ["allowed.test"]'
told '\+ network.allowedDomains "allowed.test"  .*more.json:1:' \
    "a change of what it extends"
proxied allowed.test
is "$got" 200 "$who: block to allow"
proxied wild.test
is "$got" 403 "$who: and allow to block"

# One that the command may write is not: it would allow itself what it likes.
echo '{ "network": { "allowedDomains": ["wild.test"] } }' >"$W/mine.json"
echo '{ "extends": "./w/mine.json", "filesystem": { "allowWrite": ["."] } }' \
    >"$T/p.json"
told "^fence: the command may write '$W/mine.json'" "a file of the command's"
inner "echo '{ \"network\": { \"allowedDomains\": [\"*\"] } }' >mine.json"
proxied wild.test
is "$got" 403 "$who: it says nothing"
proxied allowed.test
is "$got" 200 "$who: and the policy before it still holds"
policy '"allowedDomains": ["denied.test"]'
told '\+ network.allowedDomains "denied.test"' "a policy without it"
proxied denied.test
is "$got" 200 "$who: is taken again"

printf 'exit 0\n' >"$W/say"
wait "$pid"
like "$(grep -c '"class_uid":5019' "$T/trace")" '^([3-9]|1[0-9])$' \
    "$who: each policy is in the record"
"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
    "$T/trace"
ok $? "$who: in the open schema"

# A project file that was trusted as it was.
export XDG_STATE_HOME=$T/state
W=$T/project
n=0
mkdir "$W"
cp "$T/w/obey" "$W/obey"
mkfifo "$W/say"
project() {	# project NETWORK
	printf '{ "network": { %s }, "filesystem": { "allowWrite": ["."] } }\n' \
	    "$1" >"$W/fence.json"
}
project ''
capture "$who" "${FENCE_RUN%-run}" config trust fence.json
is "$status" 0 "$who: a project file is trusted"
: >"$T/log"
seen=0
start "$who" "$FENCE_RUN" --watch-policy --fence-log-file "$T/log" -- sh obey
wait_for 20 test -e "$W/up"
project '"allowedDomains": ["allowed.test"]'
told 'fence.json is not trusted as it is now' "it is another now"
proxied allowed.test
is "$got" 403 "$who: and grants nothing"
capture "$who" "${FENCE_RUN%-run}" config trust fence.json
told '^fence: policy changed: \+ network.allowedDomains "allowed.test"' \
    "trusting it is enough"
proxied allowed.test
is "$got" 200 "$who: then it does"
printf 'exit 0\n' >"$W/say"
wait "$pid"

fence "$who" --watch-policy -t code -- echo ran
is "$out $status" " 1" "$who: nothing to watch is an error"
like "$err" 'no policy file is in force' "$who: told"
fence "$who" --watch-policy --settings "$T/p.json" -- "$FENCE_RUN" \
    --watch-policy -- true
is "$status" 1 "$who: not inside another"
exit 0
