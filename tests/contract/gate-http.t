#!/usr/bin/env bash
# Plain HTTP by the proxy as programs use it: uploads that wait for a word,
# trailers, events as they happen, WebSockets; and at http://fence.internal/
# what was refused.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" != inside ]; then
	for who in $WHOS; do
		inside "$who"
	done
	finish
fi
who=$2
W=$T/w
mkdir "$W"
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["203.0.113.2", "allowed.test"] },
	"filesystem": { "allowWrite": ["."], "denyRead": ["./secret"] }
}
POLICY

# One origin on near's own address: the path says what it does.
cat >"$T/origin.py" <<'PYTHON'
import asyncio, base64, hashlib, sys
def log(line):
    with open(sys.argv[1], 'a') as f:
        f.write(line + '\n')
async def chunked(r):
    got = b''
    while n := int(await r.readline(), 16):
        got += (await r.readexactly(n + 2))[:-2]
    trailers = b''
    while (line := await r.readline()) != b'\r\n':
        trailers += line
    return got, trailers
async def expect(r, w, head):
    assert b'expect: 100-continue' in head.lower()
    w.write(b'HTTP/1.1 100 Continue\r\n\r\n')
    n = int(head.lower().split(b'content-length: ')[1].split(b'\r\n')[0])
    body = await r.readexactly(n)
    w.write(b'HTTP/1.1 200 OK\r\n\r\ngot %d\n' % len(body))
async def refuse(r, w, head):
    w.write(b'HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno\n')
async def trailer(r, w, head):
    got, trailers = await chunked(r)
    log('trailers ' + repr(trailers))
    w.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'
            b'Trailer: X-Sum\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n')
