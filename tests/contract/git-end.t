#!/usr/bin/env bash
# What git would execute outside from repositories that a run made or changed
# is taken away at its end: judged by git itself, outside, and by a file that
# must not appear.
# limit: 300
. "$(dirname "$0")/../lib.sh"

# A fresh place of WHO's: workspace $W, home $H, quarantine $Q, and $E, which
# whatever is executed outside would make.
place() {	# place WHO
	base=$(workspace "$1")
	H=$base/home
	W=$base/w
	E=$base/executed
	trace=$base/trace.json
	Q=$H/.local/state/fence/quarantine
	as "$1" mkdir -p "$W" "$H"
	printf '[user]\n\tname = a\n\temail = a@b\n[protocol "file"]\n%s\n' \
	    '	allow = always' >"$H/.gitconfig"
	chmod 644 "$H/.gitconfig"
}

# In $W, on the host.
outside() {	# outside WHO SHELL
	as_words "$1"
	(cd "$W" && "${PRE[@]}" env HOME="$H" E="$E" sh -ec "$2")
}

# What was made before is older than what comes: by the clock of files.
settle() {
	touch "$base/before" 2>/dev/null
	until touch "$base/after" && [ "$base/after" -nt "$base/before" ]; do
		:
	done
}

run() {		# run WHO SHELL: inside
	rm -f "$trace"
	capture "$1" env HOME="$H" E="$E" "$FENCE_RUN" \
	    --trace-file "$trace" -- sh -ec "$2"
	is "$status" 0 "$name: the command ends well"
}

# What a user does next, in each of these folders.
user_works() {	# user_works WHO FOLDER…
	local who=$1 f
	shift
	for f; do
		outside "$who" "cd '$f' && { git status; git diff; git add -A
		    git log; git commit -q --allow-empty -m later
		    git checkout -q -b other; git fetch -q; } \
		    </dev/null >/dev/null 2>&1; :"
		[ ! -e "$E" ]
		ok $? "$name: git in $f executes nothing of it"
		rm -f "$E"
	done
}

kept() {	# kept NAME…: in quarantine
	local n left=
	for n; do
		[ -n "$(find "$Q" -maxdepth 2 -name "[0-9]*-$n" \
		    2>/dev/null)" ] || left+=" $n"
	done
	[ -z "$left" ]
	ok $? "$name: kept in quarantine: $*"
}

# A program that tells that it was executed, and configurations with it.
evil='
	evil() { printf "#!/bin/sh\ntouch \"\$E\" %s\n" "$E" >"$1"
	    chmod 755 "$1"; }
	poison() { evil "$PWD/evil.sh"; git -C "$1" config core.fsmonitor \
	    "$PWD/evil.sh"; git -C "$1" config core.pager "$PWD/evil.sh"
	    git -C "$1" config alias.log "!$PWD/evil.sh"; }
	one() { git init -q "$1"; git -C "$1" commit -q --allow-empty -m 1; }
'

# ---- each way, and what is told of it ----

