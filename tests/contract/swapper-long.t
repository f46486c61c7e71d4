#!/usr/bin/env bash
# As swapper.t, more often.
# tags: long
# limit: 3600
. "$(dirname "$0")/../lib.sh"
. "$TESTS/swapper.sh"

for who in $WHOS; do
	starts_beside "$who" 2000
done
finish
