#!/usr/bin/env bash
# A host whose /proc is not the usual one: that of a container, in which the
# small numbers are nobody's, and one that hides the processes of others.
# tags: root
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	W=$(workspace "$who")
	as_words "$who"
	for engine in bwrap native; do
		run=("${PRE[@]}" "$FENCE_RUN" --engine "$engine" -- sh -c
		    'echo ran; readlink /proc/self >/dev/null && echo proc')
		capture root unshare -mpf --mount-proc sh -c \
		    'true; cd "$1" && shift && "$@"' sh "$W" "${run[@]}"
		is "$status:$out" $'0:ran\nproc' \
		    "$who, $engine: in a pid namespace of its own"
		capture root unshare -m sh -c \
		    'mount -t proc -o hidepid=2 proc /proc &&
		    cd "$1" && shift && exec "$@"' sh "$W" "${run[@]}"
		is "$status:$out" $'0:ran\nproc' "$who, $engine: with hidepid=2"
	done
done
finish
