#!/usr/bin/env bash
# network.mode "direct": the host's network as it is, by name and announced;
# the other walls stay, and what cannot be held is an error.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
policy() {	# policy NETWORK [MORE]
	printf '{ "network": { %s },\n\t"filesystem": { "allowWrite": ["."], %s } }\n' \
	    "$1" '"denyRead": ["./secret"]' >"$T/p.json"
}
client() {	# client CMD…
	fence "$who" -m --settings "$T/p.json" -- "$@"
}
echo x >"$W/secret"

# Listeners of the host: on localhost, at a path, and an abstract one.
cat >"$T/host.py" <<'PYTHON'
import os, socket, sys, threading
def serve(s):
    while True:
        c, _ = s.accept()
        c.sendall(b'host\n')
        c.close()
tcp = socket.create_server(('127.0.0.1', 8401))
path, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
path.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
abstract.bind('\0fence-direct-test')
for s in (path, abstract):
    s.listen()
    threading.Thread(target=serve, args=(s,), daemon=True).start()
open(sys.argv[2], 'w').close()
serve(tcp)
PYTHON
/usr/bin/python3 "$T/host.py" "$W/path.sock" "$T/ready" &
host=$!
trap 'kill "$host"' EXIT
wait_for 20 test -e "$T/ready"
ok $? "$who: the host listens"
cat >"$W/unix.py" <<'PYTHON'
import socket, sys
for name in ('path.sock', '\0fence-direct-test'):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(name)
        print(s.recv(9).decode().strip())
    except OSError as e:
        print(type(e).__name__)
PYTHON
capture "$who" /usr/bin/python3 "$W/unix.py"
is "$out" "host
host" "$who: outside both sockets answer"

policy '"mode": "direct"'
client bash -c 'curl -sS -m 10 http://allowed.test/ https://denied.test/
    read -r x </dev/tcp/127.0.0.1/8401; echo "$x"
    getent ahostsv4 wild.test | head -1 | cut -d" " -f1
    readlink /proc/self/ns/net; python3 unix.py; cat secret
    echo x >/etc/x; echo y >y && cat y'
is "$out" "http allowed.test
https denied.test
host
198.51.100.30
$(readlink /proc/self/ns/net)
PermissionError
PermissionError
y" "$who: the host's network, and the other walls"
like "$err" '^fence: [^ ]*p.json:1:[0-9]*: network.mode is "direct": the command has the host' \
    "$who: announced"
like "$err" 'rule filesystem.denyRead' "$who: a refused file is told"
like "$err" 'connect\("[^ ]*path.sock"\) EACCES' "$who: and a refused socket"
unlike "$err" 'fence:(dns|http)|connect\([^"]' "$who: of connections nothing is"
FENCE_PRETEND=nonft client true
is "$status" 0 "$who: no gate, and none that the machine must be able to make"
client "$PROBES/goclient" http://denied.test/
is "$out" "200 OK" "$who: static Go"
start "$who" "$FENCE_RUN" --settings "$T/p.json" -- sh -c 'touch now
    while [ ! -e done ]; do read -t 0.05 x; done 2>/dev/null' 2>/dev/null
wait_for 20 test -e "$W/now"
has_guard() {	# it has its name a moment after the command's start
	ps --ppid "$pid" -o comm= | grep -q '^fence-guard'
}
wait_for 20 has_guard
is "$(ps --ppid "$pid" -o comm= | grep -E '^fence-n|^fence-g')" fence-guard \
    "$who: a guard, and no worker of a gate"
touch "$W/done"
wait "$pid"

# Variables are the host's.
capture "$who" env HTTP_PROXY=http://u:p@127.0.0.1:9 no_proxy=x.test \
    "$FENCE_RUN" --settings "$T/p.json" -- env
like "$out" 'HTTP_PROXY=http://u:p@127.0.0.1:9' "$who: the host's proxy stays"
like "$out" 'no_proxy=x.test' "$who: and its exceptions"
unlike "$out" '3128|1080' "$who: ours is not there"
like "$out" 'FENCE_SANDBOX=1' "$who: but what says where one is"
policy '"mode": "direct", "proxyVariables": "off"'
capture "$who" env HTTP_PROXY=http://127.0.0.1:9 \
    "$FENCE_RUN" --settings "$T/p.json" -- env
unlike "$out" 'HTTP_PROXY' "$who: proxyVariables off takes them away"

