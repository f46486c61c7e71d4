#!/usr/bin/env bash
# fence trace: a run's refusals, by what they have in common; hostile records.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

F=$FENCE_PREFIX/bin/fence

home() {	# home WHO
	W=$(workspace "$1")
	H=$W/home R=$W/home/.local/state/fence/records
	as "$1" mkdir -p "$H" "$W/work" "$W/out"
	as "$1" sh -c 'cd "$1" && echo one >out/one && echo two >out/two' - "$W"
}

at_home() {	# at_home WHO CMD…
	local who=$1
	shift
	capture "$who" env -u XDG_STATE_HOME HOME="$H" sh -c \
	    'cd "$1" && shift && exec "$@"' - "$W/work" "$@"
}

trace() {	# trace WHO ARGS…
	local who=$1
	shift
	at_home "$who" "$F" trace "$@"
}

for who in $WHOS; do
	home "$who"
	trace "$who"
	like "$status:$err" '^1:fence: no run is kept yet' "$who: nothing yet"
	trace "$who" --list
	is "$status:$out" 0: "$who: an empty list"

	at_home "$who" "$FENCE_RUN" -- sh -c "echo x >$W/out/one
	    echo x >$W/out/two; echo y >$W/out/two; exit 3"
	like "$err" 'fence: 3 refusals .*all of them: fence trace$' \
	    "$who: the closing line"
	trace "$who"
	like "$out" "^run [0-9a-f]{8}  .*  exit 3  3 refusals  sh -c echo x" \
	    "$who: the run"
	is "$(grep -c "open(\"$W/out/[a-z]*\", write)" <<<"$out")" 3 \
	    "$who: each refusal"
	trace "$who" --by rule
	like "$out" "     3  filesystem.allowWrite .*2  $W/out/two.*1  $W/out/one" \
	    "$who: by rule, with counts"
	like "$out" "\"allowWrite\": \[.*\"$W/out/one\",.*\"$W/out/two\".*\]" \
	    "$who: and the lines"

	# The block is a policy with which the run is refused nothing.
	sed -n '/^\/\//,$p' <<<"$out" >"$T/lines.$who"
	chmod 644 "$T/lines.$who"
	sed -i 's/^{/{ "extends": "workspace-write",/' "$T/lines.$who"
	at_home "$who" "$FENCE_RUN" -s "$T/lines.$who" -- sh -c \
	    "echo x >$W/out/one && echo x >$W/out/two"
	is "$status:$err" 0: "$who: which work when pasted"

	trace "$who" last --by object
	like "$out" "     2  $W/out/two" "$who: by object"
	trace "$who" --by process
	like "$out" '     3  sh' "$who: by process"
	trace "$who" --by rule --json
	is "$(python3 -c 'import json, sys
for g in json.load(sys.stdin)["groups"]: print(g["count"], len(g["members"]))' \
	    <<<"$out")" "3 2" "$who: groups as JSON"
	trace "$who" --json
	is "$out" "$(cat "$R"/*.jsonl)" "$who: --json: the records"
	trace "$who" --list
	like "$out" '^[0-9a-f]{8}  .*exit 3 *3 refused  sh -c' "$who: --list"
	id=${out:0:8}
	trace "$who" --list --json
	is "$(python3 -c 'import json, sys
