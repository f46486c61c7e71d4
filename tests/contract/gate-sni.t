#!/usr/bin/env bash
# The name in a TLS hello: whoever was let through to one host does not speak
# to another one there, by none of the ways in, nor in a second hello.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
policy() {	# policy NAME REST
	cat >"$T/$1.json" <<POLICY
{
	"network": { $2 },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
}
names='"allowed.test", "*.wild.test", "self.test", "203.0.113.2", "198.51.100.20"'
policy p "\"allowedDomains\": [$names]"
policy off "\"allowedDomains\": [$names], \"sni\": \"off\""
policy all '"allowedDomains": ["*"], "deniedDomains": ["denied.test"]'
client() {	# client POLICY CMD…
	local policy=$T/$1.json
	shift
	rm -f "$T/trace"
	fence "$who" -m --trace-file "$T/trace" --settings "$policy" -- "$@"
}
denied=--connect-to\ denied.test:443:allowed.test:443
wild=--connect-to\ a.wild.test:443:allowed.test:443
declare -A ways=([transparent]="--noproxy *" [connect]=""
    [socks]="-x socks5h://127.0.0.1:1080")
for way in "${!ways[@]}"; do
	set -f
	# shellcheck disable=SC2086 # lists of words
	client p curl -sS ${ways[$way]} https://allowed.test/
	is "$out" "https allowed.test" "$who: $way: the name that was dialled"
	# shellcheck disable=SC2086
	client p curl -sS ${ways[$way]} $wild https://a.wild.test/
	is "$out" "https allowed.test" "$who: $way: another that is allowed"
	# shellcheck disable=SC2086
	client p curl -sS -m 5 ${ways[$way]} $denied https://denied.test/
	is "$status" 35 "$who: $way: one that is not: refused"
	like "$err" 'alert access denied' "$who: $way: in the words of TLS"
	like "$err" 'tls\(denied.test\) on a connection to allowed.test:443  .*curl\[[0-9]+\] \| rule network.allowedDomains .*allow: network.allowedDomains \+= "denied.test"' \
	    "$who: $way: told with process, rule and remedy"
	# shellcheck disable=SC2086
	client off curl -sS ${ways[$way]} $denied https://denied.test/
	is "$out" "https allowed.test" "$who: $way: sni off: it passes"
	# An address may be called as one likes, but not by a denied name.
	# shellcheck disable=SC2086
	client p curl -sSk ${ways[$way]} https://198.51.100.20/
	is "$out" "https denied.test" "$who: $way: an address has no name"
	# shellcheck disable=SC2086
	client p curl -sSk ${ways[$way]} \
	    --connect-to x.test:443:198.51.100.20:443 https://x.test/
	is "$out" "https denied.test" "$who: $way: an address by any name"
	# shellcheck disable=SC2086
	client all curl -sS -m 5 ${ways[$way]} \
	    --connect-to denied.test:443:198.51.100.10:443 https://denied.test/
	is "$status" 35 "$who: $way: an address by a denied name: refused"
	set +f
done
is "$(denials "$T/trace" "" network.deniedDomains class_uid)" 2004 \
    "$who: a record of a finding"
is "$(denials "$T/trace" "" network.deniedDomains finding_info.title)" \
    "a TLS hello names another host" "$who: which says so"
"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
    "$T/trace" >"$T/valid" 2>&1
ok $? "$who: valid by the schema: $(cat "$T/valid")"

# No name at all passes; so do protocols whose server speaks first.
client p openssl s_client -connect allowed.test:443 -noservername -verify 4 \
    -brief </dev/null
like "$err" 'Verification: OK' "$who: a hello without a name passes"

# 8201 says hello first and echoes; 8202 asks every hello for a second one,
# and writes down what it gets.
cat >"$T/servers.py" <<'PYTHON'
import asyncio, sys
RETRY = bytes.fromhex('cf21ad74e59a6111be1d8c021e65b891'
                      'c2a211167abb8c5e079e09e2c8a8339c')
def log(line):
    with open(sys.argv[1], 'a') as f:
        f.write(line + '\n')
async def banner(r, w):
    w.write(b'220 ready\r\n')
    while data := await r.read(100):
        w.write(data.upper())
    w.close()
async def retry(r, w):
    body = b'\x02\0\0\x28\x03\x03' + RETRY + b'\0\x13\x01\0\0\0'
    got = await r.read(4000)
    w.write(b'\x16\x03\x03\0' + bytes([len(body)]) + body)
    log('first ' + repr(got))
    got = b''
    while len(got) < 60 and (data := await r.read(4000)):
        got += data
    log('second ' + repr(got))
    w.close()
async def main():
    for port, handler in ((8201, banner), (8202, retry)):
        await asyncio.start_server(handler, '203.0.113.2', port)
    log('ready')
    await asyncio.Event().wait()
asyncio.run(main())
PYTHON
: >"$T/log"
/usr/bin/python3 "$T/servers.py" "$T/log" 2>/dev/null &
servers=$!
trap 'kill "$servers" $tls' EXIT
tls=
wait_for 20 grep -q ready "$T/log"
ok $? "$who: servers are up"
client p sh -c '(sleep 0.2; printf mail) | nc -N self.test 8201'
is "${out//$'\r'/}" "220 ready
MAIL" "$who: a server that speaks first is not waited for"

cat >"$W/hello.py" <<'PYTHON'
import socket, sys
def hello(name):
    name = name.encode()
    ext = b'\0\0' + (len(name) + 5).to_bytes(2, 'big') + \
        (len(name) + 3).to_bytes(2, 'big') + b'\0' + \
        len(name).to_bytes(2, 'big') + name
    body = b'\x03\x03' + bytes(32) + b'\0\0\x02\x13\x01\x01\0' + \
        len(ext).to_bytes(2, 'big') + ext
    msg = b'\x01' + len(body).to_bytes(3, 'big') + body
    return b'\x16\x03\x01' + len(msg).to_bytes(2, 'big') + msg
s = socket.create_connection(('self.test', 8202))
s.settimeout(10)
# The second one is sent before anybody asked for it.
s.sendall(hello(sys.argv[1]) + b'\x14\x03\x03\0\1\1' + hello(sys.argv[2]))
got = b''
try:
    while data := s.recv(4000):
        got += data
except OSError as e:
    got += type(e).__name__.encode()
print(got[-7:])
PYTHON
client p /usr/bin/python3 hello.py self.test self.test
like "$(cat "$T/log")" 'second .*self.test' "$who: a second hello gets through"
: >"$T/log"
client p /usr/bin/python3 hello.py self.test evil.test
is "$out" "b'\\x15\\x03\\x03\\x00\\x02\\x021'" \
    "$who: a second hello by another name is refused"
unlike "$(cat "$T/log")" evil "$who: and never seen by the server"
like "$err" 'tls\(evil.test\) on a connection to self.test:8202' "$who: told"

# The same as real programs do it.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -subj /CN=self.test -keyout "$T/key" -out "$T/crt" 2>/dev/null
openssl s_server -accept 203.0.113.2:8203 -key "$T/key" -cert "$T/crt" \
    -groups P-384 -www >"$T/s_server" 2>&1 &
tls=$!
wait_for 20 grep -qs ACCEPT "$T/s_server"
client p sh -c 'openssl s_client -connect self.test:8203 -groups X25519:P-384 \
    -servername self.test -msg </dev/null'
is "$(grep -c '^>>> .*ClientHello' <<<"$out")" 2 \
    "$who: openssl and a server that asks for a second hello"
like "$out" 'New, TLSv1.3' "$who: they come to terms"
client p sh -c 'openssl s_client -connect self.test:8203 -tls1_2 \
    -servername self.test </dev/null'
like "$out" 'New, TLSv1.2' "$who: TLS 1.2"
exit 0
