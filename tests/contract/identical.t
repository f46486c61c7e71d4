#!/usr/bin/env bash
# With and without the shim a program meets the same: calls that a seed chose,
# of all kinds that it hooks, answer alike and leave the same tree.
. "$(dirname "$0")/../lib.sh"
count=${OPERATIONS:-3000}

for who in $WHOS; do
	seed=${SEED:-1$(id -u)}
	note "$who: seed $seed, $count operations"
	echo '{"filesystem":{"allowWrite":["./a"],"denyRead":["./c"]}}' \
	    >"$T/p.json"
	chmod 644 "$T/p.json"
	for how in shim noshim; do
		# Paths of one length: realpath() tells it.
		W=$(workspace "$who")
		as "$who" cp "$PROBES/anyop" "$W/"
		as "$who" sh -c "cd '$W' && umask 022 && mkdir -p a/d b/d c &&
		    echo text >a/f && echo x >a/g && echo b >b/f &&
		    ln -s f a/link && ln -s loop a/loop"
		capture "$who" env FENCE_PRETEND="${how#shim}" "$FENCE_RUN" \
		    -s "$T/p.json" -- ./anyop "$seed" "$count"
		is "$status" 0 "$who: $how: it ran to its end"
		# Less the tree behind them.
		is "$(grep -c ' = -\?[0-9]* [0-9]* [0-9]*$' <<<"$out")" \
		    "$count" "$who: $how: that many operations"
		printf '%s\n' "$out" >"$T/$who.$how"
	done
	is "$(diff "$T/$who.shim" "$T/$who.noshim" | head -20)" "" \
	    "$who: the shim changes no answer"
	# Or this would say nothing.
	for errno in 0 2 13 17 30; do
		grep -q " = -\?[0-9]* $errno [0-9]*$" "$T/$who.shim"
		ok $? "$who: errno $errno is among the answers"
	done
done
finish
