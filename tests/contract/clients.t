#!/usr/bin/env bash
# Every program goes through the gate: clients that know proxies and clients
# that do not, each allowed and denied, with proxy variables and without.
# limit: 240
. "$(dirname "$0")/../lib.sh"
each_world "$@"
. "$TESTS/clients/table.sh"
clients=("${few[@]}")
. "$TESTS/clients/lib.sh"
exit 0