gitlink() {	# gitlink WHO
	name="$1: a git link with fsmonitor"
	place "$1"
	outside "$1" 'git init -q .; git commit -q --allow-empty -m 0'
	run "$1" "$evil"'one vendor/lib; poison vendor/lib
	    git -C vendor/lib remote add origin https://x.test/y
	    git -C vendor/lib config user.name kept
	    chmod 640 vendor/lib/.git/config
	    git add vendor/lib'
	like "$err" "cp '$Q/[0-9a-f]*/[0-9]*-config' '$W/vendor/lib/.git/config'" \
	    "$name: the line that takes it back"
	like "$err" "core.fsmonitor, core.pager" "$name: and which keys"
	like "$err" "'$W/vendor/lib/.git' is a git directory that this run" \
	    "$name: the new repository is announced"
	user_works "$1" . vendor/lib
	is "$(outside "$1" 'cd vendor/lib; git config user.name
	    git config remote.origin.url; git log --all --format=%s \
	    2>/dev/null | tail -1; stat -c %a .git/config')" "kept
https://x.test/y
1
640" "$name: the rest of it stays, and the repository works"
	[ "$(denials "$trace" "$W/vendor/lib/.git/config")" -ge 1 ]
	ok $? "$name: it is in the record"
	grep -q fsmonitor "$Q"/*/*-config
	ok $? "$name: the original is in quarantine"
}

planted() {	# planted WHO: a workspace without git
	name="$1: .git planted"
	place "$1"
	run "$1" "$evil"'one .; poison .'
	kept config
	user_works "$1" .
}

hooks() {	# hooks WHO
	name="$1: hooks"
	place "$1"
	outside "$1" 'mkdir a'
	run "$1" "$evil"'one a; for h in pre-commit post-checkout; do
	    evil a/.git/hooks/$h; done; chmod 644 a/.git/hooks/pre-commit
	    one many; for h in applypatch-msg pre-commit commit-msg \
	    post-commit post-checkout pre-push; do evil many/.git/hooks/$h; done
	    one link; mkdir h; evil h/post-checkout; rm -rf link/.git/hooks
	    ln -s "$PWD/h" link/.git/hooks'
	like "$err" "mv '$Q/[0-9a-f]*/[0-9]*-pre-commit' '$W/a/.git/hooks/pre-commit'" \
	    "$name: the line that takes one back"
	kept pre-commit post-checkout hooks
	[ -e "$W/a/.git/hooks/pre-push.sample" ]
	ok $? "$name: samples stay"
	user_works "$1" a many link
}

bare() {	# bare WHO: git finds one without any .git
	name="$1: bare repositories"
	place "$1"
	run "$1" "$evil"'evil x.sh; mkdir -p sub/objects sub/refs sub/wt objects refs wt
	    echo "ref: refs/heads/main" | tee HEAD >sub/HEAD
	    printf "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = wt\n\tpager = %s\n\tfsmonitor = %s\n[alias]\n\tlog = !%s\n" \
	    "$PWD/x.sh" "$PWD/x.sh" "$PWD/x.sh" | tee config >sub/config
	    mkdir hooks; evil hooks/post-checkout'
	user_works "$1" . sub
	kept config post-checkout
}

redirected() {	# redirected WHO: by a file, a link, commondir
	name="$1: redirected"
	place "$1"
	outside "$1" 'mkdir shipped; cd shipped; git init -q --bare .
	    git config core.bare false; rm -rf hooks
	    printf "#!/bin/sh\ntouch %s\n" "$E" >evil.sh; chmod 755 evil.sh
	    git config core.fsmonitor "$PWD/evil.sh"; cd ..
	    cp -r shipped shipped2; cp -r shipped shipped3
	    cp -r shipped shipped4
	    mkdir file link moved common'
	settle
	run "$1" 'echo "gitdir: ../shipped" >file/.git
	    ln -s ../shipped2 link/.git; cp -r shipped3 moved/.git
	    mkdir -p common/.git; echo "ref: refs/heads/main" >common/.git/HEAD
	    echo ../../shipped4 >common/.git/commondir'
	user_works "$1" file link moved common
}

worktree() {	# worktree WHO: core.worktree, config.worktree
	name="$1: core.worktree"
	place "$1"
	outside "$1" 'mkdir ../other; echo mine >../other/file; mkdir a b'
	run "$1" "$evil"'one a; git -C a config core.worktree "$(dirname "$PWD")/other"
	    one b; git -C b config core.worktree ../c; mkdir b/c
	    one t; git -C t config extensions.worktreeConfig true
	    poison t; git -C t worktree add -q ../t2
	    evil e.sh; git -C t2 config --worktree core.fsmonitor "$PWD/e.sh"'
	is "$(outside "$1" 'git -C a config core.worktree || echo none
	    git -C b config core.worktree')" "none
../c" "$name: one that leads out is removed"
	user_works "$1" t t2
	kept config config.worktree
}

submodule() {	# submodule WHO: added inside
	name="$1: a submodule"
	place "$1"
	outside "$1" 'git init -q src; git -C src commit -q --allow-empty -m s
	    git init -q main; git -C main commit -q --allow-empty -m 0'
	run "$1" "$evil"'cd main; rm -f .gitmodules
	    git -c protocol.file.allow=always submodule add -q ../src sub \
	    2>&1 || git clone -q ../src sub
	    poison sub; cd ..; evil src/.git/nothing; evil main/x.sh
	    d=$(git -C main/sub rev-parse --git-dir)
	    mkdir -p "$d/hooks"; evil "$d/hooks/post-checkout"'
	user_works "$1" main main/sub
	kept config post-checkout
}

