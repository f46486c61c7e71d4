#!/usr/bin/env bash
# Everything denied: the far side hears nothing at all.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
W=$T
cat >"$T/noise" <<'NOISE'
curl -fsS --max-time 2 http://allowed.test/
curl -fsS --max-time 2 --noproxy '*' https://allowed.test/
dig +tries=1 +time=1 @8.8.8.8 allowed.test
dig +tries=1 +time=1 @203.0.113.1 allowed.test
dig +tries=1 +time=1 +tcp @203.0.113.1 allowed.test
getent ahosts allowed.test
echo x | nc -u -w1 198.51.100.10 7
echo x | nc -w1 198.51.100.10 7
ping -c1 -W1 198.51.100.10
ping -6 -c1 -W1 2001:db8::10
curl -fsS --max-time 2 --noproxy '*' -g 'http://[2001:db8::10]/'
curl -fsS --max-time 2 -g 'http://[2001:db8::10]/'
curl -fsS --max-time 2 --noproxy '*' http://169.254.169.254/
curl -fsS --max-time 2 http://169.254.169.254/
curl -fsS --max-time 2 --noproxy '*' http://203.0.113.1/
timeout 3 busybox wget -q -Y off -O - http://198.51.100.10/
wget -q -t1 -T2 -O - http://allowed.test/
wget -q -t1 -T2 --no-proxy -O - https://allowed.test/
ssh -F none -o BatchMode=yes -o ConnectTimeout=2 nobody@allowed.test
ssh -F none -o BatchMode=yes -o ConnectTimeout=2 nobody@198.51.100.10
timeout 3 bash -c 'echo x >/dev/tcp/allowed.test/7'
timeout 3 bash -c 'echo x >/dev/tcp/198.51.100.10/7'
timeout 3 bash -c 'echo x >/dev/udp/198.51.100.10/7'
exit 0
NOISE
echo '{ "filesystem": { "allowWrite": ["."] } }' >"$T/p.json"

while IFS= read -r line; do
	[ "$line" != "exit 0" ] || continue
	fence "$who" --settings "$T/p.json" -- sh -c "$line"
	case $line in
	dig*)	unlike "$out" $'\t198\\.51' "$who: no answer to $line" ;;
	*nc\ -u*) is "$out" "" "$who: no answer to $line" ;;
	*)	unlike "$status" '^0$' "$who: fails: $line" ;;
	esac
done <"$T/noise"
is "$("$TESTS/world/world-count" packets)" 0 "$who: not one packet" ||
    note "$("$TESTS/world/world-count" seen)"
is "$("$TESTS/world/world-count" queries)" 0 "$who: not one query"
fence "$who" -- sh "$T/noise"
is "$status" 0 "$who: the same under the built-in policy"
is "$("$TESTS/world/world-count" packets)" 0 "$who: not one packet either" ||
    note "$("$TESTS/world/world-count" seen)"
sh "$T/noise" >"$T/log" 2>&1
[ "$("$TESTS/world/world-count" packets)" -gt 30 ]
ok $? "$who: without fence the same is heard"
exit 0