async def events(r, w, head):
    # Each event waits until the one before has arrived, which it hears of.
    w.write(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n')
    for n in range(5):
        seen[n] = asyncio.Event()
        w.write(b'data: %d\n\n' % n)
        await asyncio.wait_for(seen[n].wait(), 20)
    w.write(b'data: end\n\n')
async def ack(r, w, head):
    seen[int(head.split(b'?')[1].split(b' ')[0])].set()
    w.write(b'HTTP/1.1 204 No Content\r\n\r\n')
async def socket(r, w, head):
    key = [l.split(b': ')[1] for l in head.split(b'\r\n')
           if l.lower().startswith(b'sec-websocket-key')][0]
    log('websocket ' + repr(head))
    proof = base64.b64encode(hashlib.sha1(
        key + b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest())
    w.write(b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n'
            b'Connection: Upgrade\r\nSec-WebSocket-Accept: ' + proof +
            b'\r\n\r\n')
    while True:
        a, b = await r.readexactly(2)
        mask, n = await r.readexactly(4), b & 127
        data = bytes(c ^ mask[i % 4]
                     for i, c in enumerate(await r.readexactly(n)))
        if a & 15 == 8:
            break
        w.write(bytes([a, n]) + data.upper())
async def head(r, w, head):
    log('head ' + repr(head))
    w.write(b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n')
seen = {}
paths = {b'/expect': expect, b'/refuse': refuse, b'/trailer': trailer,
         b'/events': events, b'/ack': ack, b'/socket': socket, b'/head': head}
async def serve(r, w):
    try:
        head = await r.readuntil(b'\r\n\r\n')
        await paths[head.split(b' ')[1].split(b'?')[0]](r, w, head)
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        pass
    w.close()
async def main():
    await asyncio.start_server(serve, '203.0.113.2', 8301)
    log('ready')
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
: >"$T/log"
/usr/bin/python3 "$T/origin.py" "$T/log" &
origin=$!
trap 'kill "$origin"' EXIT
wait_for 20 grep -q ready "$T/log"
ok $? "$who: the origin is up"
url=http://203.0.113.2:8301
client() {	# client CMD…
	fence "$who" -m --settings "$T/p.json" -- "$@"
}

head -c 300000 /dev/zero >"$W/up"
# -m is far above what a refused Expect costs, and below a hang.
client curl -sS -m 20 -H 'Expect: 100-continue' --expect100-timeout 15 \
    --data-binary @up "$url/expect"
is "$out" "got 300000" "$who: the origin's 100 brings the body"
client curl -sS -m 20 -H 'Expect: 100-continue' --expect100-timeout 15 \
    --data-binary @up "$url/refuse"
is "$out" no "$who: and its refusal does without"

cat >"$W/trailer.py" <<'PYTHON'
import socket
s = socket.create_connection(('127.0.0.1', 3128))
s.sendall(b'POST http://203.0.113.2:8301/trailer HTTP/1.1\r\n'
          b'Transfer-Encoding: chunked\r\nTrailer: X-Mine\r\n\r\n'
          b'3\r\nabc\r\n0\r\nX-Mine: 7\r\n\r\n')
got = b''
while data := s.recv(4000):
    got += data
print(got.split(b'\r\n\r\n', 1)[1])
PYTHON
client /usr/bin/python3 trailer.py
is "$out" "b'4\\r\\nbody\\r\\n0\\r\\nX-Sum: 42\\r\\n\\r\\n'" \
    "$who: the answer's trailers arrive"
like "$(cat "$T/log")" 'trailers .*X-Mine: 7' "$who: and the request's"

client curl -sS -m 10 -H 'Proxy-Authorization: Basic c2VjcmV0' \
    -H 'Keep-Alive: 5' -H 'X-Hop: 1' -H 'Connection: X-Hop' -H 'Host: evil' \
    -H 'X-Stay: 1' "$url/head"
is "$out" ok "$who: a request with much to hide"
like "$(grep '^head' "$T/log")" 'Host: 203.0.113.2:8301.*X-Stay' \
    "$who: the host is the one in the URL"
unlike "$(grep '^head' "$T/log")" 'evil|Hop|Keep-Alive|c2VjcmV0|Proxy-' \
    "$who: and nothing else is passed on"

cat >"$W/events.py" <<'PYTHON'
import http.client
def get(path):
    c = http.client.HTTPConnection('127.0.0.1', 3128, timeout=20)
    c.request('GET', 'http://203.0.113.2:8301' + path)
    return c.getresponse()
r = get('/events')
while line := r.readline().strip() or r.readline().strip():
    print(line.decode())
    if line == b'data: end':
        break
    get('/ack?' + line.decode()[6:]).read()
PYTHON
client /usr/bin/python3 events.py
is "$out" "data: 0
data: 1
data: 2
data: 3
data: 4
data: end" "$who: events arrive as they happen"

cat >"$W/ws.py" <<'PYTHON'
import os, socket
def need(s, n):
    got = b''
    while len(got) < n:
        data = s.recv(n - len(got))
        if not data:
            raise EOFError
        got += data
    return got
def frame(kind, data):
    mask = os.urandom(4)
    return bytes([0x80 | kind, 0x80 | len(data)]) + mask + \
        bytes(c ^ mask[i % 4] for i, c in enumerate(data))
s = socket.create_connection(('127.0.0.1', 3128))
s.settimeout(20)
s.sendall(b'GET http://203.0.113.2:8301/socket HTTP/1.1\r\n'
          b'Host: 203.0.113.2:8301\r\nUpgrade: websocket\r\n'
          b'Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n'
          b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n')
head = b''
while not head.endswith(b'\r\n\r\n'):
    head += need(s, 1)
print(b's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' in head)
for word in (b'hello', b'again'):
    s.sendall(frame(1, word))
    a, n = need(s, 2)
    print(need(s, n).decode())
s.sendall(frame(8, b''))
print(s.recv(1))
PYTHON
client /usr/bin/python3 ws.py
is "$out" "True
HELLO
AGAIN
b''" "$who: a WebSocket"

# What was refused, by whatever way one asks.
echo x >"$W/secret"
before=$("$TESTS/world/world-count" queries)
client sh -c 'curl -sS http://fence.internal/
	curl -sS -o /dev/null http://denied.test/
	curl -sS --noproxy "*" http://name.denied.test/
	cat secret
	for way in "" "--noproxy *" "-x socks5h://127.0.0.1:1080" -p; do
		set -f
		curl -sS $way http://fence.internal/ >page.$((n += 1))
	done
	curl -sS -H "Accept: application/json" http://fence.internal/ >page.json
	curl -sS http://fence.internal:81/; curl -sS https://fence.internal/'
is "$("$TESTS/world/world-count" queries)" "$before" "$who: nobody is asked"
like "$out" '^fence: nothing was refused in this run' "$who: at first, nothing"
like "$(cat "$W/page.1")" 'GET     403 denied.test[^
]*curl\[[0-9]+\]
  rule:  network.allowedDomains [^
]*p.json:2:[0-9]+
  allow: network.allowedDomains \+= "denied.test"' "$who: a refused request"
like "$(cat "$W/page.1")" 'query\(name.denied.test, A' "$who: a refused name"
like "$(cat "$W/page.1")" 'secret", read\) EACCES.*
  rule:  filesystem.denyRead\[0\]' "$who: a refused file"
for n in 2 3 4; do
	is "$(cat "$W/page.$n")" "$(cat "$W/page.1")" \
	    "$who: the same without a proxy, by SOCKS, by a tunnel: $n"
done
is "$(/usr/bin/python3 -c 'import json, sys
for r in json.load(open(sys.argv[1]))["refusals"]: print(r["remedy"])' \
    "$W/page.json" | grep allowedDomains | sort)" \
    'network.allowedDomains += "denied.test"
network.allowedDomains += "name.denied.test"' "$who: and as JSON"
unlike "$err" 'fence.internal.*rule' "$who: asking is not refused"
exit 0
