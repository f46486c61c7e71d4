#!/usr/bin/env bash
# Keys typed while the command starts are neither lost nor told twice: at
# random moments of the start, with the caller's terminal and with one of the
# command's own.
# limit: 400
. "$(dirname "$0")/../lib.sh"

seed=${FENCE_SEED:-$RANDOM}
note "FENCE_SEED=$seed"

typed() {	# typed NAME CMD…: the command's own name is for messages
	local name=$1 line
	shift
	(cd "$W" && as "$who" "$TESTS/typeahead" 12 "$seed" "$@") >"$T/typed"
	ok $? "$who: $name: to its end"
	while IFS= read -r line; do
		like "$line" ': ok$' "$who: $name: ${line%%:*}"
	done <"$T/typed"
	is "$(wc -l <"$T/typed")" 5 "$who: $name: all kinds of keys"
}

for who in $WHOS; do
	W=$(workspace "$who")
	typed 'without fence-run' env
	typed 'fence-run' "$FENCE_RUN" --
	typed '--force-new-session' "$FENCE_RUN" --force-new-session --
done
finish
