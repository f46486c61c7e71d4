#!/usr/bin/env bash
# Localhost both ways.  Out: ports of the host's localhost that the policy
# lists, for every program and both families, and no other.  In: ports of
# --port, for whoever comes to the host, and no other.
# limit: 240
. "$(dirname "$0")/../lib.sh"

each_world "$@"

# Both ways with both engines.
engine=native other=bwrap
[ "$who" = user ] || engine=bwrap other=native

# policy TEXT: of the network
policy() {
	cat >"$T/p.json" <<-END
	{
	  "network": { $1 },
	  "filesystem": { "allowWrite": ["."] }
	}
	END
}

# The host's services say which of them was reached.
cat >"$T/host.py" <<'PYTHON'
import asyncio, sys
def serve(name):
    async def handle(r, w):
        try:
            await r.readuntil(b'\r\n\r\n')
            w.write(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s\n'
                    % (len(name) + 1, name.encode()))
            w.close()
        except (asyncio.IncompleteReadError, ConnectionError):
            w.close()
    return handle
async def main():
    for host, port in (('127.0.0.1', 7001), ('::1', 7002),
                       ('127.0.0.1', 7003), ('::1', 7003),
                       ('127.0.0.1', 7004), ('::1', 7004),
                       ('127.0.0.1', 3128)):
        await asyncio.start_server(serve(f'{host}:{port}'), host, port)
    open(sys.argv[1], 'w').close()
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
python3 "$T/host.py" "$T/up" &
host=$!
wait_for 30 test -e "$T/up"
ok $? "$who: the host's services are up"

# The gate's own ends make way for a port as low as theirs.
policy '"allowLocalOutbound": true, "allowLocalOutboundPorts": [2],
	"allowedDomains": ["allowed.test"]'
fence "$who" --settings "$T/p.json" -- sh -c '
	bash -c "exec 3<>/dev/tcp/127.0.0.1/2" && echo taken
	curl -sS --noproxy \* http://allowed.test/'
is "$out" "taken
http allowed.test" "$who: port 2 leads to the host's, and the gate is open"

# 7004 is not listed, 7005 is, and nobody is there.
policy '"allowLocalOutbound": true,
	"allowLocalOutboundPorts": [7001, 7002, 7003, 7005]'
cat >"$W/reach" <<SH
get() { curl -sS --max-time 20 "\$@" || echo no; }
for port in 7001 7002 7003 7004 7005; do
	get http://127.0.0.1:\$port/
	get -g http://[::1]:\$port/
done 2>/dev/null
get http://localhost:7001/
"$PROBES/goclient" http://127.0.0.1:7001/ >/dev/null && echo go
"$PROBES/goclient" http://[::1]:7002/ >/dev/null && echo go six
busybox wget -qO- http://127.0.0.1:7001/	# minds no NO_PROXY
get -x socks5h://127.0.0.1:1080 --noproxy '' -g http://[::1]:7002/
get --noproxy '' -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:7004/
"$PROBES/rawclient" localhost 7001 >/dev/null && echo raw
"$PROBES/rawclient" localhost 7004 2>/dev/null || echo not raw
bash -c 'echo >/dev/tcp/127.0.0.1/7004' 2>&1 | grep -q refused && echo refused
bash -c 'echo >/dev/tcp/127.0.0.2/7001' 2>&1 | grep -q refused && echo refused
SH
fence "$who" -m --trace-file "$T/trace" --engine "$engine" \
    --settings "$T/p.json" -- sh ./reach
is "$out" "127.0.0.1:7001
127.0.0.1:7001
::1:7002
::1:7002
127.0.0.1:7003
::1:7003
no
no
no
no
127.0.0.1:7001
go
go six
127.0.0.1:7001
::1:7002
403
raw
not raw
refused
refused" "$who: listed ports, from every program, and no other"
is "$(grep -cE 'connect\((127.0.0.1|\[::1\]):7005\) ECONNREFUSED .*curl\[' <<<"$err")" 2 \
    "$who: where nobody listens is told, with who asked"