included() {	# included WHO: further files, and what nobody can read
	name="$1: include"
	place "$1"
	run "$1" "$evil"'evil x.sh; one a; one b; one c; one d
	    printf "[core]\n\tfsmonitor = %s\n" "$PWD/x.sh" >inc
	    git -C a config include.path "$PWD/inc"
	    git -C b config "includeIf.gitdir:**.path" "$PWD/inc"
	    printf "[CORE] FsMonitor = \"%s\\\\\n\" ; x\n" "$PWD/x.sh" \
	    >>c/.git/config; cp inc d/.git/cfg; rm d/.git/config
	    ln -s cfg d/.git/config; mkdir e; one e; cp inc e/.git/config
	    printf "\0" >>e/.git/config'
	user_works "$1" a b c d e
}

through() {	# through WHO: files of .git through which git writes elsewhere
	name="$1: symlinks in .git"
	place "$1"
	outside "$1" 'git init -q .; echo 1 >f; git add f; git commit -q -m 0
	    mkdir ../out'
	settle
	run "$1" 'mkdir new; git init -q new; for g in .git new/.git; do
	    for f in index packed-refs FETCH_HEAD ORIG_HEAD; do
	    ln -sf "$(dirname "$PWD")/out/$f" "$g/$f"; done; mkdir -p "$g/logs"
	    ln -sf "$(dirname "$PWD")/out/HEAD" "$g/logs/HEAD"; done'
	outside "$1" 'for d in . new; do cd "$d"; git add -A
	    git commit -q -m "$d" || :; git checkout -q -b "x;y"
	    git pack-refs --all; git fetch -q . HEAD || :; cd ..; cd "$W"
	    done' 2>/dev/null
	is "$(ls "$base/out")" "" "$name: git writes nothing through them"
	kept index packed-refs FETCH_HEAD HEAD
	is "$(outside "$1" 'git log --format=%s | tail -1')" 0 \
	    "$name: and what was there is"
}

steps() {	# steps WHO: of a rebase that somebody will continue
	name="$1: steps of a rebase"
	place "$1"
	outside "$1" 'git init -q .; for i in 1 2; do echo $i >f; git add f
	    git commit -q -m $i; done'
	settle
	run "$1" "$evil"'evil evil.sh; mkdir .git/rebase-merge git-merge-x
	    cd .git/rebase-merge; >interactive; git rev-parse HEAD >orig-head
	    git rev-parse HEAD >onto; echo refs/heads/master >head-name
	    echo 1 >end; echo 0 >msgnum; echo x/../evil.sh >strategy
	    echo "exec touch $E" >git-rebase-todo'
	outside "$1" 'git rebase --continue || git rebase --abort || :' \
	    >/dev/null 2>&1
	[ ! -e "$E" ]
	ok $? "$name: git rebase executes nothing of it"
	kept git-rebase-todo strategy
	place "$1"
	outside "$1" 'git init -q .; for i in 1 2; do echo $i >f; git add f
	    git commit -q -m $i; done'
	settle
	run "$1" 'GIT_SEQUENCE_EDITOR="sed -i s/pick/edit/" \
	    git rebase -q -i HEAD~1 2>/dev/null'
	outside "$1" 'test -e .git/rebase-merge; git rebase --continue
	    test ! -e .git/rebase-merge' >/dev/null 2>&1
	ok $? "$name: a rebase without commands goes on"
}

by_rename() {	# by_rename WHO: what an earlier run laid ready
	name="$1: two runs"
	place "$1"
	outside "$1" 'git init -q .; git commit -q --allow-empty -m 0'
	run "$1" "$evil"'mkdir w; echo "gitdir: ../.git/b" >w/.git
	    git init -q --bare .git/a; git -C .git/a config core.bare false
	    evil evil.sh
	    git -C .git/a config core.fsmonitor "$PWD/evil.sh"'
	settle
	run "$1" 'mv .git/a .git/b'
	user_works "$1" w
}

# ---- what stays ----

