#!/usr/bin/env bash
# The built-in policies: listed, shown, and each one fit to be extended.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
names='cargo-build ci code code-relaxed code-strict default-deny
disable-telemetry git-readonly go-build hermes local-dev-server npm-install
pip-install strict workspace-write'

for who in $WHOS; do
	W=$(workspace "$who")
	capture "$who" "$FENCE" template list
	is "$status" 0 "$who: list"
	is "$(printf '%s\n' "$out" | sed -n 's/^  \([a-z-]*\) .*/\1/p' | xargs)" \
	    "$(echo $names)" "$who: list names them all, sorted"
	unlike "$out" '  [a-z-]+ *$' "$who: each with what it is for"
	list=$out
	fence "$who" --list-templates
	is "$out" "$list" "$who: --list-templates says the same"
	for name in $names; do
		capture "$who" "$FENCE" template show "$name"
		like "$out" "^// $name: .*" "$who: show $name"
		printf '%s\n' "$out" >"$T/copy.jsonc"
		chmod 644 "$T/copy.jsonc"
		capture "$who" "$FENCE" config check "$T/copy.jsonc"
		is "$status$err" 0 "$who: $name passes the check"
		for format in json ini; do
			capture "$who" "$FENCE" config show -t "$name" \
			    --format $format
			printf '%s\n' "$out" >"$T/again.$format"
			chmod 644 "$T/again.$format"
			capture "$who" "$FENCE" config show \
			    -s "$T/again.$format"
			printf '%s\n' "$out" >"$T/$format.shown"
		done
		cmp -s "$T/again.json" "$T/json.shown" &&
		    cmp -s "$T/again.json" "$T/ini.shown"
		ok $? "$who: $name shown and fed back is the same"
	done
	capture "$who" "$FENCE" template show cod
	is "$status" 2 "$who: an unknown name is exit 2"
	like "$err" "hint: did you mean 'code'" "$who: with a hint"
	capture "$who" "$FENCE" template show
	is "$status" 2 "$who: no name is exit 2"
	capture "$who" "$FENCE" template lst
	like "$err" 'did you mean .fence template list' \
	    "$who: a sub-command with a slip"
	fence "$who" -t nonesuch -- true
	is "$status" 2 "$who: -t with an unknown name is exit 2"
	like "$err" 'fence template list' "$who: and says where they are listed"
done
finish
