#!/usr/bin/env bash
# What is mounted is what was judged, and where: the host renames folders
# between the plan and the end of the building, once.  See swapper.t for
# somebody who goes on and on.
. "$(dirname "$0")/../lib.sh"

ENGINES="bwrap native"

policy() {	# policy JSON
	echo "{\"filesystem\":$1}" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

# paused WHO ENGINE POINT CHANGE COMMAND: CHANGE happens outside while the
# first attempt waits at POINT; fills $status, $out, $err.
paused() {
	rm -f "$W/go" "$T/trace"
	: >"$T/err"
	chmod 666 "$T/err"
	start "$1" env FENCE_PAUSE_AT="$3" FENCE_PAUSE_UNTIL="$W/go" \
	    "$FENCE_RUN" --engine "$2" --trace-file "$W/trace" \
	    -s "$T/policy.json" -- sh -c "$5" >"$T/out" 2>"$T/err"
	wait_for 20 grep -q "paused at $3" "$T/err"
	ok $? "$1: $2: it waits at $3"
	(cd "$W" && as "$1" sh -c "$4")
	as "$1" touch "$W/go"
	wait "$pid"
	status=$?
	out=$(cat "$T/out")
	err=$(cat "$T/err")
}

scene() {	# scene WHO: two folders that have a secret each
	W=$(workspace "$1")
	as "$1" sh -c "cd '$W' && mkdir -p work dir/sub new/sub outside/sub &&
	    echo old-secret >dir/sub/secret && echo new-secret >new/sub/secret"
}

# The mask is where the policy says, also where another folder lies by then.
mask_follows() {	# mask_follows WHO ENGINE POINT POLICY
	scene "$1"
	policy "$4"
	paused "$1" "$2" "$3" 'mv dir other && mv new dir' \
	    'cat dir/sub/secret; echo ran >work/mark'
	is "$(cat "$W/work/mark")" ran "$1: $2: $3: the command ran"
	unlike "$out" secret "$1: $2: $3: what is hidden there stays so"
	is "$(grep -c 'run started' "$W/trace")" 1 \
	    "$1: $2: $3: one start is in the record"
	is "$(grep -c 'stays unwritable' <<<"$err")" 1 \
	    "$1: $2: $3: what is told at the start is told once"
}

# A folder on the way to a denial becomes a symlink that leads out.
no_way_out() {	# no_way_out WHO ENGINE POINT
	scene "$1"
	policy '{"allowWrite":["work"],"denyWrite":["work/a/b/locked"]}'
	as "$1" sh -c "cd '$W' && mkdir -p work/a/b && echo x >work/a/b/locked"
	paused "$1" "$2" "$3" 'mv work/a/b work/mine &&
	    ln -s ../../outside work/a/b && touch outside/locked' \
	    'echo hit >work/a/b/hit; echo hit >outside/hit
	    echo hit >work/a/b/locked; echo ran >work/mark'
	is "$(cat "$W/work/mark")" ran "$1: $2: $3: a symlink: the command ran"
	is "$(cd "$W/outside" && find . -name hit; cat "$W/outside/locked")" \
	    "" "$1: $2: $3: and nothing was written where it leads"
}

# A run whose command waits until `end` is written to; fills $pid.
waiting() {	# waiting WHO ENGINE [POINT]
	scene "$1"
	as "$1" mkfifo "$W/work/up" "$W/work/end"
	: >"$T/err"
	chmod 666 "$T/err"
	start "$1" env FENCE_PAUSE_AT="${3-}" FENCE_PAUSE_UNTIL="$W/go" \
	    "$FENCE_RUN" --engine "$2" -s "$T/policy.json" -- sh -c \
	    'echo up >work/up; read -r x <work/end' 2>"$T/err"
	if [ -n "${3-}" ]; then
		wait_for 20 grep -q "paused at $3" "$T/err"
		(cd "$W" && mv dir other && mv new dir)
		as "$1" touch "$W/go"
	fi
	read -r out <"$W/work/up"
}

count_descriptors() {	# count_descriptors PID
	find "/proc/$1/fd" -type l | wc -l
}

same_descriptors() {	# same_descriptors PID PID: fills $plain, $again
	plain=$(count_descriptors "$1")
	again=$(count_descriptors "$2")
	[ "$plain" -eq "$again" ]
}

# Both runs wait meanwhile: a descriptor that is about to be closed when the
# command starts is closed in both in the end.
no_descriptors_left() {	# no_descriptors_left WHO ENGINE
	local plain again first dir

	[ "$IS_ROOT" = 1 ] || {
		skip "only root may look" "$1: $2: descriptors"
		return
	}
	policy '{"allowWrite":["work"],"denyRead":["dir/sub/secret"]}'
	waiting "$1" "$2"
	first=$pid dir=$W
	waiting "$1" "$2" in-child-put
	wait_for 20 same_descriptors "$first" "$pid"
	is "$again" "$plain" "$1: $2: a second plan has as many descriptors"
	echo end >"$W/work/end"
	echo end >"$dir/work/end"
	wait "$first" "$pid"
}

# It never holds still: one clear error, and nothing of four attempts is left.
never_steady() {	# never_steady WHO ENGINE
	scene "$1"
	policy '{"allowWrite":["work","made/here"]}'
	W=$W capture "$1" env FENCE_PRETEND=steady "$FENCE_RUN" \
	    --engine "$2" --trace-file "$W/trace" -s "$T/policy.json" \
	    -- sh -c 'echo ran >work/mark'
	is "$status" 125 "$1: $2: what never holds still ends the start"
	like "$err" "something else lies at '$W/work' than a moment ago" \
	    "$1: $2: the path is named"
	like "$err" 'hint: something renames .*, and did each of 4 times' \
	    "$1: $2: and what to do about it"
	is "$(cat "$W/trace"; ls "$W/work"; ls -d "$W/made" 2>/dev/null)" "" \
	    "$1: $2: nothing ran, nothing is recorded, nothing is left"
}

# A file system that gives one file many numbers is named at once.
wobbling() {	# wobbling WHO ENGINE
	[ "$IS_ROOT" = 1 ] && [ -e /dev/fuse ] || {
		skip "only root may mount it" "$1: $2: inode numbers"
		return
	}
	scene "$1"
	policy '{"allowWrite":["fuse/work"]}'
	mkdir "$W/fuse"
	as_words "$1"
	err=$(cd "$W" && unshare -m "$PROBES/wobbler" fuse "${PRE[@]}" \
	    "$FENCE_RUN" --engine "$2" -s "$T/policy.json" -- \
	    echo ran 2>&1)
	is "$?" 125 "$1: $2: inode numbers that change end the start"
	like "$err" "the file system of '$W/fuse/work' \(fuse.wobbler\) changes inode numbers.*hint: " \
	    "$1: $2: and the file system is named"
}

for who in $WHOS; do
	for engine in $ENGINES; do
		for point in before-clone in-child-put; do
			mask_follows "$who" "$engine" $point \
			    '{"allowWrite":["work","no/x.json"],
			    "denyRead":["dir/sub/secret"]}'
			mask_follows "$who" "$engine" $point \
			    '{"allowWrite":[".","/no/x.json"],
			    "denyRead":["dir/sub/secret"]}'
			mask_follows "$who" "$engine" $point \
			    '{"allowWrite":["work","no/x.json"],
			    "defaultDenyRead":true,
			    "allowRead":["dir"],"denyRead":["dir/sub/secret"]}'
			no_way_out "$who" "$engine" $point
		done
		no_descriptors_left "$who" "$engine"
		never_steady "$who" "$engine"
		wobbling "$who" "$engine"
	done
done
finish
