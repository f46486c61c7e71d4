#!/usr/bin/env bash
# How allowed traffic leaves the host: through real proxies with a password,
# and through such as nobody should have.  What is denied no proxy hears of.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
secret='s3cret.W0rd'
pids=()
trap 'kill "${pids[@]}" 2>/dev/null' EXIT

# tinyproxy with a password on 8801, without on 8802; microsocks likewise on
# 8803 and 8804.  All on near's own addresses.
web() {	# web ADDRESS PORT [LINE]
	printf '%s\n' "Listen $1" "Port $2" "LogFile \"$T/log.$2\"" \
	    'LogLevel Connect' 'Timeout 30' 'MaxClients 50' \
	    "${3-}" >"$T/conf.$2"
	tinyproxy -d -c "$T/conf.$2" >/dev/null 2>&1 &
	pids+=($!)
}
socks() {	# socks PORT [ARGS…]
	local port=$1
	shift
	microsocks -i 127.0.0.1 -p "$port" "$@" >/dev/null 2>"$T/log.$port" &
	pids+=($!)
}
web 127.0.0.1 8801 "BasicAuth user $secret"
web 203.0.113.2 8802
socks 8803 -u user -P "$secret"
socks 8804

# Proxies that go wrong, one a port; 8816 knows a name that nobody else does.
cat >"$T/odd.py" <<'PYTHON'
import asyncio, socket, sys
OK = b'HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n'
def log(line):
    with open(sys.argv[1], 'a') as f:
        f.write(line + '\n')
async def pump(r, w):
    while data := await r.read(65536):
        w.write(data)
        await w.drain()
    w.write_eof()
async def join(r, w, host, port):
    fr, fw = await asyncio.open_connection(host, port)
    await asyncio.gather(pump(r, fw), pump(fr, w))
async def garbage(r, w, head):
    w.write(b'\x00\xff\x1b[31mgarbage\r\n' * 100)
async def bytewise(r, w, head):
    w.get_extra_info('socket').setsockopt(socket.IPPROTO_TCP,
                                          socket.TCP_NODELAY, 1)
    for c in OK:
        w.write(bytes([c]))
        await w.drain()
        await asyncio.sleep(0)
    await join(r, w, '198.51.100.10', 80)
async def never(r, w, head):
    await r.read()
async def early(r, w, head):
    w.write(OK[:20])
def says(status):
    async def say(r, w, head):
        w.write(b'HTTP/1.1 %s\r\nContent-Length: 3\r\n\r\nno\n' % status)
    return say
async def knows(r, w, head):
    w.write(OK)
    await join(r, w, '198.51.100.10', 80)
async def banner(r, w, head):
    w.write(OK + b'SSH-2.0-far\r\n')
    w.write((await r.readline()).upper())
async def huge(r, w, head):
    w.write(b'HTTP/1.1 200 OK\r\n' + b'X: ' + b'y' * 100000)
    await r.read()
ports = {8811: garbage, 8812: bytewise, 8813: never, 8814: early,
         8815: says(b'403 Forbidden'), 8816: knows, 8817: banner,
         8818: says(b'407 Proxy Authentication Required'),
         8819: says(b'503 Service Unavailable'), 8820: huge}
rude = {8821: b'SSH-2.0-far\r\n', 8822: b''}	# at once, and away
def serve(port, fn):
    async def handle(r, w):
        try:
            head = await r.readuntil(b'\r\n\r\n')
            log('%d %r' % (port, head))
            await fn(r, w, head)
        except (OSError, asyncio.IncompleteReadError):
            pass
        w.close()
    return handle
def blurt(words):
    async def handle(r, w):
        w.write(words)
        w.close()
    return handle
async def main():
    for port, fn in ports.items():
        await asyncio.start_server(serve(port, fn), '127.0.0.1', port)
    for port, words in rude.items():
        await asyncio.start_server(blurt(words), '127.0.0.1', port)
    log('ready')
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
: >"$T/odd"
/usr/bin/python3 "$T/odd.py" "$T/odd" &
pids+=($!)
are_up() {
	local port
	grep -q ready "$T/odd" || return 1
	for port in 8801 8803 8804; do
		nc -z 127.0.0.1 "$port" || return 1
	done
	nc -z 203.0.113.2 8802
}
wait_for 20 are_up
ok $? "$who: the proxies are up"