unlike "$err" '700[1-3]' "$who: and nothing else"
like "$err" '403 127.0.0.1 .*7004' "$who: what the proxy refused, too"
"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
    "$T/trace" >"$T/valid" 2>&1
ok $? "$who: valid by the schema: $(cat "$T/valid")"

# The command cannot take such a port, on any address; others it can.
cat >"$W/bind.py" <<'PYTHON'
import errno, socket
for family, addr, port in ((socket.AF_INET, '127.0.0.1', 7001),
                           (socket.AF_INET, '0.0.0.0', 7001),
                           (socket.AF_INET6, '::', 7001),
                           (socket.AF_INET, '127.0.0.1', 7004),
                           (socket.AF_INET6, '::', 7004)):
    s = socket.socket(family)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        s.bind((addr, port))
        s.listen()
        print(addr, port)
    except OSError as e:
        print(errno.errorcode[e.errno])
    s.close()
PYTHON
fence "$who" --settings "$T/p.json" -- python3 bind.py
is "$out" "EADDRINUSE
EADDRINUSE
EADDRINUSE
127.0.0.1 7004
:: 7004" "$who: a listed port is taken inside, another is free"

# What opens the door: the switch, or what it defaults to, and the list.
reaches() {	# reaches NAME WANT POLICY
	policy "$3"
	fence "$who" --settings "$T/p.json" -- sh -c \
	    'curl -sS http://127.0.0.1:7001/ 2>/dev/null || echo no'
	is "$out" "$2" "$who: $1"
}
reaches 'without a word' no ''
reaches 'the switch without ports' no '"allowLocalOutbound": true'
is "$err" '' "$who: silently"
reaches 'ports without the switch' no '"allowLocalOutboundPorts": [7001]'
like "$err" 'p.json:2:.*allowLocalOutboundPorts grants nothing' \
    "$who: which is told"
reaches 'the switch is off' no '"allowLocalBinding": true,
	"allowLocalOutbound": false, "allowLocalOutboundPorts": [7001]'
reaches 'binding is its default' 127.0.0.1:7001 \
    '"allowLocalBinding": true, "allowLocalOutboundPorts": [7001]'

reaches 'hostPorts alone' 127.0.0.1:7001 '"hostPorts": [7001]'
is "$err" '' "$who: silently"
reaches 'another port of hostPorts' no '"hostPorts": [7003]'
policy ''
fence "$who" --settings "$T/p.json" --host-port 7001 -- curl -sS \
    http://127.0.0.1:7001/
is "$out" 127.0.0.1:7001 "$who: --host-port"
for port in 0 65536 x -1 ''; do
	fence "$who" --host-port="$port" -- touch ran
	is "$status" 2 "$who: --host-port '$port': exit 2"
	[ ! -e "$W/ran" ]
	ok $? "$who: --host-port '$port': nothing ran"
done
like "$err" 'host-port' "$who: which is named"
# The line that is said to help helps.
capture "$who" "${FENCE_RUN%-run}" why -s "$T/p.json" connect localhost:7001
flags=$(sed -n 's/.*or once: fence-run //p' <<<"$out")
fence "$who" --settings "$T/p.json" $flags -- curl -sS http://127.0.0.1:7001/
is "$flags:$out" '--host-port 7001:127.0.0.1:7001' "$who: as 'why' says it"

# Ports that are taken inside.
clashes() {	# clashes NAME REGEX POLICY
	policy "$3"
	fence "$who" --settings "$T/p.json" -- touch ran
	is "$status" 1 "$who: $1: exit 1"
	like "$err" "p.json:2:[0-9]+: $2" "$who: $1: where and why"
	[ ! -e "$W/ran" ]
	ok $? "$who: $1: nothing ran"
}
open='"allowLocalOutbound": true, "allowLocalOutboundPorts"'
clashes 'the HTTP proxy' 'network.allowLocalOutboundPorts\[1\]: .*HTTP' \
    "$open: [1, 3128]"
