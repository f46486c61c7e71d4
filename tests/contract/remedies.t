#!/usr/bin/env bash
# What a refusal of something that is missing offers works when it is followed;
# where nothing would work, nothing is offered.
. "$(dirname "$0")/../lib.sh"

try() {	# try WHO ARGS…: with the policy, at home in $H
	local who=$1
	shift
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$T/policy.json" "$@"
}

echo '{"filesystem":{"allowWrite":["."],"denyRead":["~/closed"]}}' \
    >"$T/policy.json"
chmod 644 "$T/policy.json"
for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	as "$who" mkdir -p "$W" "$H/sub" "$H/closed"

	try "$who" -m -- sh -c 'echo 1 >~/sub/new'
	like "$err" 'allow: filesystem.allowWrite \+= "~/sub"' \
	    "$who: a file that is missing: its folder"
	try "$who" -w '~/sub' -- sh -c 'echo 1 >~/sub/new'
	is "$status:$(cat "$H/sub/new")" 0:1 "$who: which works"
	try "$who" -m -- sh -c 'echo 2 >~/sub/new'
	like "$err" 'allow: filesystem.allowWrite \+= "~/sub/new"' \
	    "$who: one that is there: itself"

	try "$who" -m -- sh -c 'echo 1 >~/new'
	like "$err" 'has to exist before the run' \
	    "$who: in the home it has to be made before"
	unlike "$err" '-w ~' "$who: and the home is not offered"
	as "$who" touch "$H/new"
	try "$who" -w '~/new' -- sh -c 'echo 1 >~/new'
	is "$status:$(cat "$H/new")" 0:1 "$who: which works"

	try "$who" -m -- sh -c 'cat ~/closed/none'
	like "$err" 'closed/none.*filesystem.denyRead' \
	    "$who: missing below denyRead"
	unlike "$err" '-r |allowRead \+=' "$who: and nothing is offered"
	as "$who" sh -c 'echo x >"$0"' "$H/closed/there"
	try "$who" -m -- sh -c 'cat ~/closed/there'
	like "$err" 'allowRead \+= "~/closed/there"' "$who: what is there is"
	try "$who" -r '~/closed/there' -- sh -c 'cat ~/closed/there'
	is "$out" x "$who: which works"

	capture "$who" env HOME="$H" "${FENCE_RUN%-run}" why \
	    -s "$T/policy.json" read "$H/closed/none"
	unlike "$out" 'to allow' "$who: nor does why"
done
finish
