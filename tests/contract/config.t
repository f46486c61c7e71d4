#!/usr/bin/env bash
# fence config: shown, checked, begun, trusted, compared.
# limit: 180
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
lists='allowedDomains deniedDomains allowRead allowExecute denyRead
allowWrite denyWrite deny allow allowedHosts deniedHosts allowedCommands
deniedCommands'

config() {	# config WHO ARGS…
	local who=$1
	shift
	capture "$who" env -u XDG_CONFIG_HOME -u XDG_STATE_HOME HOME="$H" \
	    "$FENCE" config "$@"
}

put() {	# put WHO FILE TEXT
	as "$1" mkdir -p "$(dirname "$2")"
	# shellcheck disable=SC2016 # for the inner shell
	as "$1" sh -c 'printf "%s\n" "$2" >"$1"' sh "$2" "$3"
}

show() {	# show WHO
	config "$who" show
	is "$status" 0 "$who: show without any file"
	like "$err" 'Active config chain:
builtin default \(no config loaded from .*/\.config/fence/fence\.json\)' \
	    "$who: says that there is none"
	put "$who" "$H/.config/fence/fence.json" \
	    '{"extends": "code", "allowPty": true}'
	put "$who" "$W/fence.json" '{"extends": "@base"}'
	config "$who" trust
	is "$status" 0 "$who: trust the project file"
	config "$who" show
	is "$err" "Active config chain:
project config: $W/fence.json
└── @base user config: $H/.config/fence/fence.json
    └── builtin template: code
        └── builtin template: workspace-write" "$who: the chain"
	printf '%s\n' "$out" >"$T/shown.json"
	chmod 644 "$T/shown.json"
	like "$out" '"allowPty": true' "$who: the merged policy"
	unlike "$out" '"extends"' "$who: has nothing to extend"
	config "$who" show -s "$T/shown.json"
	is "$out" "$(cat "$T/shown.json")" "$who: fed back it is the same"
	config "$who" show --format ini
	printf '%s\n' "$out" >"$T/shown.ini"
	chmod 644 "$T/shown.ini"
	config "$who" show -s "$T/shown.ini"
	is "$out" "$(cat "$T/shown.json")" "$who: so it is by way of INI"
	config "$who" show --origins
	like "$out" '// <built-in code>:' "$who: --origins"
	config "$who" show --format yaml
	is "$status" 2 "$who: an unknown format is exit 2"
	config "$who" show -s "$T/shown.json"
	is "$err" "Active config chain:
settings file: $T/shown.json" "$who: --settings instead of the project's"
	config "$who" show -t git-readonly
	is "$err" 'Active config chain:
builtin template: git-readonly
└── builtin template: workspace-write' "$who: and a template"
	config "$who" show -t git-readonly -s "$T/shown.json"
	is "$status" 2 "$who: both is exit 2"
	config "$who" show more
	is "$status" 2 "$who: a word is exit 2"
	config "$who" show -s "$T/missing.json"
	is "$status" 1 "$who: a missing file is exit 1"
	like "$err" 'missing\.json' "$who: and is named"
	as "$who" rm "$W/fence.json"
	config "$who" show
	is "$err" "Active config chain:
user config: $H/.config/fence/fence.json
└── builtin template: code
    └── builtin template: workspace-write" "$who: without the project's, the user's"
	is "$(as "$who" env -u XDG_CONFIG_HOME HOME="$H" "$FENCE" config show \
	    2>&1 >/dev/null | tail -n 1 | wc -c)" 1 \
	    "$who: behind the chain is an empty line"
}

trust() {	# trust WHO
	put "$who" "$H/.config/fence/fence.json" \
	    '{"network": {"allowedDomains": ["user.test"]}}'
	put "$who" "$W/part.json" '{"network": {"allowedDomains": ["p.test"]}}'
	put "$who" "$W/fence.json" '{"extends": "./part.json"}'
	config "$who" show
	like "$err" "$W/fence.json is not trusted and was not given: \
network.allowedDomains \"p.test\"" "$who: one notice of what it did not get"
	like "$err" 'not trusted: may only tighten' "$who: the chain says so"
	config "$who" trust "$W/fence.json"
	is "$out" "trusted $W/fence.json" "$who: trust"
	is "$(as "$who" stat -c %a "$H/.local/state/fence/trust")" 600 \
	    "$who: the store is the user's own"
	config "$who" show
	unlike "$err" 'not trusted' "$who: trusted"
	like "$out" 'p\.test' "$who: it says what holds"
	put "$who" "$W/part.json" '{"network": {"allowedDomains": ["q.test"]}}'
	config "$who" show
	like "$err" 'not trusted' "$who: until a file it extends changes"
	config "$who" trust
	config "$who" untrust
	is "$out" "no longer trusted $W/fence.json" "$who: untrust"
	config "$who" untrust
	is "$out" "was not trusted $W/fence.json" "$who: twice"
	put "$who" "$W/fence.json" '{"extnds": "code"}'
	config "$who" trust
	is "$status" 1 "$who: a file with a mistake is not trusted"
	as "$who" rm "$W/fence.json"
	(cd / && config "$who" trust /nonexistent/fence.json
	[ "$status" = 1 ])
	ok $? "$who: nor one that is not there"
}

