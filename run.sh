#!/usr/bin/env bash
# run.sh COMMAND…: builds fence if need be and runs COMMAND in the jail.
# Options of fence-run may stand before COMMAND.
set -eu
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
me=run.sh
. "$top/tests/setup.sh"

if ! is_fresh "$top/build/.made"; then
	need "$build_packages"
	build build all
fi
exec "$top/build/fence-run" "$@"