untouched() {	# untouched WHO
	name="$1: untouched"
	place "$1"
	outside "$1" 'for d in . a/b/c/d/e a/b/c/d/f node_modules/x; do
	    git init -q "$d"; cd "$d"; git config core.fsmonitor false
	    git config alias.x "!true"; git config core.pager cat
	    printf "#!/bin/sh\n" >.git/hooks/pre-commit
	    chmod 755 .git/hooks/pre-commit; echo 1 >t; git add t
	    git commit -q -m 0
	    cd "$OLDPWD"; done; git init -q --bare a/bare.git
	    echo "#!/bin/sh" >a/bare.git/hooks/post-receive
	    chmod 755 a/bare.git/hooks/post-receive'
	settle
	before=$(outside "$1" 'find . -path "*/.git/config" -o \
	    -path "*/hooks/*" -type f | sort | xargs sha256sum')
	run "$1" 'git commit -q --allow-empty -m inside; git checkout -q -b x
	    echo 1 >a/b/c/d/e/new; touch a/b/file; mkdir -p a/b/c/d/g/h
	    touch a/b/c/d/f/t; git -C a/b/c/d/f status >/dev/null'
	is "$(outside "$1" 'find . -path "*/.git/config" -o \
	    -path "*/hooks/*" -type f | sort | xargs sha256sum')" "$before" \
	    "$name: repositories from before the run are as they were"
	[ ! -e "$Q" ]
	ok $? "$name: nothing was taken away"
	unlike "$err" 'git' "$name: nothing is told"
}

pushed_to() {	# pushed_to WHO: a bare repository of the user's
	name="$1: a bare repository"
	place "$1"
	outside "$1" 'git init -q --bare b.git; git -C b.git config \
	    core.pager cat; printf "#!/bin/sh\n" >b.git/hooks/post-receive
	    chmod 755 b.git/hooks/post-receive; git clone -q b.git c
	    git -C c commit -q --allow-empty -m 0' 2>/dev/null
	settle
	run "$1" 'git -C c push -q origin HEAD 2>&1; touch new'
	is "$(outside "$1" 'ls b.git/hooks | grep -v sample
	    git -C b.git config core.pager; git -C b.git log --all --format=%s')" \
	    "post-receive
cat
0" "$name: keeps its hooks when something is pushed"
	[ ! -e "$Q" ]
	ok $? "$name: nothing was taken away"
}

works() {	# works WHO: what a run makes is its own while it lasts
	name="$1: git works inside"
	place "$1"
	outside "$1" 'git init -q src; git -C src commit -q --allow-empty -m s'
	run "$1" 'git clone -q src copy; cd copy
	    printf "#!/bin/sh\ntouch ran\n" >.git/hooks/pre-commit
	    chmod 755 .git/hooks/pre-commit; mkdir .hk
	    git commit -q --allow-empty -m h; [ -e ran ]
	    git config core.hooksPath .hk; git config alias.hi "!echo hi"
	    [ "$(git hi)" = hi ]; cd ..; git init -q new; cd new
	    echo 1 >f; git add f; git commit -q -m f; git worktree add -q ../t'
	is "$(outside "$1" 'git -C copy log --format=%s | head -1
	    git -C copy config remote.origin.url | sed "s:.*/::"
	    git -C copy config core.hooksPath || echo none
	    git -C t log --format=%s; git -C new status --short')" "h
src
none
f" "$name: and their repositories work outside"
	like "$err" 'core.hookspath, alias.hi' "$name: what went is told"
	eval "$(sed -n "s/.*back with: \(cp .*\)/\1/p" <<<"$err")"
	is "$(git -c safe.directory='*' -C "$W/copy" config alias.hi)" \
	    "!echo hi" "$name: the line brings it back"
	unlike "$err" 'older work tree' "$name: no older tree, no word of it"
}

# ---- nobody is left to do it ----

