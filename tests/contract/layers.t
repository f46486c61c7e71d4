#!/usr/bin/env bash
# A run under several layers: a project file that nobody trusts takes away
# and gives nothing; trusted, it speaks for itself; flags add for one run.
. "$(dirname "$0")/../lib.sh"

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir "$W" "$W/sub" "$base/out" "$base/home"
	as_words "$who"
	as "$who" tee "$W/fence.jsonc" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": [".", "$base/out"],
	    "denyWrite": ["sub"] } }
	E
	try='touch in && echo in; touch sub/x && echo sub; touch ../out/x && echo out'
	run() {	# run ARGS…: with a home of its own
		capture "$who" env HOME="$base/home" "$FENCE_RUN" "$@"
	}

	run -- sh -c "$try"
	is "$out" in "$who: untrusted: its denial holds, its grant does not"
	like "$err" 'not trusted and was not given.*allowWrite' \
	    "$who: and that is said"
	[ ! -e "$base/out/x" ]
	ok $? "$who: nothing was written outside"

	as "$who" env HOME="$base/home" "$(dirname "$FENCE_RUN")/fence" \
	    config trust "$W/fence.jsonc" >"$T/null" 2>&1
	ok $? "$who: fence config trust"
	run -- sh -c "$try"
	is "$out" "in
out" "$who: trusted: both hold"
	as "$who" sh -c "echo ' ' >>'$W/fence.jsonc'"
	run -- sh -c "$try"
	is "$out" in "$who: changed since: not trusted any more"
	as "$who" rm "$W/fence.jsonc"

	# It brings nothing back that the user's policy takes away.
	as "$who" mkdir -p "$base/home/.config/fence"
	as "$who" tee "$base/home/.config/fence/fence.jsonc" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["."] },
	    "env": { "denySecrets": true, "deny": ["MINE"] } }
	E
	as "$who" tee "$W/fence.jsonc" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["."] },
	    "env": { "allow": ["GITHUB_TOKEN", "MINE"] } }
	E
	show='echo "${GITHUB_TOKEN-}${MINE-}${PLAIN-}"'
	capture "$who" env HOME="$base/home" GITHUB_TOKEN=x MINE=y PLAIN=z \
	    "$FENCE_RUN" -- sh -c "$show"
	is "$out" z "$who: untrusted: env.allow brings no variable back"
	like "$err" 'not given.*env.allow "GITHUB_TOKEN"' \
	    "$who: and that is said, too"
	capture "$who" env HOME="$base/home" GITHUB_TOKEN=x MINE=y PLAIN=z \
	    "$FENCE_RUN" --env MINE -- sh -c "$show"
	is "$out" yz "$who: --env does, for one run"
	as "$who" env HOME="$base/home" "$(dirname "$FENCE_RUN")/fence" \
	    config trust "$W/fence.jsonc" >"$T/null" 2>&1
	capture "$who" env HOME="$base/home" GITHUB_TOKEN=x MINE=y PLAIN=z \
	    "$FENCE_RUN" -- sh -c "$show"
	is "$out" xyz "$who: trusted: the project speaks for itself"
	as "$who" rm "$W/fence.jsonc" "$base/home/.config/fence/fence.jsonc"

	# What one layer lets write by a glob and another does not is read still,
	# also where the first hides what is around it.
	as "$who" sh -c 'mkdir -p "$0/home/data/p/q"; echo 1 >"$0/home/data/p/q/f"
	    echo 2 >"$0/home/data/p/f"' "$base"
	as "$who" tee "$base/home/.config/fence/fence.jsonc" >"$T/null" <<-'E'
	{ "filesystem": { "allowWrite": [".", "~/data/*/q"],
	    "denyRead": ["~/data/p"] } }
	E
	echo '{ "filesystem": { "allowWrite": ["."],
	    "denyWrite": ["~/data/*/q"] } }' |
	    as "$who" tee "$W/fence.jsonc" >"$T/null"
	run -- sh -c 'cat ~/data/p/q/f; cat ~/data/p/f; echo 3 >~/data/p/q/f'
	is "$out:$(cat "$base/home/data/p/q/f")" 1:1 \
	    "$who: a match of a glob, writable in one layer, is readable"
	as "$who" rm -r "$W/fence.jsonc" "$base/home/data" \
	    "$base/home/.config/fence/fence.jsonc"

	# A limit of its own is one more, and never more room than without.
	room() {	# room [SIZE]: of /tmp, where the project says so
		echo '{ "filesystem": { "allowWrite": ["."] },
		    "limits": {'"${1:+\"tmp\": \"$1\"}"'} }' |
		    as "$who" tee "$W/fence.jsonc" >"$T/null"
		run -- df --output=size -k /tmp
		out=${out##*$'\n'}
	}
	room
	plain=$out
	room 900000T
	is "$out" "$plain" "$who: untrusted: limits.tmp makes /tmp no larger"
	room 8M
	is "$((out))" 8192 "$who: untrusted: but smaller"
	as "$who" rm "$W/fence.jsonc"

	# A file that a run plants below takes nothing's place: the trusted one
	# above holds, and the workspace is its folder.
	as "$who" mkdir -p "$W/sub/out" "$base/home/.ssh"
	as "$who" sh -c "echo key >'$base/home/.ssh/key'; echo s >'$W/secret'"
	as "$who" tee "$W/fence.jsonc" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["."], "denyWrite": ["held"],
	    "denyRead": ["secret", "~/.ssh"] } }
	E
	as "$who" env HOME="$base/home" "$(dirname "$FENCE_RUN")/fence" \
	    config trust "$W/fence.jsonc" >"$T/null" 2>&1
	nested='touch ../../held; cat ../../secret; touch ../top && echo top
	    touch here && echo here; cat x'
	as "$who" sh -c "echo x >'$W/sub/out/x'"
	run --chdir "$W/sub/out" -- sh -c "$nested"
	is "$out" "top
