#!/usr/bin/env bash
# What a name may lead to: an allowed name that resolves to a place no name
# may lead to is refused with the kind of place; the same name at a public
# address passes.  A dead address or a dead resolver costs its own connection
# and no other.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
cat >"$T/p.json" <<'POLICY'
{
	"network": {
		"allowedDomains": ["*.addr.test", "*.dead.test", "dual.test",
			"*.dead2.test", "hosts.test", "rogue.test",
			"allowed.test"]
	},
	"filesystem": { "allowWrite": ["."] }
}
POLICY

# Address, as the world's names spell it, and what is said of it.
rows='
00000000 an unspecified address
7f000001 a loopback address
7f010203 a loopback address
a9fe0101 a link-local address
a9fea9fe a cloud metadata address
64646ac8 a private address
646464c8 a cloud metadata address
0a010203 a private address
ac100001 a private address
ac1fffff a private address
c0a80001 a private address
64400001 a private address
c0000001 a reserved address
e00000fb a multicast address
ffffffff a reserved address
f0000001 a reserved address
cb007102 an address of this machine
00000000000000000000000000000000 an unspecified address
00000000000000000000000000000001 a loopback address
fe800000000000000000000000000001 a link-local address
fd000ec2000000000000000000000254 a cloud metadata address
fc000000000000000000000000000001 a private address
fd123456000000000000000000000001 a private address
fec00000000000000000000000000001 a private address
ff0200000000000000000000000000fb a multicast address
20010db8000100000000000000000002 an address of this machine
00000000000000000000ffff7f000001 a loopback address
00000000000000000000ffff0a010203 a private address
00000000000000000000ffffcb007102 an address of this machine
0000000000000000000000007f000001 a loopback address
0064ff9b0000000000000000 7f000001 a loopback address
0064ff9b0000000000000000 a9fea9fe a cloud metadata address
0064ff9b0000000000000000 cb007102 an address of this machine
0064ff9b000100000000000000000001 a reserved address
20027f00000100000000000000000001 a loopback address
20020a01020300000000000000000001 a private address
2002cb00710200000000000000000001 an address of this machine
20010000000000000000000000000001 a reserved address
'
rows=$(sed 's/^\(0064ff9b0000000000000000\) /\1/; /^$/d' <<<"$rows")
mapfile -t addresses < <(cut -d' ' -f1 <<<"$rows")
urls=("${addresses[@]/%/.addr.test/}")
fence "$who" -m --settings "$T/p.json" -- curl -sS -m 20 "${urls[@]}" \
    http://c633640a.addr.test/ \
    http://20010db8000000000000000000000010.addr.test/ \
    http://hosts.test/ http://rogue.test/
like "$out" 'http allowed.test.http allowed.test.http allowed.test' \
    "$who: names at public addresses are reached, and those of /etc/hosts"
is "$(grep -c 'http allowed.test' <<<"$out")" 3 "$who: and no others"
while read -r address class; do
	like "$err" "$address\.addr\.test resolves to $class" \
	    "$who: $address: $class"
	like "$out" "reason: $address\.addr\.test resolves to $class" \
	    "$who: $address: told to the program, too"
done <<<"$rows"
like "$err" 'rogue.test resolves to a loopback address' \
    "$who: /etc/hosts is judged, too"

# A place no name may lead to may be named itself, in any spelling.
cat >"$T/literal.json" <<'POLICY'
{
	"network": {
		"allowedDomains": ["127.0.0.1:8501", "10.1.2.3", "private.test"]
	},
	"filesystem": { "allowWrite": ["."] }
}
POLICY
cat >"$T/here.py" <<'PYTHON'
import http.server, sys
class Here(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'here\n')
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(('127.0.0.1', 8501), Here)
open(sys.argv[1], 'w').close()
s.serve_forever()
PYTHON
/usr/bin/python3 "$T/here.py" "$T/here" &
here=$!
trap 'kill "$here"' EXIT
wait_for 20 test -e "$T/here"
cat >"$W/spell.py" <<'PYTHON'
import http.client, sys
for host in sys.argv[1:]:
    c = http.client.HTTPConnection('127.0.0.1', 3128, timeout=20)
    c.putrequest('GET', f'http://{host}/', skip_host=True)
    c.putheader('Connection', 'close')
    c.endheaders()
    r = c.getresponse()
    print(r.status, r.read().decode().split('\n')[0])
