#!/usr/bin/env bash
# fence import: the settings of other tools as a policy, as golden/hooks has
# it; nothing is dropped in silence, and the result passes the check.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

import() {	# import WHO ARGS…
	local who=$1
	shift
	capture "$who" env -u XDG_CONFIG_HOME -u XDG_STATE_HOME \
	    -u CODEX_HOME HOME="$H" "$FENCE" import "$@"
}

put() {	# put WHO FILE TEXT
	as "$1" mkdir -p "$(dirname "$2")"
	# shellcheck disable=SC2016 # for the inner shell
	as "$1" sh -c 'printf "%s\n" "$2" >"$1"' sh "$2" "$3"
}

# result NAME: $out passes the check, here and now
result() {
	printf '%s\n' "$out" >"$T/result.jsonc"
	chmod 644 "$T/result.jsonc"
	capture "$who" env HOME="$H" "$FENCE" config check "$T/result.jsonc"
	is "$status" 0 "$1"
}

goldens() {
	local source file
	for source in claude srt codex; do
		file=$W/p/.claude/settings.json
		put "$who" "$file" \
		    "$(cat "$TESTS/hooks/import/$source".*)"
		import "$who" "--$source" "$file"
		is "$status" 0 "$who: $source: exit 0"
		sed "s|$W|@W@|g" <<<"$out" >"$T/$source.jsonc"
		cmp "$T/$source.jsonc" \
		    "$TESTS/golden/hooks/import-$source.jsonc"
		ok $? "$who: $source: as in golden/hooks/import-$source.jsonc" ||
		    note "$(diff "$TESTS/golden/hooks/import-$source.jsonc" \
		    "$T/$source.jsonc")"
		is "$(sed -n 's/^#   //p' <<<"$err")" \
		    "$(sed -n 's|^//   ||p' <<<"$out")" \
		    "$who: $source: what is left out is told on stderr, too"
		result "$who: $source: passes the check"
	done
}

rows() {	# FILE-TEXT => what must be in the policy, or in the notes
	local rules want where
	while IFS='|' read -r rules want; do
		put "$who" "$W/s.json" "{\"permissions\": $rules}"
		import "$who" --claude --no-extend "$W/s.json"
		where=$out
		case $want in
		-*)	unlike "${out#*$'\n{'}" "\"${want#-}\"" \
			    "$who: $rules is not ${want#-}" ;;
		'#'*)	like "$err" "${want#\#}" "$who: $rules: $want" ;;
		*)	grep -qF -- "\"$want\"" <<<"$where"
			ok $? "$who: $rules: $want" || note "$where" ;;
		esac
		result "$who: $rules: a policy"
	done <<'ROWS'
{"allow": ["Bash(npm test)"]}|npm test
{"allow": ["Bash(npm test:*)"]}|npm test
{"allow": ["Bash(npm test *)"]}|npm test
{"deny": ["Bash(git push:*)"]}|git push
{"deny": ["Bash(git * --force)"]}|re:^git .* --force$
{"deny": ["Bash(a.b*)"]}|re:^a\\.b
{"allow": ["Bash(git:*)"], "deny": ["Bash(git push:*)"]}|-git
{"allow": ["Bash(git push x)"], "deny": ["Bash(git push:*)"]}|-git push x
{"allow": ["Bash(git *)"], "deny": ["Bash(gitk *)"]}|git
{"allow": ["Edit(./a/b)"], "deny": ["Edit(./a)"]}|-./a/b
{"allow": ["Edit(./ab)"], "deny": ["Edit(./a)"]}|./ab
{"allow": ["Read(~/.ssh/config)"], "deny": ["Read(~/.ssh/**)"]}|-~/.ssh/config
{"deny": ["Read(~/.ssh/**)"]}|~/.ssh
{"deny": ["Read(//etc/passwd)"]}|/etc/passwd
{"deny": ["Read(.env)"]}|**/.env
{"deny": ["Read(./.env)"]}|./.env
{"deny": ["Read(secrets/)"]}|**/secrets
{"deny": ["Read(a/secrets/)"]}|./a/secrets
{"ask": ["Bash(rm:*)"]}|rm
{"ask": ["Bash(rm:*)"]}|#Ask rule converted to deny
{"allow": ["WebFetch(domain:*.example.com)"]}|*.example.com
{"allow": ["WebFetch(domain:a b)"]}|#allow: WebFetch\(domain:a b\)
{"allow": ["Bash(! x)"]}|#takes others away
{"allow": ["Bash(*)"]}|#allow Bash\(\*\)
{"allow": ["Read"]}|#allow Read
{"deny": ["Grep"]}|#deny Grep
{"allow": ["Edit"], "deny": ["Write"]}|#deny Write
{"allow": "Bash"}|#it is no list
{"defaultMode": "bypassPermissions"}|#defaultMode.*bypassPermissions
[]|#it is no object
ROWS
}

