#!/usr/bin/env bash
# The environment as the policy makes it: env.*, secrets, repaired folders.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy ENV-JSON
	echo "{\"filesystem\":{\"allowWrite\":[\".\"]},\"env\":{$1}}" \
	    >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

inside() {	# inside WHO VAR=VALUE…: `env` with these on the host
	capture "$1" env "${@:2}" "$FENCE_RUN" -s "$T/policy.json" -- env
}

of() {	# of NAME: its line, or nothing
	grep "^$1=" <<<"$out"
}

# TMPDIR and XDG_RUNTIME_DIR lead to where one can write.
folders() {
	local own dir engine t
	own=/run/user/$(as "$who" id -u)

	for dir in /nowhere /usr/share "$own" /tmp/nowhere relative; do
		inside "$who" TMPDIR="$dir" XDG_RUNTIME_DIR="$dir"
		is "$(of TMPDIR) $(of XDG_RUNTIME_DIR)" \
		    "TMPDIR=/tmp XDG_RUNTIME_DIR=$own" \
		    "$who: folders for those of $dir"
	done
	inside "$who" TMPDIR= XDG_RUNTIME_DIR=
	is "$(of TMPDIR)$(of XDG_RUNTIME_DIR)" '' "$who: none for empty ones"
	capture "$who" env -u TMPDIR -u XDG_RUNTIME_DIR "$FENCE_RUN" -- env
	is "$(of TMPDIR)$(of XDG_RUNTIME_DIR)" '' "$who: nor for none"
	as "$who" mkdir "$W/tmp" "$W/locked"
	inside "$who" TMPDIR="$W/tmp" XDG_RUNTIME_DIR="$W/tmp"
	is "$(of TMPDIR) $(of XDG_RUNTIME_DIR)" \
	    "TMPDIR=$W/tmp XDG_RUNTIME_DIR=$W/tmp" "$who: usable ones stay"
	inside "$who" TMPDIR="$W/none" XDG_RUNTIME_DIR="$W/none"
	is "$(of TMPDIR) $(of XDG_RUNTIME_DIR)" \
	    "TMPDIR=/tmp XDG_RUNTIME_DIR=$own" "$who: not if they are missing"
	echo '{"filesystem":{"allowWrite":["."],"denyWrite":["locked"]}}' \
	    >"$T/policy.json"
	inside "$who" TMPDIR="$W/locked" XDG_RUNTIME_DIR="$W/locked"
	is "$(of TMPDIR) $(of XDG_RUNTIME_DIR)" \
	    "TMPDIR=/tmp XDG_RUNTIME_DIR=$own" "$who: nor if they are locked"
	for engine in bwrap native; do
		for t in workspace-write strict; do
			capture "$who" env TMPDIR=/nowhere XDG_RUNTIME_DIR="$own" \
			    "$FENCE_RUN" --engine $engine -t $t -- sh -c '
			    stat -c "%a %u" "$XDG_RUNTIME_DIR"; ls -A "$XDG_RUNTIME_DIR"
			    echo 1 >"$XDG_RUNTIME_DIR/f" && cat "$XDG_RUNTIME_DIR/f"
			    touch "$XDG_RUNTIME_DIR/../f" || mktemp'
			like "$out" "^700 $(as "$who" id -u)"$'\n1\n/tmp/[^\n]*$' \
			    "$who: $engine: $t: a private one, and mktemp"
		done
	done
	capture "$who" env XDG_RUNTIME_DIR="$own" "$FENCE_RUN" -- \
	    sh -c 'head -c 65m /dev/zero >"$XDG_RUNTIME_DIR/f"'
	like "$status:$err" '^1:.*No space' "$who: it has its bounds"
	echo '{"limits":{"tmp":"1M"}}' >"$T/policy.json"
	capture "$who" env XDG_RUNTIME_DIR="$own" "$FENCE_RUN" \
	    -s "$T/policy.json" -- sh -c 'cd "$XDG_RUNTIME_DIR" &&
	    head -c 600k /dev/zero >a && head -c 600k /dev/zero >b || echo full'
	is "$out" full "$who: limits.tmp is one"
	capture "$who" env XDG_RUNTIME_DIR="$own" TMPDIR="$W/tmp" "$FENCE_RUN" \
	    -- "$FENCE_RUN" -- sh -c 'echo "$TMPDIR"; echo 1 \
	    >"$XDG_RUNTIME_DIR/f" && cat "$XDG_RUNTIME_DIR/f"'
	is "$out" "$W/tmp"$'\n1' "$who: fence in fence has the outer one's"
	capture "$who" env XDG_RUNTIME_DIR="$own" "$FENCE_RUN" \
	    --env XDG_RUNTIME_DIR=/mine -- sh -c 'echo "$XDG_RUNTIME_DIR"'
	is "$out" /mine "$who: --env has the last word"
	[ ! -e "$own/f" ]
	ok $? "$who: nothing of that is on the host"
}

