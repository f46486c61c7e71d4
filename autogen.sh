#!/bin/sh
# Makes configure from configure.ac; nothing else.
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux
exec autoreconf --install --warnings=all
