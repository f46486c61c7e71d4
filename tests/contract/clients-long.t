#!/usr/bin/env bash
# As clients.t, with every client that people bring: other languages' own,
# databases', ssh, rsync, HTTP/2, WebSockets, events.
# tags: long
# limit: 900
. "$(dirname "$0")/../lib.sh"

. "$TESTS/clients/table.sh"
if [ "${1-}" != inside ]; then
	. "$TESTS/builds/lib.sh"
	if ! bin=$(npm_bin bun@1.4.4 deno@2.9.6 2>"$T/npm.log"); then
		skip "no registry: $(tail -n1 "$T/npm.log")" "bun, deno"
	fi
	export NPM_BIN=$bin
	for who in $WHOS; do
		inside "$who"
	done
	finish
fi
who=$2
PATH=$PATH:$NPM_BIN
clients=()
for client in "${many[@]}"; do
	case $client in
	bun*|deno*)	command -v "${client%%_*}" >/dev/null || continue ;;
	esac
	clients+=("$client")
done
# A virtual machine and a compiler begin slowly on a busy machine.
ceiling=20
mkdir -p "$T/w"
# A source file would be compiled at each start, which takes most of its time.
javac -d "$T/w" "$TESTS/clients/Client.java"
musl-gcc -static -o "$T/w/musl-client" "$TESTS/clients/musl-client.c"
. "$TESTS/clients/lib.sh"
exit 0
