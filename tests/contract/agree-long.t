#!/usr/bin/env bash
# tags: long
# limit: 900
# agree.t with ten times the questions, and others each time (the seed is
# printed).
QUESTIONS=10000 SEED=$RANDOM . "$(dirname "$0")/agree.t"