files() {
	import "$who" --claude
	like "$status$err" '1.*\.claude/settings\.json' \
	    "$who: a missing file is exit 1 and named"
	put "$who" "$H/.claude/settings.json" \
	    '{"permissions": {"allow": ["Edit(/x/**)"]}}'
	import "$who" --claude
	like "$out" '"extends": "code"' "$who: extends code unless told"
	like "$out" '"~/\.claude/x"' "$who: /x of the user's is beside it"
	like "$err" '^# Extends "code".*
# Imported 1 rules from .*/\.claude/settings\.json
# Use --save' "$who: said on stderr"
	import "$who" --claude --extend git-readonly
	like "$out" '"extends": "git-readonly"' "$who: --extend"
	import "$who" --claude --no-extend -o -
	unlike "$out" extends "$who: --no-extend"
	put "$who" "$W/empty.json" ''
	import "$who" --claude -f "$W/empty.json"
	like "$status$err" '0.*Imported 0 rules' "$who: an empty file"
	result "$who: is a policy that extends code"
	put "$who" "$W/bad.json" '{"permissions": {,}}'
	import "$who" --claude "$W/bad.json"
	like "$status$err" '1.*bad.json:1:18' "$who: a broken one has its place"
	put "$who" "$W/bad.toml" 'sandbox_mode = '
	import "$who" --codex "$W/bad.toml"
	like "$status$err" '1.*bad.toml:1:16: expected a value' \
	    "$who: a broken TOML, too"
	put "$who" "$H/.codex/config.toml" 'sandbox_mode = "read-only"'
	import "$who" --codex
	is "$status" 0 "$who: Codex's own"
	result "$who: read-only is the closed base"
	put "$who" "$H/.codex/config.toml" 'sandbox_mode="danger-full-access"'
	import "$who" --codex
	like "$err" 'danger-full-access.*is none' "$who: no jail is no policy"
	put "$who" "$H/.srt-settings.json" '{"filesystem": {"allowWrite": ["."]}}'
	import "$who" --srt --save
	like "$status$out" "0.*Written to \"$H/.config/fence/fence.json\"" \
	    "$who: --save"
	capture "$who" env -u XDG_CONFIG_HOME HOME="$H" "$FENCE" config show
	like "$out" '"allowWrite": \[
 *"\."' "$who: is what holds now"
	import "$who" --srt -o "$H/.config/fence/fence.json" </dev/null
	like "$status$out" '1.*already exists. Overwrite' "$who: asks"
	import "$who" --claude -y -o "$H/.config/fence/fence.json"
	is "$status" 0 "$who: -y does not"
}

usage() {
	local words
	while read -r words; do
		# shellcheck disable=SC2086 # they are words
		import "$who" $words
		is "$status" 2 "$who: exit 2: $words"
	done <<-'WRONG'
	--claude --srt
	--claude a b
	--claude -f a b
	--claude --extend x --no-extend
	--claude --save -o x
	--cursor
	WRONG
	import "$who"
	like "$status$err" '2.*no import source' "$who: no source is exit 2"
}

for who in $WHOS; do
	W=$(workspace "$who")
	H=$(workspace "$who")
	goldens
	rows
	files
	usage
done
finish
