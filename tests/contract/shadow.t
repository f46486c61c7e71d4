#!/usr/bin/env bash
# An agent's folder that the policy grants is the jail's own: guarded names in
# it can be written inside, are there in the next run, and never change on the
# host; state, logins and folders are the host's.
# limit: 300
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

# A home that has been lived in: $H, a workspace $W, a policy $P.
home() {	# home WHO
	base=$(workspace "$1")
	H=$base/home
	W=$base/w
	P=$base/p.json
	S=$H/.local/state/fence/shadow
	C=$H/.claude
	as "$1" mkdir -p "$W/.claude" "$C/projects/p" "$C/plugins/one" \
	    "$H/.codex/sessions"
	as "$1" sh -ec "cd '$C'; echo host >settings.json
	    echo mine >plugins/one/run; echo told >projects/p/log
	    echo old >history.jsonl; echo token >.credentials.json
	    chmod 600 .credentials.json; echo auth >../.codex/auth.json
	    echo ws >'$W/.claude/settings.json'"
	echo '{"filesystem":{"allowWrite":[".","~/.claude","~/.codex"]}}' |
	    as "$1" tee "$P" >/dev/null
}

engine=
run() {		# run SCRIPT: in the jail, as $who
	capture "$who" env HOME="$H" "$FENCE_RUN" ${engine:+--engine "$engine"} \
	    -s "$P" -- sh -c "$1"
}

host() {	# host FILE: what the host has
	cat "$H/$1" 2>/dev/null || echo none
}

# Programs that agents put where they find them before the system's.
programs() {
	home "$who"
	as "$who" sh -ec "mkdir -p '$H/.codex/tmp/arg0/codex-arg0x' \
	    '$H/.gemini/tmp/bin' '$H/.qwen/bin'
	    echo mine | tee '$H/.gemini/tmp/bin/rg' >'$H/.qwen/bin/rg'"
	echo '{"filesystem":{"allowWrite":[".","~/.codex","~/.gemini",
	    "~/.qwen"]}}' | as "$who" tee "$P" >/dev/null
	run 'ls -A ~/.codex/tmp/arg0 2>/dev/null
	    mkdir -p ~/.codex/tmp/arg0/codex-arg0x ~/.claude
	    echo evil >~/.codex/tmp/arg0/codex-arg0x/git; echo evil >~/.qwen/bin/rg
	    echo evil >~/.gemini/tmp/bin/rg; echo ok >~/.gemini/tmp/state
	    cat ~/.codex/tmp/arg0/codex-arg0x/git ~/.qwen/bin/rg'
	is "$out" $'evil\nevil' "$who: programs of agents: written inside"
	is "$(host .codex/tmp/arg0/codex-arg0x/git)$(host .qwen/bin/rg)$(
	    host .gemini/tmp/bin/rg)" noneminemine "$who: and not on the host"
	is "$(host .gemini/tmp/state)" ok "$who: what is beside them is state"
	run 'ls -A ~/.codex/tmp 2>/dev/null; cat ~/.qwen/bin/rg'
	is "$out" evil "$who: those of one session are gone in the next run"
	unlike "$err" 'codex/tmp' "$who: without a word"
}

# What an agent obeys, by whatever name.
obeyed() {
	local names f
	home "$who"
	names='.claude/agents/a.md .claude/commands/c.md .claude/CLAUDE.md
	    .claude/skills/s/SKILL.md .codex/agents/a .codex/AGENTS.md
	    .codex/requirements.toml .codex/work.config.toml'
	as "$who" sh -ec "echo host >'$H/.codex/home.config.toml'
	    mkdir '$C/shell-snapshots'; echo host >'$C/shell-snapshots/h.sh'"
	run "cd; ls -A .claude/shell-snapshots 2>/dev/null; mkdir -p .claude/skills/s
	    mkdir -p .claude/agents .claude/commands .codex/agents
	    mkdir -p .claude/shell-snapshots && echo evil >.claude/shell-snapshots/s
	    echo evil >>.codex/home.config.toml
	    for f in $(echo $names); do echo evil >\$f; done; cat $(echo $names)"
	is "$out" "$(printf 'evil\n%.0s' $names)" \
	    "$who: what agents obey: written inside"
	for f in $names; do
		is "$(host "$f")" none "$who: $f: not on the host"
	done
	is "$(host .codex/home.config.toml)$(ls "$C/shell-snapshots")" hosth.sh \
	    "$who: and what is there stays"
	like "$err" '[0-9] more changed inside' "$who: it is told"
	run "cd; cat .codex/home.config.toml $(echo $names); ls -A .claude"
	like "$out" $'^host\nevil' "$who: the next run has it"
	unlike "$out" 'shell-snapshots' "$who: but for what sessions begin with"
	capture "$who" env HOME="$H" "$FENCE" why -s "$P" write \
	    "$H/.codex/new.config.toml"
	like "$out" 'shadowed' "$who: why says so of what is not there yet"
	# Not the jail's own where the folder is a symlink: held, if it is there.
	as "$who" sh -ec "mv '$H/.codex' '$H/.claude/codex'
	    ln -s .claude/codex '$H/.codex'"
	run 'echo evil >~/.codex/home.config.toml; echo ok >~/.codex/state'
	is "$(host .codex/home.config.toml)$(host .codex/state)" hostok \
	    "$who: and where the folder is a symlink"
}

