#!/usr/bin/env bash
# Twenty thousand calls on files by a static program have the same answers with
# a trace, where each is held, and without.
# tags: long
# limit: 300
. "$(dirname "$0")/../lib.sh"

probe=$PROBES/heldfiles
seed=${FENCE_SEED:-$((RANDOM * 32768 + RANDOM + 1))}

calls() {	# calls ARGS…: in a fresh place; the answers in $out
	rm -rf "$base"
	cp -a "$first" "$base"
	fence "$who" -s "$T/p.json" "$@" -- "$probe" random "$seed" 20000 \
	    "$base/ro"
	is "$status" 0 "$who: calls, seed $seed"
	is "$(wc -l <<<"$out")" 20000 "$who: all were made"
}

echo '{ "filesystem": { "allowWrite": ["."] } }' >"$T/p.json"
chmod 644 "$T/p.json"
for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" sh -c "mkdir -p '$W/sub' '$base/ro/sub' && cd '$base/ro' &&
	    touch n0 n1 && mkdir n2 && ln -s n1 n3 && ln -s '$base/ro' '$W/ro'"
	first=$base.first
	mv "$base" "$first"
	calls
	bare=$out
	calls --trace-file "$base.first/trace"
	[ "$out" = "$bare" ]
	ok $? "$who: each has the same answer with a trace"
done
finish