policy '"mode": "direct", "allowedDomains": ["x.test", "*"]'
client curl -sS -m 10 http://allowed.test/
is "$out" "http allowed.test" "$who: a list with * is what it gives"
policy '"mode": "direct", "allowUnixSockets": ["./path.sock"]'
client python3 unix.py
is "$out" "host
PermissionError" "$who: a socket that is granted, and no other"
fence "$who" --dry-run --settings "$T/p.json" -- true
like "$out" 'network direct' "$who: --dry-run says it"
unlike "$out" 'resolv.conf|etc/hosts' "$who: and has no names of its own"
capture "$who" "${FENCE_RUN%-run}" why --settings "$T/p.json" connect denied.test
like "$out" 'network.mode' "$who: why says it"

# What it cannot hold.
for line in 'allowedDomains: ["x.test"]' 'allowedDomains: []' \
    'allowedDomains: ["*:443"]' 'deniedDomains: ["x.test"]' \
    'allowPrivate: ["10.0.0.0/8"]' 'allowLocalOutboundPorts: [5432]' \
    'hostPorts: [5432]' \
    'allowLocalOutbound: false' 'allowLocalBinding: false' \
    'upstreamProxy: "http://p:1"' 'via: "http://p:1"' 'sni: "enforce"' \
    'proxyVariables: "on"' 'httpProxyPort: 3129'; do
	key=${line%%:*}
	policy "\"mode\": \"direct\", \"$key\":${line#*:}"
	client sh -c 'echo started'
	is "$status$out" 1 "$who: $line: nothing is started"
	like "$err" "p.json:1:[0-9]+: network.$key(\[[0-9]+\])?: cannot be enforced with network.mode \"direct\"" \
	    "$who: $line: an error with its place"
done

policy '"mode": "direct"'
fence "$who" -p 8402 --settings "$T/p.json" -- sh -c 'echo started'
is "$status$out" 2 "$who: --port: nothing is started"
like "$err" '--port: with network.mode "direct"' "$who: --port: and why"

fence "$who" --watch-policy --settings "$T/p.json" -- sh -c 'echo started'
is "$status$out" 2 "$who: --watch-policy: nothing is started"

# The other engine.
fence "$who" --engine native --settings "$T/p.json" -- sh -c \
    'curl -sS -m 10 http://denied.test/; python3 unix.py'
is "$out" "http denied.test
PermissionError
PermissionError" "$who: by the native engine"

# Who may ask for it: not a project that nobody trusts.
P=$W/project
mkdir -p "$P" "$T/home/.config/fence"
echo '{ "network": { "mode": "direct" }, "filesystem": { "allowWrite": ["."] } }' \
    >"$P/fence.json"
echo '{ "network": { "allowedDomains": ["allowed.test"] }, "filesystem": { "allowWrite": ["~/x", "."] } }' \
    >"$T/home/.config/fence/fence.json"
W=$P capture "$who" env HOME="$T/home" "$FENCE_RUN" -- sh -c \
    'readlink /proc/self/ns/net; curl -sS -m 5 --noproxy "*" http://denied.test/'
is "$status" 6 "$who: an untrusted project does not widen to direct"
unlike "$out" "$(readlink /proc/self/ns/net | tr -d '[]')" \
    "$who: it has no host's network"
like "$err" 'not given:.*network.mode "direct"' "$who: and it is told"

# Nor where a ceiling of this machine does not grant it.
[ -w /etc ] || exit 0
W=$T/w
mkdir -p /etc/fence/ceiling.d
echo '{ "network": { "allowedDomains": ["allowed.test"] }, "filesystem": { "allowWrite": ["/"] } }' \
    >/etc/fence/ceiling.d/host.json
policy '"mode": "direct", "allowedDomains": ["*"]'
client curl -sS -m 10 http://allowed.test/ http://denied.test/
like "$out" '^http allowed.test.*not allowed by the policy' \
    "$who: under a ceiling without it the gate decides"
is "$(grep -c 'p.json:1:[0-9]*: network.mode "direct" was not given: /etc/fence/ceiling.d/host.json' \
    <<<"$err")" 1 "$who: which is told, once"
unlike "$err" 'network.mode is "direct"' "$who: and nothing else is announced"
echo '{ "network": { "mode": "direct", "allowedDomains": ["*"] }, "filesystem": { "allowWrite": ["/"] } }' \
    >/etc/fence/ceiling.d/host.json
client curl -sS -m 10 http://denied.test/
is "$out" "http denied.test" "$who: a ceiling may grant it"
unlike "$err" 'was not given' "$who: then there is nothing to tell"
rm /etc/fence/ceiling.d/host.json
exit 0