for who in $WHOS; do
	W=$(workspace "$who")
	secrets=(GH_TOKEN=1 API_KEY=1 MY_SECRET=1 DB_PASSWORD=1
	    AWS_ACCESS_KEY_ID=1 lower_token=1)

	policy '"denySecrets": true, "allow": ["API_KEY"]'
	inside "$who" "${secrets[@]}" PLAIN=1 TOKENS=1 KEYBOARD=1
	is "$(grep -icE '_(token|secret|password|access_key_id)=' <<<"$out")" 0 \
	    "$who: secrets by suffix are absent"
	is "$(of API_KEY)" API_KEY=1 "$who: env.allow brings one back"
	is "$(of PLAIN)$(of TOKENS)$(of KEYBOARD)" PLAIN=1TOKENS=1KEYBOARD=1 \
	    "$who: others stay"
	policy '"denySecrets": false'
	inside "$who" "${secrets[@]}"
	is "$(of GH_TOKEN)" GH_TOKEN=1 "$who: without denySecrets they pass"

	policy '"deny": ["NO", "PRE_*"], "allow": ["PRE_OK"],
	    "set": {"X": "y z", "HOMEBREW": "1"}'
	inside "$who" NO=1 NOT=1 PRE_A=1 PRE_OK=1 X=host
	is "$(of NO)$(of PRE_A)" "" "$who: env.deny, by name and by prefix"
	is "$(of NOT)$(of PRE_OK)" NOT=1PRE_OK=1 "$who: and nothing else"
	is "$(of X)$(of HOMEBREW)" "X=y zHOMEBREW=1" "$who: env.set"

	policy '"set": {"FENCE_SANDBOX": "0"}'
	inside "$who" FENCE_SANDBOX=0 ASAN_OPTIONS=a=1 LD_PRELOAD= \
	    LD_LIBRARY_PATH=/x DYLD_LIBRARY_PATH=/x
	is "$(of FENCE_SANDBOX)" FENCE_SANDBOX=1 "$who: FENCE_SANDBOX is 1"
	is "$(of ASAN_OPTIONS)" ASAN_OPTIONS=a=1:verify_asan_link_order=0 \
	    "$who: ASAN_OPTIONS are added to"
	is "$(of 'LD_.*')$(of 'DYLD_.*')" "" "$who: the loader's are gone"

	policy ''
	folders

	# make's jobserver comes through by its descriptors.
	printf 'all: a b\na b:\n\t@echo $@\ntop:\n\t+@%s -- make -s all\n' \
	    "$FENCE_RUN" | as "$who" tee "$W/Makefile" >/dev/null
	capture "$who" make -s -j2 top
	is "$(sort <<<"$out" | tr '\n' ' ')" "a b " "$who: make under make -j"
	unlike "$err" jobserver "$who: shares its jobserver"
done
finish
