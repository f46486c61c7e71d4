#!/usr/bin/env bash
# batches/net*.batch, in the ways that each user has.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	for batch in net net-any; do
		"$TESTS/batch" "$TESTS/batches/$batch.batch" | count_tap
	done
	exit 0
fi
for who in $WHOS; do
	inside "$who"
done
finish
