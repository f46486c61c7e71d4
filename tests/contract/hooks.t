#!/usr/bin/env bash
# fence hooks: what is printed, as golden/hooks has it; installed, found again,
# asked, and taken out with not a byte of the agent's file changed.
# limit: 240
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
paths='claude .claude/settings.json
codex .codex/hooks.json
gemini .gemini/settings.json
opencode .config/opencode/plugins/fence.js
copilot .copilot/hooks/fence.json
cursor .cursor/hooks.json
qwen .qwen/settings.json
crush .config/crush/crush.json
windsurf .codeium/windsurf/hooks.json
hermes .hermes/config.yaml'

V=()
hooks() {	# hooks WHO WORDS…
	local who=$1
	shift
	capture "$who" env -u XDG_CONFIG_HOME -u XDG_STATE_HOME \
	    -u CLAUDE_CONFIG_DIR -u CODEX_HOME -u HERMES_HOME \
	    -u COPILOT_HOME -u FENCE_SANDBOX HOME="$H" "${V[@]}" \
	    "$FENCE" hooks "$@"
}

put() {	# put WHO FILE TEXT
	as "$1" mkdir -p "$(dirname "$2")"
	# shellcheck disable=SC2016 # for the inner shell
	as "$1" sh -c 'printf "%s" "$2" >"$1"' sh "$2" "$3"
}

files() {	# what lies in the home but for fence's own state
	(cd "$H" && find . -type f ! -path './.local/state/*' \
	    -exec sha256sum {} + | sort -k 2)
}

prints() {
	local agent path
	while read -r agent path; do
		hooks "$who" print "--$agent"
		printf '%s\n' "$out" | sed "s|$FENCE|@FENCE@|g" >"$T/entry"
		cmp "$T/entry" "$TESTS/golden/hooks/$agent.entry"
		ok $? "$who: $agent: as in golden/hooks/$agent.entry" ||
		    note "$(cat "$T/entry")"
	done <<<"$paths"
	hooks "$who" print --claude --template code
	like "$out" '"--template",
 *"code"' "$who: a pinned template"
	put "$who" "$W/my policy.json" '{}'
	hooks "$who" print --cursor --settings 'my policy.json'
	like "$out" "fence hook cursor --settings '$W/my policy.json'\"" \
	    "$who: a pinned file, absolute and quoted"
	hooks "$who" print --codex --wrap
	like "$out" 'hook codex --wrap"' "$who: --wrap"
}

usage() {
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # they are words
		hooks "$who" $words
		is "$status" 2 "$who: exit 2: $words" || note "$err"
	done <<-'WRONG'
	print
	install
	install --claude --codex
	install claude codex
	install nobody
	install --claude --wrap
	install --codex --wrap --no-wrap
	install --claude --settings x --template code
	install --claude --template nonesuch
	status -f x
	frobnicate
	WRONG
	hooks "$who" install --claude --settings "$W/missing.json"
	is "$status" 1 "$who: a policy that is not there is exit 1"
	is "$(files)" "$before" "$who: and nothing is written"
}

fresh_files() {	# every agent, into nothing
	local agent path
	while read -r agent path; do
		hooks "$who" install "--$agent"
		is "$status" 0 "$who: $agent: installed" || continue
		like "$out" "^Installed .*\"$H/$path\"
Asked about 'git push', it answers: .*blocked by fence policy .*git push.*command.deny" \
		    "$who: $agent: asked once, and its answer shown"
		is "$(stat -c %a "$H/$path")" 600 "$who: $agent: mode 600"
		case $path in
		*.json) /usr/bin/python3 -m json.tool "$H/$path" >/dev/null
			ok $? "$who: $agent: it is JSON" ;;
		esac
		sum=$(sha256sum "$H/$path"; stat -c %i "$H/$path")
		hooks "$who" install "$agent"
		like "$status$out" '0.* already installed in ' \
		    "$who: $agent: a second time"
		is "$(sha256sum "$H/$path"; stat -c %i "$H/$path")" "$sum" \
		    "$who: $agent: changes nothing"
		hooks "$who" status "--$agent"
		like "$out" "^$agent +installed +$H/$path
    calls $FENCE hook $agent" "$who: $agent: status finds it"
		[ "$agent" = codex ] || is "$status" 0 "$who: $agent: it acts"
		hooks "$who" uninstall "--$agent"
		like "$status$out" "0Removed .*$path" "$who: $agent: removed"
		is "$(files)" "$before" "$who: $agent: as before"
		hooks "$who" uninstall "--$agent"
		like "$status$out" '0.* not present in' "$who: $agent: twice"
		hooks "$who" status "--$agent"
		like "$status$out" '1.*not installed' "$who: $agent: gone"
	done <<<"$paths"
}

