#!/usr/bin/env bash
# Files in which agents keep state beside what they execute: a run's state
# comes to the host, and its servers, hooks and trust do not.
# limit: 240
. "$(dirname "$0")/../lib.sh"

place() {	# place WHO
	base=$(workspace "$1")
	W=$base/w
	H=$base/home
	Q=$H/.local/state/fence/quarantine
	as "$1" mkdir -p "$W" "$H/.local/share/crush" "$H/.codex"
	F=$H/.claude.json
	X=$H/.local/share/crush/crush.json
	echo '{"filesystem":{"allowWrite":[".","~/.claude*",
	    "~/.local/share"]}}' >"$base/policy.json"
	chmod 644 "$base/policy.json"
}

host_file() {	# host_file WHO FILE TEXT
	as "$1" sh -c 'printf "%s\n" "$2" >"$1"; chmod 640 "$1"' - "$2" "$3"
}

run() {		# run WHO COMMAND…
	local who=$1
	shift
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" \
	    --trace-file "$W/trace" -- "$@"
	is "$status" 0 "$name: the command ends well"
}

value() {	# value FILE EXPRESSION: of the object d
	/usr/bin/python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(json.dumps(eval(sys.argv[2])))' "$1" "$2"
}

# The only thing in quarantine whose name ends like this.
kept() {	# kept NAME
	find "$Q" -type f -name "[0-9]*-$1" 2>/dev/null
}

# What the agent in the jail does: SAVE is how it writes.
agent='
import json, os, sys
f, save = sys.argv[1:3]
try:
    d = json.load(open(f))
except FileNotFoundError:
    d = {}
exec(sys.argv[3])
text = json.dumps(d, indent=2) + "\n"
if save == "rename":
    open(f + ".tmp.1", "w").write(text)
    os.rename(f + ".tmp.1", f)
else:
    open(f, "w").write(text)
'
evil='
d.setdefault("mcpServers", {})["evil"] = {"command": "/w/evil"}
p = d.setdefault("projects", {}).setdefault("/w", {})
p["history"] = ["asked"]
p["hasTrustDialogAccepted"] = True
d["numStartups"] = 4
'
good='
d.setdefault("projects", {}).setdefault("/w", {})["history"] = ["asked"]
d["numStartups"] = 4
'
host='{"numStartups":3,"mcpServers":{"mine":{"command":"/opt/mine"}},
  "projects":{"/w":{"allowedTools":["Bash(ls)"]}}}'

claude() {	# claude WHO SAVE
	local who=$1 save=$2 q see back
	name="$who, $save"
	place "$who"
	host_file "$who" "$F" "$host"
	run "$who" /usr/bin/python3 -c "$agent" "$F" "$save" "$good"
	is "$(value "$F" 'd["projects"]["/w"]')" \
	    '{"allowedTools": ["Bash(ls)"], "history": ["asked"]}' \
	    "$name: state alone comes to the host"
	is "$(value "$F" d | tr -d ' \n')" "$(tr -d ' \n' <"$F")" \
	    "$name: byte for byte"
	is "$(kept .claude.json)" "" "$name: and nothing is in quarantine"
	unlike "$err" 'claude.json' "$name: nor told"

	run "$who" /usr/bin/python3 -c "$agent" "$F" "$save" \
	    'd["cachedGrowthBookFeatures"] = {"x": True}; d["numStartups"] = 5'
	is "$(value "$F" '("cachedGrowthBookFeatures" in d, d["numStartups"])')" \
	    '[false, 5]' "$name: what the server switches stays the host's"
	is "$(kept .claude.json)$(grep claude.json <<<"$err")" "" \
	    "$name: without a word"

	host_file "$who" "$F" "$host"
	run "$who" /usr/bin/python3 -c "$agent" "$F" "$save" "$evil"
	is "$(value "$F" 'd["mcpServers"]')" \
	    '{"mine": {"command": "/opt/mine"}}' "$name: no server of it"
	is "$(value "$F" '(d["numStartups"], d["projects"]["/w"])')" \
	    '[4, {"allowedTools": ["Bash(ls)"], "history": ["asked"]}]' \
	    "$name: its history, and no trust"
	is "$(stat -c '%a %U' "$F")" "640 $(stat -c %U "$H")" \
	    "$name: mode and owner stay"
	like "$err" 'mcpServers.evil, projects./w.hasTrustDialogAccepted' \
	    "$name: the keys are told"
	q=$(kept .claude.json)
	is "$(value "$q" 'd["mcpServers"]["evil"]')" \
	    '{"command": "/w/evil"}' "$name: the jail's version is kept"
	see=$(sed -n 's/.*; see: \(diff .*\); back with: .*/\1/p' <<<"$err")
	back=$(sed -n 's/.*; back with: \(cp .*\)/\1/p' <<<"$err")
	like "$(as "$who" bash -c "$see")" '< .*evil' "$name: diff shows it"
	as "$who" bash -c "$back"
	cmp -s "$q" "$F"
	ok $? "$name: cp brings it back"
	is "$(find "$H/.local/state/fence/runs" -type f 2>/dev/null)" "" \
	    "$name: no journal is left"
}