# policy VIA [MORE]: the rest is the same for all.
policy() {
	cat >"$T/p.json" <<-POLICY
	{
		"network": {
			"allowedDomains": ["allowed.test", "only-there.example",
			    "203.0.113.2", "198.51.100.30"],
			"deniedDomains": ["deny.allowed.test"],
			"via": "$1"${2:+, $2}
		},
		"filesystem": { "allowWrite": ["."] }
	}
	POLICY
}
client() {	# client CMD…
	fence "$who" -m --settings "$T/p.json" -- "$@"
}
export FENCE_TEST_CA=/etc/ssl/certs/ca-certificates.crt
# Every way in, one line each.
cat >"$W/ways" <<'SH'
c() { curl -sS -m 20 "$@" 2>&1; }
c http://allowed.test/
c https://allowed.test/
c --noproxy '*' http://allowed.test/
c --noproxy '*' https://allowed.test/
c -x socks5h://127.0.0.1:1080 https://allowed.test/
c -p http://allowed.test/
"$1" https://allowed.test/
exec 3<>/dev/tcp/allowed.test/7 && echo echo >&3 && read -r x <&3 && echo "$x"
c --noproxy '*' http://198.51.100.30/
SH
ways='http allowed.test
https allowed.test
http allowed.test
https allowed.test
https allowed.test
http allowed.test
200 OK
echo
http wild.test'

