#!/usr/bin/env bash
# `fence why` and a run agree about every path, in both directions: trees with
# symlinks, guarded names, layers and project files that nobody trusts.
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	W=$(workspace "$who")
	# A seed of its own for each: what one run finds the next one finds.
	as "$who" env HOME="$W" "$TESTS/agree" "$FENCE_RUN" \
	    "$FENCE_PROBES/probe-static" "$W" "${QUESTIONS:-1000}" \
	    "${SEED:-1$(id -u)}" | count_tap
done
finish
