#!/usr/bin/env bash
# As kill.t, with 300 moments.
# tags: long
# limit: 1200
export FENCE_KILL_MOMENTS=${FENCE_KILL_MOMENTS:-300}
. "$(dirname "$0")/kill.t"