here
x" "$who: the trusted policy of a folder above"
	run --chdir "$W/sub/out" -- sh -c 'echo "{\"filesystem\":
	    {\"allowWrite\":[\".\",\"$HOME\"],\"denyRead\":[\"x\"]}}" >fence.jsonc'
	if [ ! -e "$W/sub/out/fence.jsonc" ]; then	# guarded today
		as "$who" tee "$W/sub/out/fence.jsonc" >"$T/null" <<-E
		{ "filesystem": { "allowWrite": [".", "~"], "denyRead": ["x"] } }
		E
	fi
	run --chdir "$W/sub/out" -- sh -c "$nested"
	is "$out" here "$who: with a planted one it only becomes less"
	like "$err" "sub/out/fence.jsonc is not trusted and may only tighten; \
what holds is $W/fence.jsonc" "$who: and that is one line"
	[ ! -e "$W/held" ]
	ok $? "$who: what the trusted one denies stays denied"
	run --chdir "$W/sub/out" -- sh -c 'echo evil >fence.jsonc; rm fence.jsonc
	    echo evil >../../fence.jsonc; true'
	unlike "$(cat "$W/fence.jsonc" "$W/sub/out/fence.jsonc")" evil \
	    "$who: neither can be written"
	as "$who" sh -c "echo '{' >'$W/sub/out/fence.jsonc'"
	run --chdir "$W/sub/out" -- touch started
	is "$status" 1 "$who: a planted one that is broken ends the start"
	like "$err" 'sub/out/fence.jsonc:[0-9]+:[0-9]+: ' "$who: with its place"
	[ ! -e "$W/sub/out/started" ]
	ok $? "$who: and nothing ran"
	as "$who" sh -c "echo 's3cret token' >'$base/home/.ssh/key'
	    echo '{\"extends\":\"~/.ssh/key\"}' >'$W/sub/out/fence.jsonc'"
	run --chdir "$W/sub/out" -- true
	is "$status" 1 "$who: an untrusted file extends its own folder's alone"
	unlike "$err" s3cret "$who: and quotes no key"
	like "$err" 'fence.jsonc:1:12: extends: ' "$who: but says where"
	as "$who" sh -c "echo '{\"s3cret\":1,\"a\":{\"s3cret\":1}}' \
	    >'$base/home/.ssh/key'"
	run --chdir "$W/sub/out" --ignore-unknown-keys -- true
	unlike "$err" s3cret "$who: nor does a warning"
	as "$who" rm -r "$W/sub/out/fence.jsonc" "$base/home/.ssh"
	as "$who" rm "$W/fence.jsonc" "$W/secret"

	# A second name beside the policy replaces nothing.
	as "$who" sh -c "echo key >'$W/sub/key'; echo f >'$W/sub/f'
	    echo '{}' >'$W/sub/fence.jsonc'"
	as "$who" tee "$W/sub/fence.json" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["."], "denyRead": ["key"] } }
	E
	run --chdir "$W/sub" -- sh -c 'cat key; cat f'
	is "$out" f "$who: untrusted, beside another: its denial holds"
	as "$who" env HOME="$base/home" "$(dirname "$FENCE_RUN")/fence" \
	    config trust "$W/sub/fence.json" >"$T/null" 2>&1
	run --chdir "$W/sub" -- sh -c 'cat key; cat f'
	is "$out" f "$who: trusted, beside another: its denial holds"
	like "$err" "sub/fence.jsonc is not trusted and may only tighten; \
what holds is $W/sub/fence.json" "$who: and that is said"
	run --chdir "$W/sub" -- sh -c 'echo evil >fence.json
	    echo evil >fence.jsonc; true'
	unlike "$(cat "$W/sub/fence.json" "$W/sub/fence.jsonc")" evil \
	    "$who: neither of the two can be written"
	capture "$who" env HOME="$base/home" sh -c 'cd "$1" && exec "$2" \
	    config trust' sh "$W/sub" "$(dirname "$FENCE_RUN")/fence"
	is "$status" 1 "$who: config trust asks which of the two"
	as "$who" rm "$W/sub/fence.json" "$W/sub/fence.jsonc" "$W/sub/key" \
	    "$W/sub/f"
	as "$who" mkdir -p "$base/home/.config/fence"
	as "$who" sh -c "echo '{}' >'$base/home/.config/fence/fence.json'
	    echo '{}' >'$base/home/.config/fence/fence.jsonc'"
	run -- touch started
	is "$status" 1 "$who: two policies of the user: no start"
	like "$err" 'two policies in one folder' "$who: and that is said"
	as "$who" rm "$base/home/.config/fence/fence.json"
	capture "$who" env HOME="$base/home" "$(dirname "$FENCE_RUN")/fence" \
	    config init --minimal
	is "$status" 1 "$who: config init puts none beside another"
	run -- true
	is "$status" 0 "$who: one of them is a policy"
	as "$who" rm "$base/home/.config/fence/fence.jsonc"

	# What cannot be looked at is not missing.
	if [ "$who" != root ]; then
		as "$who" chmod 0 "$base/home/.config"
		run -- touch started
		is "$status" 1 "$who: ~/.config without x: no start"
		like "$err" "cannot look for a policy at '$base/home/.config" \
		    "$who: with the place"
		as "$who" chmod 755 "$base/home/.config"
		as "$who" mkdir -p "$base/shut/in"
		as "$who" sh -c 'cd "$1/in" && chmod 0 .. &&
		    HOME=$2 "$3" -- true
		    echo $?; chmod 755 "$1"' sh "$base/shut" "$base/home" \
		    "$FENCE_RUN" >"$T/shut" 2>&1
		like "$(cat "$T/shut")" "cannot look for a policy at .*
