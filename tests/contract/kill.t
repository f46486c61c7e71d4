#!/usr/bin/env bash
# kill -9 of fence-run at every named point and at 60 moments: nothing is left.
# FENCE_KILL_SEED repeats the moments of an earlier run.
# limit: 300
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# The points that the source has, as "a,b,c"; a new one needs no word here.
# Those of launcher/shadow/ are not on the way of these runs: shadow-kill.t.
points() {
	grep -rhoE 'pause_at\("[a-z-]+"\)' "${FENCE_SRC:?}"/launcher \
	    "$FENCE_SRC"/platform "$FENCE_SRC"/policy "$FENCE_SRC"/proxy \
	    --include='*.c' | cut -d'"' -f2 | grep -v '^shadow-' | sort -u | paste -sd,
}

if [ "${1-}" = inside ]; then
	mkdir "$T/w"
	"$TESTS/kill-at" "$FENCE_RUN" "$T/w" "${FENCE_KILL_MOMENTS:-60}" \
	    "$FENCE_KILL_POINTS" ${FENCE_KILL_SEED:+"$FENCE_KILL_SEED"} |
	    count_tap
	exit "${PIPESTATUS[0]}"
fi
FENCE_KILL_POINTS=$(points)
export FENCE_KILL_POINTS
[ "$(tr ',' '\n' <<<"$FENCE_KILL_POINTS" | wc -l)" -ge 13 ]
ok $? "points: $FENCE_KILL_POINTS"
for who in $WHOS; do
	inside "$who"
done
finish
