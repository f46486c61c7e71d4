#!/usr/bin/env bash
# Names that must not outlive a run, and mounts that the host takes away:
# judged from outside, with the shim, without it, and from a static program.
# limit: 300
. "$(dirname "$0")/../lib.sh"

# Inside a world /tmp is a file system of its own.
if [ "${1-}" != inside ]; then
	for who in $WHOS; do
		inside "$who"
	done
fi

# A fresh place of WHO's: $W, a home $H outside of it, a trace $trace.
place() {	# place WHO [FOLDER]
	base=$(workspace "$1")
	H=$base/home
	W=${2:-$base/w}
	trace=$base/trace.json
	Q=$H/.local/state/fence/quarantine
	as "$1" mkdir -p "$W" "$H"
}

outside() {	# outside WHO SHELL: in $W, on the host
	as_words "$1"
	(cd "$W" && HOME=$H T=$base "${PRE[@]}" env HOME="$H" sh -ec "$2")
}

run() {		# run WHO ARGS…: fence-run with that home and trace
	local who=$1
	shift
	rm -f "$trace"
	capture "$who" env HOME="$H" ${PRETEND:+FENCE_PRETEND=$PRETEND} \
	    "$FENCE_RUN" --trace-file "$trace" "$@"
}

# The ways to act inside: with the shim, without, static.
ways="shim noshim static"
way() {		# way WAY: fills $PRETEND and $probe
	PRETEND=
	probe=$PROBES/probe
	case $1 in
	noshim)	PRETEND=noshim ;;
	static)	probe=$PROBES/probe-static ;;
	esac
}

absent() {	# absent NAME…: none of them lies in $W
	local n left=
	for n; do
		{ [ ! -e "$W/$n" ] && [ ! -L "$W/$n" ]; } || left+=" $n"
	done
	[ -z "$left" ] || { note "still there:$left"; return 1; }
}

kept() {	# kept NAME…: all of them lie in quarantine
	local n left=
	for n; do
		[ -n "$(find "$Q" -maxdepth 2 -name "[0-9]*-$n" \
		    2>/dev/null)" ] || left+=" $n"
	done
	[ -z "$left" ] || { note "not kept:$left"; return 1; }
}

told() {	# told NAME…: all of them are in the record
	local n left=
	for n; do
		[ "$(denials "$trace" "$W/$n")" -ge 1 ] || left+=" $n"
	done
	[ -z "$left" ] || { note "not told:$left"; return 1; }
}

# ---- every way to make a name ----

repository='git init -q . && rm -rf .git/hooks && git init -q sub &&
	mkdir -p sub/.git/hooks && echo "#!/bin/sh" >sub/.git/hooks/pre-commit'

names=".envrc .vscode .idea .bashrc .zshrc .profile .husky
    .claude/settings.json .claude/hooks .github/workflows .git/hooks
    .gemini/settings.json .mcp.json"

