#!/usr/bin/env bash
# The command line: its forms, its options, and what a mistake in it says.
# shellcheck disable=SC2016 # the inner shells expand
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

refuses() {	# refuses STATUS REGEX NAME ARGS…: nothing is started
	local want=$1 regex=$2 name=$3
	shift 3
	rm -f "$W/ran"
	fence "$who" "$@"
	is "$status" "$want" "$who: $name: exit $want"
	like "$err" "$regex" "$who: $name: told"
	[ ! -e "$W/ran" ]
	ok $? "$who: $name: nothing ran"
}

forms() {
	capture "$who" "$FENCE" sh -c 'echo "$0 $1"' sh x
	is "$out" 'sh x' "$who: fence COMMAND"
	capture "$who" "$FENCE" -- sh -c 'echo "$0 $1"' sh x
	is "$out" 'sh x' "$who: fence -- COMMAND"
	capture "$who" "$FENCE" run sh -c 'echo "$0 $1"' sh x
	is "$out" 'sh x' "$who: fence run COMMAND"
	capture "$who" "$FENCE" -c 'echo a | tr a b'
	is "$out" b "$who: fence -c STRING"
	printf '#!/bin/sh\necho own "$@"\n' >"$W/config"
	chmod 755 "$W/config"
	capture "$who" env PATH="$W:$PATH" "$FENCE" -- config show
	is "$out" 'own show' "$who: fence -- NAME is a program of that name"
	capture "$who" env PATH="$W:$PATH" "$FENCE_RUN" config show
	is "$out" 'own show' "$who: fence-run has no sub-commands"
	fence "$who" echo '~' 'A=1' '%' '^'
	is "$out" '~ A=1 % ^' "$who: no word is looked at"
	fence "$who" A=1 true
	is "$status" 127 "$who: a word with = is a program's name"
	fence "$who" -m=false -- true
	is "$status" 2 "$who: no value behind a letter without one"
	fence "$who" --monitor=false -- true
	is "$status:$err" 0: "$who: --flag=false"
}

strings() {
	fence "$who" -c 'printf "%s\n" "$0" "$#" '\''a  $b; "c"'\'
	is "$out" $'bash\n0\na  $b; "c"' "$who: -c: the string as it is"
	fence "$who" --c 'exit 42'
	is "$status" 42 "$who: --c: its status"
	fence "$who" -c 'kill -TERM $$'
	is "$status" 143 "$who: -c: death by a signal"
	fence "$who" -c $'printf \'\xff\' | od -An -tx1'
	is "$out" ' ff' "$who: -c: any byte"
	fence "$who" -c 'no-such-program-there'
	is "$status" 127 "$who: -c: the shell's own 127"
	fence "$who" -c 'if ! shopt -q login_shell; then echo plain; fi'
	is "$out" plain "$who: -c: no login shell"
	as "$who" sh -c 'echo "echo profile >&2" >"$1/.bash_profile"' sh "$W"
	capture "$who" env HOME="$W" "$FENCE_RUN" -t default-deny \
	    --shell-login -c 'shopt -q login_shell && echo login'
	is "$out:$err" login:profile "$who: --shell-login reads the profile"
	for sh in sh bash dash zsh fish; do
		if ! command -v $sh >/dev/null; then
			skip "no $sh here" "$who: --shell user: $sh"
			continue
		fi
		capture "$who" env SHELL="$(command -v $sh)" "$FENCE_RUN" \
		    --shell user -c 'echo ran; sh -c "exit 3"'
		is "$status:$out" 3:ran "$who: --shell user: $sh keeps the status"
	done
	capture "$who" env SHELL=/bin/dash "$FENCE_RUN" --shell user \
	    -c 'echo $0'
	is "$out" /bin/dash "$who: --shell user: is that of SHELL"
	capture "$who" env SHELL=/bin/dash "$FENCE_RUN" --shell default \
	    -c 'echo $0'
	is "$out" bash "$who: --shell default: is bash"
}

wrong_strings() {
	local as_is=$FENCE_RUN
	refuses 2 "'touch' would be lost" '-c with words' \
	    -c 'touch ran' touch ran
	refuses 2 'shell.* is for -c' '--shell without -c' --shell user \
	    touch ran
	refuses 2 'shell-login is for -c' '--shell-login without -c' \
	    --shell-login touch ran
	refuses 2 "'zsh' is none of default\|user" '--shell of a name' \
	    --shell zsh -c 'touch ran'
	refuses 2 'wants a value' 'an empty -c' -c '' touch ran
	FENCE_RUN=env
	refuses 1 'SHELL is not set' 'no SHELL' -u SHELL \
	    "$as_is" --shell user -c 'touch ran'
	refuses 1 'no absolute path' 'a relative SHELL' SHELL=bash \
	    "$as_is" --shell user -c 'touch ran'
	refuses 1 'no shell known' 'another SHELL' SHELL=/usr/bin/python3 \
	    "$as_is" --shell user -c 'touch ran'
	refuses 127 'not found' 'a SHELL that is not there' SHELL=/no/bash \
	    "$as_is" --shell user -c 'touch ran'
	cp /dev/null "$W/zsh"
	refuses 126 'not executable' 'a SHELL that is none' SHELL="$W/zsh" \
	    "$as_is" --shell user -c 'touch ran'
	rm "$W/zsh"
	refuses 127 'shell user' 'no bash' PATH=/nowhere "$as_is" \
	    -c 'touch ran'
	FENCE_RUN=$as_is
}