init_print() {	# init_print WHO: the policy alone, and no file
	config "$who" init --print
	is "$out" '{
  "extends": "workspace-write"
}' "$who: init --print"
	config "$who" init --print --template git-readonly
	is "$out" '{
  "extends": "git-readonly"
}' "$who: of another template"
	config "$who" init --template git-readonly -o "$W/other.json"
	is "$out" "Created config extending \"git-readonly\"
Written to \"$W/other.json\"" "$who: into another file"
	config "$who" init --print --minimal
	is "$(printf '%s' "$out" | xargs)" '{ }' "$who: of none"
}

init() {	# init WHO
	as "$who" rm -rf "$H/.config"
	config "$who" init
	is "$out" "Created config extending \"workspace-write\"
Written to \"$H/.config/fence/fence.json\"" "$who: init"
	is "$(as "$who" stat -c %a "$H/.config/fence/fence.json")" 600 \
	    "$who: with its mode"
	like "$(as "$who" cat "$H/.config/fence/fence.json")" \
	    'fence config init' "$who: and a head that says from where"
	config "$who" check "$H/.config/fence/fence.json"
	is "$status$err" 0 "$who: what init writes passes the check"
	config "$who" diff workspace-write "$H/.config/fence/fence.json"
	is "$status$out" 0 "$who: and lets through what none would"
	config "$who" init --minimal </dev/null
	is "$status" 1 "$who: it does not replace unasked"
	is "$out" "File \"$H/.config/fence/fence.json\" already exists. \
Overwrite? [y/N] " "$who: but asks"
	config "$who" init --minimal <<<Yes
	is "$status" 0 "$who: and does with a yes"
	unlike "$(as "$who" cat "$H/.config/fence/fence.json")" extends \
	    "$who: minimal extends nothing"
	config "$who" init --minimal -y
	is "$status" 0 "$who: or with -y"
	init_print "$who"
	config "$who" init --print --scaffold
	printf '%s\n' "$out" >"$T/scaffold.json"
	chmod 644 "$T/scaffold.json"
	config "$who" check "$T/scaffold.json"
	is "$status$err" 0 "$who: the scaffold passes the check"
	is "$(grep -o '[a-zA-Z]*": \[\]' "$T/scaffold.json" | cut -d'"' -f1 |
	    xargs)" "$(echo $lists)" "$who: and has the lists, empty"
	config "$who" init --minimal --template code
	is "$status" 2 "$who: what excludes each other is exit 2"
	config "$who" init --print -o "$W/x.json"
	is "$status" 2 "$who: so with --print and --output"
	config "$who" init --print -y
	is "$status" 2 "$who: and --print and --force"
	config "$who" init --template nonesuch -y
	is "$status" 2 "$who: an unknown template is exit 2"
}

diffs() {	# diffs WHO
	config "$who" diff code code
	is "$status$out" 0 "$who: diff of the same"
	config "$who" diff code code-relaxed
	is "$status" 1 "$who: diff where more is let through"
	like "$out" '^\+ network.allowedDomains "\*"' "$who: names it"
	config "$who" diff code-relaxed code
	is "$status" 0 "$who: diff where less is"
	like "$out" '^- network.allowedDomains "\*"' "$who: names that, too"
	config "$who" diff code
	is "$status" 2 "$who: diff with one is exit 2"
}