begin() {	# begin WHO: a run that goes on, with its repository; $pid, $g
	as_words "$1"
	rm -f "$W/started"
	(cd "$W" && exec "${PRE[@]}" env HOME="$H" E="$E" "$FENCE_RUN" -- \
	    sh -ec "$evil"'one a; poison a; evil a/.git/hooks/pre-commit
	    echo >started; exec sleep 1000') 2>"$base/err" &
	pid=$!
	wait_for 20 [ -e "$W/started" ]
	wait_for 20 eval '[ -n "$(guards $pid)" ]'
	wait_for 20 eval '[ -n "$(ls "$H/.local/state/fence/runs")" ]'
	g=$(guards "$pid")
}

killed() {	# killed WHO
	name="$1: kill -9 of fence-run"
	place "$1"
	begin "$1"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	wait_for 20 eval '[ ! -e "/proc/$g" ]'
	ok $? "$name: the guard ends after its launcher"
	like "$(cat "$base/err")" "core.fsmonitor" "$name: and has told"
	user_works "$1" a
	is "$(ls "$H/.local/state/fence/runs")" "" "$name: no journal is left"

	name="$1: kill -9 of fence-run and of the guard"
	place "$1"
	begin "$1"
	# In this order: the guard of a launcher that is gone begins at once.
	kill -STOP "$pid"
	kill -9 "$g"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	wait_for 20 eval '[ ! -e "/proc/$g" ]'
	is "$(ls "$H/.local/state/fence/runs" | wc -l)" 1 \
	    "$name: a journal is left"
	base2=$W
	W=$base/elsewhere
	as "$1" mkdir "$W"
	# As if it had died between the two steps of a replacement.
	as "$1" mkdir "$base2/a/.git/fence.0"
	echo half | as "$1" tee "$base2/a/.git/fence.0/config" >/dev/null
	run "$1" true
	[ ! -e "$base2/a/.git/fence.0" ]
	ok $? "$name: nothing is left half done"
	W=$base2
	like "$err" "an earlier run was killed: '$W/a/.git/config'" \
	    "$name: the next start tells"
	user_works "$1" a
	kept config pre-commit
	is "$(ls "$H/.local/state/fence/runs")" "" "$name: no journal is left"
}

alive() {	# alive WHO: the journal of a run that lives is not swept
	name="$1: beside a run that lives"
	place "$1"
	begin "$1"
	run "$1" true
	unlike "$err" 'earlier run' "$name: nothing is swept"
	[ "$(outside "$1" 'git -C a config core.pager')" = "$W/evil.sh" ]
	ok $? "$name: what it has is its own still"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	wait_for 20 eval '[ ! -e "/proc/$g" ]'
	user_works "$1" a
}

opened() {	# opened WHO: what the policy opens by name stays
	name="$1: opened by name"
	place "$1"
	echo '{"filesystem":{"allowWrite":[".","a/.git/hooks/pre-push"],
	    "allowGitConfig":true}}' >"$base/p.json"
	chmod 644 "$base/p.json"
	outside "$1" 'mkdir a'
	capture "$1" env HOME="$H" "$FENCE_RUN" -s "$base/p.json" -- sh -ec \
	    'git init -q a; cd a; echo x >.git/hooks/pre-push
	    echo x >.git/hooks/pre-commit; git config core.pager less'
	is "$(outside "$1" 'cd a; cat .git/hooks/pre-push
	    git config core.pager; ls .git/hooks | grep -v sample')" "x
less
pre-push" "$name: the named hook and the configuration, not the hook beside it"
}

too_much() {	# too_much WHO: the bound is told
	name="$1: too much"
	place "$1"
	run "$1" 'mkdir d; cd d; i=0; while [ $i -lt 40 ]; do mkdir "$i"
	    i=$((i + 1)); done; chmod 0 7; mkdir -p 8/x
	    git init -q 8/x/y; git -C 8/x/y config core.pager ./e; chmod 0 8/x'
	outside "$1" 'chmod 755 d/8/x'
	is "$(outside "$1" 'git -C d/8/x/y config core.pager || echo none')" \
	    none "$name: folders without rights are looked at, too"
	is "$(stat -c %a "$W/d/7")" 0 "$name: and keep them"
}

for who in $WHOS; do
	gitlink "$who"
	planted "$who"
	hooks "$who"
	bare "$who"
	redirected "$who"
	worktree "$who"
	submodule "$who"
	included "$who"
	through "$who"
	steps "$who"
	by_rename "$who"
	untouched "$who"
	pushed_to "$who"
	works "$who"
	killed "$who"
	alive "$who"
	opened "$who"
	too_much "$who"
done
finish