like "$err" 'hint: network.httpProxyPort' "$who: with the way out"
clashes 'the HTTP proxy' 'network.hostPorts\[0\]: .*HTTP' \
    '"hostPorts": [3128]'
clashes 'the SOCKS proxy' '.*SOCKS proxy' "$open: [1080]"
clashes 'the resolver' '.*resolver' "$open: [53]"
clashes 'two proxies' 'network.httpProxyPort: .*SOCKS' \
    '"httpProxyPort": 1080'

# The proxies elsewhere: then theirs are free for others.
policy '"httpProxyPort": 8801, "socksProxyPort": 8802,
	"proxyVariables": "on",
	"allowedDomains": ["allowed.test"],
	"allowLocalOutbound": true, "allowLocalOutboundPorts": [3128]'
cat >"$W/proxies" <<'SH'
echo $HTTP_PROXY $https_proxy $ALL_PROXY
code() { curl -sS -o /dev/null -w '%{http_code}\n' "$@"; }
code http://allowed.test/
code http://denied.test/
code -x "$ALL_PROXY" http://allowed.test/
code -x socks5h://127.0.0.1:1080 http://allowed.test/ 2>&1 | tail -1
curl -sS http://127.0.0.1:3128/
SH
fence "$who" --settings "$T/p.json" -- sh ./proxies
is "$out" "http://127.0.0.1:8801 http://127.0.0.1:8801 socks5h://127.0.0.1:8802
200
403
200
000
127.0.0.1:3128" "$who: the proxies listen where the policy says"
fence "$who" --settings "$T/p.json" --dry-run -- true
like "$out" 'proxy http 127.0.0.1:8801' "$who: the plan shows it"
like "$out" "localhost:3128 inside leads to the host's" "$who: and the port"

# In.  Services of every kind inside; 7112 and 7120 are nobody's business.
cat >"$W/serve.py" <<'PYTHON'
import asyncio, os, socket
async def echo(r, w):
    try:
        while data := await r.read(65536):
            w.write(data)
            await w.drain()
        w.write_eof()
    except ConnectionError:
        pass
    w.close()
def say(name):
    async def handle(r, w):
        try:
            await r.readuntil(b'\r\n\r\n')
            w.write(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s\n'
                    % (len(name) + 1, name.encode()))
            await w.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        w.close()
    return handle
async def main():
    for host, port in (('127.0.0.1', 7101), ('0.0.0.0', 7112), ('::1', 7113),
                       ('::', 7116), ('127.0.0.1', 7120)):
        await asyncio.start_server(say(f'{host}:{port}'), host, port,
                                   backlog=200)
    await asyncio.start_server(echo, '127.0.0.1', 7107, backlog=200)
    open('serving', 'w').close()
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
mkdir "$W/site"
echo static >"$W/site/index.html"
serve='python3 -m http.server -d site --bind 127.0.0.1 7106 >/dev/null 2>&1 &
busybox httpd -f -p 127.0.0.1:7104 -h site &
exec python3 serve.py'
as "$who" mkfifo "$W/ask"
ask='ulimit -n "$(ulimit -Hn)"
(read -r x <ask; curl -sS -m 60 http://allowed.test/ >asked.new
mv asked.new asked) &'
start "$who" "$FENCE_RUN" -m -a allowed.test \
    --trace-file "$T/trace" --engine "$other" -p 7101 \
    -p 127.0.0.2:7102:7112 -p '[::1]:7103:7113' -p 7104 -p 7105:7115 \
    -p 7106 -p 0.0.0.0:7107 -p 7108:7116 -- sh -c "$ask
$serve" 2>"$T/in.err"
run=$pid
wait_for 60 test -e "$W/serving"
ok $? "$who: the services inside are up"
# Reset, or refused: a client may hear of the one as of the other.
get() {
	curl -gsS --max-time 20 "$@" 2>/dev/null || echo no
}
for at in 127.0.0.1:7104 127.0.0.1:7106; do
	wait_for 60 curl -so "$T/null" "http://$at/"
