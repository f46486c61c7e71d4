#!/usr/bin/env bash
# fence shadow: what was kept is listed, shown, taken over and forgotten.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

F=$FENCE_PREFIX/bin/fence

# Fills $W and the home in it; $A is the agent's folder.
home() {	# home WHO
	W=$(workspace "$1")
	H=$W/home A=$W/home/.agent S=$W/home/.local/state/fence
	as "$1" mkdir -p "$A/plugins/one" "$W/work"
	as "$1" sh -c 'cd "$1" && printf "{\n  \"theme\": 1\n}\n" >settings.json &&
	    echo old >auth.json && echo 1 >history && echo js >plugins/one/x.js' \
	    - "$A"
}

# A run of an agent that does what the words say, in its folder.
agent() {	# agent WHO SCRIPT
	as "$1" env HOME="$H" "$PROBES/shadowrun" "$S" "$A" \
	    sh -c "cd \"\$INSIDE\" && $2" 2>&1
}

# fence shadow ARGS: $status, $out, $err.
shadow() {	# shadow WHO ARGS…
	local who=$1
	shift
	out=$(as "$who" env -u XDG_STATE_HOME HOME="$H" sh -c \
	    'cd "$1" && shift && exec "$@"' - "$W/work" "$F" shadow "$@" \
	    2>"$T/err")
	status=$?
	err=$(cat "$T/err")
}

# The place of the first aside version.
aside() {	# aside WHO
	shadow "$1" list --json
	as "$1" python3 -c 'import json, sys
print([e["inside"] for e in json.load(sys.stdin)["shadow"]
       if e["state"] == "aside"][0])' <<<"$out"
}

