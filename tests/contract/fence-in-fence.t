#!/usr/bin/env bash
# fence-run inside fence-run: it says so, holds what adds up, refuses what it
# cannot hold, and never opens what the outer jail closed.
. "$(dirname "$0")/../lib.sh"

notice='^fence: already inside fence: the outer jail holds'

policy() {	# policy NAME JSON
	echo "$2" >"$T/$1.json"
	chmod 644 "$T/$1.json"
}

# The outer run has $T/outer.json, the inner one the arguments.
nested() {	# nested WHO INNER-ARGS…
	fence "$1" -s "$T/outer.json" -- "$FENCE_RUN" "${@:2}"
}

# Makes an internet socket; prints the errno if it cannot.
socket=(/usr/bin/python3 -c '
import socket
try:
    socket.socket()
    print("made")
except OSError as e:
    print(e.errno)')

refused() {	# refused NAME REGEX: an error before anything started
	is "$status:$out" 1: "$1: nothing is started"
	like "$err" "$2" "$1: and why"
	unlike "$err" "$notice" "$1: no word that it ran"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W/sub" "$W/other" "$base/out" "$W/secrets"
	as "$who" sh -c "echo key >'$base/out/key'; echo top >'$W/secrets/s'
	    echo a >'$W/readable'"
	policy outer "{\"filesystem\":{\"allowWrite\":[\".\"],
	    \"denyRead\":[\"$base/out/key\"]}}"

	# As if it were not there.
	fence "$who" -- "$FENCE_RUN" -- sh -c 'echo "$#|$1|$2|"; exit 42' sh \
	    'a  b' '$;"*'
	is "$status:$out" '42:2|a  b|$;"*|' "$who: status and words are exact"
	is "$(grep -c "$notice" <<<"$err")" 1 "$who: one notice"
	is "$(wc -l <<<"$err")" 1 "$who: and nothing else"
	fence "$who" -- "$FENCE_RUN" -- sh -c 'kill -TERM $$'
	is "$status" 143 "$who: the signal that ended it"
	fence "$who" -- "$FENCE_RUN" -- no-such-program
	is "$status" 127 "$who: not found"
	fence "$who" -- "$FENCE_RUN" -- ./readable
	is "$status" 126 "$who: not executable"
	fence "$who" -- "$FENCE_RUN" -c 'echo $((1 + 2)) | cat'
	is "$status:$out" 0:3 "$who: -c"
	fence "$who" -- sh -c "printf 'all:\n\techo made >made\n' >Makefile
	    '$FENCE_RUN' make -s"
	is "$status:$(cat "$W/made")" 0:made "$who: fence-run make works"
	fence "$who" -- "$FENCE_RUN" "$FENCE_RUN" "$FENCE_RUN" -- echo deep
	is "$status:$out" 0:deep "$who: three deep, too"
	fence "$who" -- sh -c "cd /tmp && mkdir d && cd d &&
	    '$FENCE_RUN' -- sh -c 'echo 1 >f; cat f'"
	is "$out" 1 "$who: in the private /tmp"
	fence "$who" -t strict -r "$FENCE_PREFIX" -- "$FENCE_RUN" -- echo ran
	is "$status:$out" 0:ran "$who: inside the template strict"
	fence "$who" -- env FENCE_SANDBOX= "$FENCE_RUN" -- echo ran
	like "$err" "$notice" "$who: no variable is needed to know it"
	capture "$who" env FENCE_SANDBOX=1 "$FENCE_RUN" -- sh -c \
	    "touch '$base/out/f' || echo jailed"
	is "$out" jailed "$who: and none makes it believe so"
	unlike "$err" "$notice" "$who: nor say so"
	for t in code npm-install workspace-write default-deny; do
		nested "$who" -t "$t" -- echo ran
		is "$status:$out" 0:ran "$who: -t $t runs"
	done
	# A granted folder in a hidden home is one that mounts would be pinned to.
	as "$who" mkdir -p "$base/home/.cache/opencode/bin"
	capture "$who" env HOME="$base/home" "$FENCE_RUN" -s "$T/outer.json" -- \
	    "$FENCE_RUN" -t code -- echo ran
	is "$status:$out" 0:ran "$who: -t code runs in a home with agents, too"

	# It cannot widen.
	policy wide "{\"filesystem\":{\"allowWrite\":[\".\",\"$base/out\"],
	    \"allowRead\":[\"$base/out/key\"]},
	    \"network\":{\"allowedDomains\":[\"*\"]}}"
	nested "$who" -s "$T/wide.json" -w "$base/out" -r "$base/out/key" -- \
	    sh -c 'echo 1 >w; touch "$0/f"; cat "$0/key"
	    getent hosts example.com; cat w' "$base/out"
	is "$out" 1 "$who: writes, reads and hosts of the outer jail stay shut"
	[ ! -e "$base/out/f" ]
	ok $? "$who: nothing was written there"
	nested "$who" --expose-host-path-rw "$base/out" -- \
	    touch "$base/out/f"
	is "$status" 1 "$who: nor by --expose-host-path-rw"

	# It tightens.
	policy narrow '{"filesystem":{"allowWrite":["sub"]}}'
	nested "$who" -s "$T/narrow.json" -- sh -c 'echo 1 >sub/f
	    echo 1 >other/f; mkdir d; rm readable; mv sub/f x; ln sub/f l
	    cat sub/f readable'
	is "$out" $'1\na' "$who: writes where the inner policy allows"
	is "$(ls "$W/other"; ls -d "$W/d" "$W/x" "$W/l" 2>/dev/null)" "" \
	    "$who: and nowhere else"
	nested "$who" -s "$T/narrow.json" -- sh -c "'$FENCE_RUN' -- sh -c \
	    'echo 1 >other/f'; echo \$?"
	is "$(ls "$W/other")" "" "$who: a third one does not open it again"
	policy closed "{\"filesystem\":{\"defaultDenyRead\":true,
	    \"allowRead\":[\"sub\"],\"allowWrite\":[\"sub\"]}}"
	nested "$who" -s "$T/closed.json" -- sh -c 'cd sub && echo 2 >f && cat f
	    cat ../readable ../secrets/s'
	is "$out" 2 "$who: reading that has to be granted"
	policy env '{"env":{"deny":["PLANTED"],"set":{"X":"y"}},
	    "filesystem":{"allowWrite":["."]}}'
	fence "$who" --env PLANTED=1 -- "$FENCE_RUN" -s "$T/env.json" -- \
	    sh -c 'echo "<$PLANTED>$X"'
	is "$out" '<>y' "$who: the environment"
	policy files '{"limits":{"files":40},"filesystem":{"allowWrite":["."]}}'
	nested "$who" -s "$T/files.json" -- sh -c 'ulimit -n'
	is "$out" 40 "$who: limits.files"
	nested "$who" -- "${socket[@]}"
	is "$out" made "$who: unasked the network is the outer jail's"
	nested "$who" -s "$T/narrow.json" -- "${socket[@]}"
	is "$out" 13 "$who: a policy without hosts: no sockets"
	nested "$who" -t strict -- "${socket[@]}"
	is "$out" 13 "$who: nor with a template without hosts"
	like "$err" "$notice[^(]*$" "$who: which needs no word about hosts"
	nested "$who" -t npm-install -- true
	like "$err" "$notice.*the hosts are the outer jail's" \
	    "$who: a template's list of hosts is told not to hold"

	# What it cannot hold.
	policy bad '{"filesystem":{"allowWrite":["."],"denyRead":["secrets"]}}'
	nested "$who" -s "$T/bad.json" -- echo started
	refused "$who: denyRead inside what is readable" \
	    "bad.json:1:[0-9]+: filesystem.denyRead\[0]: .*secrets' cannot be hidden"
	nested "$who" --deny-read secrets -- echo started
	refused "$who: --deny-read" 'secrets. cannot be hidden'
	policy bad "{\"filesystem\":{\"allowWrite\":[\".\"],
	    \"denyRead\":[\"$base/out/key\",\"/nowhere\"]}}"
	nested "$who" -s "$T/bad.json" -- echo started
	is "$status:$out" 0:started "$who: denyRead that the outer jail holds"
	policy bad '{"filesystem":{"allowWrite":["."],"denyWrite":["other"]}}'
	nested "$who" -s "$T/bad.json" -- echo started
	refused "$who: denyWrite inside what is writable" \
	    'filesystem.denyWrite.*cannot be made read-only'
	while read -r key json; do
		policy bad "{$json,\"filesystem\":{\"allowWrite\":[\".\"]}}"
		nested "$who" -s "$T/bad.json" -- echo started
		refused "$who: $key" "bad.json:1:[0-9]+: $key: cannot be held"
	done <<-'EOF'
	network.allowedDomains "network":{"allowedDomains":["example.com"]}
	network.deniedDomains "network":{"allowedDomains":["*"],"deniedDomains":["x.test"]}
	command.deny "command":{"deny":["git push"]}
	ssh.allowedHosts "ssh":{"allowedHosts":["example.com"]}
	limits.memory "limits":{"memory":"1G"}
	limits.processes "limits":{"processes":100}
	limits.time "limits":{"time":"1h"}
	profile "profile":"strict"
	EOF
	nested "$who" --trace-file "$W/trace" -- echo started
	refused "$who: --trace-file" 'already inside fence'
	fence "$who" -- env FENCE_PRETEND=landlock "$FENCE_RUN" -- echo started
	is "$status:$out" 125: "$who: without Landlock it refuses"
done
finish
