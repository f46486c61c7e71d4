#!/usr/bin/env bash
# batches/proc.batch, in the ways that each user has.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	"$TESTS/batch" "$TESTS/batches/proc.batch" | count_tap
	exit "${PIPESTATUS[0]}"
fi
for who in $WHOS; do
	inside "$who"
done
finish