for r in json.load(sys.stdin)["runs"]: print(r["id"][:8], r["state"], r["exitStatus"])' \
	    <<<"$out")" "$id ended 3" "$who: --list --json"
	trace "$who" "$id" --json
	is "$out" "$(cat "$R"/*.jsonl)" "$who: a run by its name"
	trace "$who" "$R"/*.jsonl --json
	is "$out" "$(cat "$R"/*.jsonl)" "$who: a file"
	trace "$who" nonesuch
	like "$status:$err" "^1:fence: nonesuch: .*--list" "$who: neither"
	trace "$who" --html "$W/page.html"
	like "$status:$(head -c 15 "$W/page.html")" '^0:<!DOCTYPE html>' \
	    "$who: --html"
	is "$(ls "$W" | grep -c html)" 1 "$who: and nothing beside it"
	trace "$who" --html "$W/none/page.html"
	is "$status" 1 "$who: a page that cannot be written"

	trace "$who" --verify
	like "$status:$out" "^0:.*the chain of 5 records holds.*$(tail -1 \
	    "$R"/*.jsonl | tr -d '\n' | sha256sum | cut -c1-64)" \
	    "$who: --verify: holds, and says the last hash"
	for edit in '2s/write/WRITE/' 3d '2{p}' '3{h;d};4G'; do
		sed "$edit" "$R"/*.jsonl >"$T/bad.$who"
		chmod 644 "$T/bad.$who"
		trace "$who" --verify "$T/bad.$who"
		like "$status:$out" "^1:$T/bad.$who:[23]: the chain breaks" \
		    "$who: --verify: $edit is found"
	done
	head -c -9 "$R"/*.jsonl >"$T/bad.$who"
	trace "$who" --verify "$T/bad.$who"
	like "$status:$out" "^1:.*:5: the last line is cut" \
	    "$who: --verify: a cut line"
	head -n -1 "$R"/*.jsonl >"$T/bad.$who"
	trace "$who" --verify "$T/bad.$who"
	like "$status:$out" '^0:.*it has no end' "$who: --verify: no end is said"

	# A run that lasts, from another terminal.
	mkfifo -m 666 "$T/go.$who"
	U=$W
	W=$U/work start "$who" env -u XDG_STATE_HOME HOME="$H" "$F" trace \
	    --follow >"$T/first.$who" 2>&1
	first=$pid
	W=$U/work start "$who" env -u XDG_STATE_HOME HOME="$H" "$FENCE_RUN" -- \
	    sh -c "echo x >$U/out/one; cat $T/go.$who; echo x >$U/out/two" \
	    2>/dev/null
	run=$pid
	wait_for 20 grep -q 'out/one' "$T/first.$who"
	ok $? "$who: --follow: waits for a run, and shows its first refusal"
	W=$U/work start "$who" env -u XDG_STATE_HOME HOME="$H" "$F" trace \
	    last --follow --json >"$T/second.$who" 2>&1
	second=$pid
	wait_for 20 grep -q 'out/one' "$T/second.$who"
	ok $? "$who: --follow: a second reader has it, too"
	trace "$who" --list
	like "$out" 'running .* sh -c echo' "$who: --list: it runs"
	unlike "$(cat "$T/first.$who")" 'out/two' "$who: --follow: not yet"
	echo >"$T/go.$who"
	wait "$run"
	wait "$first"
	is "$?:$(grep -c '^\[fence:fs\]' "$T/first.$who")" 0:2 \
	    "$who: --follow: ends with the run, and has both"
	wait "$second"
	is "$?:$(cat "$T/second.$who")" "0:$(cat \
	    "$(ls -d "$R"/*.jsonl | tail -1)")" "$who: --follow --json"
	W=$U/work start "$who" env -u XDG_STATE_HOME HOME="$H" "$FENCE_RUN" -- \
	    sh -c "echo x >$U/out/one; cat $T/go.$who" 2>/dev/null
	run=$pid
	wait_for 20 sh -c "ls '$R' | grep -c jsonl | grep -q 3"
	W=$U/work start "$who" env -u XDG_STATE_HOME HOME="$H" "$F" trace \
	    last -f >"$T/third.$who" 2>&1
	third=$pid
	wait_for 20 grep -q 'out/one' "$T/third.$who"
	kill -9 "$run"
	wait "$run" 2>/dev/null
	wait "$third"
	is $? 0 "$who: --follow: ends with a run that is killed"
	trace "$who" --list
	like "$out" 'killed .* sh -c echo' "$who: --list: it was killed"
	W=$U

	# Bytes of anybody's: nothing of them acts on a terminal.
	printf '%s\n' '{"metadata":{"correlation_uid":"\u001b[2J","sequence":1},"action_id":2,"message":"\u001b]0;x\u0007\u202e","file":{"path":"\u001b[31m"},"unmapped":{"fence":{"remedy":{"key":"filesystem.allowWrite","value":"\u001b[1m"}}}}' \
	    $'\e[31m' >"$T/bad.$who"
	for how in '' '--by rule' '--by process' --json --verify; do
		# shellcheck disable=SC2086
		trace "$who" "$T/bad.$who" $how
		unlike "$out$err" $'\e|\a|\xe2\x80\xae' "$who: hostile records $how"
	done

	at_home "$who" "$FENCE_RUN" -- "$F" trace --list
	like "$status:$err" '^1:.*already inside fence' "$who: inside fence"
done
finish