# Modes that a command gives to what is the jail's keep no run from starting.
closed() {
	home "$who"
	as "$who" sh -c "mkdir '$C/hooks' && echo mine >'$C/hooks/h'"
	run 'cd ~/.claude && echo in >hooks/i && mkdir x && ln -s /etc x/l &&
	    echo f >x/f && mkdir y && echo y >y/y && chmod 555 hooks x y .'
	is "$status" 0 "$who: folders of the jail's are closed"
	unlike "$err" 'could not be carried' "$who: all of it is carried"
	is "$(host .claude/x/f)$(host .claude/y/y)" fy \
	    "$who: and is on the host"
	as "$who" sh -c "echo new >'$C/hooks/new'"
	run 'cat ~/.claude/hooks/new && echo z >~/.claude/hooks/z'
	is "$status $out" '0 new' "$who: the next run takes what is newer"
	unlike "$err" 'killed' "$who: nothing was left for it"
	run 'chmod 0 ~/.claude/hooks ~/.claude'
	run 'ls ~/.claude'
	is "$status" 0 "$who: nor is one that may not be looked at in the way"
	capture "$who" env HOME="$H" "$FENCE" shadow list
	is "$status $err" '0 ' "$who: and the list has no complaint"
}

# A long file of holes costs the host no more than it did inside.
holes() {
	home "$who"
	run 'cd ~/.claude && truncate -s 1G long && echo end >>long &&
	    truncate -s 1M short && mkdir sub && truncate -s 900M sub/long'
	is "$status" 0 "$who: files of holes are made"
	is "$(stat -c %s "$C/long" "$C/short" "$C/sub/long" | paste -sd' ')" \
	    '1073741828 1048576 943718400' "$who: they are carried whole"
	is "$(tail -c 4 "$C/long")" end "$who: with what is in them"
	is "$(($(du -sk "$C" | cut -f1) < 1024))" 1 "$who: and as holes"
}

# Whatever else a run has set aside, versions of the host's stay.
pushed_out() {
	home "$who"
	run 'cd ~/.claude && rm history.jsonl && for i in $(seq 40); do
	    ln -s /x l$i; done'
	is "$status" 0 "$who: a file of the host's removed, and much refused"
	is "$(host .claude/history.jsonl)" none "$who: it is gone"
	is "$(cat "$S"/*/aside/*/history.jsonl)" old "$who: and lies aside"
	is "$(find "$S"/*/aside -name 'l*' | wc -l)" 16 \
	    "$who: of the jail's some do"
}

# What anything on the host could execute, below the home and not the store.
executables() {
	find "$H" -path "$S" -prune -o -type f -perm /111 -print
}