done
is "$(for at in 127.0.0.1:7101 127.0.0.2:7102 '[::1]:7103' 127.0.0.1:7104 \
    127.0.0.1:7105 127.0.0.1:7106 127.0.0.1:7108; do
	get "http://$at/"
done)" "127.0.0.1:7101
0.0.0.0:7112
::1:7113
static
no
static
:::7116" "$who: each port leads in, to its own"
is "$(for at in '[::1]:7101' 127.0.0.1:7102 127.0.0.1:7103 127.0.0.1:7112 \
    '[::1]:7113' 127.0.0.1:7120 127.0.0.1:3129; do
	get "http://$at/"
done | sort | uniq -c | tr -s ' ')" " 7 no" "$who: and no other"
like "$(cat "$T/in.err")" \
    'connect\(localhost:7115\) ECONNREFUSED.*rule --port' \
    "$who: where nobody listens inside is told"

# None is lost: 200 in a row, 50 at once, a megabyte both ways with a
# half-close.
cat >"$T/many.py" <<'PYTHON'
import asyncio, os
async def ask():
    r, w = await asyncio.open_connection('127.0.0.1', 7101)
    w.write(b'GET / HTTP/1.1\r\n\r\n')
    answer = await r.read()
    w.close()
    return answer.endswith(b'127.0.0.1:7101\n')
async def echo(data):
    r, w = await asyncio.open_connection('127.0.0.1', 7107)
    async def send():
        w.write(data)
        await w.drain()
        w.write_eof()
    _, got = await asyncio.gather(send(), r.read())
    w.close()
    return got == data
async def main():
    print(sum([await ask() for _ in range(200)]))
    print(sum(await asyncio.gather(*[ask() for _ in range(50)])))
    print(sum(await asyncio.gather(*[echo(os.urandom(1 << 20))
                                     for _ in range(8)])))
asyncio.run(main())
PYTHON
is "$(python3 "$T/many.py")" "200
50
8" "$who: none is lost"

