#!/usr/bin/env bash
# fence hook: every agent's inputs, answered as golden/hooks/AGENT.answers has
# it; then what the command line, the environment and the policy change.
# limit: 240
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
agents='claude codex gemini opencode copilot cursor qwen crush windsurf
hermes'

fresh() {	# fresh WHO: $W a folder with a subfolder, $H a home with a policy
	W=$(workspace "$1")
	H=$(workspace "$1")
	as "$1" mkdir -p "$W/sub" "$H/.config/fence"
	put "$1" "$H/.config/fence/fence.json" '{
	"command": { "deny": ["git push"] },
	"filesystem": { "allowWrite": ["."] },
	"network": { "allowedDomains": ["allowed.test"] }
}'
}

put() {	# put WHO FILE TEXT
	# shellcheck disable=SC2016 # for the inner shell
	as "$1" sh -c 'printf "%s\n" "$2" >"$1"' sh "$2" "$3"
}

filled() {	# filled TEXT: with the places of this test
	local t=${1//@W@/$W}
	t=${t//@H@/$H}
	t=${t//@FENCE_RUN@/$FENCE_RUN}
	printf '%s' "${t//@FENCE@/$FENCE}"
}

unfilled() {	# the contrary, from stdin
	sed "s|$W|@W@|g; s|$H|@H@|g; s|$FENCE_RUN|@FENCE_RUN@|g; s|$FENCE|@FENCE@|g"
}

# hook WHO INPUT WORDS…: fence WORDS with INPUT; $V holds variables for it
V=()
hook() {
	local who=$1 input=$2
	shift 2
	filled "$input" >"$T/input"
	chmod 644 "$T/input"
	capture "$who" env -u XDG_CONFIG_HOME -u XDG_STATE_HOME \
	    -u FENCE_SANDBOX -u FENCE_CODEX_WRAP HOME="$H" "${V[@]}" \
	    "$FENCE" "$@" <"$T/input"
}

answers() {	# answers WHO AGENT: each row's answer, for people and for cmp
	local name input
	while read -r name input; do
		hook "$1" "$input" hook "$2"
		printf '%s: %s\n' "$name" "$status"
		[ -z "$out" ] || printf '  out %s\n' "$out"
		[ -z "$err" ] || printf '  err %s\n' "$err"
		[ -z "$out" ] || /usr/bin/python3 -c 'import json, sys
json.loads(sys.argv[1])' "$out" || echo '  no JSON'
	done <"$TESTS/hooks/$2.in" | unfilled
}

call() {	# call COMMAND [CWD]: Claude's words for it
	/usr/bin/python3 -c 'import json, sys
print(json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash",
    "tool_input": {"command": sys.argv[1]}, "cwd": sys.argv[2]}))' \
	    "$1" "${2-$W}"
}

command_of() {	# of $out: the command that Claude is to run instead
	/usr/bin/python3 -c 'import json, sys
print(json.loads(sys.argv[1])["hookSpecificOutput"]["updatedInput"]["command"])' \
	    "$out"
}

policies() {	# which policy it is
	local p
	put "$who" "$W/sub/fence.json" '{"command": {"deny": ["ls"]}}'
	hook "$who" "$(call 'pwd && ls' "$W/sub")" hook claude
	like "$out" "deny.*'ls'.*command.deny\[.*$W/sub/fence.json:1" \
	    "$who: a project's policy, where the tool works"
	hook "$who" "$(call 'pwd && ls')" hook claude
	like "$out" '"permissionDecision":"allow"' "$who: and not beside it"
	p="$W/my policy.json"
	put "$who" "$p" '{"command": {"deny": ["make"]}}'
	hook "$who" "$(call 'npm test')" hook claude --settings "$p"
	is "$(command_of)" "$FENCE_RUN --settings '$p' -c 'npm test'" \
	    "$who: a pinned one is pinned inside, quoted"
	inner=$(command_of)
	hook "$who" "$(call "$inner")" hook claude --settings "$p"
	is "$status$out$err" 0 "$who: that command back again is left alone"
	hook "$who" "$(call "$inner")" hook claude
	like "$out" 'nested Fence command' "$who: not by another hook"
	hook "$who" "$(call 'make all')" hook claude --settings "$p"
	like "$out" 'command.deny\[0\] \\"make\\"' "$who: it denies"
	hook "$who" "$(call 'npm test')" hook claude --template code
	is "$(command_of)" "$FENCE_RUN --template code -c 'npm test'" \
	    "$who: a pinned template"
	put "$who" "$p" '{"command": {"dany": []}}'
	hook "$who" "$(call 'npm test')" hook claude --settings "$p"
	is "$status$out" 2 "$who: a policy with a mistake is exit 2"
	like "$err" '^fence: .*my policy.json:1:.*dany' "$who: and says which"
}

modes() {
	V=(FENCE_SANDBOX=1)
	hook "$who" "$(call 'npm test')" hook claude
	is "$status$out$err" 0 "$who: inside a jail nothing is rewritten"
	hook "$who" "$(call 'git push')" hook claude
	like "$out" '"permissionDecision":"deny"' "$who: but decided"
	unlike "$out" updatedInput "$who: and no more"
	V=()
	hook "$who" "$(call 'npm test')" hook claude --no-wrap
	is "$status$out$err" 0 "$who: --no-wrap decides only"
	hook "$who" "$(call 'npm test')" hook codex --wrap
	is "$(command_of)" "$FENCE_RUN -c 'npm test'" "$who: codex --wrap"
	V=(FENCE_CODEX_WRAP=1)
	hook "$who" "$(call 'npm test')" hook codex
	is "$(command_of)" "$FENCE_RUN -c 'npm test'" "$who: FENCE_CODEX_WRAP"
	V=()
}

aliases() {	# the Go program's options, as installed entries have them
	local p=$W/p.json
	put "$who" "$p" '{"command": {"deny": ["make"]}}'
	hook "$who" "$(call 'npm test')" --claude-pre-tool-use
	is "$(command_of)" "$FENCE_RUN -c 'npm test'" "$who: --claude-…"
	hook "$who" "$(call 'make')" --claude-pre-tool-use --settings "$p"
	like "$out" '"deny"' "$who: with --settings"
	hook "$who" "$(call 'npm test')" --codex-pre-tool-use
	is "$status$out" 0 "$who: --codex-…"
	hook "$who" "$(call 'npm test')" --codex-pre-tool-use --wrap \
	    --template code
	is "$(command_of)" "$FENCE_RUN --template code -c 'npm test'" \
	    "$who: --codex-… --wrap"
	hook "$who" "$(head -n 1 "$TESTS/hooks/cursor.in" | cut -d' ' -f2-)" \
	    --cursor-pre-tool-use
	like "$out" '^\{"permission":"allow"' "$who: --cursor-…"
	hook "$who" '{"tool_input": {"command": "git push"}, "cwd": "@W@"}' \
	    --opencode-pre-tool-use
	like "$out" '^\{"decision":"deny"' "$who: --opencode-…"
	hook "$who" "$(sed -n 's/^deny //p' "$TESTS/hooks/hermes.in")" \
	    --hermes-pre-tool-use
	like "$out" '^\{"action":"block"' "$who: --hermes-…"
	hook "$who" "$(sed -n 's/^deny //p' "$TESTS/hooks/windsurf.in")" \
	    --windsurf-hook
	is "$status$out" 2 "$who: --windsurf-hook"
	hook "$who" "$(call true)" --claude-pre-tool-use-suffix
	is "$status" 2 "$who: another option is none of them"
	hook "$who" '' hook nobody
	like "$status$err" "2.*no agent is named 'nobody'" "$who: nor an agent"
	hook "$who" '' hook
	is "$status" 2 "$who: no agent"
}

lines() {	# what is left alone and what is a nested fence
	local line
	while IFS= read -r line; do
		hook "$who" "$(call "$line")" hook claude
		is "$status$out$err" 0 "$who: a cd: $line"
	done <<'CD'
cd
cd "$HOME/tmp"
cd '$(pwd)'
cd $((1 + 1))
cd -- "${HOME}"/x\ y
CD
	while IFS= read -r line; do
		hook "$who" "$(call "$line")" hook claude
		like "$out" updatedInput "$who: more than a cd: $line"
	done <<'MORE'
cd $(pwd)
cd "$(pwd)"
cd `pwd`
cd "`pwd`"
cd x; ls
cd x && ls
cd x || ls
cd x | ls
cd x > y
cd x < y
cd x & ls
cd $((a[$(id)]))
cd ${x:-$(id)}
cdx
command -v fence
echo fence
MORE
	while IFS= read -r line; do
		hook "$who" "$(call "$line")" hook claude
		like "$out" 'nested Fence command' "$who: a fence: $line"
	done <<NESTED
fence -c ls
fence	-c ls
env fence ls
env -i MODE=x fence ls
env -u V fence ls
env --unset V fence ls
env --unset=V fence ls
env -C /tmp fence ls
command fence ls
command -p fence ls
A=1 fence ls
'$FENCE' ls
"$FENCE_RUN" -s /tmp/x ls
true; fence-run ls
true && (fence-run ls)
true \$(fence ls)
sudo -u nobody fence ls
exec fence-run ls
bash -c 'fence -s /tmp/x -c ls'
if true; then fence ls; fi
f\\ence ls
$FENCE_RUN -c 'true' -s /tmp/x
NESTED
}

for who in $WHOS; do
	fresh "$who"
	for agent in $agents; do
		answers "$who" "$agent" >"$T/$agent.answers"
		cmp "$T/$agent.answers" "$TESTS/golden/hooks/$agent.answers"
		ok $? "$who: $agent answers as in golden/hooks/$agent.answers" ||
		    note "$(diff "$TESTS/golden/hooks/$agent.answers" \
		    "$T/$agent.answers")"
	done
	policies
	modes
	aliases
	lines
	head -c 17000000 /dev/zero | tr '\0' ' ' >"$T/long"
	chmod 644 "$T/long"
	capture "$who" env HOME="$H" "$FENCE" hook claude <"$T/long"
	like "$status$out$err" '2fence: .*longer than' "$who: input without an end"
done
finish