PYTHON
fence "$who" --settings "$T/literal.json" -- /usr/bin/python3 spell.py \
    127.0.0.1:8501 127.1:8501 0x7f.1:8501 2130706433:8501 0177.0.0.1:8501 \
    '[::ffff:127.0.0.1]:8501' 127.0.0.1.:8501
is "$(sort <<<"$out" | uniq -c | tr -s ' ')" " 7 200 here" \
    "$who: a literal that is named, in every spelling"
fence "$who" --settings "$T/literal.json" -- /usr/bin/python3 spell.py \
    127.0.0.1:8502 127.0.0.2:8501 localhost:8501 '[::1]:8501' 2130706434:8501
is "$(cut -d' ' -f1 <<<"$out" | sort | uniq -c | tr -s ' ')" " 5 403" \
    "$who: and no other port, address or name of it"
fence "$who" --settings "$T/literal.json" -- sh -c 'NO_PROXY= no_proxy= \
    curl -sS http://127.0.0.1:8501/; curl -sS http://10.1.2.3/
    curl -sS --noproxy "*" http://10.1.2.3/; curl -sS http://private.test/'
is "$(sed "s/^http.*/there/" <<<"$out")" "here
there
there
there" "$who: an address that is private is reached once it is named"

# One name, now here, now there; by proxy and by the transparent gate.
fence "$who" --settings "$T/p.json" -- sh -c '
	for i in 1 2 3 4 5 6; do
		curl -sS -o /dev/null -w "%{http_code}\n" http://flip.addr.test/
	done | sort | uniq -c
	for i in 1 2 3 4 5 6; do
		curl -sS --noproxy "*" http://flip.addr.test/ 2>/dev/null
	done'
is "$(tr -s ' ' <<<"$out" | tr '\n' ';')" \
    " 3 200; 3 403;http allowed.test;http allowed.test;http allowed.test;" \
    "$who: a name that changes its mind is judged each time"

# Dead IPv6 beside live IPv4.
fence "$who" --settings "$T/p.json" -- curl -sS -m 8 \
    -w '%{time_total} s\n' http://dual.test/
like "$out" '^http allowed.test' "$who: a dead IPv6 address does not stop it"
note "$who: dual-stack with a dead IPv6 address: $(tail -1 <<<"$out")"

# A name nobody answers for is refused in the end; met beside the rest.
start "$who" "$FENCE_RUN" -m --settings "$T/p.json" -- curl -sS -m 60 \
    -w '\n%{http_code}' http://late.dead.test/ >"$T/late" 2>"$T/late.err"
late=$pid

# Eighty names nobody answers for, and one that is alive.
cat >"$W/dead.sh" <<'DEAD'
for i in $(seq 40); do
	curl -s -o /dev/null "http://x$i.dead.test/" &
	curl -s -o /dev/null "http://x$i.dead2.test/" &
done
until [ "$(grep -c :0C38 /proc/net/tcp)" -ge 80 ]; do :; done
curl -sS -m 20 -w '%{time_total} s\n' http://allowed.test/
curl -sS -m 20 http://c633640a.addr.test/
echo "$(jobs -r | wc -l) still wait"
kill $(jobs -pr)
DEAD
fence "$who" --settings "$T/p.json" -- bash dead.sh
like "$out" 'http allowed.test.*http allowed.test' \
    "$who: eighty dead names stop no living one"
note "$who: beside eighty dead names: $(sed -n 2p <<<"$out")"
# Thirty-two are looked up at a time.  On a busy machine the first of them are
# given up before the last has begun; in a queue behind them all would be.
like "$out" '(49|[5-7][0-9]|80) still wait' \
    "$who: nor do they make it wait for them"
wait "$late"
like "$(cat "$T/late")" 'does not resolve.*502$' "$who: a name nobody answers for is refused"
like "$(cat "$T/late.err")" '! GET     502 late.dead.test' "$who: and told"
exit 0
