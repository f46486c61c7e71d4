#!/usr/bin/env bash
# The resolver inside: stable addresses for allowed names and nothing else of
# them, no such name for others, with the reason; by UDP, by TCP, and whoever
# a program thinks it asks.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test", "*.wild.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
queries() {
	"$TESTS/world/world-count" queries
}
before=$(queries)
cat >"$W/ask" <<'SH'
q() { dig +tries=1 +time=5 "$@"; }
code() { sed -n 's/.*status: \([A-Z]*\),.*/\1/p'; }
for way in "" +tcp +noedns @8.8.8.8 @192.0.2.53 @2001:4860:4860::8888 \
    "+tcp @1.1.1.1"; do
	echo "$(q $way +short allowed.test)" >>same
done
q +short allowed.test a.wild.test b.wild.test | sort -u | wc -l
for type in AAAA MX TXT HTTPS SVCB NS SRV ANY CAA; do
	q allowed.test $type | grep -cE 'status: NOERROR|ANSWER: 0|IN.SOA' |
	    tr '\n' ' '
done
echo
q denied.test >denied
q +tcp denied.test MX | code
q +noedns denied.test | grep -c EDE
q +short -x "$(q +short allowed.test)"
q -x 198.18.200.200 | code
q -x 192.0.2.1 | code
q +short localhost
q +short x.localhost
q localhost AAAA | code
q version.bind TXT CH | code
q +edns=1 +noednsneg allowed.test | code
getent ahostsv4 allowed.test | head -1 | cut -d' ' -f1 >>same
sort -u same | wc -l
SH
fence "$who" -m --settings "$T/p.json" -- sh ask
is "$out" "3
3 3 3 3 3 3 3 3 3 
NXDOMAIN
0
allowed.test.
NXDOMAIN
NXDOMAIN
127.0.0.1
127.0.0.1
NOERROR
REFUSED
BADVERS
1" "$who: what a resolver answers"
like "$(cat "$W/same")" '^198\.1[89]\.' "$who: an address of the gate's"
like "$(cat "$W/denied")" 'status: NXDOMAIN' "$who: a denied name is none"
like "$(cat "$W/denied")" 'EDE: 15 \(Blocked\).*network.allowedDomains' \
    "$who: and the rule is told to who can hear it"
like "$(cat "$W/denied")" 'SOA.fence.internal' "$who: for a minute"
is "$(queries)" "$before" "$who: nobody outside is asked"
unlike "$err" localhost "$who: localhost is nobody's business"

# Data in names: refused like any other, and told as what it looks like.
fence "$who" -m --trace-file "$T/trace" --settings "$T/p.json" -- sh -c '
	for i in $(seq 60); do echo "chunk$i.evil.example A"; done >names
	echo aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd.worse.example A >>names
	for i in $(seq 10); do echo "www$i.plain.example A"; done >>names
	dig +tries=1 +time=5 +short -f names'
is "$(grep -c 'look like data' <<<"$err")" 2 "$who: two domains look bad"
like "$err" 'names below evil.example look like data carried out' "$who: by number"
like "$err" 'names below worse.example look like data' "$who: by length"
"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
    "$T/trace" >"$T/valid" 2>&1
ok $? "$who: valid by the schema: $(cat "$T/valid")"
is "$(queries)" "$before" "$who: and nothing left"

# A wildcard's names use up their share of the addresses, and no more: what
# the policy spells out is still answered, also where it was not asked before.
cat >"$W/fill.py" <<'PYTHON'
import socket, struct
with open('/etc/resolv.conf') as f:
    server = [l.split()[1] for l in f if l.startswith('nameserver')][0]
s = socket.create_connection((server, 53))
f = s.makefile('rb')
def ask(name, number):
    words = b''.join(bytes([len(w)]) + w.encode() for w in name.split('.'))
    q = struct.pack('>6H', number, 0x100, 1, 0, 0, 0) + words + b'\0\0\1\0\1'
    return struct.pack('>H', len(q)) + q
def code():
    return f.read(struct.unpack('>H', f.read(2))[0])[3] & 15
def codes(names):
    s.sendall(b''.join(ask(n, i) for i, n in enumerate(names)))
    return {code() for _ in names}
for i in range(2000):
    got = codes([f'n{i}-{k}.wild.test' for k in range(100)])
    if got != {0}:
        break
print(i > 100, got)
print('again', codes(['n0-0.wild.test']), 'new', codes(['new.wild.test']))
print('entry', codes(['allowed.test']))
PYTHON
fence "$who" -m --settings "$T/p.json" -- sh -c '/usr/bin/python3 fill.py &&
    curl -sS http://allowed.test/'
like "$out" "True \{(0, )?2\}
again \{0\} new \{2\}
entry \{0\}
http allowed.test" "$who: a name of the policy has an address, whatever else has"
is "$(grep -c 'wildcards are used up' <<<"$err")" 1 "$who: told once"
exit 0