places() {
	as "$who" mkdir "$W/sub"
	fence "$who" --chdir sub -c 'pwd; echo "$PWD"; echo x >made'
	is "$out" "$W/sub"$'\n'"$W/sub" "$who: --chdir: there it runs"
	[ -e "$W/sub/made" ]
	ok $? "$who: --chdir: and that is the workspace"
	fence "$who" --chdir sub -- touch ../beside
	is "$status" 1 "$who: --chdir: not its parent"
	as "$who" sh -c 'echo "{}" >"$1/here.json"; mkdir "$1/deep"' sh "$W/sub"
	fence "$who" -s here.json --chdir sub -w deep -c 'echo x >deep/f'
	is "$status" 0 "$who: --chdir: paths of options belong to it"
	fence "$who" -s "$T/closed.json" -c 'pwd; ls . || echo shut'
	is "$out" "$W"$'\nshut' "$who: also where it may not be read"
	refuses 1 "cannot enter '/no/where'" 'a missing DIR' \
	    --chdir /no/where touch ran
	refuses 1 'cannot enter' 'a file as DIR' --chdir "$T/p.json" touch ran
}

variables() {
	capture "$who" env A=host B=host A_TOKEN=t B_TOKEN=u "$FENCE_RUN" \
	    -s "$T/env.json" --env A='x  $y=z' --env A_TOKEN --env CI=2 \
	    --env EMPTY= --env LD_BIND_NOW=1 --env HTTP_PROXY=mine \
	    --env NOT_THERE -- env
	is "$(grep -E '^(A|B|A_TOKEN|B_TOKEN|CI|EMPTY|LD_.*|HTTP_PROXY|FENCE_SANDBOX|NOT.*)=' \
	    <<<"$out" | sort)" 'A=x  $y=z
A_TOKEN=t
B=host
CI=2
EMPTY=
FENCE_SANDBOX=1
HTTP_PROXY=mine
LD_BIND_NOW=1' "$who: --env sets, and brings back"
	capture "$who" env A_TOKEN=t B_TOKEN=u "$FENCE_RUN" \
	    -s "$T/env.json" --env '?_TOKEN' true
	is "$status" 2 "$who: --env: a bad name is exit 2"
	refuses 2 'never taken' '--env of the loader' --env LD_PRELOAD \
	    touch ran
	refuses 2 "fence's own" '--env of ours' --env FENCE_SANDBOX=0 \
	    touch ran
	refuses 2 'variable' '--env without a name' --env =x touch ran
	as "$who" mkdir -p "$W/bin"
	printf '#!/bin/sh\necho mine\n' >"$W/bin/odd-program"
	chmod 755 "$W/bin/odd-program"
	fence "$who" --env PATH="$W/bin:$PATH" odd-program
	is "$out" mine "$who: --env PATH= is where the program is looked for"
}