# Idle ones by the hundred: the command's own way out is another, and who
# comes next comes in, by the same port and by others.
cat >"$T/idle.py" <<'PYTHON'
import resource, socket, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE,
    (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
idle = [socket.create_connection(('127.0.0.1', 7107)) for _ in range(1100)]
open(sys.argv[1], 'w').close()
time.sleep(1000)
PYTHON
python3 "$T/idle.py" "$T/idle" &
idle=$!
wait_for 60 test -e "$T/idle"
ok $? "$who: 1,100 idle connections to a port"
is "$(get http://127.0.0.1:7104/)" static "$who: another port leads in"
is "$(python3 "$T/many.py")" "200
50
8" "$who: and so does the same"
as "$who" sh -c 'echo >"$1"' sh "$W/ask"
wait_for 60 test -s "$W/asked"
is "$(cat "$W/asked")" "http allowed.test" "$who: the command reaches who it may"
like "$(cat "$T/in.err")" 'limit of connections is reached' "$who: told"
kill "$idle"
wait "$idle"

# The serving process is another, and the ports lead in as before.
kill -9 "$(pgrep -P "$(pgrep -P "$run" fence-net)")"
is "$(get --retry 3 --retry-all-errors http://127.0.0.1:7101/)" \
    127.0.0.1:7101 "$who: after fence-net was killed, too"
mint=$(pgrep -P "$run" fence-mint)
is "$(sed -n 's/^Cap\(Eff\|Prm\):\t0*//p' "/proc/$mint/status" | tr -d '\n')" \
    '' "$who: who makes the sockets has no capability"
kill -9 "$mint"
wait_for 60 grep -q 'no --port leads in for the rest' "$T/in.err"
ok $? "$who: without fence-mint no port leads in, which is told"
is "$(get http://127.0.0.1:7101/)" no "$who: nor does it"
kill "$run"
wait "$run"
is $? 143 "$who: the run itself went on"
"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
    "$T/trace" >"$T/valid" 2>&1
ok $? "$who: valid by the schema: $(cat "$T/valid")"
is "$(get http://127.0.0.1:7101/)" no "$who: then the port is free"

# Both ways where everything is allowed, and the routes lead everywhere.
policy '"allowedDomains": ["*"],
	"allowLocalOutbound": true, "allowLocalOutboundPorts": [7001, 7002]'
rm -f "$W/serving"
start "$who" "$FENCE_RUN" --settings "$T/p.json" -p 7101 -p '[::1]:7103:7113' \
    -- sh -c "curl -sS http://127.0.0.1:7001/ >got
	curl -gsS 'http://[::1]:7002/' >>got
	curl -sS --noproxy '*' http://allowed.test/ >>got
	curl -sS -o /dev/null -w '%{http_code}\n' --noproxy '' \
	    http://127.0.0.1:7004/ >>got
	$serve" 2>"$T/in.err"
run=$pid
wait_for 60 test -e "$W/serving"
ok $? "$who: everything is allowed: the services inside are up"
is "$(cat "$W/got")" "127.0.0.1:7001
::1:7002
http allowed.test
403" "$who: everything is allowed: out by listed ports alone"
is "$(get http://127.0.0.1:7101/; get 'http://[::1]:7103/'
    get http://127.0.0.1:7120/)" "127.0.0.1:7101
::1:7113
no" "$who: everything is allowed: in by published ports alone"
kill "$run"
wait "$run"

# Errors, before anything is started.
no_port() {	# no_port NAME STATUS REGEX ARGS…
	local name=$1 want=$2 regex=$3
	shift 3
	fence "$who" "$@" -- touch ran
	is "$status" "$want" "$who: $name: exit $want"
	like "$err" "$regex" "$who: $name: why"
	[ ! -e "$W/ran" ]
	ok $? "$who: $name: nothing ran"
}
no_port 'a taken port' 125 'cannot listen on 127.0.0.1:7001: .*use.*hint: ' \
    -p 7001
no_port 'a taken port, the sixth kind' 125 'listen on \[::1\]:7002: .*use' \
    -p 7101 -p '[::1]:7002'
is "$(get http://127.0.0.1:7101/)" no "$who: the other one is free"
no_port 'no address of ours' 125 'assign.*hint: .*none of this machine' \
    -p 192.0.2.1:7101
while IFS='|' read -r spec why; do
	no_port "'$spec'" 2 "$why.*hint: " -p "$spec"
done <<'SPECS'
|wants a value
 |invalid --port ' ': it is empty
abc|invalid --port 'abc': a port is a number
0|1 to 65535
65536|1 to 65535
3000:0|1 to 65535
:8080|no address
localhost:8080|IP literal
::1:8080|brackets
[::1|no IPv6 address
[::1]|no port
3128|the HTTP proxy's
8080:53|the resolver's
SPECS
no_port 'one port, two places' 2 'an earlier --port' -p 3000 -p 3000:3001
policy "$open: [7001]"
no_port 'in and out' 2 'leads to the host' \
    --settings "$T/p.json" -p 7101:7001
no_port 'a model' 2 "'nowhere'.*hint: in-sandbox or on-host" \
    --service-execution-model nowhere
no_port 'in the sandbox' 125 'cannot listen' -p 7001 \
    --service-execution-model ' In-Sandbox'
no_port 'no model' 125 'cannot listen' -p 7001 --service-execution-model=

# on-host: somebody else has the port.
fence "$who" -p 7001 --service-execution-model ON-HOST -- true
is "$status" 0 "$who: on-host takes no port"
fence "$who" -p 7101 -p '[::]:7103:80' --dry-run -- true
like "$out" 'port  127.0.0.1:7101 leads to localhost:7101 inside
port  \[::\]:7103 leads to localhost:80 inside' "$who: the plan shows them"

kill "$host"
wait "$host"
exit 0