make_names() {	# make_names WHO WAY NAME ARGS…
	local who=$1 way=$2 name="$1, $3, $2" before
	place "$who"
	way "$2"
	shift 3
	outside "$who" "$repository"
	outside "$who" 'mkdir -p prep/claude/hooks prep/idea .gemini prep/evil
	    echo x >prep/claude/settings.json; echo x >prep/claude/hooks/h
	    echo x >prep/idea/x; echo x >prep/f; echo x >prep/mcp
	    echo x >prep/evil/mcp.json; echo kept >.gitmodules
	    mkdir .cursor2; chmod 755 prep'
	before=$(cd "$W" && cat .gitmodules .git/config sub/.git/config \
	    sub/.git/hooks/pre-commit | sha256sum)
	sed "s:@:$W/:g" >"$base/table" <<-'END'
		write @.envrc evil
		mkdir @.vscode
		write @.vscode/tasks.json evil
		rename @prep/idea @.idea
		link @prep/f @.bashrc
		symlink /etc/passwd @.zshrc
		mknod @.profile fifo
		mkdir @.husky
		rename @prep/claude @.claude
		mkdir @.github
		mkdir @.github/workflows
		write @.github/workflows/x.yml evil
		mkdir @.git/hooks
		write @.git/hooks/pre-commit evil
		write @.gemini/settings.json evil
		rename @prep/mcp @.mcp.json
		symlink @prep/evil @.cursor
		append @.gitmodules evil
		append @.git/config evil
		append @sub/.git/config evil
		append @sub/.git/hooks/pre-commit evil
		rename @sub/.git/hooks @sub/.git/h2
		rename @sub/.git @sub/g2
		unlink @.gitmodules
		write @ok fine
		mkdir @new
		mkdir @new/.vscode
		write @new/.envrc own
		write @.git/refs/heads/hooks 0
	END
	chmod 644 "$base/table"
	run "$who" "$@" -- "$probe" "$base/table"
	is "$status" 0 "$name: the probe ran to its end"
	# shellcheck disable=SC2086
	absent $names .cursor
	ok $? "$name: no guarded name is left"
	# shellcheck disable=SC2086
	told $names
	ok $? "$name: each is told"
	is "$(cd "$W" && cat .gitmodules .git/config sub/.git/config \
	    sub/.git/hooks/pre-commit | sha256sum)" "$before" \
	    "$name: those that exist are unchanged"
	[ -e "$W/ok" ] && [ -d "$W/new/.vscode" ] && [ -e "$W/new/.envrc" ] &&
	    [ -d "$W/.github" ] && [ -e "$W/.git/refs/heads/hooks" ] &&
	    [ -e /etc/passwd ] && [ -e "$W/prep/evil/mcp.json" ]
	ok $? "$name: what is no guarded name stays"
	[ "$way" = shim ] && return
	kept .envrc .vscode .idea .bashrc .zshrc .profile settings.json \
	    hooks workflows .mcp.json .cursor
	ok $? "$name: all lie in quarantine"
	is "$(cat "$Q"/*/*-.envrc)" evil "$name: with what was in them"
	is "$(stat -c %a "$Q" "$Q"/* | sort -u)" 700 "$name: for nobody else"
	like "$err" "mv '$Q/[0-9a-f]*/[0-9]*-.envrc' '$W/.envrc'" \
	    "$name: the line that takes it back"
}

opened_by_name() {	# opened_by_name WHO WAY
	place "$1"
	way "$2"
	echo '{"filesystem":{"allowWrite":[".",".vscode",".envrc"]}}' \
	    >"$base/p.json"
	chmod 644 "$base/p.json"
	printf '%s\n' "mkdir $W/.vscode" "write $W/.vscode/x own" \
	    "write $W/.envrc own" "write $W/.bashrc evil" >"$base/table"
	chmod 644 "$base/table"
	run "$1" -s "$base/p.json" -- "$probe" "$base/table"
	[ -e "$W/.vscode/x" ] && [ -e "$W/.envrc" ]
	ok $? "$1, $2: a name that allowWrite names is made"
	absent .bashrc
	ok $? "$1, $2: the one beside it is not"
}

# ---- a human beside the jail ----

# Static shells that go on for $2 seconds; the shim does not see them.
# shellcheck disable=SC2016 # the inner shells expand
storm='
	end=$(($(date +%s) + $1))
	until_end() { [ "$(date +%s)" -lt "$end" ]; }
	{ while until_end; do echo evil >.envrc; rm -f .envrc; echo e >.envrc
	    done; } 2>/dev/null &
	{ while until_end; do mkdir .vscode; echo e >.vscode/tasks.json
	    mkdir -p .github/workflows; mv .github g2; mv g2 .github
	    done; } 2>/dev/null &
	{ while until_end; do mkdir -p p/hooks; mv p .claude
	    echo e >.claude/settings.json; mv .claude c2; mv c2 .claude
	    rm -rf .claude p; done; } 2>/dev/null &
	{ while until_end; do ln -s /etc/passwd .zshrc; ln ok .bash_login
	    mkdir .git/hooks; echo e >.git/hooks/pre-commit; rm -rf .git/hooks
	    done; } 2>/dev/null &
	wait
	echo e >.envrc; mkdir -p .vscode .github/workflows .git/hooks'
storm_names=".envrc .vscode .github/workflows .claude/settings.json
    .claude/hooks .zshrc .bash_login .git/hooks"

