#!/usr/bin/env bash
# Refused calls on files are told of programs that load no shim, once, and
# nothing that did not happen is; what they get is the same with -m and without.
. "$(dirname "$0")/../lib.sh"

probe=$PROBES/heldfiles

about() {	# about OBJECT [FIELD]
	denials "$trace" "$1" '' "${@:2}"
}

place() {	# place: a fresh $W with ro, which is read-only inside
	base=$(workspace "$who")
	W=$base/w
	as "$who" sh -c "mkdir -p '$W/sub' '$base/ro/sub' && cd '$base/ro' &&
	    touch n0 n1 && mkdir n2 && ln -s n1 n3 && ln -s '$base/ro' '$W/ro'"
	echo '{ "filesystem": { "allowWrite": ["."] } }' >"$T/p.json"
	chmod 644 "$T/p.json"
	trace=$base/trace
}

traced() {	# traced CMD...
	rm -f "$trace"
	fence "$who" -s "$T/p.json" --trace-file "$trace" -- "$@"
}

seed=${FENCE_SEED:-731454540}
for who in $WHOS; do
	# The same calls, with and without a listener, in the same place.
	place
	mv "$base" "$base.first"
	cp -a "$base.first" "$base"
	fence "$who" -s "$T/p.json" -- "$probe" random "$seed" 700 "$base/ro"
	is "$status" 0 "$who: calls, seed $seed"
	bare=$out
	rm -rf "$base"
	cp -a "$base.first" "$base"
	traced "$probe" random "$seed" 700 "$base/ro"
	[ "$out" = "$bare" ]
	ok $? "$who: each has the same answer with a trace"
	printf '%s\n' "$out" >"$T/calls"
	out=$("$TESTS/heldfiles" "$T/calls" "$trace" "$W")
	ok $? "$who: $out"

	# By the library and past it, with the shim and without: one record.
	for way in mkdir make unlink; do
		for p in heldfiles heldfiles-shim; do
			place
			traced "$PROBES/$p" one "$way" "$base/ro/n7"
			is "$out" 30 "$who: $p: $way is EROFS"
			is "$(about "$base/ro/n7")" 1 "$who: one record"
			is "$(about "$base/ro/n7" actor.process.name)" "$p" \
			    "$who: of the process"
			is "$(about "$base/ro/n7" unmapped.fence.witness)" \
			    notify "$who: by the listener"
		done
	done
	place
	traced python3 -c "import os
try: os.mkdir('$base/ro/n7')
except OSError as e: print(e.errno)"
	is "$out" 30 "$who: mkdir() of libc is EROFS"
	is "$(about "$base/ro/n7")" 1 "$who: one record"

	# A link of /proc is no text to the kernel: whose root that is, is
	# not the caller's to see.
	traced "$probe" one mkdir "/proc/1/root$base/ro/n7"
	is "$out" 13 "$who: mkdir() past fence-init's root is EACCES"
	is "$(denials "$trace")" 0 "$who: and not told as EROFS"

	# With a slash behind it a symlink is no folder to these calls.
	as "$who" ln -s "$base/ro/sub" "$W/deep"
	traced python3 -c "import os
try: os.rename('$W/deep/', '$base/ro/n7')
except OSError as e: print(e.errno)"
	is "$out" 18 "$who: rename() of a symlink is EXDEV"
	is "$(about "$base/ro/n7" status_code)" EXDEV "$who: and told as that"

	# What the filter refuses.
	traced "$probe" one mount /tmp
	is "$out" 1 "$who: mount() is EPERM"
	is "$(about mount)" 1 "$who: and told"
	is "$(about mount actor.process.name)" heldfiles \
	    "$who: with its process"

	# A thread that changes the path meanwhile.
	place
	good=$W/sub/n7 bad=$base/ro////n7
	traced "$probe" flip 3000 "$good" "$bad"
	is "$status" 0 "$who: a path that changes"
	[ ! -e "$base/ro/n7" ]
	ok $? "$who: makes nothing where nothing may be made"
	out=$(denials "$trace" '' '' actor.process.name | sort -u)
	like "$out" '^(heldfiles)?$' "$who: and tells of no other process"

	# Nobody is left who would look.
	place
	mkfifo -m 666 "$T/in.$who" "$T/out.$who"
	exec 8<>"$T/in.$who" 9<>"$T/out.$who"
	as_words "$who"
	(cd "$W" && exec "${PRE[@]}" "$FENCE_RUN" -s "$T/p.json" -m -- \
	    "$probe" asked <"$T/in.$who" >"$T/out.$who" 2>"$T/err.$who" \
	    8>&- 9>&-) &
	pid=$!
	echo >&8
	read -rt 20 line <&9
	is "$line" "1 0" "$who: a refusal, and a call that is permitted"
	for p in $(pgrep -P "$pid" fence-look); do
		kill -KILL "$p"
	done
	wait_for 20 grep -q 'fence-look ended' "$T/err.$who"
	ok $? "$who: the looker's end is told"
	echo >&8
	read -rt 20 line <&9
	is "$line" "1 0" "$who: what is refused stays refused without it"
	exec 8>&- 9<&-
	wait "$pid"
	is $? 0 "$who: and the run ends as ever"
done
finish
