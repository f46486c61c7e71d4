#!/usr/bin/env bash
# The same walls without bwrap: every batch with --engine native.
# limit: 400
. "$(dirname "$0")/../lib.sh"

export FENCE_ENGINE=native
if [ "${1-}" = inside ]; then
	rv=0
	for batch in "$TESTS"/batches/*.batch; do
		"$TESTS/batch" "$batch" | count_tap
		[ "${PIPESTATUS[0]}" -eq 0 ] || rv=1
	done
	exit $rv
fi
for who in $WHOS; do
	inside "$who"
	fence "$who" --dry-run true
	like "$out" 'jail  native' "$who: the engine is native"
done
finish
