#!/usr/bin/env bash
# A million questions of a conquered fence-net: see hostile-net.t.
# tags: long
# limit: 900
FENCE_FLOOD=200000 exec "$BASH" "$(dirname "$0")/hostile-net.t"