claude='{
    // what I like
    "model": "opus",	/* big */
    "hooks": {
        "PreToolUse": [
            { "matcher": "Edit", "hooks": [ { "type": "command", "command": "lint" } ] } // mine
        ],
        "Stop": []
    },
    "permissions": { "allow": ["Bash(npm run *)"], },
}
'

own_files() {	# files that have something in them
	local f=$H/.claude/settings.json
	put "$who" "$f" "$claude"
	chmod 640 "$f"
	sum=$(files)
	hooks "$who" install --claude
	is "$status" 0 "$who: into a file with comments"
	is "$(stat -c %a "$f")" 640 "$who: its mode is kept"
	is "$(diff <(printf %s "$claude") "$f" | grep -c '^<')" 1 \
	    "$who: of the old lines one has a comma more"
	like "$(cat "$f")" ' // mine
            \{
                "matcher": "Bash",' "$who: indented as the rest"
	hooks "$who" install --claude --template code
	like "$out" '^Installed' "$who: other options replace the entry"
	is "$(grep -c hooks/build\\\|bin/fence "$f")" 1 "$who: there is one"
	hooks "$who" uninstall --claude
	is "$(files)" "$sum" "$who: byte for byte as before"

	hooks "$who" install --claude
	as "$who" sed -i 's/opus/sonnet/' "$f"
	hooks "$who" uninstall --claude
	is "$(cat "$f"; echo .)" "${claude/opus/sonnet}." \
	    "$who: a change in between stays, our entry goes"

	as "$who" mkdir "$H/dot"
	as "$who" mv "$f" "$H/dot/settings.json"
	as "$who" ln -s ../dot/settings.json "$f"
	hooks "$who" install --claude
	[ -L "$f" ] && grep -q fence "$H/dot/settings.json"
	ok $? "$who: a symlink stays one"
	hooks "$who" uninstall --claude
	is "$(cat "$H/dot/settings.json"; echo .)" "${claude/opus/sonnet}." \
	    "$who: and back"
	as "$who" rm "$f" "$H/dot/settings.json"

	put "$who" "$f" '{ "hooks": [] }'
	hooks "$who" install --claude
	like "$status$err" "1.*settings.json:1:12: 'hooks' is a list" \
	    "$who: a file of another shape is an error with its place"
	put "$who" "$f" '{ broken'
	hooks "$who" install --claude
	like "$status$err" "1.*settings.json:1:3" "$who: so is no JSON"
	is "$(cat "$f")" '{ broken' "$who: and stays as it is"
	as "$who" rm "$f"
	as "$who" ln -s nowhere "$f"
	hooks "$who" install --claude
	like "$status$err" '1.*leads nowhere' "$who: a dangling symlink"
	as "$who" rm "$f"
	put "$who" "$H/.copilot/hooks/fence.json" '{"hooks": {"a": []}}'
	hooks "$who" install --copilot
	hooks "$who" uninstall --copilot
	is "$(cat "$H/.copilot/hooks/fence.json")" '{"hooks": {"a": []}}' \
	    "$who: Copilot: what else is in the file stays"
	as "$who" rm -r "$H/.copilot"
	put "$who" "$H/.config/opencode/plugins/fence.js" '// mine'
	hooks "$who" install --opencode
	like "$status$err" '1.*is there and not ours' \
	    "$who: OpenCode: a plugin of that name stays"
	as "$who" rm -r "$H/.config/opencode"
	put "$who" "$H/x.json" '{}'
	hooks "$who" install --claude -f "$H/x.json"
	like "$(cat "$H/x.json")" PreToolUse "$who: -f"
	as "$who" rm -r "$H/x.json" "$H/dot"
	V=(CLAUDE_CONFIG_DIR="$H/cc")
	hooks "$who" install --claude
	[ -f "$H/cc/settings.json" ]
	ok $? "$who: CLAUDE_CONFIG_DIR"
	hooks "$who" uninstall --claude
	V=()
}

old_entries() {	# the Go program's
	local f=$H/.codex/hooks.json
	put "$who" "$f" '{"hooks":{"PreToolUse":[{"hooks":[{"command":"fence --codex-pre-tool-use --wrap","statusMessage":"Checking with Fence","type":"command"}],"matcher":"Bash"},{"matcher":"x"}]}}'
	hooks "$who" status --codex
	like "$out" 'calls fence --codex-pre-tool-use --wrap
    ! the program is no absolute path' "$who: an old entry is known"
	hooks "$who" install --codex
	is "$(grep -c codex-pre-tool-use "$f")" 0 "$who: and replaced"
	like "$err" 'open /hooks and trust it' "$who: Codex wants trust"
	hooks "$who" uninstall --codex
	is "$(cat "$f")" '{"hooks":{"PreToolUse":[{"matcher":"x"}]}}' \
	    "$who: it does not come back"
	as "$who" rm "$f"
	f=$H/.config/opencode/opencode.jsonc
	put "$who" "$f" '{
  // plugins
  "plugin": ["a", "@fencesandbox/opencode-fence"], // two
  "model": "x"
}
'
	hooks "$who" install --opencode
	is "$(cat "$f")" '{
  // plugins
  "plugin": ["a"], // two
  "model": "x"
}' "$who: OpenCode: the Go program's package is taken out"
	hooks "$who" uninstall --opencode
	as "$who" rm "$f"
}

