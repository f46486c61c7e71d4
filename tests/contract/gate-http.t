#!/usr/bin/env bash
# Plain HTTP by the proxy as programs use it: uploads that wait for a word,
# trailers, events as they happen, WebSockets; and at http://fence.internal/
# what was refused.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
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
connections = 0
async def count(r, w, head):
    body = await chunked(r) if b'chunked' in head.lower() else (b'', b'')
    text = b'connection %d, %d bytes\n' % (connections, len(body[0]))
    w.write(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % len(text))
    if not head.startswith(b'HEAD'):
        w.write(text)
    return True
async def empty(r, w, head):
    w.write(b'HTTP/1.1 204 No Content\r\nX-Seen: 1\r\n\r\n')
    return True
async def same(r, w, head):
    w.write(b'HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n')
    return True
async def old(r, w, head):
    w.write(b'HTTP/1.0 200 OK\r\n\r\nup to the end\n')
seen = {}
paths = {b'/expect': expect, b'/refuse': refuse, b'/trailer': trailer,
         b'/events': events, b'/ack': ack, b'/socket': socket, b'/head': head,
         b'/count': count, b'/empty': empty, b'/same': same, b'/old': old}
async def serve(r, w):
    global connections
    connections += 1
    try:
        keep = True
        while keep:
            head = await r.readuntil(b'\r\n\r\n')
            path = head.split(b' ')[1].split(b'?')[0]
            keep = await paths[path](r, w, head)
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
        pass
    w.close()
async def main():
    await asyncio.start_server(serve, '203.0.113.2', 8301)
    log('ready')
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
start_origin
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
          b'Transfer-Encoding: chunked\r\nTrailer: X-Mine\r\n'
          b'Connection: close\r\n\r\n'
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

# One connection of the client's, and as few of ours as can be.
head -c 10000000 /dev/zero >"$W/big"
cat >"$W/keep.py" <<'PYTHON'
import http.client, json
c = http.client.HTTPConnection('127.0.0.1', 3128, timeout=60)
def ask(method, path, host='203.0.113.2:8301', **kw):
    c.request(method, 'http://' + host + path, **kw)
    r = c.getresponse()
    body = r.read()
    print(r.status, len(body) if method == 'HEAD' else body.decode().strip(),
          'kept' if c.sock else 'closed')
ask('GET', '/count')
ask('GET', '/count')
ask('HEAD', '/count')
ask('GET', '/empty')
ask('GET', '/same')
ask('GET', '/', host='denied.test')
ask('GET', '/', host='denied.test', headers={'Accept': 'application/json'})
ask('GET', '/count')
with open('big', 'rb') as f:
    ask('POST', '/count', body=f, encode_chunked=True,
        headers={'Transfer-Encoding': 'chunked'})
ask('GET', '/old')
PYTHON
client /usr/bin/python3 keep.py
n=$(printf '%s' "$out" | sed -n 's/^200 connection \([0-9]*\),.*/\1/p' | head -1)
is "$(printf '%s' "$out" | sed "s/connection $n,/connection N,/
    s/connection $((n + 1)),/connection N+1,/
    s/connection $((n + 2)),/connection N+2,/; s|[^ ]*p.json:2:33|p.json:2|")" \
    "200 connection N, 0 bytes kept
200 connection N, 0 bytes kept
200 0 kept
204  kept
304  kept
403 fence: denied.test:80: not allowed by the policy
reason: no entry of network.allowedDomains matches
rule: network.allowedDomains p.json:2
allow: network.allowedDomains += \"denied.test\" kept
403 {\"error\": \"blocked\",\"detail\": \"denied.test:80: not allowed by\
 the policy\",\"reason\": \"no entry of network.allowedDomains matches\",\
\"rule\": \"network.allowedDomains p.json:2\",\"remedy\":\
 \"network.allowedDomains += \\\"denied.test\\\"\"} kept
200 connection N+1, 0 bytes kept
200 connection N+2, 10000000 bytes kept
200 up to the end closed" "$who: one connection, each request decided anew"
client curl -svm 20 "$url/count" "$url/count" http://denied.test/ \
    http://allowed.test/bytes/7 "$url/count"
is "$(printf '%s\n' "$err" | grep -c 'Established connection\|) port 3128')" \
    1 "$who: curl needs one connection"
is "$(printf '%s\n' "$err" |
    grep -c 'Re-using existing\|Reusing existing')" 4 "$who: and says so"
like "$out" 'not allowed by the policy' "$who: though one was refused"
client curl -sS -m 20 -0 "$url/count"
like "$out" '^connection [0-9]+, 0 bytes$' "$who: HTTP/1.0"
client curl -sS -m 60 -T big -H 'Transfer-Encoding: chunked' "$url/count"
like "$out" '^connection [0-9]+, 10000000 bytes$' "$who: a chunked upload"
client curl -sSi -m 20 "$url/empty"
like "$out" '204 No Content.*X-Seen: 1' "$who: no content is none"

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

# One that asks on and on; others are answered as before.
cat >"$W/loop.py" <<'PYTHON'
import socket, subprocess
def ask(host):
    with socket.create_connection(('127.0.0.1', 3128)) as s:
        s.settimeout(20)
        s.sendall(b'CONNECT ' + host + b':443 HTTP/1.1\r\n\r\n')
        return s.recv(4000)[9:12].decode() or 'end'
# At most 20 by this process, and 20 while nobody had time to look whose.
asked = [ask(b'loop.denied.test')]
while asked[-1] == '403' and len(asked) < 50:
    asked.append(ask(b'loop.denied.test'))
print(len(asked) > 20, *sorted(set(asked)))
print(ask(b'other.denied.test'))
print(subprocess.run(['curl', '-sS', '-o', '/dev/null', '-w',
    '%{http_connect}', 'https://loop.denied.test/'], text=True,
    capture_output=True).stdout)
PYTHON
client /usr/bin/python3 loop.py
is "$out" "True 403 end
403
403" "$who: the same refusal again and again gets no answer"

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