check_all() {	# check_all WHO: every mistake of a file at once
	put "$who" "$W/three.jsonc" '{
  "netwrk": {},
  "network": { "allowedDomains": ["*.", "fine.test"] },
  "filesystem": { "allowWrite": 7 }
}'
	config "$who" check "$W/three.jsonc"
	is "$status" 1 "$who: check: exit 1"
	like "$err" "three.jsonc:2:[0-9]+: netwrk: " "$who: the first"
	like "$err" 'hint: did you mean .*network' "$who: with a hint"
	like "$err" "three.jsonc:3:[0-9]+: network.allowedDomains\[0\]: " \
	    "$who: the second"
	like "$err" "three.jsonc:4:[0-9]+: filesystem.allowWrite: " \
	    "$who: the third"
	config "$who" check "$W/three.jsonc" "$W/none.jsonc"
	like "$err" 'none\.jsonc' "$who: and of the next file"
	config "$who" check
	is "$status" 2 "$who: check without a file is exit 2"
	config "$who" check --ignore-unknown-keys "$W/three.jsonc"
	unlike "$err" ': netwrk: unknown' "$who: unknown keys by name"
}

# A policy that hides fewer credentials than none at all.
hides() {	# hides WHO
	local less='lets the command read ([0-9]+) of the 31 places of credentials.*workspace-write'
	put "$who" "$W/less.jsonc" \
	    '{"filesystem": {"allowWrite": ["."], "denyRead": ["~/.ssh"]}}'
	put "$who" "$W/more.jsonc" '{"extends": "workspace-write",
	    "filesystem": {"denyRead": ["**/.env"]}}'
	put "$who" "$W/closed.jsonc" '{"filesystem": {"defaultDenyRead": true}}'
	put "$who" "$W/mine.jsonc" '{"extends": "code",
	    "filesystem": {"denyRead": ["!~/.aws"]}}'
	config "$who" check "$W/less.jsonc"
	is "$status" 0 "$who: check: less hidden is no error"
	like "$err" "warning: $W/less.jsonc $less" "$who: but is said"
	is "${BASH_REMATCH[1]-}" 30 "$who: with how many"
	config "$who" check "$W/more.jsonc" "$W/closed.jsonc"
	is "$status$err" 0 "$who: as much or more needs no word"
	config "$who" check "$W/mine.jsonc"
	like "$err" '1 of the 31 .*\(~/.aws\)$' \
	    "$who: what is opened on purpose is named, without a cure"
	as "$who" mkdir -p "$W/p"
	put "$who" "$W/p/fence.jsonc" '{"filesystem": {"allowWrite": ["."]}}'
	config "$who" trust "$W/p/fence.jsonc"
	is "$status" 0 "$who: trust takes it"
	like "$err" 'lets the command read 31 of the 31' "$who: and says it"
	config "$who" untrust "$W/p/fence.jsonc"

	# A run, on a terminal: once for each policy.
	on_terminal() {	# on_terminal ARGS…
		capture "$who" env -u XDG_STATE_HOME HOME="$H" script -qec \
		    "$(printf '%q ' "$FENCE_RUN" "$@")" "$W/typescript"
	}
	as "$who" rm -rf "$H/.local/state/fence/told"
	on_terminal -s "$W/less.jsonc" -- echo ran
	like "$out" "$less" "$who: a run on a terminal says so"
	like "$out" 'ran' "$who: and runs"
	on_terminal -s "$W/less.jsonc" -- echo ran
	unlike "$out" 'lets the command read' "$who: once"
	put "$who" "$W/other.jsonc" '{"filesystem": {"allowWrite": ["."]}}'
	on_terminal -s "$W/other.jsonc" -- echo ran
	like "$out" 'read 31 of the 31' "$who: and once of another"
	on_terminal -s "$W/more.jsonc" -r '~/.ssh' -- echo ran
	unlike "$out" 'lets the command read' "$who: not of what -r opens"
	for name in code code-relaxed code-strict hermes disable-telemetry \
	    local-dev-server git-readonly strict default-deny ci; do
		put "$who" "$W/of.jsonc" "{\"extends\": \"$name\"}"
		config "$who" check "$W/of.jsonc"
		is "$status$err" 0 "$who: $name hides as much"
	done
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$W/other.jsonc" -- true
	is "$status$err" 0 "$who: scripts are told nothing"
}

schema() {
	config "$who" schema
	is "$(printf '%s' "$out" | python3 -c 'import json, sys
print(json.load(sys.stdin)["additionalProperties"])')" False \
	    "$who: the schema is JSON and closed"
}

for who in $WHOS; do
	W=$(workspace "$who")
	H=$(workspace "$who")
	show "$who"
	trust "$who"
	init "$who"
	diffs "$who"
	check_all "$who"
	hides "$who"
	schema "$who"
done
finish