1\$" "$who: a folder of ours above without x: no start"
	fi
	if [ "$who" != root ] && [ "$(id -u)" -eq 0 ]; then
		mkdir -p "$T/theirs/in"
		chmod 700 "$T/theirs"
		here=$PWD
		cd "$T/theirs/in" || exit 1
		capture "$who" env HOME="$base/home" \
		    "$(dirname "$FENCE_RUN")/fence" config show
		cd "$here" || exit 1
		is "$status" 0 "$who: but one of somebody else is passed over"
	fi
	[ ! -e "$W/started" ]
	ok $? "$who: nothing ran"

	# Its folder's name is the project's to choose, too.
	odd=$W/$'o\033[31md'
	as "$who" mkdir "$odd"
	as "$who" tee "$odd/fence.jsonc" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["$base/out"] } }
	E
	run --chdir "$odd" -- true
	like "$err" 'o\\x1b\[31md/fence.jsonc is not trusted' \
	    "$who: no escape sequence reaches the terminal by it"
	unlike "$err" $'\033' "$who: not one"
	as "$who" rm -r "$odd"

	run -w "$base/out" -- sh -c "$try"
	is "$out" "in
sub
out" "$who: -w grants for one run"
	as "$who" sh -c "echo secret >'$base/out/key'"
	run --deny-read "$base/out" -- cat "$base/out/key"
	is "$status" 1 "$who: --deny-read hides for one run"
	run --deny-read "$base/out" -r "$base/out/key" -- cat "$base/out/key"
	is "$out" secret "$who: -r opens a file inside of it"
	run -- cat "$base/out/key"
	is "$out" secret "$who: without the flags it is as before"

	# A flag speaks over the user's own denial of the same path, in the
	# decision and in the jail alike.
	as "$who" sh -c "echo a >'$W/.env'; mkdir '$W/ro' '$W/dark'
	    echo d >'$W/dark/f'"
	as "$who" tee "$base/home/own.json" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["."], "denyWrite": ["ro"],
	    "denyRead": ["**/.env", "dark", "~/.ssh"] } }
	E
	flagged='cat .env; cat dark/f; touch ro/x && echo ro
	    echo b >>.env; touch dark/x && echo dark'
	run -s "$base/home/own.json" -- sh -c "$flagged"
	is "$out" '' "$who: denied by the user's own policy"
	run -s "$base/home/own.json" -r .env -r dark -w ro -- sh -c "$flagged"
	is "$out" "a