# Nothing was there: the agent makes it, and runs nothing of it.
first_start() {	# first_start WHO
	name="$1, first start"
	place "$1"
	run "$1" /usr/bin/python3 -c "$agent" "$X" rename \
	    'd["lsp"] = {"go": {"command": "evil"}}
d["models"] = {"large": {"model": "m"}}'
	is "$(value "$X" d)" '{"models": {"large": {"model": "m"}}}' \
	    "$name: the choice of a model stays, the server goes"
	like "$err" 'crush.json changed inside in what it executes' \
	    "$name: and is told"
}

# A file that is granted and missing is there inside, and gone if nothing was
# written into it.
missing() {	# missing WHO
	local who=$1 first guards
	name="$who, missing file"
	place "$who"
	run "$who" sh -c 'stat -c %a ~/.claude.json; cat ~/.claude.json'
	is "$out" $'600\n{}' "$name: it is there, and empty"
	[ ! -e "$F" ]
	ok $? "$name: and gone afterwards"
	run "$who" sh -c ': >~/.claude.json'
	is "$(cat "$F" 2>&1)" "cat: $F: No such file or directory" \
	    "$name: so is one that was emptied"
	run "$who" /usr/bin/python3 -c "$agent" "$F" inplace "$evil"
	is "$(value "$F" '("mcpServers" in d, d["numStartups"])')" \
	    '[false, 4]' "$name: its state comes to the host, no server"
	is "$(stat -c '%a %U' "$F")" "600 $(stat -c %U "$H")" \
	    "$name: readable by its owner"
	run "$who" /usr/bin/python3 -c "$agent" "$F" inplace \
	    'd["numStartups"] += 1'
	is "$(value "$F" 'd["numStartups"]')" 5 "$name: and to the next run"

	as "$who" rm "$F"
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" \
	    --dry-run -- true
	[ ! -e "$F" ]
	ok $? "$name: --dry-run makes none"
	capture "$who" env HOME="$H" "$FENCE_RUN" -w "$F" -- cat "$F"
	is "$status $out" '0 {}' "$name: by name"
	[ ! -e "$F" ]
	ok $? "$name: by name, and gone afterwards"
	capture "$who" env HOME="$H" "$FENCE_RUN" -w "$H/.claude" -- ls "$F"
	like "$status" "[12]" "$name: none where the policy does not grant it"
	echo '{"filesystem":{"allowWrite":[".","~/.claude*"],
	    "denyWrite":["~/.*.json"]}}' >"$base/policy.json"
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" -- \
	    ls "$F"
	like "$status" "[12]" "$name: nor where it denies it"
	place "$who"
	as "$who" ln -s nowhere "$F"
	run "$who" true
	is "$(readlink "$F") $(ls "$H/nowhere" 2>/dev/null)" 'nowhere ' \
	    "$name: nor through a symlink"

	# Killed: before it has begun, and while it runs.
	place "$who"
	start "$who" env HOME="$H" FENCE_PAUSE_AT=after-missing "$FENCE_RUN" \
	    -s "$base/policy.json" -- true 2>"$base/err"
	first=$pid
	wait_for 20 grep -q 'paused at after-missing' "$base/err"
	is "$(cat "$F")" '{}' "$name: made before the run"
	kill -KILL "$first"
	wait "$first" 2>/dev/null
	wait_for 20 test ! -e "$F"
	ok $? "$name: a killed start leaves none"
	as "$who" mkfifo "$W/end"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" -- \
	    sh -c ': >began; read -r x <end' 2>"$base/err"
	first=$pid
	wait_for 30 test -e "$W/began"
	wait_for 30 guarded "$first"
	guards=$(guards "$first")
	# shellcheck disable=SC2086 # one or more words
	kill -KILL $guards "$first"
	wait "$first" 2>/dev/null
	wait_for 20 test ! -e "$F"
	ok $? "$name: nor does a killed run"
	# shellcheck disable=SC2086
	wait_for 30 are_dead $guards
	run "$who" true
	is "$(ls -A "$H/.local/state/fence/runs" 2>/dev/null; cat \
	    "$H/.local/state/fence/made")" '' "$name: nor a journal"
}

