#!/usr/bin/env bash
# --dry-run prints the plan and starts nothing.
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	W=$(workspace "$who")
	fence "$who" --dry-run -- touch ran
	is "$status" 0 "$who: exit 0"
	like "$out" "$W" "$who: the plan names the workspace"
	like "$out" '/proc' "$who: and /proc"
	[ ! -e "$W/ran" ]
	ok $? "$who: nothing ran"
	# Sockets of others, which are hidden, come and go meanwhile.
	first=$(grep -v "a socket of the host's" <<<"$out")
	fence "$who" --dry-run -- touch ran
	is "$(grep -v "a socket of the host's" <<<"$out")" "$first" \
	    "$who: the same policy makes the same plan"
	echo '{ "network": 1 }' >"$T/bad.json"
	chmod 644 "$T/bad.json"
	fence "$who" --dry-run --settings "$T/bad.json" -- touch ran
	is "$status" 1 "$who: a bad policy is exit 1 here too"
	like "$err" 'bad\.json:1:' "$who: with its place"
done
finish
