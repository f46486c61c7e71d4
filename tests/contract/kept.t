#!/usr/bin/env bash
# The records of runs are kept for fence trace, out of the reach of any jail.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

SCHEMA=$FENCE_PREFIX/share/fence/event.schema.json

# A home of WHO's own: $H; its records are in $R.
home() {	# home WHO
	W=$(workspace "$1")
	H=$W/home R=$W/home/.local/state/fence/records
	as "$1" mkdir -p "$H" "$W/work"
}

# fence-run ARGS, at home.
run() {	# run WHO ARGS…
	local who=$1
	shift
	capture "$who" env -u XDG_STATE_HOME HOME="$H" sh -c \
	    'cd "$1" && shift && exec "$@"' - "$W/work" "$FENCE_RUN" "$@"
}

records() {	# the names of records
	ls "$R" 2>/dev/null | grep -c '\.jsonl$'
}

for who in $WHOS; do
	home "$who"
	run "$who" -- true
	is "$status" 0 "$who: a run without refusals"
	is "$(ls -A "$R")" spare0 "$who: leaves an empty file"
	is "$(stat -c '%a %s' "$R" "$R/spare0" | cut -d' ' -f1 | xargs)" \
	    "700 600" "$who: for its user alone"
	run "$who" -- true
	is "$(ls -A "$R")" spare0 "$who: and the next run takes that"

	run "$who" -- sh -c "echo x >$W/kept; exit 3"
	is "$status:$(records)" 3:1 "$who: a run with a refusal is kept"
	is "$(stat -c %a "$R"/*.jsonl)" 600 "$who: for its user alone"
	is "$("$TESTS/validate-events" "$SCHEMA" "$R"/*.jsonl 2>&1)" "" \
	    "$who: as events"
	like "$(cat "$R"/*.jsonl)" '"command":"sh -c echo x' \
	    "$who: with its command"
	like "$(tail -1 "$R"/*.jsonl)" '"exit_status":3' "$who: and its end"

	# The jail's $R is shut, also where all around it is writable.
	run "$who" -w "$H" -- sh -c '
		cd "$1" && echo mine >mine && cat mine
		ls "$2"; cat "$2"/*.jsonl "$2/spare0"; echo x >"$2/new"
		rm -rf "$2"; mv "$2" "$2.old"; mv "${2%/*}" "$1/s"
		echo "${2%/*}"/*; exit 0' - "$H" "$R"
	like "$out" "mine.*${R%/*}/records" "$who: inside, the rest of home is open"
	unlike "$out" 'class_uid' "$who: and no record is"
	like "$err" "ls: [^']*'$R': Permission denied" "$who: nor their names"
	is "$(records)" 2 "$who: and none can be removed"

	as "$who" sh -c 'cd "$1" && for i in 0 1; do echo "{ \"extends\":
	    \"workspace-write\", \"record\": { \"keep\": $i } }" >keep$i; done' - "$W"
	run "$who" -s "$W/keep0" -- sh -c "echo x >$W/kept"
	is "$(records)" 2 "$who: record.keep: 0 leaves none"
	run "$who" -s "$W/keep1" -- sh -c "echo x >$W/kept"
	is "$(records)" 1 "$who: record.keep: 1 removes those before"

	# Two at once, one of them killed.
	mkfifo -m 666 "$T/go.$who"
	U=$W
	W=$W/work start "$who" env -u XDG_STATE_HOME HOME="$H" "$FENCE_RUN" -- sh -c \
	    "echo x >$U/fence-first; cat $T/go.$who" 2>/dev/null
	wait_for 20 sh -c "grep -q fence-first '$R'/*.jsonl" 2>/dev/null
	ok $? "$who: a refusal is in the file at once"
	run "$who" -- sh -c "echo x >$W/second; exit 1"
	like "$(tail -1 "$(ls -d "$R"/*.jsonl | tail -1)")" \
	    '"exit_status":1' "$who: another run beside it"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	is "$("$TESTS/validate-events" "$SCHEMA" "$R"/*.jsonl 2>&1)" "" \
	    "$who: what a killed run leaves can be read"
	is "$(records)" 3 "$who: of all three"

	# A home that keeps nothing is no reason not to run.
	as "$who" rm -rf "$H/.local"
	as "$who" touch "$H/.local"
	run "$who" -- sh -c "echo x >$W/kept; exit 4"
	is "$status" 4 "$who: without a state directory"
	unlike "$err" 'not kept' "$who: nothing is said of it"
done
finish