saves() {
	local n="$who, ${engine:-auto}"
	home "$who"
	run 'cd ~/.claude && cat settings.json plugins/one/run &&
	    echo inside >s.tmp && mv s.tmp settings.json && cat settings.json
	    mkdir hooks && echo evil >hooks/h && chmod +x hooks/h && ls hooks'
	is "$status $out" $'0 host\nmine\ninside\nh' \
	    "$n: a save by rename and a new folder work inside"
	is "$(host .claude/settings.json)" host "$n: the host's file is untouched"
	[ ! -e "$C/hooks" ] && [ ! -e "$C/s.tmp" ]
	ok $? "$n: nothing was made there"
	is "$err" "fence: ~/.claude/settings.json and 1 more changed inside \
(kept in the shadow): fence shadow diff" "$n: one line says so"
	run 'cat ~/.claude/settings.json ~/.claude/hooks/h'
	is "$out|$err" $'inside\nevil|' "$n: the next run sees it, told once"
	run 'cd ~/.claude && rm -r plugins settings.json hooks &&
	    mkdir -p plugins/two && echo again >settings.json && ls'
	is "$status $out" $'0 history.jsonl\nplugins\nprojects\nsettings.json' \
	    "$n: removed and made again"
	is "$(host .claude/settings.json)$(host .claude/plugins/one/run)" \
	    hostmine "$n: and whole on the host"
	run 'ls ~/.claude/plugins; cat ~/.claude/settings.json'
	is "$out" $'two\nagain' "$n: and so it is in the next run"
}

# Names that the host does not have, and folders of an agent's that it lacks.
missing() {
	home "$who"
	as "$who" rm -r "$H/.codex" "$C"
	run 'echo mine >~/.claude/settings.json && cat ~/.claude/settings.json
	    mkdir -p ~/.codex/packages/x && printf "#!/bin/sh\necho ran\n" \
	    >~/.codex/packages/x/codex && chmod +x ~/.codex/packages/x/codex &&
	    mv ~/.codex/packages/x ~/.codex/packages/y &&
	    ~/.codex/packages/y/codex'
	is "$status $out" $'0 mine\nran' \
	    "$who: where the host has no folder, all of it works inside"
	is "$(executables)" '' "$who: and nothing on the host is executable"
	[ ! -e "$C" ] && [ ! -e "$H/.codex" ]
	ok $? "$who: the folders that were missing are gone again"
	run '~/.codex/packages/y/codex; cat ~/.claude/settings.json'
	is "$out" $'ran\nmine' "$who: the next run has them"
	run 'mkdir ~/.codex/state && echo kept >~/.codex/state/f'
	is "$(host .codex/state/f)" kept \
	    "$who: a folder of state that was made inside is carried"
}

# The host changes its own meanwhile.
changed() {
	home "$who"
	run 'true'
	as "$who" sh -c "echo newer >'$C/settings.json'"
	run 'cat ~/.claude/settings.json'
	is "$out" newer "$who: the host's change is seen at the next start"
	run 'echo inside >~/.claude/settings.json'
	as "$who" sh -c "echo newest >'$C/settings.json'"
	run 'cat ~/.claude/settings.json'
	is "$out" newest "$who: where both changed, the host's holds"
	like "$err" 'settings.json' "$who: and it is told"
	is "$(grep -rl inside "$S"/*/aside | wc -l)" 1 \
	    "$who: the jail's lies aside"
	run 'cat ~/.claude/settings.json'
	is "$out|$err" 'newest|' "$who: told once"
}

state() {
	home "$who"
	run 'cd ~/.claude && echo more >>projects/p/log && echo s >projects/new
	    echo line >>history.jsonl; echo newtoken >c.tmp &&
	    mv c.tmp .credentials.json && mv projects p2'
	is "$(host .claude/projects/p/log)$(host .claude/projects/new)" \
	    $'told\nmores' "$who: a directory of state is the host's"
	[ -d "$C/projects" ] && [ ! -e "$C/p2" ]
	ok $? "$who: and cannot be moved away"
	is "$(host .claude/history.jsonl)" $'old\nline' \
	    "$who: a file of state is carried back"
	is "$(host .claude/.credentials.json)" newtoken \
	    "$who: a login that was renewed is the host's"
	is "$(stat -c %a "$C/.credentials.json")" 600 "$who: with its mode"
	# While the run lasts, too.
	mkfifo -m 666 "$base/go"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$P" -- sh -c '
	    echo early >~/.claude/.credentials.json; cat "$1"' sh "$base/go"
	wait_for 20 grep -qs early "$C/.credentials.json"
	ok $? "$who: the host has a login before the run has ended"
	echo >"$base/go"
	wait "$pid"
}

# Codex keeps its model and what it executes in one file.
sifted() {
	home "$who"
	as "$who" sh -c "printf 'model = \"a\"\nnotify = [\"mine\"]\n' \
	    >'$H/.codex/config.toml'"
	run 'cd ~/.codex && printf "model = \"b\"\nnotify = [\"evil\"]\n" >c &&
	    mv c config.toml'
	is "$(host .codex/config.toml)" $'model = "b"\nnotify = [ "mine" ]' \
	    "$who: state of a file of settings is carried, what it executes not"
	like "$err" 'config.toml' "$who: and it is told"
	run 'cat ~/.codex/config.toml'
	like "$out" 'evil' "$who: the jail has its own"
}

