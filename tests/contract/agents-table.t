#!/usr/bin/env bash
# Agents from npm do a task under -t code, with a stand-in as their model: one
# row each for their one-shot command and their terminal program, a fresh home
# and one that has been lived in.  Each row ends with a look at the home: what
# an agent or a shell outside would execute or obey is what it was.
# FENCE_AGENTS="codex pi" and FENCE_ROWS=REGEX pick rows.
# tags: long serial
# limit: 7200
. "$(dirname "$0")/../lib.sh"
. "$TESTS/tty.sh"
. "$TESTS/agents/table.sh"
. "$TESTS/agents/row.sh"

if [ "${1-}" != inside ]; then
	install_agents ${FENCE_AGENTS:-$FULL $ONCE}
	scan_notices
	ROWS=$T/rows
	: >"$ROWS"
	chmod 666 "$ROWS"
	export ROWS INSTALLED
	for who in $WHOS; do
		inside "$who"
	done
	print_table
	finish
fi

who=$2
export NODE_EXTRA_CA_CERTS=$FENCE_WORLD_CA/ca.pem
for agent in $INSTALLED; do
	make_lived || continue
	case " $FULL " in
	*" $agent "*)
		row once fresh on
		row once lived on
		row tui fresh on
		row tui lived on
		;;
	*)
		row once lived on
		;;
	esac
	case $agent in
	claude|opencode)
		row once lived off
		row tui lived off
		;;
	esac
done
exit 0