troubles() {	# what keeps a hook from acting
	hooks "$who" install --claude
	put "$who" "$W/.claude/settings.local.json" '{"disableAllHooks": true}'
	hooks "$who" status --claude
	like "$status$out" '1.*! .*settings.local.json: disableAllHooks' \
	    "$who: Claude: disableAllHooks of a project"
	as "$who" rm -r "$W/.claude"
	as "$who" sed -i "s|$FENCE|/nowhere/fence|" "$H/.claude/settings.json"
	hooks "$who" status --claude
	like "$status$out" '1.*! /nowhere/fence: is no program' \
	    "$who: a program that is gone"
	hooks "$who" uninstall --claude
	is "$(cat "$H/.claude/settings.json")" '{
}' "$who: what was changed since is not removed with it"
	as "$who" rm "$H/.claude/settings.json"
	hooks "$who" install --codex
	hooks "$who" status --codex
	like "$status$out" '1.*! not trusted' "$who: Codex: not trusted"
	put "$who" "$H/.codex/config.toml" "[hooks.state.\"$H/.codex/hooks.json:pre_tool_use:0:0\"]
trusted_hash = \"sha256:0\"
"
	hooks "$who" status --codex
	is "$status" 0 "$who: Codex: trusted"
	put "$who" "$H/.codex/config.toml" "[hooks.state.\"$H/.codex/hooks.json:pre_tool_use:0:0\"]
trusted_hash = \"sha256:0\"
enabled = false
"
	hooks "$who" status --codex
	like "$status$out" '1.*is not enabled' "$who: Codex: not enabled"
	put "$who" "$H/.codex/config.toml" 'features = { hooks = false }'
	hooks "$who" status --codex
	like "$status$out" '1.*features.hooks is false' "$who: Codex: off"
	hooks "$who" uninstall --codex
	as "$who" rm "$H/.codex/config.toml"
	put "$who" "$H/.gemini/settings.json" \
	    '{"hooksConfig": {"enabled": false, "disabled": ["fence"]}}'
	hooks "$who" install --gemini
	hooks "$who" status --gemini
	like "$status$out" '1.*enabled is false.*disabled names it' \
	    "$who: Gemini: off"
	hooks "$who" uninstall --gemini
	as "$who" rm "$H/.gemini/settings.json"
	hooks "$who" status
	is "$status" 0 "$who: status of all"
	is "$(grep -c 'not installed' <<<"$out")" 10 "$who: has all ten"
}

for who in $WHOS; do
	W=$(workspace "$who")
	H=$(workspace "$who")
	put "$who" "$H/.config/fence/fence.json" '{
	"command": { "deny": ["git push"] },
	"filesystem": { "allowWrite": ["."] }
}'
	before=$(files)
	prints
	usage
	fresh_files
	own_files
	old_entries
	troubles
	is "$(files)" "$before" "$who: nothing is left in the home"
done
finish
