#!/usr/bin/env bash
# Clients that know proxies and clients that do not: allowed names answer,
# a denied one fails at once.  `timeout 1` is the second of the promise.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
W=$T
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test", "*.wild.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
client() {	# client CMD…
	fence "$who" --settings "$T/p.json" -- "$@"
}
off=(env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY
    -u all_proxy -u ALL_PROXY)

for scheme in http https; do
	client curl -sS "$scheme://allowed.test/"
	is "$out" "$scheme allowed.test" "$who: curl, proxy variables, $scheme"
	client "${off[@]}" curl -sS "$scheme://allowed.test/"
	is "$out" "$scheme allowed.test" "$who: curl, none, $scheme"
	client curl -sS --noproxy '*' "$scheme://a.b.wild.test/"
	is "$out" "$scheme wild.test" "$who: curl, wildcard, $scheme"
	client curl -sS --noproxy '*' --max-time 1 "$scheme://denied.test/"
	is "$status" 6 "$who: curl, none, $scheme: denied.test has no address"
	client curl -sS --noproxy '*' --max-time 1 "$scheme://wild.test/"
	is "$status" 6 "$who: curl: the apex is not in the wildcard"
	client "$PROBES/goclient" "$scheme://allowed.test/"
	is "$out" "200 OK" "$who: static Go, $scheme"
	client timeout 1 "$PROBES/goclient" "$scheme://denied.test/"
	is "$status" 1 "$who: static Go, $scheme, denied: fails in time"
done
client curl -sS -o /dev/null -w '%{http_code}' --max-time 1 http://denied.test/
is "$out" 403 "$who: curl, proxy variables, http, denied: 403"
client curl -sS -o /dev/null -w '%{http_connect}' --max-time 1 \
    https://denied.test/
is "$out" 403 "$who: curl, proxy variables, https, denied: 403"
client curl -sS -i http://denied.test/
like "$out" 'X-Fence-Error: blocked by network.allowedDomains' \
    "$who: the 403 says who refused, and by which list"
client curl -sS -v -o /dev/null https://denied.test/
like "$err" '< X-Fence-Error: blocked by network.allowedDomains' \
    "$who: also where a tunnel was asked for"

client curl -sS --max-time 1 https://denied.test/
is "$status" 56 "$who: which curl calls a tunnel that failed"
like "$err" 'response 403' "$who: and says why"
client env -i /usr/bin/curl -sS http://allowed.test/
is "$out" "http allowed.test" "$who: curl, no variable at all"
client env -i /usr/bin/curl -sS --max-time 1 http://denied.test/
is "$status" 6 "$who: curl, no variable at all, denied"
client curl -sS --max-time 1 http://198.51.100.20/
like "$out" '198.51.100.20:80: not allowed by the policy' \
    "$who: an address by the proxy"
client curl -sS --noproxy '*' --max-time 1 http://198.51.100.20/
is "$status" 7 "$who: and without"
client busybox wget -q -Y off -O - http://allowed.test/
is "$out" "http allowed.test" "$who: busybox-static wget"
client busybox wget -q -O - http://allowed.test/
is "$out" "http allowed.test" "$who: busybox-static wget, proxy variables"
client timeout 1 busybox wget -q -Y off -O - http://denied.test/
is "$status" 1 "$who: busybox-static wget, denied: fails in time"

client "$PROBES/rawclient" allowed.test 80
is "$out" "HTTP/1.1 200 OK" "$who: raw system calls"
client timeout 1 "$PROBES/rawclient" denied.test 80
is "$status" 1 "$who: raw system calls, denied: fails in time"

client sh -c 'echo hello | nc -N allowed.test 7'
is "$out" hello "$who: nc to a port that is no web"
client curl -sS http://allowed.test/bytes/3000000 -o big
is "$(wc -c <"$W/big")" 3000000 "$who: three megabytes arrive whole"
before=$("$TESTS/world/world-count" queries)
client curl -sS --noproxy '*' --max-time 1 http://secret.denied.test/
is "$("$TESTS/world/world-count" queries)" "$before" \
    "$who: a denied name is asked of nobody"
exit 0
