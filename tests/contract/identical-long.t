#!/usr/bin/env bash
# tags: long
# limit: 300
# identical.t with 20,000 operations, and others each time (the seed is
# printed).
OPERATIONS=20000 SEED=$RANDOM . "$(dirname "$0")/identical.t"
