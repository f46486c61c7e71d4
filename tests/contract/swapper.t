#!/usr/bin/env bash
# What was judged is what is mounted: another process, as a jail in the same
# workspace may hold one, renames while a jail is built.
# limit: 600
. "$(dirname "$0")/../lib.sh"
. "$TESTS/swapper.sh"

for who in $WHOS; do
	starts_beside "$who" 200
done
finish
