#!/usr/bin/env bash
# A name with control bytes reaches no terminal: wherever fence shows names.
. "$(dirname "$0")/../lib.sh"

evil=$'a\e]0;x\a\nb'

echo 'mkdir .idea' >"$T/table"
chmod 644 "$T/table"
for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/$evil
	as "$who" mkdir -p "$W/$evil" "$base/home"
	as "$who" tee "$W/fence.jsonc" "$W/p$evil.json" >"$T/null" <<-'E'
	{ "extends": "workspace-write", "filesystem": { "denyRead": ["./a*"] } }
	E
	one_line=$base/${evil/$'\n'/}/fence.jsonc	# the store holds lines
	as "$who" mkdir "${one_line%/*}"
	as "$who" cp "$W/fence.jsonc" "$one_line"
	fence=$(dirname "$FENCE_RUN")/fence
	while IFS=: read -r words what; do
		eval "set -- $words"
		capture "$who" env HOME="$base/home" "$@"
		unlike "$out$err" $'[\e\a]' "$who: $what: no control byte"
		like "$out$err" '\\x1b\]0;x\\x07(\\x0a)?b' "$who: $what: escaped"
	done <<-'E'
	"$fence" config show:config show
	"$fence" config show -s "p$evil.json":config show -s
	"$FENCE_RUN" --dry-run -s "p$evil.json" -- true:--dry-run
	"$fence" why write "$evil/x/../../../y$evil":why
	"$FENCE_RUN" -m -- sh -c ": >../y\"\$0\"; : >\"\$0/f\"" "$evil":a record
	"$FENCE_RUN" --chdir "$evil$evil" -- true:an error
	"$FENCE_RUN" -- "$PROBES/probe-static" "$T/table":quarantine
	"$fence" config trust "$one_line":config trust
	"$fence" config untrust "$one_line":config untrust
	E
done
finish