for url in "http://user:$secret@127.0.0.1:8801" http://self.test:8802 \
    "socks5://user:$secret@127.0.0.1:8803" socks5h://localhost:8804; do
	policy "$url"
	shown=${url/user:$secret/***}
	port=${url##*:}
	: >"$T/log.$port"
	client bash ways "$PROBES/goclient"
	is "$out" "$ways" "$who: $shown: all ways"
	unlike "$err" "$secret" "$who: $shown: no word of the password"
	like "$(cat "$T/log.$port")" 'allowed\.test' \
	    "$who: $shown: and the proxy saw it"
	: >"$T/log.$port"
	client sh -c 'for h in denied.test deny.allowed.test; do
	    curl -sS -m 5 -o /dev/null -w "%{http_code}\n" http://$h/; done
	    curl -sS -m 5 --noproxy "*" http://deny.allowed.test/
	    curl -sS -m 5 --noproxy "*" http://198.51.100.20/'
	is "$out" "403
403" "$who: $shown: what is denied stays denied"
	unlike "$(cat "$T/log.$port")" 'denied|deny|198\.51\.100\.20' \
	    "$who: $shown: and the proxy has not heard of it"
done

# A name that only the proxy knows, and nobody is asked about here.
policy http://127.0.0.1:8816
before=$("$TESTS/world/world-count" queries)
client sh -c 'curl -sS -m 20 http://only-there.example/
    curl -sS -m 20 --noproxy "*" http://only-there.example/'
is "$out" "http allowed.test
http allowed.test" "$who: a name that only the proxy knows"
is "$("$TESTS/world/world-count" queries)" "$before" "$who: no query leaves"
is "$(grep -c '^8816 ..CONNECT only-there.example:80 HTTP/1.1' "$T/odd")" 2 \
    "$who: plain HTTP, too, is a CONNECT"
unlike "$(grep ^8816 "$T/odd")" 'Proxy-|User-Agent' \
    "$who: and nothing of the program's is in it"

# Proxies that go wrong.  The one that never answers is met beside the rest.
policy http://127.0.0.1:8813
cp "$T/p.json" "$T/never.json"
start "$who" "$FENCE_RUN" -m --settings "$T/never.json" -- \
    curl -sS -m 30 -o /dev/null -w '%{http_code}' http://allowed.test/ \
    >"$T/never.out" 2>"$T/never.err"
never=$pid
wrong() {	# wrong URL CODE SOCKS WORDS
	policy "$1"
	client sh -c 'curl -sS -m 20 -w "\n%{http_code}" http://allowed.test/
	    curl -sS -m 20 -x socks5h://127.0.0.1:1080 http://allowed.test/
	    curl -sS -m 20 --noproxy "*" http://allowed.test/; echo " $?"'
	like "$out" "^fence: .*$4.*
$2 (7|5[56])$" "$who: $4: told to the program, $2, and by a reset"
	like "$err" "\[fence:http\] [^|]* $2 allowed.test [^
]*rule network.via [^
]*$4" "$who: $4: told as a record"
	like "$err" "SOCKS5[^
]*\($3\)" "$who: $4: SOCKS says $3"
	like "$err" "\[fence:socks\] [^
]*$4" "$who: $4: by SOCKS"
	like "$err" "\[fence:gate\] [^
]*$4" "$who: $4: without a proxy"
}
wrong http://127.0.0.1:9 502 1 'http://127.0.0.1:9 cannot be reached'
wrong http://nowhere.example:9 502 1 'http://nowhere.example:9 does not resolve'
wrong http://127.0.0.1:8811 502 1 'http://127.0.0.1:8811 is no http proxy'
wrong socks5://127.0.0.1:8821 502 1 'socks5://127.0.0.1:8821 is no socks5 proxy'
wrong socks5://127.0.0.1:8822 502 1 'socks5://127.0.0.1:8822 closed'
wrong http://127.0.0.1:8814 502 1 'http://127.0.0.1:8814 closed the connection'
wrong http://127.0.0.1:8815 403 2 'http://127.0.0.1:8815 answered 403'
like "$err" 'allow CONNECT to port 80' "$who: and what it has to allow"
wrong http://127.0.0.1:8818 502 1 'wants a user and password'
like "$err" 'USER:PASSWORD@ before the host' "$who: and where to write them"
wrong http://127.0.0.1:8819 502 1 'http://127.0.0.1:8819 answered 503'
wrong http://127.0.0.1:8820 502 1 'http://127.0.0.1:8820 is no http proxy'
wrong "http://user:wr0ng@127.0.0.1:8801" 502 1 \
    'http://127.0.0.1:8801 does not take the user and password'
unlike "$err$out" 'wr0ng' "$who: the wrong password is no record's"
wrong "socks5://user:wr0ng@127.0.0.1:8803" 502 1 \
    'does not take the user and password'
wrong "socks5://127.0.0.1:8803" 502 1 'wants a user and password'
unlike "$err" 'no_proxy|[^.]allowedDomains \+=' "$who: no list would help"

policy http://127.0.0.1:8812
client curl -sS -m 20 http://allowed.test/
is "$out" "http allowed.test" "$who: a proxy that answers byte by byte"
policy http://127.0.0.1:8817
client sh -c 'echo hello | nc -N allowed.test 22
    echo again | nc -N -X connect -x 127.0.0.1:3128 allowed.test 22'
is "$out" "$(printf 'SSH-2.0-far\r\nHELLO\nSSH-2.0-far\r\nAGAIN')" \
    "$who: a server that speaks first is heard whole"
policy socks5://127.0.0.1:8804
client sh -c 'curl -sS -m 20 -x socks5h://127.0.0.1:1080 \
    http://203.0.113.2:9/; curl -sS -o /dev/null -m 20 -w "%{http_code}" \
    http://203.0.113.2:9/'
like "$err$out" '\(5\).*502' "$who: a closed port behind a proxy is a closed port"
unlike "$err" 'network.via' "$who: and not the proxy's fault"

# The host's own variables.
policy auto
vars() {	# vars VARIABLE… -- CMD…
	local v=()
	while [ "$1" != -- ]; do
		v+=("$1")
		shift
	done
	shift
	capture "$who" env "${v[@]}" "$FENCE_RUN" -m --settings "$T/p.json" \
	    -- "$@"
}
both='curl -sS -m 20 http://allowed.test/; curl -sS -m 20 https://allowed.test/'
seen() {	# seen PORT: requests since the last time
	grep -acE 'Request.*CONNECT|connected to' "$T/log.$1"
	: >"$T/log.$1"
}
for port in 8801 8802 8803 8804; do
	: >"$T/log.$port"
done
vars HTTP_PROXY="http://user:$secret@127.0.0.1:8801" \
    HTTPS_PROXY="socks5://user:$secret@127.0.0.1:8803" -- \
    sh -c "$both; env; cat /proc/self/environ"
like "$out" '^http allowed.test
https allowed.test' "$who: HTTP_PROXY and HTTPS_PROXY"
unlike "$out$err" "$secret" "$who: the password is not inside"
is "$(seen 8801) $(seen 8803)" "1 1" "$who: each has its own"
vars ALL_PROXY=socks5h://localhost:8804 -- sh -c "$both"
is "$out $(seen 8804)" "http allowed.test
https allowed.test 2" "$who: ALL_PROXY"
for no in allowed.test .test '*' 'x.test, allowed.test:80 allowed.test:443'; do
	vars ALL_PROXY=socks5h://localhost:8804 NO_PROXY="$no" -- sh -c "$both"
	is "$out $(seen 8804)" "http allowed.test
https allowed.test 0" "$who: NO_PROXY=$no"
done
for no in '' other.test 'allowed.test:22' '//,[,:::'; do
	vars ALL_PROXY=socks5h://localhost:8804 NO_PROXY="$no" -- sh -c "$both"
	is "$out $(seen 8804)" "http allowed.test
https allowed.test 2" "$who: NO_PROXY=$no is not for it"
done
vars ALL_PROXY=socks5h://localhost:8804 NO_PROXY=198.51.0.0/16 -- \
    curl -sS -m 20 http://198.51.100.30/
is "$out $(seen 8804)" "http wild.test 0" "$who: NO_PROXY by range"
vars ALL_PROXY=https://x:1 -- true
is "$status" 1 "$who: a proxy by TLS is an error before the start"
like "$err" '\$ALL_PROXY: .https://x:1. has a scheme' "$who: and says which"
policy direct
vars ALL_PROXY=http://127.0.0.1:9 -- sh -c "$both"
is "$out" "http allowed.test
https allowed.test" "$who: via direct, whatever the variables say"

# What no list names.
policy direct "\"upstreamProxy\": \"http://user:$secret@127.0.0.1:8801\", \
    \"defaultAction\": \"proxy\""
: >"$T/log.8801"
client sh -c 'for h in allowed.test wild.test a.wild.test deny.allowed.test \
    198.51.100.20 169.254.169.254 127.0.0.1 localhost; do
	curl -sS -m 20 --noproxy "" -o /dev/null -w "$h %{http_code}\n" \
	    http://$h/
	curl -sS -m 20 --noproxy "*" http://$h/ 2>/dev/null
    done; "$0" https://wild.test/' "$PROBES/goclient"
is "$out" "allowed.test 200
http allowed.test
wild.test 200
http wild.test
a.wild.test 200
http wild.test
deny.allowed.test 403
198.51.100.20 200
http denied.test
169.254.169.254 403
127.0.0.1 403
localhost 403
200 OK" "$who: the upstream proxy decides about the rest, on every way"
is "$(grep -aoE '[^ ]+ HTTP/1.1' "$T/log.8801" | sort -u)" \
    "198.51.100.20:80 HTTP/1.1
a.wild.test:80 HTTP/1.1
wild.test:443 HTTP/1.1
wild.test:80 HTTP/1.1" "$who: and hears of nothing else"
unlike "$err" "$secret" "$who: no word of its password"
policy direct '"upstreamProxy": "http://127.0.0.1:9"'
client sh -c 'for h in wild.test allowed.test; do
    curl -sS -o /dev/null -m 20 -w "%{http_code}\n" http://$h/; done'
is "$out" "502
200" "$who: a dead one is in nobody else's way"
like "$err" 'rule network.upstreamProxy [^
]*127.0.0.1:9 cannot be reached' "$who: and told"
policy direct '"upstreamProxy": "http://127.0.0.1:9", "defaultAction": "deny"'
client curl -sS -o /dev/null -m 20 -w '%{http_code}' http://wild.test/
is "$out" 403 "$who: defaultAction deny asks nobody"

# The same by SOCKS5; and whatever goes wrong there is in nobody else's way.
policy direct "\"upstreamProxy\": \"socks5://user:$secret@127.0.0.1:8803\""
: >"$T/log.8803"
client sh -c 'for h in wild.test allowed.test deny.allowed.test; do
	curl -sS -m 20 -o /dev/null -w "$h %{http_code}\n" http://$h/
    done; curl -sS -m 20 https://wild.test/
    curl -sS -m 20 --noproxy "*" https://wild.test/
    curl -sS -m 20 -x socks5h://127.0.0.1:1080 http://wild.test/
    "$0" https://wild.test/' "$PROBES/goclient"
is "$out" "wild.test 200
allowed.test 200
deny.allowed.test 403
https wild.test
https wild.test
http wild.test
200 OK" "$who: an upstream proxy by SOCKS5, on every way"
is "$(grep -c 'connected to wild.test' "$T/log.8803") $(grep -c 'connected to .*allowed' "$T/log.8803")" \
    "5 0" "$who: which sees what no list names, and nothing else"
unlike "$err" "$secret" "$who: no word of this password, either"
beyond() {	# beyond URL CODE SOCKS ICON WORDS
	policy direct "\"upstreamProxy\": \"$1\""
	client sh -c 'curl -sS -m 20 -o /dev/null -w "%{http_code} " http://wild.test/
	    curl -sS -m 20 -o /dev/null -w "%{http_connect} " https://wild.test/
	    curl -sS -m 20 -x socks5h://127.0.0.1:1080 http://wild.test/
	    curl -sS -m 20 http://allowed.test/'
	is "$out" "$2 $2 http allowed.test" "$who: beyond $1: $2"
	like "$err" "\[fence:http\] [0-9:]+ $4 GET     $2 wild.test [^
]*curl\[[0-9]+\] \| rule network.upstreamProxy [^
]*$5" "$who: beyond $1: told, with who asked"
	like "$err" "SOCKS5[^
]*\($3\)" "$who: beyond $1: SOCKS says $3"
}
beyond http://127.0.0.1:8815 403 2 ✗ 'answered 403'
beyond http://127.0.0.1:8818 502 1 ! 'wants a user and password'
beyond http://user:wr0ng@127.0.0.1:8801 502 1 ! 'does not take the user'
beyond http://127.0.0.1:8811 502 1 ! 'is no http proxy'
beyond socks5://127.0.0.1:8803 502 1 ! 'wants a user and password'
beyond socks5://127.0.0.1:9 502 1 ! 'cannot be reached'
policy direct '"upstreamProxy": "http://127.0.0.1:8817"'
client sh -c 'echo hello | nc -N wild.test 22'
is "$out" "$(printf 'SSH-2.0-far\r\nHELLO')" \
    "$who: what comes right behind its answer is not lost"
policy direct '"upstreamProxy": "http://203.0.113.2:8802"'
fence "$who" -d --settings "$T/p.json" -- curl -sS -m 20 http://wild.test/
like "$err" '\[fence:http\] [0-9:]+ → GET     200 wild.test ' \
    "$who: -d says which went there"

# Nowhere is the password shown.
policy "http://user:$secret@127.0.0.1:8801"
fence "$who" --dry-run --settings "$T/p.json" -- true
like "$out" 'via   http://127.0.0.1:8801  \(.*p.json:6:' "$who: --dry-run"
unlike "$out$err" "$secret" "$who: --dry-run keeps it"
capture "$who" "${FENCE_RUN%-run}" config show --settings "$T/p.json"
like "$out" 'http://\*\*\*@127.0.0.1:8801' "$who: config show"
unlike "$out$err" "$secret" "$who: config show keeps it"
fence "$who" --trace-file "$T/trace" --settings "$T/p.json" -- \
    curl -sS http://denied.test/
unlike "$(cat "$T/trace" 2>/dev/null)$out" "$secret" "$who: nor records"
client sh -c 'curl -sS -m 20 http://allowed.test/ >/dev/null; touch now
    while [ ! -e done ]; do read -t 0.05 x; done 2>/dev/null' &
job=$!
wait_for 20 test -e "$W/now"
# A line a process; the pattern is in a file, or grep would find itself.
printf '%s\n' "$secret" >"$T/pattern"
for f in /proc/[0-9]*/cmdline; do
	tr '\0' ' ' <"$f" 2>/dev/null && echo
done 2>/dev/null | grep -v microsocks >"$T/all-cmdlines"
grep -F -f "$T/pattern" "$T/all-cmdlines" >"$T/cmdlines" || :
touch "$W/done"
wait "$job"
like "$(cat "$T/all-cmdlines")" 'fence-net' "$who: the command lines are there"
is "$(cat "$T/cmdlines")" "" "$who: nor any command line"

wait "$never"
is "$(cat "$T/never.out")" 502 "$who: a proxy that never answers"
like "$(cat "$T/never.err")" '127.0.0.1:8813 does not answer' "$who: is told"
exit 0
