#!/usr/bin/env bash
# batches/modes*.batch, in the ways that each user has.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	rv=0
	for batch in "$TESTS"/batches/modes*.batch; do
		"$TESTS/batch" "$batch" | count_tap
		[ "${PIPESTATUS[0]}" -eq 0 ] || rv=1
	done
	exit $rv
fi
for who in $WHOS; do
	inside "$who"
done
finish