d
ro" "$who: -r and -w of the same paths open them"
	is "$(cat "$W/.env")" a "$who: and what was not to be written stays"
	[ -e "$W/ro/x" ] && [ ! -e "$W/dark/x" ]
	ok $? "$who: as seen from outside"
	run -s "$base/home/own.json" -w .env -w dark -- sh -c "$flagged"
	is "$out" "a
d
dark" "$who: -w opens both ways"
	is "$(cat "$W/.env")" $'a\nb' "$who: as seen from outside"
	capture "$who" env HOME="$base/home" "${FENCE_RUN%-run}" why \
	    -s "$base/home/own.json" -r .env read "$W/.env"
	like "$out" 'command line' "$who: why names the flag"

	# Where it cannot, nothing starts, and the rule is named.
	vain() {	# vain REGEX ARGS…
		local want=$1
		shift
		as "$who" rm -f "$W/started"
		run "$@" -- touch started
		is "$status" 1 "$who: in vain: $*"
		like "$err" "$want" "$who: and the rule is named"
		[ ! -e "$W/started" ]
		ok $? "$who: and nothing started"
	}
	as "$who" tee "$W/fence.jsonc" >"$T/null" <<-E
	{ "filesystem": { "allowWrite": ["."], "denyRead": ["dark"] } }
	E
	vain "fence.jsonc:1:[0-9]+: filesystem.denyRead\[0\]: --read 'dark' \
has no effect" -r dark
	vain "filesystem.denyRead\[0\]: --write 'dark' has no" -w dark
	as "$who" rm "$W/fence.jsonc"
	as "$who" tee "$base/home/strict.json" >"$T/null" <<-E
	{ "profile": "strict", "filesystem": { "allowWrite": ["."] },
	    "network": { "deniedDomains": ["no.test"] } }
	E
	vain "filesystem.allowWrite: --write '$base/out' has no effect" \
	    -s "$base/home/strict.json" -w "$base/out"
	vain "strict.json:2:[0-9]+: network.deniedDomains\[0\]: --allow \
'no.test' has no effect" -s "$base/home/strict.json" -a no.test
	vain "--write .*fence's own" -w "$base/home/.config/fence/fence.json"
	run -w missing/dir/x -r lacking -- true
	like "$err" "--write missing/dir/x: '$W/missing/dir' does not exist" \
	    "$who: -w without a parent is said"
	like "$err" "--read lacking: it does not exist" \
	    "$who: and -r of what is missing"
	as "$who" rm -r "$W/.env" "$W/ro" "$W/dark"

	# What a later run would trust is not the command's to write.
	as "$who" mkdir -p "$base/home/.local/state"
	run -t code -- sh -c 'mkdir -p ~/.local/state/fence
	    echo forged >~/.local/state/fence/trust; echo 1 >~/.local/state/mine
	    cat ~/.local/state/mine'
	is "$out" 1 "$who: an agent's state folder is writable"
	unlike "$(cat "$base/home/.local/state/fence/trust")" forged \
	    "$who: fence's own state is not"

	capture "$who" env HOME="$base/home" GITHUB_TOKEN=x AWS_REGION=y \
	    "$FENCE_RUN" -t ci -- sh -c 'echo "${GITHUB_TOKEN-}${AWS_REGION-}"'
	is "$out" y "$who: -t ci takes secrets away, and nothing else"
done
finish
