#!/usr/bin/env bash
# The world itself, without fence: what it offers is there, and it counts.
. "$(dirname "$0")/../lib.sh"

count() {
	"$TESTS/world/world-count" "$1"
}

if [ "${1-}" = inside ]; then
	who=$2
	is "$(count packets) $(count queries)" "0 0" "$who: silent at first"
	is "$(curl -sS https://allowed.test/ 2>&1)" "https allowed.test" "$who: https"
	is "$(curl -sS http://denied.test/ 2>&1)" "http denied.test" "$who: http"
	is "$(curl -sS6 https://a.b.wild.test/ 2>&1)" "https wild.test" "$who: v6, wildcard"
	is "$(dig +short +tcp allowed.test)" 198.51.100.10 "$who: DNS over TCP"
	is "$(dig +short nowhere.test)" "" "$who: unknown names are unknown"
	is "$(echo hi | nc -N allowed.test 7)" hi "$who: echo"
	is "$(curl -sS http://169.254.169.254/ 2>&1)" "http 169.254.169.254" \
	    "$who: the metadata trap answers"
	[ "$(count packets)" -gt 20 ] && [ "$(count queries)" -gt 5 ]
	ok $? "$who: packets and queries are counted"
	before=$(count packets)
	dig +tries=1 +time=1 @8.8.8.8 allowed.test >"$T/dig"
	[ "$(count packets)" -eq $((before + 1)) ]
	ok $? "$who: to the packet"
	like "$(count seen)" 'proto 17 to 203.0.113.1 port 53' "$who: by destination"
	if [ "$who" = user ]; then
		like "$(grep CapEff /proc/self/status)" '0000000000000000' \
		    "$who: no capability"
		unlike "$(id -u)" '^0$' "$who: not uid 0"
	fi
	exit 0
fi
for who in $WHOS; do
	inside "$who"
	in_world "$who" sh -c 'exit 7'
	is $? 7 "$who: the status comes back"
done
# An ordinary user makes a world too, by way of a user namespace.
as user "$TESTS/world/world" -- curl -sS https://allowed.test/ >"$T/own" 2>&1
is "$(cat "$T/own")" "https allowed.test" "user: a world of one's own"
finish