# Inside, the file is in the agent's folder, too, where a new version can be
# written beside it; it cannot be replaced, and is then written to.
beside() {	# beside WHO
	local who=$1 D
	name="$who, beside"
	place "$who"
	D=$H/.claude
	as "$who" mkdir "$D"
	host_file "$who" "$F" "$host"
	run "$who" sh -c 'cd "$CLAUDE_CONFIG_DIR" && pwd && echo 1 >t || exit
	    LC_ALL=C mv -f t .claude.json 2>&1
	    echo "{\"numStartups\":7,\"mcpServers\":{\"evil\":{}}}" >.claude.json
	    cmp .claude.json ~/.claude.json'
	like "$out" "^$D"$'\n.*Device or resource busy' \
	    "$name: it is found by the variable, and cannot be replaced"
	is "$(value "$F" '(d["numStartups"], list(d["mcpServers"]))')" \
	    '[7, ["mine"]]' "$name: what is written into it is the host's"
	is "$(ls -A "$D" | tr '\n' ' ')" 't ' "$name: nothing is left there"
	capture "$who" env HOME="$H" CLAUDE_CONFIG_DIR=/x "$FENCE_RUN" \
	    -s "$base/policy.json" -- sh -c 'echo "$CLAUDE_CONFIG_DIR"'
	is "$out" /x "$name: a folder that the host names stays"
	capture "$who" env HOME="$H" "$FENCE_RUN" -w "$F" -- \
	    sh -c 'echo "$CLAUDE_CONFIG_DIR"; ls -A ~/.claude'
	is "$out" $'\nt' "$name: none where the folder is not the jail's"
	capture "$who" env HOME="$H" "$FENCE_RUN" -w "$D" -- \
	    sh -c 'echo "$CLAUDE_CONFIG_DIR"; ls -A ~/.claude'
	is "$out" $'\nt' "$name: nor where the file is not granted"
	host_file "$who" "$D/.claude.json" '{"own":1}'
	run "$who" sh -c 'echo "$CLAUDE_CONFIG_DIR"; cat ~/.claude/.claude.json'
	is "$out" $'\n{"own":1}' "$name: nor where the host has another"
	as "$who" rm "$D/.claude.json" "$F"
	as "$who" ln -s w/real "$F"
	host_file "$who" "$W/real" '{}'
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" -- \
	    sh -c 'echo "$CLAUDE_CONFIG_DIR"; ls -A ~/.claude'
	is "$out" $'\nt' "$name: nor where it is a symlink"
}

# What cannot be compared.
unreadable() {	# unreadable WHO SHELL NAME
	local q
	name="$1, $3"
	place "$1"
	host_file "$1" "$F" "$host"
	host_file "$1" "$X" '{"mcp":{"mine":{"command":"m"}}}'
	run "$1" env F="$F" X="$X" sh -ec "$2"
	is "$(cat "$F")" "$host" "$name: the file is as it was"
	is "$(value "$X" d)" '{"mcp": {"mine": {"command": "m"}}}' \
	    "$name: and so is the other one"
	[ -f "$X" ] && [ ! -L "$X" ] && [ ! -L "${X%/*}" ]
	ok $? "$name: a plain file"
	like "$err" "'$H/.*\.json'" "$name: it is told"
}

# Of two runs the second one finds what the first one wrote.
two_runs() {	# two_runs WHO
	local who=$1 first
	name="$who, two runs"
	place "$who"
	host_file "$who" "$F" "$host"
	as "$who" mkfifo "$W/end"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" -- \
	    /usr/bin/python3 -c "$agent"'
open("poisoned", "w").close()
open("end").read()
' "$F" inplace "$evil" 2>"$base/first"
	first=$pid
	wait_for 30 test -e "$W/poisoned"
	run "$who" true
	is "$(value "$F" 'list(d["mcpServers"])')" '["mine"]' \
	    "$name: the end of the second cleans it"
	as "$who" sh -c ': >"$1"' - "$W/end"
	wait "$first"
	is "$(value "$F" 'list(d["mcpServers"])')" '["mine"]' \
	    "$name: the end of the first does not bring it back"
}

guarded() {	# guarded PID: by a process that has its name
	[ -n "$(guards "$1")" ]
}

is_clean() {
	! grep -q evil "$F"
}

are_dead() {	# are_dead PID…: or zombies, which hold no file
	local p
	for p; do
		case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$p/status" \
		    2>/dev/null) in
		'' | Z* | X*) ;;
		*) return 1 ;;
		esac
	done
}

