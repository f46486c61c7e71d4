#!/usr/bin/env bash
# The SOCKS5 proxy: by name and by address, the code of each refusal, a name
# that is asked of nobody before the verdict, and what else a client may try.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
cat >"$T/p.json" <<'POLICY'
{
	"network": {
		"allowedDomains": ["allowed.test", "*.wild.test", "missing.example",
		    "198.51.100.20", "2001:db8::20", "loop.test", "denied.test:7"]
	},
	"filesystem": { "allowWrite": ["."] }
}
POLICY
client() {	# client CMD…
	fence "$who" --settings "$T/p.json" -- "$@"
}
queries() {
	"$TESTS/world/world-count" queries
}
socks=socks5h://127.0.0.1:1080

client env -u HTTP_PROXY -u http_proxy -u HTTPS_PROXY -u https_proxy \
    ALL_PROXY="$socks" \
    curl -sS http://allowed.test/ https://a.b.wild.test/
is "$out" "http allowed.test
https wild.test" "$who: curl by ALL_PROXY alone"
for scheme in http https; do
	client curl -sS -x "$socks" "$scheme://allowed.test/"
	is "$out" "$scheme allowed.test" "$who: by name, $scheme"
	client curl -sS -x socks5://127.0.0.1:1080 "$scheme://allowed.test/"
	is "$out" "$scheme allowed.test" \
	    "$who: a client that resolves first, $scheme"
done
client curl -sS -x "$socks" http://198.51.100.20/ 'http://[2001:db8::20]/'
is "$out" "http denied.test
http denied.test" "$who: by address, IPv4 and IPv6"
client curl -sS -x socks5h://u:secret@127.0.0.1:1080 http://allowed.test/
is "$out" "http allowed.test" "$who: with a password nobody asked for"
client sh -c 'echo hello | nc -N -X 5 -x 127.0.0.1:1080 allowed.test 7'
is "$out" hello "$who: nc, to a port that is no web"
client curl -sS -x "$socks" http://allowed.test/bytes/3000000 -o big
is "$(wc -c <"$W/big")" 3000000 "$who: three megabytes arrive whole"

# One start, one request a row: the code of the reply.
cat >"$W/codes.py" <<'PYTHON'
import socket, struct, sys
kept = []	# who hangs up at once may not be found any more
def ask(greeting, request):
    s = socket.create_connection(('127.0.0.1', 1080))
    kept.append(s)
    s.settimeout(10)
    s.sendall(greeting + request)
    got = b''
    try:
        while data := s.recv(100):
            got += data
            if got[:2] == b'\5\0' and len(got) >= 12 and got[3] == 0:
                break
    except OSError as e:
        got += b' ' + type(e).__name__.encode()
    return got
def name(n, port, cmd=1):
    return struct.pack('!BBBBB', 5, cmd, 0, 3, len(n)) + n + \
        struct.pack('!H', port)
for row in ((b'\5\1\0', name(b'allowed.test', 80)),
            (b'\5\1\0', name(b'secret.denied.test', 80)),
            (b'\5\1\0', name(b'denied.test', 80)),
            (b'\5\1\0', name(b'denied.test', 7)),
            (b'\5\1\0', name(b'missing.example', 80)),
            (b'\5\1\0', name(b'allowed.test', 81)),
            (b'\5\1\0', name(b'loop.test', 80)),
            (b'\5\1\0', name(b'bad name', 80)),
            (b'\5\1\0', name(b'allowed.test\0.wild.test', 80)),
            (b'\5\1\0', name(b'allowed.test\r\nX: y', 80)),
            (b'\5\1\0', name(b'fe80::1%lo', 80)),
            (b'\5\1\0', name(b'a.' * 123 + b'wild.test', 80)),
            (b'\5\1\0', name(b'%61llowed.test', 80)),
            (b'\5\1\0', b'\5\1\0\1\xc0\0\2\1\0\x50'),
            (b'\5\1\0', name(b'allowed.test', 80, 2)),
            (b'\5\1\0', name(b'allowed.test', 80, 3))):
    got = ask(*row)
    print(got[3] if got[:2] == b'\5\0' and len(got) == 12 else got)
print(ask(b'\5\1\1', b''))
print(ask(b'\4\1\0\x50\xc6\x33\x64\x0au\0', b''))
print(ask(b'\4\1\0\x50\0\0\0\1u\0allowed.test\0', b''))
print(ask(b'GET http://allowed.test/ HTTP/1.1\r\n\r\n', b'')[:12])
# Once this has its answer, all before it was heard of.
print(ask(b'\5\1\0', name(b'denied.test', 80))[3])
PYTHON
before=$(queries)
calls=$("$TESTS/world/world-count" of wild.test)
fence "$who" -m --settings "$T/p.json" -- /usr/bin/python3 codes.py
is "$out" "0
2
2
0
4
5
2
2
1
1
2
2
2
2
7
7
b'\\x05\\xff'
b'\\x00[\\x00\\x00\\x00\\x00\\x00\\x00'
b'\\x00[\\x00\\x00\\x00\\x00\\x00\\x00'
b'HTTP/1.1 501'
2" "$who: each refusal has its code"
is "$("$TESTS/world/world-count" of wild.test)" "$calls" \
    "$who: what is no name is called by none"
like "$err" '\[fence:socks\] [0-9:]+ ✗ CONNECT secret.denied.test:80 BLOCKED  .*python3\[[0-9]+\] \| rule network.allowedDomains .*allow: network.allowedDomains \+= "secret.denied.test"' \
    "$who: the record names process, rule and remedy"
like "$err" 'BIND or UDP ASSOCIATE[^
]*  python3\[[0-9]+\]' "$who: commands that are not offered are told, with who asked"
like "$err" 'malformed request  python3\[[0-9]+\]' "$who: and so is nonsense"
unlike "$err" '✗ CONNECT allowed.test' "$who: what was granted is not"
before=$(queries)
client curl -sS -x "$socks" http://tunnelled-secret.denied.test/
is "$status" 97 "$who: a denied name is refused"
is "$(queries)" "$before" "$who: and asked of nobody"
exit 0