kept() {
	local dir
	(cd "$W" && as "$who" "$FENCE_RUN" --keep-fd 7 --keep-fd 9 -c \
	    'read x <&7; echo "got $x" >&9; ls /proc/self/fd | wc -l
	    echo x 2>&- >&8 || echo closed' \
	    7<<<'seven' 8>"$T/eight" 9>"$T/nine") >"$T/kept" 2>&1
	is "$(cat "$T/nine" "$T/eight")" 'got seven' \
	    "$who: --keep-fd: those named"
	like "$(cat "$T/kept")" $'^6\n(.*\n)?closed$' \
	    "$who: --keep-fd: and no other"
	refuses 2 'not open' 'a closed one' --keep-fd 77 touch ran
	refuses 2 'not open' 'one that fence would open itself' \
	    --keep-fd 3 --trace-file "$T/trace.$who" touch ran
	refuses 2 'already' 'one below 3' --keep-fd 1 touch ran
	refuses 2 'no descriptor number' 'no number' --keep-fd x touch ran
	refuses 2 'no descriptor number' 'a huge number' \
	    --keep-fd 99999999999 touch ran
	refuses 1 'is a directory' 'a directory' --keep-fd 7 touch ran 7</
	refuses 2 "the trace's" 'the trace' --keep-fd 7 --trace-file fd:7 \
	    touch ran 7>/dev/null
	refuses 1 'stdin is a directory' 'a directory on stdin' touch ran </
	# A mere path, and a handle: bash opens neither.
	cat >"$T/open.py" <<-'PY'
		import ctypes, os, sys
		if sys.argv[1] == "path":
		    fd = os.open("/etc/passwd", os.O_PATH)
		else:
		    fd = ctypes.CDLL(None).eventfd(0, 0)
		os.dup2(fd, 7)
		os.execv(sys.argv[2], sys.argv[2:])
	PY
	for dir in path event; do
		capture "$who" python3 "$T/open.py" "$dir" "$FENCE_RUN" \
		    --keep-fd 7 touch ran
		like "$status:$err" '^1:.*(mere path|handle)' \
		    "$who: --keep-fd: $dir is refused"
	done
}

first_things() {
	fence "$who" --version --no-such 2>&1
	is "$status" 2 "$who: a wrong option beats --version"
	fence "$who" --version
	like "$status:$out" '^0:fence [0-9]' "$who: --version"
	fence "$who" -v
	like "$status:$out" '^0:fence [0-9]' "$who: -v"
	fence "$who" --list-templates --linux-features --version
	like "$status:$out" '^0:fence [0-9.]*$' "$who: --version comes first"
	fence "$who" --list-templates --linux-features
	like "$status:$out" '^0:Linux Sandbox Features:' "$who: then the features"
	fence "$who" -h
	like "$status:$out" '^0:usage: fence-run' "$who: -h"
	capture "$who" "$FENCE"
	like "$status:$err" '^2:fence: no command' "$who: fence alone is exit 2"
	capture "$who" "$FENCE" help
	like "$status:$out" '^0:usage: fence ' "$who: fence help"
	for sub in learn session; do
		capture "$who" "$FENCE" $sub
		like "$status:$err" "^2:.*'fence $sub' is not in this version.*hint: 'fence -- $sub'" \
		    "$who: fence $sub is for a later version"
	done
	fence "$who" -t workspace-write.json true
	is "$status" 0 "$who: -t NAME.json is NAME"
	refuses 2 "no template is named 'no-such'" 'another template' \
	    -t no-such touch ran
	fence "$who" --list-templates touch ran
	is "$status" 0 "$who: --list-templates runs nothing"
	like "$out" $'^Available templates:\n\n  cargo-build .*\n  workspace-write      [a-z].*\n\n' \
	    "$who: --list-templates lists them by name"
	refuses 1 'bad\.json' 'a bad policy beats a missing program' \
	    -s "$T/bad.json" no-such-program
	refuses 2 'invalid --port' 'a bad port beats a bad policy' -p x \
	    -s "$T/bad.json" touch ran
	refuses 2 'execution-model' 'so does a model' -s "$T/bad.json" \
	    --service-execution-model x touch ran
	refuses 2 'none of default' 'and a shell' -s "$T/bad.json" --shell x \
	    -c 'touch ran'
	refuses 2 'exclude each other' '-s and -t' -s "$T/p.json" -t code \
	    touch ran
	refuses 2 'not in this version' '--weaker' --weaker landlock \
	    touch ran
	refuses 2 'none of bwrap' '--engine of a name' --engine docker \
	    touch ran
	for engine in bwrap native; do
		fence "$who" --engine $engine true
		is "$status:$err" 0: "$who: --engine $engine"
	done
	as "$who" sh -c 'echo "{}" >"$1/own.json"; chmod 0 "$1/own.json"' \
	    sh "$W"
	if [ "$who" = user ]; then
		refuses 1 'own\.json' 'an unreadable policy' -s own.json \
		    touch ran
	fi
	as "$who" rm -f "$W/own.json"
}

processes() {
	# Zombies would stay in sight until somebody buries them.
	fence "$who" -- sh -c '(sh -c "exit 3" & sh -c "exit 4" &)
		while grep -sq "^State:.*Z" /proc/[0-9]*/status; do :; done
		(sleep 100 &); exit 7'
	is "$status" 7 "$who: orphans are buried, stragglers killed"
	start "$who" "$FENCE_RUN" -- flock ticks sh -c \
	    'while :; do echo tick >>ticks; done'
	wait_for 20 test -s "$W/ticks"
	flock -n "$W/ticks" true
	is "$?" 1 "$who: a loop writes"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	wait_for 20 flock -n "$W/ticks" true
	ok $? "$who: and is gone with fence-run"
}

echo '{ "filesystem": { "allowWrite": ["."] } }' >"$T/p.json"
echo '{ "filesystem": { "allowWrite": 1 } }' >"$T/bad.json"
echo '{ "filesystem": { "defaultDenyRead": true } }' >"$T/closed.json"
echo '{ "filesystem": { "allowWrite": ["."] }, "env": { "denySecrets": true,
    "set": { "CI": "1" } } }' >"$T/env.json"
for who in $WHOS; do
	W=$(workspace "$who")
	forms
	strings
	wrong_strings
	places
	variables
	kept
	first_things
	processes
done
finish