editor='
	for i in 1 2 3 4 5 6 7 8 9 10; do
		echo "in place $i" >main.c
		echo "renamed $i" >other.c.tmp; mv other.c.tmp other.c
		mv third.c third.c~; echo "backed up $i" >third.c
		cat third.c >/dev/null; rm third.c~
		echo "rc $i" >.bashrc.tmp; mv .bashrc.tmp .bashrc
		echo "secret $i" >.env.tmp; mv .env.tmp .env
		echo "placed $i" >.gitmodules
	done
	ls -A >listed'

human_beside() {	# human_beside WHO SECONDS ARGS…: under storm
	local who=$1 secs=$2 name="$1: human beside the jail"
	place "$who"
	PRETEND=
	shift 2
	outside "$who" 'git init -q . && rm -rf .git/hooks
	    for f in main.c other.c third.c .bashrc .profile .gitmodules .env
	    do echo old >$f; done; echo ok >ok'
	echo '{"filesystem":{"allowWrite":["."],"denyRead":[".env"]}}' \
	    >"$base/p.json"
	chmod 644 "$base/p.json"
	as_words "$who"
	(cd "$W" && exec "${PRE[@]}" env HOME="$H" "$FENCE_RUN" \
	    --trace-file "$trace" -s "$base/p.json" -- busybox sh -c \
	    "echo >started; $storm"'
	    while [ ! -e saved ]; do sleep 0.05; done
	    sleep 0.3
	    cat .env >leak.env; echo evil >>.bashrc; echo evil >>.profile
	    rm -f .bashrc .profile .env; echo evil >>.gitmodules
	    exit 7' - "$secs") 2>"$base/err" &
	pid=$!
	wait_for 20 [ -e "$W/started" ] && wait_for 20 [ -d "$Q" ]
	ok $? "$name: the jail runs, and the guard watches"
	outside "$who" "$editor"
	outside "$who" 'printf "\0\001<xml/>\n" >"$T/mine"
	    cp "$T/mine" .idea; cp -r "$T/mine" .mcp.json'
	as "$who" touch "$W/saved"
	wait "$pid"
	is "$?" 7 "$name: it ran to its end"
	err=$(cat "$base/err")
	# shellcheck disable=SC2086
	absent $storm_names .idea .mcp.json
	ok $? "$name: no guarded name is left"
	# shellcheck disable=SC2086
	told $storm_names .idea .mcp.json
	ok $? "$name: each is told"
	is "$(cd "$W" && cat main.c other.c third.c .bashrc .env .profile \
	    .gitmodules)" "in place 10
renamed 10
backed up 10
rc 10
secret 10
old
placed 10" "$name: every save is there"
	[ ! -s "$W/leak.env" ]
	ok $? "$name: a hidden file that was saved is hidden again"
	unlike "$(cat "$W/listed")" 'fence|\.tmp' "$name: no placeholder"
	cmp -s "$base/mine" "$Q"/*/*-.idea &&
	    cmp -s "$base/mine" "$Q"/*/*-.mcp.json
	ok $? "$name: what he made there lies in quarantine, byte for byte"
	denials "$trace" "$W/.idea" '' message | grep -q 'moved to'
	ok $? "$name: and where is told"
	[ "$(find "$Q" -maxdepth 2 | wc -l)" -lt 500 ]
	ok $? "$name: quarantine does not grow with every try"
	is "$("$TESTS/validate-events" \
	    "$FENCE_PREFIX/share/fence/event.schema.json" "$trace" 2>&1)" \
	    "" "$name: the trace fits its schema"
}

# ---- what the host removes or replaces ----

# Inside, in a loop: whatever is missing is made.
remake='echo >started
	while [ ! -e stop ]; do
		[ -e .vscode ] || { rm -rf v; mkdir v
		    echo evil >v/tasks.json; mv v .vscode; }
		[ -e .envrc ] || echo evil >.envrc
		[ -e prod.yaml ] || { echo evil >p; mv p prod.yaml; }
		[ -e once ] || { : >once; : >.zshrc; }
	done 2>/dev/null
	echo evil >>.bashrc; echo evil >>.gitmodules; exit 7'

replaced() {	# replaced WHO
	local who=$1 name="$1: replaced by the host"
	place "$who"
	outside "$who" 'git init -q . && mkdir .vscode && echo 1 >.vscode/s.json
	    for f in .envrc prod.yaml .bashrc .gitmodules .mcp.json .profile
	    do echo old >$f; done'
	echo '{"filesystem":{"allowWrite":["."],"denyWrite":["prod.yaml"]}}' \
	    >"$base/p.json"
	chmod 644 "$base/p.json"
	as_words "$who"
	(cd "$W" && exec "${PRE[@]}" env HOME="$H" FENCE_PRETEND=noshim \
	    "$FENCE_RUN" --trace-file "$trace" -s "$base/p.json" -- \
	    busybox sh -c "$remake") 2>"$base/err" &
	pid=$!
	wait_for 20 [ -e "$W/started" ] && wait_for 20 kept .zshrc
	ok $? "$name: the guard watches"
	# A checkout, and what the command makes of it at once.
	outside "$who" 'rm -r .vscode; rm .envrc prod.yaml'
	wait_for 20 kept .vscode .envrc prod.yaml
	ok $? "$name: what comes in its place lies in quarantine"
	# A checkout of another branch, an editor that makes a backup first.
	outside "$who" 'rm .mcp.json; echo mine >.mcp.json
	    mv .profile .profile~; echo mine >.profile'
	wait_for 20 kept .mcp.json .profile
	ok $? "$name: what the host makes again as well"
	# An editor that renames, and one that writes.
	outside "$who" 'echo saved >b; mv b .bashrc; echo saved >.gitmodules'
	as "$who" touch "$W/stop"
	wait "$pid"
	is "$?" 7 "$name: it ran to its end"
	err=$(cat "$base/err")
	absent .vscode .envrc prod.yaml .mcp.json .profile .zshrc
	ok $? "$name: none of them outlives the run"
	told .vscode .envrc prod.yaml .mcp.json .profile
	ok $? "$name: each is told"
	is "$(cat "$W/.bashrc" "$W/.gitmodules")" "saved
saved" "$name: saves by a rename and in place stay as they are"
	is "$(grep 'was replaced' <<<"$err")" "fence: '$W/.bashrc' was replaced \
during the run; fence did not see by whom" "$name: the one is told"
	outside "$who" "$(sed -n "s/.*back with: \\(mv '.*mcp.json'\\)\$/\\1/p" \
	    "$base/err")"
	is "$(cat "$W/.mcp.json")" mine "$name: the line takes it back"
	[ "$(cat "$Q"/*/*-.vscode/tasks.json | sort -u)" = evil ]
	ok $? "$name: the folder is kept"
}

# ---- symlinks on the way ----

links() {	# links WHO WAY
	local name="$1, $2: symlinks"
	place "$1"
	way "$2"
	outside "$1" 'mkdir -p conf/claude store env
	    git init -q . && rm -rf .git/hooks && mv .git store/git
	    ln -s store/git .git; ln -s conf/claude .claude
	    echo old >conf/claude/settings.json; echo old >conf/other
	    for f in prod dev; do echo old >env/$f.yaml
	    ln -s env/$f.yaml $f.yaml; done; ln -s env/none.yaml none.yaml
	    echo "{\"filesystem\":{\"allowWrite\":[\".\"],\"denyWrite\":
	    [\"prod.yaml\",\"none.yaml\"]}}" >"$T/p.json"'
	before=$(cat "$W/store/git/config")
	sed "s:@:$W/:g" >"$base/table" <<-'END'
		write @prod.yaml evil
		write @none.yaml evil
		rename @conf @conf.old
		rename @store @store.old
		rename @env @env.old
		mkdir @conf
		mkdir @conf/claude
		mkdir @conf/claude/hooks
		write @conf/claude/settings.json evil
		write @store/git/config evil
		mkdir @store/git/hooks
		unlink @.claude
		mkdir @.claude
		write @.claude/settings.json evil
		unlink @.git
		mkdir @.git
		mkdir @.git/hooks
		write @.git/config evil
		unlink @prod.yaml
		write @prod.yaml evil
		unlink @none.yaml
		write @none.yaml evil
		write @conf/other new
		write @conf/claude/note new
		write @store/git/description new
		write @dev.yaml new
		unlink @dev.yaml
		write @dev.yaml newer
	END
	chmod 644 "$base/table"
	run "$1" -s "$base/p.json" -- "$probe" "$base/table"
	is "$status" 0 "$name: the probe ran to its end"
	is "$(cd "$W" && readlink .claude .git prod.yaml none.yaml)" "conf/claude
store/git
env/prod.yaml
env/none.yaml" "$name: each leads where it led"
	is "$(cd "$W" && cat .claude/settings.json .git/config prod.yaml)" \
	    "old
$before
old" "$name: to what was there"
	absent .claude/hooks .git/hooks none.yaml/ env/none.yaml conf.old \
	    store.old env.old
	ok $? "$name: nothing is planted behind them, nothing was moved"
	is "$(cd "$W" && cat conf/other conf/claude/note \
	    store/git/description env/dev.yaml dev.yaml | tr -d '\n')" \
	    newnewnewnewnewer "$name: what is not denied is written"
	[ ! -L "$W/dev.yaml" ]
	ok $? "$name: and replaced"
}

# Past any use: the run ends.
flooded() {	# flooded WHO
	local who=$1 n
	for n in 40 400; do
		place "$who"
		PRETEND=noshim,planted=100
		run "$who" -- busybox sh -c "$plant_n" - "$n"
		absent .envrc
		ok $? "$who: $n planted names: none is left"
		if [ "$n" = 40 ]; then
			is "$status" 0 "$who: $n planted names: it goes on"
		else
			is "$status" 1 "$who: $n planted names: the run ends"
			like "$err" 'too many guarded names' \
			    "$who: $n planted names: which is said"
			[ ! -e "$W/late" ]
			ok $? "$who: $n planted names: at once"
		fi
	done
}
# shellcheck disable=SC2016 # the inner shell expands
plant_n='i=0; while [ "$i" -lt "$1" ]; do
	    : >.envrc; while [ -e .envrc ]; do :; done
	    i=$((i + 1))
	done
	[ "$1" -lt 100 ] || { sleep 100; : >late; }'

# ---- the guard's own end ----

ends() {	# ends WHO: kill -9 of fence-run, and of the guard
	local who=$1 g
	place "$who"
	PRETEND=noshim
	as_words "$who"
	for victim in fence-run guard; do
		rm -f "$W/started"
		(cd "$W" && exec "${PRE[@]}" env HOME="$H" \
		    FENCE_PRETEND=noshim "$FENCE_RUN" -- \
		    busybox sh -c 'echo >started
		    while [ ! -e stop ]; do echo e >.envrc; mkdir .vscode
		    mkdir -p .claude; echo e >.claude/settings.json
		    done 2>/dev/null') 2>"$base/err" &
		pid=$!
		wait_for 20 [ -e "$W/started" ]
		wait_for 20 eval '[ -n "$(guards $pid)" ]'
		g=$(guards "$pid")
		if [ "$victim" = fence-run ]; then
			kill -9 "$pid"
			wait "$pid" 2>/dev/null
			wait_for 20 eval '[ ! -e "/proc/$g" ]'
			ok $? "$who: the guard ends after its launcher"
		else
			kill -9 "$g"
			wait_for 20 eval '[ -e "$W/.envrc" ]'
			as "$who" touch "$W/stop"
			wait "$pid"
			is "$?" 0 "$who: the run outlives its guard"
			like "$(cat "$base/err")" 'guard ended' \
			    "$who: and says so"
		fi
		absent .envrc .vscode .claude/settings.json
		ok $? "$who: kill -9 of the $victim: no guarded name is left"
	done
}

other_disk() {	# other_disk WHO: quarantine on another file system
	place "$1" /tmp/guarded
	PRETEND=noshim
	[ "$(stat -c %d "$W")" != "$(stat -c %d "$H")" ]
	ok $? "$1: another file system: it is one"
	run "$1" -- busybox sh -c 'mkdir -p p/d; echo 1 >p/d/f; ln -s x p/l
	    chmod 600 p/d/f; mv p .vscode; echo 2 >.envrc
	    mkdir -p .claude/hooks; sleep 0.2'
	absent .vscode .envrc .claude/hooks
	ok $? "$1: another file system: no guarded name is left"
	[ "$(cat "$Q"/*/*-.vscode/d/f "$Q"/*/*-.envrc)" = "1
2" ] && [ -L "$(echo "$Q"/*/*-.vscode/l)" ] &&
	    [ "$(stat -c %a "$Q"/*/*-.vscode/d/f)" = 600 ]
	ok $? "$1: another file system: copied as it was"
	[ -z "$(find "$W" -name '*.fence-*')" ]
	ok $? "$1: another file system: and nothing lies beside it"

	# What may not be copied: the limit is the command's own as well.
	as "$1" sh -c "head -c 200k /dev/zero >'$W/big'; echo 1 >'$W/small'"
	capture "$1" env HOME="$H" FENCE_PRETEND=noshim prlimit \
	    --fsize=65536:65536 "$FENCE_RUN" -- busybox sh -c \
	    'mv big .envrc; mv small .zshrc; sleep 0.2'
	is "$status" 0 "$1: a limit on file sizes: it runs"
	absent .envrc .zshrc
	ok $? "$1: a limit on file sizes: no guarded name is left"
	[ "$(stat -c %s "$W"/.envrc.fence-*)" = 204800 ] &&
	    [ "$(cat "$Q"/*/*-.zshrc)" = 1 ]
	ok $? "$1: a limit on file sizes: nothing is lost"
	like "$err" "\.envrc' is a guarded name: .* lies beside it; back \
with: mv '[^']*/\.envrc\.fence-[0-9]*'" "$1: a limit on file sizes: told"
}

own_names() {	# own_names WHO ARGS…: what a run makes is its own
	local who=$1
	place "$who"
	PRETEND=
	shift
	outside "$who" 'git init -q old; cd old
	    git config user.name a; git config user.email b
	    echo 1 >f; git add f; git commit -qm 1'
	run "$who" "$@" -- sh -ec 'export GIT_CONFIG_COUNT=2 \
	    GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=a \
	    GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=b
	    git init -q new; cd new; echo 1 >f; git add f; git commit -qm 1
	    git worktree add -q ../tree; cd ../tree; echo 2 >f
	    git commit -qam 2; cd ..; git clone -q old copy; cd copy
	    echo 3 >f; git commit -qam 3; cd ../old; echo 4 >f
	    git commit -qam 4; git worktree add -q ../tree2'
	is "$status" 0 "$who: git init, clone, commit, worktree add $*"
	is "$(git -c safe.directory='*' -C "$W/old" log --format=%s |
	    tr '\n' ' ')" "4 1 " "$who: and they did it"
	[ -d "$W/new/.git/hooks" ] && [ ! -e "$Q" ]
	ok $? "$who: nothing of it was taken away"
}

# The host puts another folder in the place of the workspace.
moved_away() {	# moved_away WHO
	local who=$1

	place "$who"
	start "$who" env HOME="$H" "$FENCE_RUN" -- sh -c 'echo >up
	    while [ ! -e go ]; do sleep 0.05; done
	    env -i mkdir .idea; exec "$0" table' "$PROBES/probe-static" \
	    2>"$base/err"
	wait_for 20 test -e "$W/up"
	as "$who" sh -c 'echo "write .envrc evil" >"$0/table"
	    mv "$0" "$0.old"; mkdir -p "$0/.vscode" "$0/.github/workflows"
	    echo mine >"$0/.vscode/x"; echo mine >"$0/.envrc"' "$W"
	# Whoever looks has time to.
	as "$who" sh -c 'for i in 1 2 3; do mkdir "$0/.idea"; rmdir "$0/.idea"
	    done; echo >"$0.old/go"' "$W"
	wait "$pid"
	is "$(cat "$W/.vscode/x" "$W/.envrc"; ls -A "$W")" \
	    $'mine\nmine\n.envrc\n.github\n.vscode' \
	    "$who: a workspace that took the place of another is nobody's"
	absent ../w.old/.envrc ../w.old/.idea
	ok $? "$who: in that one no guarded name is left"
}

if [ "${1-}" = inside ]; then
	other_disk "$2"
	exit 0
fi
for who in $WHOS; do
	for w in $ways; do
		make_names "$who" "$w" built-in
		make_names "$who" "$w" code -t code
		opened_by_name "$who" "$w"
		links "$who" "$w"
	done
	human_beside "$who" 2
	replaced "$who"
	moved_away "$who"
	flooded "$who"
	ends "$who"
	own_names "$who"
	own_names "$who" -t code
done
finish