for who in $WHOS; do
	home "$who"
	shadow "$who" list
	is "$status $out" "0 " "$who: nothing yet"
	said=$(agent "$who" 'printf "{\n  \"theme\": 1,\n  \"hook\": \"\033[31m\"\n}\n" >s &&
	    mv s settings.json && echo evil >plugins/one/y.js && echo 2 >>history')
	like "$said" '~/.agent/settings.json changed inside \(kept in the shadow\): fence shadow diff' \
	    "$who: the end says it"
	is "$(cat "$A/history")" $'1\n2' "$who: state is carried"
	like "$(cat "$A/settings.json")" '"theme": 1'$'\n' "$who: settings are not"

	shadow "$who" list
	is "$out" "changed  ~/.agent/plugins
changed  ~/.agent/settings.json" "$who: list"
	shadow "$who" list --json
	is "$(python3 -c 'import json, sys
for e in json.load(sys.stdin)["shadow"]: print(e["path"], e["state"], e["hostChanged"])' <<<"$out")" \
	    "$A/plugins changed False
$A/settings.json changed False" "$who: list --json"
	shadow "$who" diff
	is "$out" "--- /dev/null
+++ $A/plugins/one/y.js (inside)
@@ -0,0 +1,1 @@
+evil
--- $A/settings.json
+++ $A/settings.json (inside)
@@ -1,3 +1,4 @@
 {
-  \"theme\": 1
+  \"theme\": 1,
+  \"hook\": \"\\x1b[31m\"
 }" "$who: diff"
	shadow "$who" diff "$A/plugins/one"
	is "$status $(head -1 <<<"$out; $(wc -l <<<"$out")")" "0 --- /dev/null" \
	    "$who: diff of a part"
	unlike "$out" settings "$who: and of that alone"
	shadow "$who" diff ../home/.agent/history
	is "$status" 1 "$who: diff of what does not differ"
	like "$err" 'the shadow has nothing of' "$who: says so"

	shadow "$who" keep "$A/plugins/one/y.js"
	is "$status" 1 "$who: a part is not taken over"
	like "$err" 'whole names are taken over' "$who: says so"
	shadow "$who" keep ../home/.agent/plugins
	is "$status" 0 "$who: keep"
	is "$(cat "$A/plugins/one/y.js")" evil "$who: it is on the host"
	like "$err" "the host's is at '$S/shadow/.*/aside/1/plugins" \
	    "$who: what was there is not lost"
	shadow "$who" list
	is "$out" "aside    ~/.agent/plugins $(aside "$who")
changed  ~/.agent/settings.json" "$who: list after keep"
	shadow "$who" drop "$A/settings.json"
	is "$status" 0 "$who: drop"
	shadow "$who" drop "$(aside "$who")"
	is "$status" 0 "$who: drop of what was set aside"
	shadow "$who" list
	is "$out" "" "$who: nothing is left"
	is "$(agent "$who" 'cat settings.json')" "$(cat "$A/settings.json")" \
	    "$who: the next run begins from the host's"

	# The host's original changes.
	agent "$who" 'echo mine >settings.json' >/dev/null
	as "$who" sh -c 'echo theirs >"$1/settings.json"' - "$A"
	shadow "$who" list
	is "$out" "changed  ~/.agent/settings.json (the host's changed, too)" \
	    "$who: both changed"
	said=$(agent "$who" 'cat settings.json')
	like "$said" "the host's holds, the jail's version is at" \
	    "$who: the host's holds, told once"
	like "$said" $'\n''theirs$' "$who: and is seen inside"
	said=$(agent "$who" true)
	is "$said" "" "$who: once"
	like "$(as "$who" cat "$(aside "$who")")" mine "$who: nothing is lost"
	shadow "$who" diff "$(aside "$who")"
	like "$out" '-theirs'$'\n''\+mine' "$who: diff of what was set aside"

	# While a run lasts its state is not changed under it.
	said=$(agent "$who" "echo more >settings.json; '$F' shadow drop $A/settings.json;
	    '$F' shadow keep $A/settings.json; '$F' shadow reset; cat settings.json")
	is "$(grep -c 'a run is using the shadow' <<<"$said")" 3 \
	    "$who: beside a run nothing is changed"
	like "$said" $'\n''more'$'\n' "$who: the run keeps what it has"
	is "$(cat "$A/settings.json")" theirs "$who: the host, too"
	shadow "$who" drop "$A/settings.json"
	is "$status" 0 "$who: drop when it has ended"

	# A symlink of the host's is not replaced.
	agent "$who" 'echo more >settings.json' >/dev/null
	as "$who" sh -c 'mv "$1/settings.json" "$1/../dot" && ln -s ../dot "$1/settings.json"' - "$A"
	shadow "$who" keep "$A/settings.json"
	is "$status" 1 "$who: keep in the place of a symlink"
	like "$err" 'is a symlink on the host' "$who: is refused by name"
	is "$(cat "$H/dot")" theirs "$who: what it leads to stays"

	# A newer version.
	as "$who" sh -c 'echo "fence shadow 9" >"$1"' - "$S/shadow/version"
	said=$(agent "$who" true)
	like "$said" "shadow/version.*'fence shadow reset'" "$who: a newer version"
	shadow "$who" list
	is "$status" 125 "$who: of list, too"
	shadow "$who" reset
	is "$status $out" "0 the shadow is empty" "$who: reset"
	is "$(agent "$who" 'cat auth.json')" old "$who: and all works again"

	# Words that are wrong, and a jail.
	shadow "$who" keep
	is "$status" 2 "$who: keep without a path"
	shadow "$who" lists
	like "$err" "did you mean 'fence shadow list'" "$who: a wrong word"
	fence "$who" -- "$F" shadow list
	is "$status" 1 "$who: inside a jail"
	like "$err" 'shadow list: already inside fence' "$who: is refused"
done

# Root with a user's home: files of root's would be left in it.
if [ "$IS_ROOT" = 1 ]; then
	home user
	agent user 'echo mine >settings.json' >/dev/null
	shadow root list
	is "$status" 125 "root, a user's home: refused"
	like "$err" "shadow' belongs to another user" "root, a user's home: by name"
	is "$(find "$H" -user 0)" "" "root, a user's home: nothing of root's"
fi
finish