# The launcher is killed, and its guard does it; or with the guard, and the next
# start does.
killed() {	# killed WHO WHOLE
	local who=$1 first guards
	name="$who, killed $2"
	place "$who"
	host_file "$who" "$F" "$host"
	as "$who" mkfifo "$W/end"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" -- \
	    /usr/bin/python3 -c "$agent"'
open("poisoned", "w").close()
open("end").read()
' "$F" inplace "$evil" 2>"$base/first"
	first=$pid
	wait_for 30 test -e "$W/poisoned"
	wait_for 30 guarded "$first"
	if [ "$2" = alone ]; then
		kill -KILL "$first"
		wait "$first" 2>/dev/null
		wait_for 30 is_clean
		ok $? "$name: the guard cleans it"
		is "$(value "$F" 'd["numStartups"]')" 4 \
		    "$name: the state stays"
		return
	fi
	guards=$(guards "$first")
	# shellcheck disable=SC2086 # one or more words
	kill -KILL $guards "$first"
	wait "$first" 2>/dev/null
	# The next start passes by what a process still holds.
	# shellcheck disable=SC2086
	wait_for 30 are_dead $guards
	is "$(value "$F" 'list(d["mcpServers"])')" '["mine", "evil"]' \
	    "$name: nobody was left to do it"
	run "$who" true
	is "$(value "$F" 'list(d["mcpServers"])')" '["mine"]' \
	    "$name: the next start does"
	is "$(value "$F" 'd["numStartups"]')" 4 "$name: the state stays"
	like "$err" 'an earlier run was killed: .*mcpServers.evil' \
	    "$name: and tells it"
	is "$(find "$H/.local/state/fence/runs" -type f)" "" \
	    "$name: no journal is left"
}

too_long() {	# too_long WHO
	name="$1, too long"
	place "$1"
	as "$1" truncate -s 17M "$F"
	capture "$1" env HOME="$H" "$FENCE_RUN" -s "$base/policy.json" -- \
	    touch "$W/began"
	is "$status" 1 "$name: the run does not begin"
	like "$err" "claude.json' is longer than .*denyWrite" \
	    "$name: with the reason"
	[ ! -e "$W/began" ]
	ok $? "$name: the command was not started"
	echo '{"filesystem":{"allowWrite":[".","~/.claude*"],
	    "denyWrite":["~/.claude.json"]}}' >"$base/policy.json"
	run "$1" touch "$W/began"
}

# The disk is full: the host's keys go over what the run wrote.
full() {	# full WHO
	name="$1, full disk"
	place "$1"
	as "$1" sh -c 'printf %s "$1" >"$2"' - \
	    "$agent" "$base/agent.py"
	capture "$1" unshare -Urm sh -ec '
		mount -t tmpfs -o size=256k,mode=755 tmpfs "$1"
		echo "$2" >"$1/.claude.json"
		mkdir -p "$1/.local/share"
		HOME=$1 "$3" -s "$4" -- sh -c "/usr/bin/python3 \"\$@\"
		    cat /dev/zero >~/.local/share/rest" - \
		    "$5" "$1/.claude.json" inplace "$6" || :
		cat "$1/.claude.json"' - "$H" "$host" "$FENCE_RUN" \
	    "$base/policy.json" "$base/agent.py" "$evil"
	like "$out" 'Bash.ls' "$name: the host has its keys"
	unlike "$out" 'evil' "$name: and none of the run"
}

# With the template, Claude Code does not ask for trust that would not last.
template() {	# template WHO
	name="$1, template code"
	place "$1"
	host_file "$1" "$F" "$host"
	capture "$1" env HOME="$H" "$FENCE_RUN" -t code -- sh -c \
	    'echo $CLAUDE_CODE_SANDBOXED; echo "{\"mcpServers\":{\"evil\":1},
	    \"userID\":\"u\"}" >~/.claude.json'
	is "$out" 1 "$name: it is told that it runs in a sandbox"
	is "$(value "$F" '(list(d["mcpServers"]), d["userID"])')" \
	    '[["mine"], "u"]' "$name: and its file is compared"
}

for who in $WHOS; do
	template "$who"
	claude "$who" inplace
	claude "$who" rename
	first_start "$who"
	missing "$who"
	beside "$who"
	unreadable "$who" 'echo "{" >"$F"' "half a file"
	unreadable "$who" 'printf "{\"a\":1,\"a\":2}" >"$F"' "a key twice"
	unreadable "$who" ': >"$F"; rm "$X"' "empty, and removed"
	unreadable "$who" 'echo x >"$F"; ln -sf /etc/passwd "$X"' "a symlink"
	unreadable "$who" 'echo x >"$F"; d=${X%/*}
	    ! mv "$d" "$d.x" && ! rm -r "$d"' "the folder above replaced"
	full "$who"
	two_runs "$who"
	killed "$who" alone
	killed "$who" whole
	too_long "$who"
done
finish