# What the policy itself says of names in the folder.
policies() {
	home "$who"
	as "$who" sh -c "cd '$C'; echo held >held; echo no >secret; mkdir priv
	    echo no >priv/x; echo open >settings.local.json; mkdir -p local/b
	    echo key >local/b/k"
	echo '{"filesystem":{"allowWrite":[".","~/.claude",
	    "~/.claude/settings.local.json"],"denyWrite":["~/.claude/held",
	    "~/.claude/later"],"denyRead":["~/.claude/secret",
	    "~/.claude/priv","~/.claude/local/b/k"]}}' |
	    as "$who" tee "$P" >/dev/null
	run 'cd ~/.claude; cat held; echo x >held; cat secret; ls priv
	    rm held; echo mine >settings.local.json; echo x >local/new
	    cat local/b/k; echo x >later; echo y >settings.json'
	is "$(host .claude/held)$(host .claude/secret)" heldno \
	    "$who: what is denied is denied there, too"
	is "$out" held "$who: and hidden what is hidden"
	is "$(host .claude/settings.local.json)" mine \
	    "$who: a guarded name that the policy opens is the host's own"
	is "$(host .claude/local/new)$(host .claude/later)" nonenone \
	    "$who: a guarded folder with something hidden in it stays read-only"
	is "$(grep -rlx no "$S" 2>/dev/null)$(grep -rlx key "$S")" '' \
	    "$who: the store has no copy of what is hidden"
	is "$(host .claude/settings.json)" host "$who: the rest is shadowed"
	run "ls '$S'; cat '$S'/*/index"
	like "$status $err" '[12] .*Permission denied' \
	    "$who: no jail sees the store"
	# A workspace's names are no agent's of the home.
	run "echo x >'$W/.claude/settings.json'"
	is "$(cat "$W/.claude/settings.json")" ws \
	    "$who: a workspace's settings are guarded as ever"
	# Of the user's own making: what it leads to is the host's.
	as "$who" sh -c "mv '$C' '$H/dots' && ln -s dots '$C'"
	run 'echo x >~/.claude/settings.json'
	is "$(host .claude/settings.json)" host \
	    "$who: a folder that is a symlink is guarded as ever"
}

says_why() {
	home "$who"
	why() {
		capture "$who" env HOME="$H" "$FENCE" why -s "$P" "$@"
	}
	why write "$C/settings.json"
	is "$status" 0 "$who: why: a shadowed name may be written"
	like "$out" "^shadowed: write $C/settings.json" "$who: and is called so"
	why write "$C/hooks/none"
	like "$out" '^shadowed: ' "$who: also what is missing"
	why --json write "$C/settings.json"
	like "$out" '"verdict":"allowed".*"shadowed":true' "$who: as JSON"
	why write "$C/projects/p/log"
	like "$out" '^allowed: ' "$who: state is the host's"
	why write "$W/.claude/settings.json"
	like "$out" '^denied: ' "$who: a workspace's is denied"
	capture "$who" env HOME="$H" "$FENCE" why write "$C/settings.json"
	like "$out" '^denied: ' "$who: and so it is without a grant"
	[ ! -e "$S" ]
	ok $? "$who: asking makes nothing"
}

# Without a grant of such a folder nothing is made and nothing opened.
nothing() {
	home "$who"
	capture "$who" env HOME="$H" "$FENCE_RUN" -- sh -c \
	    'cat ~/.claude/settings.json; echo x >~/.claude/settings.json'
	is "$out$(host .claude/settings.json)" hosthost \
	    "$who: without a grant it is the host's, to be read"
	[ ! -e "$H/.local/state/fence/shadow" ]
	ok $? "$who: and there is no store"
	capture "$who" env HOME="$H" strace -f -e trace=file -o "$base/calls" \
	    "$FENCE_RUN" -- true
	[ -s "$base/calls" ] &&
	    ! grep -qE 'fence/shadow/|home/\.codex"' "$base/calls"
	ok $? "$who: no agent's folder is opened"
}

