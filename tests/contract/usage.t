#!/usr/bin/env bash
# Mistakes are told before anything starts: place, key, cure.
. "$(dirname "$0")/../lib.sh"

settings() {	# settings WHO TEXT: with a file that says TEXT
	printf '%s' "$2" >"$T/p.json"
	chmod 644 "$T/p.json"
	fence "$1" --settings "$T/p.json" -- touch ran
}

refused() {	# refused NAME REGEX
	is "$status" 1 "$1: exit 1"
	like "$err" "$2" "$1: told where and what"
	[ ! -e "$W/ran" ]
	ok $? "$1: nothing ran"
}

for who in $WHOS; do
	W=$(workspace "$who")
	fence "$who"
	is "$status" 2 "$who: no command is exit 2"
	like "$err" '[Uu]sage|usage|command' "$who: and says so"
	fence "$who" --
	is "$status" 2 "$who: no command after -- is exit 2"
	fence "$who" --no-such-flag true
	is "$status" 2 "$who: an unknown flag is exit 2"
	like "$err" 'no-such-flag' "$who: and is named"
	fence "$who" --setings x true
	like "$err" 'hint:.*--settings' "$who: with a hint where one is near"
	fence "$who" --settings
	is "$status" 2 "$who: a flag without its value is exit 2"
	fence "$who" --help
	is "$status" 0 "$who: --help is exit 0"
	like "$out" 'fence-run' "$who: --help goes to stdout"

	fence "$who" --settings "$T/missing.json" -- touch ran
	refused "$who: missing file" 'missing\.json'
	settings "$who" ''
	refused "$who: empty file" 'p\.json'
	settings "$who" '// only a comment'
	refused "$who: only a comment" 'p\.json'
	settings "$who" $'{\n  "network": {\n    "allowedDomains": ["*."]\n  }\n}\n'
	refused "$who: bad pattern" 'p\.json:3:2[0-9]: network\.allowedDomains\[0\]'
	settings "$who" $'{\n  "filesystem": { "allowWrite": "." }\n}'
	refused "$who: wrong type" 'p\.json:2:[0-9]+: filesystem\.allowWrite'
	settings "$who" $'{\n  "filesystem": { "allowWrites": [] }\n}'
	refused "$who: unknown key" 'p\.json:2:[0-9]+'
	like "$err" 'allowWrite' "$who: unknown key: did you mean"
	settings "$who" $'{\n  "network": {},\n  "network": {}\n}'
	refused "$who: a key twice" 'p\.json:3:3'
	settings "$who" '{ "network": '
	refused "$who: cut off" 'p\.json:1:'
	settings "$who" '{}'
	is "$status" 1 "$who: {} is the closed base: touch fails"
done
finish
