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
	inside "$who" TMPDIR=/nowhere XDG_RUNTIME_DIR=/run/user/12345
	is "$(of TMPDIR)$(of XDG_RUNTIME_DIR)" "" \
	    "$who: folders that are not there are not named"
	as "$who" mkdir "$W/tmp"
	inside "$who" TMPDIR="$W/tmp"
	is "$(of TMPDIR)" "TMPDIR=$W/tmp" "$who: a usable TMPDIR stays"
	capture "$who" env TMPDIR=/nowhere "$FENCE_RUN" -- sh -c 'mktemp'
	is "$status" 0 "$who: mktemp works"

	# make's jobserver comes through by its descriptors.
	printf 'all: a b\na b:\n\t@echo $@\ntop:\n\t+@%s -- make -s all\n' \
	    "$FENCE_RUN" | as "$who" tee "$W/Makefile" >/dev/null
	capture "$who" make -s -j2 top
	is "$(sort <<<"$out" | tr '\n' ' ')" "a b " "$who: make under make -j"
	unlike "$err" jobserver "$who: shares its jobserver"
done
finish
