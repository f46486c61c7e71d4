#!/usr/bin/env bash
# The gate itself: one request reaches one origin, a client that goes away
# holds nothing, the host's search list leads nowhere, and whoever watches or
# serves has no capability, yet its signals arrive.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
cat >"$T/p.json" <<'POLICY'
{
	"network": {
		"allowedDomains": ["203.0.113.2", "missing.example", "single"]
	},
	"filesystem": { "allowWrite": ["."] }
}
POLICY

# Origins on near's own address.  8101 keeps its connections whatever it is
# told, and answers each head it sees; 8102 never answers; 8103 is as it
# should be.
cat >"$T/origin.py" <<'PYTHON'
import asyncio, sys
def log(line):
    with open(sys.argv[1], 'a') as f:
        f.write(line + '\n')
async def body(r, head):
    if b'chunked' not in head.lower():
        return
    while True:
        n = int(await r.readline(), 16)
        await r.readexactly(n + 2)
        if n == 0:
            return
async def sticky(r, w):
    while True:
        head = await r.readuntil(b'\r\n\r\n')
        log('sticky ' + head.decode().replace('\r\n', ' '))
        await body(r, head)
        w.write(b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n')
async def mute(r, w):
    await r.readuntil(b'\r\n\r\n')
    log('mute: asked')
    await r.read()
    log('mute: client gone')
    w.close()
async def other(r, w):
    await r.readuntil(b'\r\n\r\n')
    w.write(b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nother\n')
    w.close()
def quiet(handler):
    async def wrapped(r, w):
        try:
            await handler(r, w)
        except (OSError, asyncio.IncompleteReadError):
            w.close()
    return wrapped
async def main():
    for port, handler in ((8101, sticky), (8102, mute),
                          (8103, other)):
        await asyncio.start_server(quiet(handler), '203.0.113.2', port)
    log('ready')
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
start_origin

# Streams through the gate are not paced, whatever the host does with its own.
fence "$who" -- cat /proc/sys/net/ipv4/tcp_congestion_control
is "$out" reno "$who: nothing is congested here"

client() {	# client CMD…
	fence "$who" --settings "$T/p.json" -- "$@"
}

client sh -c "echo hi | curl -sS -m 20 -T - http://203.0.113.2:8101/up \
    --next -H 'Authorization: SECRET' http://203.0.113.2:8103/second"
is "$out" "ok
other" "$who: a chunked upload, then a request to another origin"
unlike "$(cat "$T/log")" 'sticky [^/]*/second|SECRET' \
    "$who: the first origin does not see the second request"

client curl -sS -m 20 http://203.0.113.2:8101/1 http://203.0.113.2:8103/2
is "$out" "ok
other" "$who: an origin that does not hang up does not hang the client"

# The client gives up, and the run goes on until it is told.
start "$who" "$FENCE_RUN" --settings "$T/p.json" -- sh -c '
	curl -sS --max-time 1 http://203.0.113.2:8102/
	until [ -e go ]; do sleep 0.1; done' >"$T/out" 2>&1
wait_for 20 grep -q 'client gone' "$T/log"
ok $? "$who: an origin hears of a client that gave up"
touch "$W/go"
wait "$pid"

# The search list of the host, given by its environment variable.
code='%{http_code} '
LOCALDOMAIN=allowed.test client curl -sS -o x -w "$code" -o y -w "$code" \
    http://missing.example/ http://missing.example/
is "$out" "502 502 " "$who: a name with a dot is not searched for, ever"
LOCALDOMAIN=allowed.test client curl -sS http://single/
is "$out" "http allowed.test" "$who: one without gets the default domain"

caps() {	# caps PID: what it may still do
	grep -E "$sets" "/proc/$1/status" | cut -f2 | tr -d '0\n'
}
sets='^Cap(Inh|Prm|Eff|Amb)'
before=$(awk '$4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6 | sort)
start "$who" "$FENCE_RUN" --settings "$T/p.json" --trace-file "$T/mine.trace" \
    -- sh -c '
	trap "echo told >told; exit 9" TERM
	curl -sS -o out http://two.denied.test/
	curl -sS -o out -w "%{http_code}" http://allowed.test/ >code
	echo up >up
	while :; do sleep 0.1; done' >"$T/out" 2>&1
wait_for 20 test -s "$W/up"
ok $? "$who: a command that waits"
# Nobody on the host can use the gate: it listens inside alone.
listening() {
	awk '$4 == "0A" { print $2 }' /proc/net/tcp /proc/net/tcp6 | sort
}
is "$(listening)" "$before" "$who: nothing listens outside"
# One run beside another: each is told its own, and reaches its own alone.
cat >"$T/other.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
fence "$who" --settings "$T/other.json" --trace-file "$T/other.trace" -- \
    curl -sS http://allowed.test/ http://one.denied.test/
like "$out" 'http allowed.test.*not allowed' "$who: a run beside it"
for p in "$pid" $(cat "/proc/$pid/task/$pid/children"); do
	name=$(cat "/proc/$p/comm")
	case $name in
	fence*)	is "$(caps "$p")" "" "$who: $name has no capability" ;;
	esac
	printf '%s ' "$name" >>"$T/names"
done
like "$(cat "$T/names")" 'fence-net fence-names' "$who: all were looked at"
kill -TERM "$pid"
wait "$pid"
is "$?" 9 "$who: and a signal reaches the command"
is "$(cat "$W/told")" told "$who: which saw it"
is "$(cat "$W/code")" 403 "$who: what another run may is its own"
is "$(denials "$T/mine.trace" "" network. dst_endpoint.domain | sort | tr '\n' ' ')$(
    denials "$T/other.trace" "" network. dst_endpoint.domain | sort | tr '\n' ' ')" \
    "allowed.test two.denied.test one.denied.test " \
    "$who: and so is what it is told"
exit 0
