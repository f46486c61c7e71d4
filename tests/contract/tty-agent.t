#!/usr/bin/env bash
# OpenCode from npm at a real terminal, offline: bare, with the caller's
# terminal and with one of its own.  It paints, knows its size, stops, comes
# back and ends as it does without fence-run, and leaves the terminal as it
# was.  (Its SIGINT is an end; two Ctrl-C are "clear what I typed" and an end.)
# tags: long
# limit: 1200
# shellcheck disable=SC2016 # the inner shells expand
. "$(dirname "$0")/../lib.sh"
version=1.18.33
. "$TESTS/agents/lib.sh" opencode-ai@$version "$@"
. "$TESTS/tty.sh"

# The last line of its first screen ends two columns before the edge.
is_painted() {	# is_painted COLUMNS
	local line
	line=$(screen | grep " $version *\$" | sed 's/ *$//')
	screen | grep -q 'Ask anything' && [ "${#line}" -eq $(($1 - 2)) ]
}

paints() {	# paints COLUMNS WHAT
	wait_for 120 is_painted "$1"
	ok $? "$name: $2" || note "$(screen)"
	is "$(screen | grep -c '^fence: ')" 0 "$name: and nobody else does"
}

opens() {	# opens: a start, to its first screen
	clear_screen
	type_line 'stty -g >before; echo noted'
	wait_for 20 shows noted
	prompt
	type_line "$run opencode"
	paints 100 "paints its first screen"
}

# The shell asks; nothing is left, the modes are the same.  $rc is its status.
ended() {	# ended WHAT
	wait_for 60 ends_with 'rc=[0-9]+ \$'
	ok $? "$name: $1" || note "$(screen)"
	rc=$(screen | sed '/^ *$/d' | tail -1 | sed 's/^rc=\([0-9]*\).*/\1/')
	is "$(descendants "$(shell_pid)")" '' "$name: and leaves no process"
	type_line 'stty -g >after; echo kept'
	wait_for 20 shows kept
	is "$(cat "$W/after")" "$(cat "$W/before")" "$name: nor other modes"
}

# Without fence-run it tells how it should end.
as_bare() {	# as_bare SIGNAL WAY
	if [ "$2" = bare ]; then
		bare[$1]=$rc
	fi
	is "$rc" "${bare[$1]}" "$name: with the status of a bare one"
}

transcript() {	# transcript NAME COMMAND-WORDS
	name="$who: $1" run=$2
	opens
	resize 70 24
	paints 70 "repaints a smaller size"
	resize 120 40
	paints 120 "and a larger one"
	resize 100 30
	paints 100 "and the first"
	press C-z
	wait_for 60 ends_with 'rc=[0-9]+ \$'
	shows '.*Stopped.*'
	ok $? "$name: Ctrl-Z stops it" || note "$(screen)"
	type_line 'echo alive=$((1+1))'
	wait_for 20 shows alive=2
	ok $? "$name: and the shell has the terminal"
	prompt
	type_line fg
	paints 100 "fg brings it back"
	press -l 'some words'
	wait_for 60 shows '.*some words.*'
	ok $? "$name: it hears the keys" || note "$(screen)"
	press C-c
	paints 100 "Ctrl-C clears them"
	press C-c
	ended "and again: it ends"
	is "$rc" 0 "$name: and well"
	opens
	send INT
	ended "SIGINT from outside ends it"
	as_bare 2 "$1"
	opens
	send TERM
	ended "SIGTERM from outside ends it"
	as_bare 15 "$1"
}

bare=()
begin tui code on '"."'
cat >"$W/opencode.json" <<'CONFIG'
{
	"model": "far/one",
	"provider": {
		"far": {
			"npm": "@ai-sdk/openai-compatible",
			"options": {
				"baseURL": "https://model.test/v1",
				"apiKey": "none"
			},
			"models": { "one": { "name": "one" } }
		}
	}
}
CONFIG
export HOME=$H
terminal
type_line "PS1='rc=\$? \$ '; cd $W"
transcript bare env
transcript 'as ever' "$FENCE_RUN -t code --"
transcript 'its own terminal' "$FENCE_RUN -t code --force-new-session --"
hang_up
exit 0