together() {
	home "$who"
	mkfifo -m 666 "$base/one" "$base/two"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$P" -- sh -c '
	    echo one >~/.claude/settings.json; echo 1 >~/.claude/one.state
	    echo up >"$1/up"; cat "$2"; cat ~/.claude/settings.json >"$1/saw"' \
	    sh "$W" "$base/one"
	wait_for 20 [ -s "$W/up" ]
	run 'cat ~/.claude/settings.json; echo two >~/.claude/settings.json'
	is "$out" one "$who: two runs at once share it"
	echo >"$base/one"
	wait "$pid"
	is "$?$(cat "$W/saw")" 0two "$who: both ways"
	is "$(host .claude/settings.json)$(host .claude/one.state)" host1 \
	    "$who: the last one carries"
}

# The launcher is killed: the guard's process carries; or the next start does.
killed() {
	home "$who"
	mkfifo -m 666 "$base/never"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$P" -- sh -c '
	    echo late >~/.claude/.credentials.json
	    echo in >~/.claude/settings.json; echo up >"$1/up"; cat "$2"' \
	    sh "$W" "$base/never"
	wait_for 20 [ -s "$W/up" ]
	wait_for 20 [ -n "$(guards "$pid")" ]
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	wait_for 20 grep -qs late "$C/.credentials.json"
	ok $? "$who: launcher killed: no login is lost"
	run 'cat ~/.claude/settings.json ~/.claude/.credentials.json'
	is "$out" $'in\nlate' "$who: launcher killed: nor what was kept"
	is "$(host .claude/settings.json)" host "$who: and the host's is whole"
	rm -f "$W/up"
	start "$who" env HOME="$H" "$FENCE_RUN" -s "$P" -- sh -c '
	    echo all >~/.claude/last.state; echo up >"$1/up"; cat "$2"' \
	    sh "$W" "$base/never"
	wait_for 20 [ -s "$W/up" ]
	g=$(guards "$pid")
	kill -9 "$g" "$pid"
	wait "$pid" 2>/dev/null
	run 'true'
	is "$(host .claude/last.state)" all \
	    "$who: all killed: the next start carries"
}

# A supervisor of the host's, by its socket, is not reached.
supervisors() {
	home "$who"
	as "$who" mkdir "$C/daemon"
	serve='import os, socket, sys, time
for p in sys.argv[1:]:
    s = socket.socket(socket.AF_UNIX); s.bind(p); s.listen(); os.dup(s.fileno())
open("ready", "w").write("up"); time.sleep(600)'
	start "$who" /usr/bin/python3 -c "$serve" "$C/ctl.sock" \
	    "$C/daemon/d.sock" "$H/.codex/app.sock"
	daemon=$pid
	wait_for 20 [ -s "$W/ready" ]
	call='import os, socket, sys
for p in ".claude/ctl.sock", ".claude/daemon/d.sock", ".codex/app.sock":
    s = socket.socket(socket.AF_UNIX)
    try: s.connect(os.path.expanduser("~/") + p); print("reached", p)
    except OSError: print("refused")'
	capture "$who" env HOME="$H" /usr/bin/python3 -c "$call"
	is "$(grep -c reached <<<"$out")" 3 "$who: they answer outside"
	capture "$who" env HOME="$H" "$FENCE_RUN" -s "$P" -- \
	    /usr/bin/python3 -c "$call"
	is "$out" $'refused\nrefused\nrefused' "$who: and not inside"
	kill "$daemon"
	wait "$daemon" 2>/dev/null
	# One that is started inside ends with the jail.
	run 'cd ~/.codex; setsid python3 -c "import socket, time
s = socket.socket(socket.AF_UNIX); s.bind(\"own.sock\"); s.listen()
open(\"up\", \"w\").write(\"up\"); time.sleep(600)" shadow-own-daemon \
	    >/dev/null 2>&1 & while [ ! -s ~/.codex/up ]; do :; done'
	is "$status$(pgrep -fc '[s]hadow-own-daemon')" 00 \
	    "$who: one that was started inside is gone"
	[ ! -e "$H/.codex/own.sock" ]
	ok $? "$who: and so is its socket"
}

for who in $WHOS; do
	for engine in bwrap native; do
		saves
	done
	engine=
	missing
	changed
	state
	sifted
	policies
	says_why
	nothing
	together
	closed
	holes
	pushed_out
	programs
	obeyed
	killed
	supervisors
done
finish
