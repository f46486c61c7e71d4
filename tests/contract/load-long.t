#!/usr/bin/env bash
# A thousand tunnels, twenty thousand short connections, a million queries:
# see load.t.
# tags: long
# limit: 1800
export LOAD_TUNNELS=1000 LOAD_SHORT=20000 LOAD_SOME=200 LOAD_OPEN=10000
export LOAD_QUERIES=1000000 LOAD_VANISH=1
exec "$BASH" "$(dirname "$0")/load.t"
