#!/usr/bin/env bash
# fence hooks guide: a section for AGENTS.md, which works when it is followed.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

for who in $WHOS; do
	W=$(workspace "$who")
	O=$(workspace "$who")	# outside, and the user's own
	as "$who" sh -c 'echo mine >"$1/AGENTS.md"; echo mine >"$1/CLAUDE.md"' \
	    sh "$W"
	before=$(cd "$W" && sha256sum ./* && ls -lA --time-style=full-iso)
	capture "$who" "$FENCE" hooks guide
	guide=$out
	is "$status:$err" 0: "$who: it is printed"
	is "$(cd "$W" && sha256sum ./* && ls -lA --time-style=full-iso)" \
	    "$before" "$who: and no agent's file is touched"
	like "$guide" 'FENCE_SANDBOX' "$who: it names the variable"
	fence "$who" -- sh -c 'echo "$FENCE_SANDBOX"'
	is "$out" 1 "$who: which is set inside"
	capture "$who" "$FENCE" hooks guide claude
	is "$status" 2 "$who: it is the same for all agents"

	# Each line of it that is a command, after a refusal of each kind.
	sed -n 's/^    //p' <<<"$guide" >"$W/lines"
	is "$(grep -c '^curl ' "$W/lines")" 2 "$who: it has two commands"
	fence "$who" -- sh -c 'echo x >"$1/refused"
		curl -sS --noproxy "*" http://denied.test/
		sh ./lines' sh "$O"
	like "$out" '/refused.*filesystem.allowWrite' \
	    "$who: followed, it tells the file that was refused"
	like "$out" 'denied.test.*network.allowedDomains' \
	    "$who: the host"
	like "$out" 'allow: network.allowedDomains \+= "denied.test"' \
	    "$who: and the line that would allow it"
	like "$out" 'example.com.*(no|not|refused|denied)' \
	    "$who: and of a host whether it is open"
	as "$who" sh -c 'sed "s/^curl/& -H \"Accept: application\/json\"/" \
	    "$1/lines" >"$1/json"' sh "$W"
	fence "$who" -- sh -c 'echo x >"$1/refused"; sh ./json' sh "$O"
	/usr/bin/python3 -c '
import json, sys
text, n = sys.argv[1].strip(), 0
while text:
    _, end = json.JSONDecoder().raw_decode(text)
    text, n = text[end:].strip(), n + 1
sys.exit(n != 2)' "$out"
	ok $? "$who: both answer in JSON, too"
done
finish
