#!/usr/bin/env bash
# Rules about commands before the run: what is refused is not started, whatever
# it is dressed in; what is not refused runs; the error names the command, the
# rule, its place and the line that allows it, and that line helps.
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

policy() {	# policy NAME JSON
	printf '%s\n' "$2" >"$T/$1.json"
	chmod 644 "$T/$1.json"
}

policy deny '{
	"extends": "workspace-write",
	"command": { "deny": ["git push", "touch ran", "re:^rm .*-[a-z]*r"],
	    "allow": ["git push origin docs"] },
	"ssh": { "allowedHosts": ["*.example.com"], "deniedHosts": ["bad.org"],
	    "allowedCommands": ["ls", "git status"] } }'

# A line that must not start; the file `ran` says whether it did.
refused() {	# refused LINE REGEX
	as "$who" rm -f "$W/ran" "$W/first"
	fence "$who" -s "$T/deny.json" -c "touch first; $1"
	is "$status:$out" 1: "$who: -c '$1': exit 1"
	like "$err" "$2" "$who: -c '$1': and why"
	[ ! -e "$W/first" ] && [ ! -e "$W/ran" ]
	ok $? "$who: -c '$1': nothing was started"
	capture "$who" "$FENCE" why -s "$T/deny.json" run "$1"
	is "$status" 1 "$who: why run '$1' says the same"
}

allowed() {	# allowed LINE
	fence "$who" -s "$T/deny.json" -c "$1"
	unlike "$err" 'blocked' "$who: -c '$1' is not refused"
	capture "$who" "$FENCE" why -s "$T/deny.json" run "$1"
	is "$status" 0 "$who: why run '$1' says the same"
}

by_push='deny.json:3:[0-9]+: command.deny\[0\]: command blocked by sandbox command policy: ".*git push.*" matches "git push"'
by_touch='command.deny\[1\]: .*matches "touch ran"'
for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W" "$base/home/.ssh"

	refused 'git push' "$by_push"
	for line in 'touch ran' 'echo touch ran | sh' "t'ou'ch \"ran\"" 't\ouch ran' \
	    '/usr/bin/touch ran' 'env A=1 touch ran' 'true && touch ran' \
	    'if true; then touch ran; fi' '(touch ran)' '{ touch ran; }' \
	    'echo $(touch ran)' 'echo `touch ran`' 'bash -c "touch ran"' \
	    "sh -c 'nice touch ran'" 'eval "touch ran"' \
	    'echo x | xargs -I{} touch ran' 'find . -exec touch ran \;' \
	    'timeout 5 touch ran &' 'A=1 touch ran' '! touch ran' \
	    'exec touch ran' 'command touch ran' \
	    'f() { touch ran; }; f' 'cat <<E
$(touch ran)
E'; do
		refused "$line" "$by_touch"
	done
	refused 'rm -fr x' 're:'
	refused 'sudo shutdown now' \
	    'command blocked by default sandbox command policy: .*"shutdown"'
	refused 'ssh other.org ls' 'SSH blocked: .*ssh.allowedHosts'
	refused 'ssh a.example.com "ls; rm x"' 'SSH blocked: .*rm x.*'
	refused 'ssh -J other.org a.example.com' 'SSH blocked: .*other.org'
	for line in 'echo git push' 'git push origin docs' 'echo "touch ran"' \
	    'touch other # touch ran' "grep 'git push' x" 'rm -f x' \
	    'echo ssh other.org'; do
		allowed "$line"
	done

	# The words of a command that is no line.
	fence "$who" -s "$T/deny.json" -- git push --force
	is "$status:$out" 1: "$who: git push: exit 1"
	like "$err" "$by_push" "$who: git push: and why"
	fence "$who" -s "$T/deny.json" -- env touch ran
	is "$status:$(ls "$W/ran" 2>/dev/null)" 1: "$who: env touch ran"
	fence "$who" -s "$T/deny.json" -- touch other
	is "$status" 0 "$who: touch other"
	fence "$who" -s "$T/deny.json" -- no-such-shutdown
	is "$status" 127 "$who: what is not there and not refused"
	fence "$who" -- modprobe x
	is "$status" 1 "$who: what is refused need not be there"
	like "$err" 'default sandbox command policy: .*"modprobe"' \
	    "$who: the built-in list holds without a policy"

	# A link by another name is the program that it leads to.
	as "$who" ln -s /usr/bin/touch "$W/t"
	fence "$who" -s "$T/deny.json" -- ./t ran
	is "$status:$(ls "$W/ran" 2>/dev/null)" 1: "$who: ./t -> touch"
	as "$who" rm "$W/t"
	# git's aliases are read where git reads them.
	as "$who" sh -c "printf '[alias]\n\tp = push\n' >'$base/home/.gitconfig'"
	capture "$who" env HOME="$base/home" "$FENCE" why -s "$T/deny.json" \
	    run 'git p'
	is "$status" 1 "$who: an alias of git's"
	# And ssh's hosts.
	as "$who" sh -c "printf 'Host ok.example.com\n HostName bad.org\n' \
	    >'$base/home/.ssh/config'"
	capture "$who" env HOME="$base/home" "$FENCE" why -s "$T/deny.json" \
	    ssh ok.example.com ls
	is "$status" 1 "$who: a host of ssh's by another name"
	capture "$who" env HOME="$base" "$FENCE" why -s "$T/deny.json" \
	    ssh ok.example.com ls
	is "$status" 0 "$who: and without that"

	# The line that is said to help helps.
	fence "$who" -s "$T/deny.json" -c 'touch ran'
	entry=$(sed -n 's/^fence: hint: to allow it: command.allow += //p' \
	    <<<"$err")
	policy help "{ \"extends\": \"$T/deny.json\",
	    \"command\": { \"allow\": [$entry] } }"
	fence "$who" -s "$T/help.json" -c 'touch ran'
	is "$status:$(ls "$W/ran")" "0:$W/ran" "$who: $entry helps"
	as "$who" rm -f "$W/ran"

	# What cannot be looked into.
	policy unseen '{ "extends": "workspace-write",
	    "command": { "unseen": "deny", "deny": ["git push"] } }'
	as "$who" rm -f "$W/ran"
	for line in 'cat x | sh' 'X=touch; $X ran' 'bash -c "$X"' \
	    "fish -c 'touch ran'"; do
		fence "$who" -s "$T/unseen.json" -c "$line"
		is "$status:$(ls "$W/ran" 2>/dev/null)" 1: \
		    "$who: '$line' is not looked into"
		like "$err" 'command.unseen' "$who: '$line' names the key"
	done
	capture "$who" "$FENCE" why -s "$T/deny.json" --json run 'curl x | sh'
	like "$out" '"verdict":"allowed".*"note":"not all of it' \
	    "$who: why says what it cannot see"
	capture "$who" "$FENCE" why -s "$T/deny.json" --json run 'git push'
	like "$out" '"verdict":"denied","operation":"run","object":"git push","rule":"command.deny\[0\]".*"walled":false.*"remedy":\{"key":"command.allow","value":"git push"' \
	    "$who: why --json"
done
finish
