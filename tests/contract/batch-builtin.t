#!/usr/bin/env bash
# batches/builtin.batch, in the ways that each user has.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	"$TESTS/batch" "$TESTS/batches/builtin.batch" | count_tap
	exit "${PIPESTATUS[0]}"
fi
for who in $WHOS; do
	inside "$who"
done
finish
