#!/usr/bin/env bash
# Kernels whose Landlock is old or missing: what it alone would hold is held
# otherwise, and a wall that is missing is told in one line.
. "$(dirname "$0")/../lib.sh"

notice='^fence: this kernel has no Landlock: [^
]*$'

# $0 and its own child are one group, which no other test is in.
grouped() {	# grouped WHO MASK ARGS…
	capture "$1" env FENCE_PRETEND="$2" setsid --wait bash -c \
	    '"$@"; echo "survived $?"' bash "$FENCE_RUN" "${@:3}"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W" "$base/out" "$W/hidden"
	as "$who" sh -c "echo key >'$W/hidden/key'"

	for engine in bwrap native; do
		for mask in whole landlock=5 landlock=1 landlock; do
			name="$who: $engine, $mask"
			grouped "$who" "$mask" --engine "$engine" -- \
			    sh -c 'trap "" TERM; kill -TERM 0; kill -KILL 0'
			is "$out" 'survived 137' \
			    "$name: the caller's group hears no signal"
			grouped "$who" "$mask" --engine "$engine" -- sh -c '
			    echo 1 >f && cat f; trap "exit 3" TERM
			    kill -TERM $$'
			is "$out" $'1\nsurvived 3' "$name: its own it does"
			capture "$who" env FENCE_PRETEND="$mask" "$FENCE_RUN" \
			    --engine "$engine" --deny-read hidden -- sh -c '
			    touch "$0/out/f"; cat hidden/key; touch /etc/x
			    touch "$HOME/planted"; echo 1 >f; cat f' "$base"
			is "$out" 1 "$name: files are held by the mounts"
			[ ! -e "$base/out/f" ]
			ok $? "$name: nothing was written outside"
		done
	done

	# What is missing is told, and nothing else.
	capture "$who" env FENCE_PRETEND=landlock "$FENCE_RUN" -- true
	like "$err" "$notice" "$who: no Landlock: one line"
	for mask in whole landlock=1 landlock=5; do
		capture "$who" env FENCE_PRETEND="$mask" "$FENCE_RUN" -- true
		is "$status:$err" 0: "$who: $mask: no line"
	done

	# Weaker by name, and announced.
	capture "$who" env FENCE_PRETEND=landlock=5 "$FENCE_RUN" \
	    --force-new-session=false -- echo ran
	is "$status:$out" 0:ran "$who: a session that is the caller's, by name"
	like "$err" '^fence: forceNewSession is false, .* can signal every' \
	    "$who: is announced"
	capture "$who" "$FENCE_RUN" --force-new-session=false -- true
	is "$status:$err" 0: "$who: where signals are held it needs no word"
done
finish
