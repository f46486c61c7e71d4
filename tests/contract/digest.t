#!/usr/bin/env bash
# The last lines of a run with -m: refusals by rule, and a block that is a
# policy, with which the same command works.
. "$(dirname "$0")/../lib.sh"

cat >"$T/merge.py" <<'PY'
"""merge.py BASE TOLD: the base policy with what the block on stderr adds."""
import json
import sys
lines = open(sys.argv[2], encoding='utf8').read().split('\n')
begin = lines.index('{')
block = lines[begin:lines.index('}', begin) + 1]
told = json.loads('\n'.join(x for x in block if not x.startswith('  //')))
base = json.load(open(sys.argv[1], encoding='utf8'))
for section, keys in told.items():
    for key, value in keys.items():
        base.setdefault(section, {}).setdefault(key, []).extend(value)
json.dump(base, sys.stdout)
PY

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	O=$base/out
	as "$who" mkdir -p "$W" "$H/sub" "$H/closed" "$O/deep"
	as "$who" sh -c 'echo old >"$0/f"; echo key >"$1/closed/key"' "$O" "$H"
	cat >"$base/base.json" <<'POLICY'
{"filesystem":{"allowWrite":["."],"denyRead":["~/closed"]},
 "network":{"allowedDomains":["a.test"]}}
POLICY
	chmod 644 "$base/base.json"
	cat >"$base/run" <<COMMAND
echo 1 >"$O/new"; echo 2 >"$O/deep/new"; echo 3 >"$H/sub/new"
echo 4 >>"$O/f"; cat "$H/closed/key" >got; exec cat got
COMMAND
	chmod 755 "$base/run"
	capture "$who" env HOME="$H" "$FENCE_RUN" -m -s "$base/base.json" -- \
	    sh "$base/run"
	is "$out" "" "$who: nothing is written or read"
	like "$err" 'fence: 5 refusals, by rule:' "$who: they are counted"
	like "$err" ' 4  filesystem.allowWrite [^ ]*base.json:1:' "$who: by rule"
	like "$err" 'fence: a policy that allows all of them:' \
	    "$who: all can be allowed"
	printf '%s\n' "$err" >"$base/told"
	python3 "$T/merge.py" "$base/base.json" "$base/told" \
	    >"$base/more.json"
	ok $? "$who: the block is a policy"
	chmod 644 "$base/more.json"
	capture "$who" env HOME="$H" "$FENCE_RUN" -m -s "$base/more.json" -- \
	    sh "$base/run"
	is "$out:$(cat "$O/new" "$O/deep/new" "$H/sub/new" | tr '\n' ' ')" \
	    "key:1 2 3 " "$who: with it the command works"
	unlike "$err" 'refusal' "$who: and nothing is refused"

	capture "$who" "$FENCE_RUN" -m -s "$base/base.json" -- true
	is "$err" "" "$who: nothing refused, no line"
	capture "$who" "$FENCE_RUN" -m -s "$base/base.json" -- \
	    sh -c 'echo 1 >/proc/self/coredump_filter; exit 1'
	like "$err" 'no line allows it' "$who: what no line allows"
	unlike "$err" 'a policy that' "$who: has none"
	capture "$who" "$FENCE_RUN" -s "$base/base.json" -- \
	    sh -c 'echo 1 >/proc/self/coredump_filter; exit 1'
	unlike "$err" 'fence: ' "$who: a habit is no reason of a failure"

	# On a terminal two lines of its width, whatever COLUMNS says.
	long=$O/deep/$(printf 'long%.0s' $(seq 30))
	for dim in '' NO_COLOR=1; do
		shown=$(cd "$W" && as "$who" env TERM=xterm COLUMNS=200 $dim \
		    script -qec "stty cols 70; '$FENCE_RUN' -m -s \
		    '$base/base.json' -- sh -c 'mkdir $long; echo >$long'" \
		    /dev/null </dev/null | tr -d '\r' |
		    grep -A1 -a '\[fence:fs\]')
		like "$shown" '            rule filesystem.allowWrite' \
		    "$who: ${dim:-dim}: the second line is indented"
		is "$(python3 -c 'import re, sys
lines = sys.argv[1].split("\n")
print([x for x in (re.sub("\033[[][0-9]*m", "", x) for x in lines)
       if re.match("[[]fence:fs| {12}rule", x) and len(x) > 70])' "$shown")" \
		    '[]' "$who: ${dim:-dim}: nothing is wider than the terminal"
		is "$(grep -ac $'\033\\[2m' <<<"$shown")" \
		    "$([ -n "$dim" ] && echo 0 || echo 2)" \
		    "$who: ${dim:-dim}: the second lines are dim, or not"
	done
done
finish
