#!/usr/bin/env bash
# kill -9 of fence-run at named points and at 30 moments: nothing is left.
# FENCE_KILL_SEED repeats the moments of an earlier run.
# limit: 300
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	mkdir "$T/w"
	"$TESTS/kill-at" "$FENCE_RUN" "$T/w" \
	    ${FENCE_KILL_SEED:+"$FENCE_KILL_SEED"} | count_tap
	exit "${PIPESTATUS[0]}"
fi
for who in $WHOS; do
	inside "$who"
done
finish
