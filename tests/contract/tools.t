#!/usr/bin/env bash
# Everyday tools under the template `code`, its rules about git aside: git in every shape, scaffolds,
# virtual environments, ssh.  What they made is read from outside.
#
# The workspace's own guarded names (W/.vscode, an existing W/.git/config …)
# are closed; a directory that a run makes is the run's own, whatever lies in
# it.  So a case that needs such a name makes its directory first.
# limit: 240
. "$(dirname "$0")/../lib.sh"

# One world for all: root's, where `as user` works as it does outside.
if [ "${1-}" != inside ]; then
	inside "${WHOS##* }"
	finish
fi

export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@allowed.test
export GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@allowed.test
export GIT_CONFIG_NOSYSTEM=1
# Submodules of the test come from the same disk.
export GIT_CONFIG_COUNT=2
export GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
export GIT_CONFIG_KEY_1=init.defaultBranch GIT_CONFIG_VALUE_1=main

fresh() {	# fresh WHO: a new workspace $W and, the first time, a home
	W=$(workspace "$1")
	H=$T/home-$1
	[ -d "$H" ] || mv "$(workspace "$1")" "$H"
}

# The template without its rules about git: what they refuse is exec.t's.
printf '%s\n' '{ "extends": "code", "command": { "allow": ["git"] } }' \
    >"$T/git.json"
chmod 644 "$T/git.json"

# run WHO NAME SCRIPT: in the jail, in $W; succeeds, and nothing is refused.
run() {
	capture "$1" env HOME="$H" "$FENCE_RUN" -s "$T/git.json" -- sh -ec "$3"
	is "$status" 0 "$1: $2" || note "$out"
	unlike "$err" 'refusal|dubious|fatal:|Read-only' "$1: $2: no complaint"
}

# outside WHO CMD…: the same eyes without the jail; prints stdout
outside() {
	local who=$1
	shift
	(cd "$W" && as "$who" env HOME="$H" "$@" 2>&1)
}

# A repository with one commit, made outside, in $W/$2.
repository() {	# repository WHO DIR
	outside "$1" sh -ec 'git init -q "$1" && cd "$1"
		echo one >file && git add file && git commit -qm one' \
	    sh "$2" || echo "not ok - $1: no repository in $2"
}

git_new() {	# git_new WHO
	fresh "$1"
	run "$1" "git init and the first commit" '
		git init -q
		echo text >file
		git add file
		git commit -qm first
		git config --local fence.test new
		git status --short'
	is "$out" "" "$1: and the tree is clean"
	is "$(outside "$1" git log --format=%s)" first "$1: the commit is there"
	is "$(outside "$1" git config fence.test)" new \
	    "$1: the new repository was the run's to configure"
	is "$(outside "$1" git fsck --full)" "" "$1: and whole"
}

git_old() {	# git_old WHO
	fresh "$1"
	repository "$1" .
	run "$1" "commit, branch, merge, tag, stash in an existing repository" '
		git status >status.txt
		echo two >>file
		git commit -qam two
		git switch -qc side
		echo three >third
		git add third
		git commit -qm three
		git switch -q main
		git merge -q --no-ff -m merged side
		git tag -a -m v1 v1
		echo four >>file
		git stash -q
		git diff --exit-code
		git stash pop -q
		git commit -qam four
		git branch -qd side
		git reflog | grep -c .'
	is "$(outside "$1" git log --first-parent --format=%s | xargs)" \
	    "four merged two one" "$1: the history is there"
	is "$(outside "$1" git describe)" "$(outside "$1" git describe HEAD)" \
	    "$1: and the tag"
	run "$1" "gc and repack" '
		git gc -q --prune=now --aggressive
		git repack -adq
		git prune
		git pack-refs --all
		git fsck --full 2>&1'
	is "$(outside "$1" git count-objects)" "0 objects, 0 kilobytes" \
	    "$1: all objects are packed"
	is "$(outside "$1" git fsck --full)" "" "$1: nothing was lost"
}

git_worktree() {	# git_worktree WHO
	fresh "$1"
	repository "$1" .
	run "$1" "worktree add, and a commit in it" '
		git worktree add -q -b wt tree
		cd tree
		echo wt >in-tree
		git add in-tree
		git commit -qm in-tree
		git rebase -q main
		cd ..
		git worktree add -q --detach second
		git worktree remove second
		git worktree list --porcelain | grep -c ^worktree'
	is "$out" 2 "$1: two worktrees are listed"
	is "$(outside "$1" git log -1 --format=%s wt)" in-tree \
	    "$1: the commit is in the repository"
	is "$(outside "$1" git -C tree status --short)" "" \
	    "$1: and the worktree is clean"

	# The workspace itself is a worktree, its repository lies elsewhere.
	local main=$W
	fresh "$1"
	local far=$W/far
	W=$main
	outside "$1" git worktree add -q -b far "$far"
	W=$far
	run "$1" "a workspace that is a worktree of a tree elsewhere" '
		git status --short
		git log --format=%s
		git diff HEAD --stat'
	is "$out" one "$1: can be read"
	capture "$1" env HOME="$H" "$FENCE_RUN" -t code -w "$main/.git" -- \
	    sh -ec 'echo f >far; git add far; git commit -qm far'
	is "$status" 0 "$1: and takes commits where its .git is granted"
	is "$(W=$main outside "$1" git log -1 --format=%s far)" far \
	    "$1: which arrive"
}

git_clone() {	# git_clone WHO
	fresh "$1"
	repository "$1" origin
	run "$1" "clone of a directory, by link and by copy" '
		git clone -q origin linked
		git clone -q --no-local origin copied
		git clone -q --bare origin bare.git
		git clone -q --shared origin shared
		cd linked
		echo c >cloned
		git add cloned
		git commit -qm cloned
		git fetch -q
		git pull -q --rebase
		git switch -qc topic origin/main
		git remote add copy ../copied
		git fetch -q copy
		cd ../copied
		git log --format=%s'
	is "$out" one "$1: the copy has the history"
	is "$(outside "$1" git -C linked log -2 --format=%s main | xargs)" \
	    "cloned one" "$1: the clone took a commit"
	is "$(outside "$1" git -C linked rev-parse '@{u}')" \
	    "$(outside "$1" git -C origin rev-parse HEAD)" \
	    "$1: and a branch that tracks"
}

git_http() {	# git_http WHO
	fresh "$1"
	repository "$1" src
	outside "$1" sh -ec 'git clone -q --bare src "$1"
		git -C "$1" update-server-info' sh "$H/served.git"
	local port
	start "$1" env -C "$H" /usr/bin/python3 -um http.server \
	    -b 203.0.113.2 0 >"$T/http-$1" 2>/dev/null
	wait_for 20 grep -q port "$T/http-$1"
	ok $? "$1: a server of repositories is up"
	port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$T/http-$1")
	capture "$1" env HOME="$H" "$FENCE_RUN" -t code -a "203.0.113.2:$port" \
	    -- git clone -q "http://203.0.113.2:$port/served.git" new
	is "$status" 0 "$1: git clone over the net"
	is "$(outside "$1" git -C new log --format=%s)" one "$1: brings it all"
	capture "$1" env HOME="$H" "$FENCE_RUN" -t code -- \
	    git clone -q "http://203.0.113.2:$port/served.git" no
	is "$status" 128 "$1: and not from a host that is not allowed"
	kill "$pid"
	wait "$pid"
}

submodules() {	# submodules WHO
	fresh "$1"
	repository "$1" lib
	run "$1" "a new repository with a submodule" '
		mkdir new
		cd new
		git init -q
		git submodule --quiet add ../lib lib
		git commit -qm super
		cd ..
		git clone -q --recurse-submodules new again
		cat again/lib/file'
	is "$out" one "$1: its clone has the files of both"
	is "$(outside "$1" git -C again submodule status --cached | cut -c1)" \
	    " " "$1: at the commit that was recorded"

	outside "$1" git clone -q --recurse-submodules new "$W/old"
	W=$W/old
	run "$1" "commits in a submodule that was there, and above it" '
		cd lib
		echo two >>file
		git commit -qam two
		cd ..
		git commit -qam "lib: two"
		git submodule foreach --quiet "git log -1 --format=%s"'
	is "$out" two "$1: arrive"
	is "$(outside "$1" git log -1 --format=%s)" "lib: two" \
	    "$1: in both repositories"

	# `submodule update` writes core.worktree even where it is right.
	printf '%s\n' '{ "extends": "code", "command": { "allow": ["git"] },
		"filesystem": { "allowGitConfig": true } }' >"$T/config.json"
	chmod 644 "$T/config.json"
	capture "$1" env HOME="$H" "$FENCE_RUN" -s "$T/config.json" -- \
	    sh -ec 'git -C lib checkout -q HEAD~ && git submodule update'
	is "$status" 0 "$1: git submodule update, with allowGitConfig"
	is "$(outside "$1" git -C lib log -1 --format=%s)" two \
	    "$1: brings the recorded commit"
}

# As `npm create` and its kin: a whole project in a new directory, once in
# place and once beside it and renamed.
cat >"$T/scaffold" <<'SCRIPT'
set -e
make() {
	mkdir -p "$1/.vscode" "$1/.github/workflows" "$1/.husky" \
	    "$1/.claude" "$1/.idea" "$1/src"
	cd "$1"
	git init -q
	echo '{}' >.vscode/settings.json
	echo 'on: push' >.github/workflows/ci.yml
	echo 'npm test' >.husky/pre-commit
	echo '{}' >.claude/settings.json
	echo 'fund=false' >.npmrc
	echo 'layout node' >.envrc
	echo '{}' >.mcp.json
	echo 'A=1' >.env
	ln -s src/main.js index.js
	echo 'console.log(1)' >src/main.js
	echo '[submodule]' >.gitmodules && rm .gitmodules
	git config core.hooksPath .husky
	echo '*.js text' >.git/info/attributes
	git add -A
	git commit -q --no-verify -m scaffold
	cd ..
}
make app
make .tmp-app
mv .tmp-app renamed
cp -R app copied
SCRIPT
chmod 644 "$T/scaffold"

scaffolded='.claude/settings.json .env .envrc .github/workflows/ci.yml
.husky/pre-commit .mcp.json .npmrc .vscode/settings.json index.js src/main.js'

scaffold() {	# scaffold WHO
	fresh "$1"
	run "$1" "a scaffold in new directories" "sh '$T/scaffold'"
	local d
	for d in app renamed copied; do
		is "$(outside "$1" git -C $d ls-files | xargs)" \
		    "$(xargs <<<"$scaffolded")" "$1: $d is whole"
		is "$(outside "$1" git -C $d status --short)" "" \
		    "$1: $d: and its files are as committed"
		# What would be executed outside is taken away at the end.
		is "$(outside "$1" git -C $d config core.hooksPath)" "" \
		    "$1: $d: and nothing of it runs outside"
	done
}

# A wheel by hand: a module and a command.
make_wheel() {	# make_wheel DIR
	/usr/bin/python3 - "$1" <<'PYTHON'
import sys, zipfile
info = 'fencetest-1.0.dist-info'
files = {
    'fencetest.py': 'def main():\n    print("wheel works")\n',
    f'{info}/METADATA': 'Metadata-Version: 2.1\nName: fencetest\n'
                        'Version: 1.0\n',
    f'{info}/WHEEL': 'Wheel-Version: 1.0\nGenerator: test\n'
                     'Root-Is-Purelib: true\nTag: py3-none-any\n',
    f'{info}/entry_points.txt':
        '[console_scripts]\nfencetest = fencetest:main\n',
}
record = ''.join(f'{name},,\n' for name in files) + f'{info}/RECORD,,\n'
with zipfile.ZipFile(f'{sys.argv[1]}/fencetest-1.0-py3-none-any.whl',
                     'w') as z:
    for name, text in {**files, f'{info}/RECORD': record}.items():
        z.writestr(name, text)
PYTHON
}

venv() {	# venv WHO
	fresh "$1"
	make_wheel "$W"
	run "$1" "python -m venv, and pip install of a wheel" '
		/usr/bin/python3 -m venv .venv
		.venv/bin/pip install -q --disable-pip-version-check \
		    --no-index ./fencetest-1.0-py3-none-any.whl
		.venv/bin/fencetest'
	is "$out" "wheel works" "$1: the installed command runs"
	is "$(outside "$1" .venv/bin/fencetest)" "wheel works" \
	    "$1: outside as well"
	run "$1" "pip in an environment that was there" '
		.venv/bin/pip uninstall -qy fencetest
		.venv/bin/pip install -q --disable-pip-version-check \
		    --no-index --force-reinstall ./fencetest-*.whl
		.venv/bin/pip freeze'
	is "$out" "fencetest @ file://$W/fencetest-1.0-py3-none-any.whl" \
	    "$1: pip lists it"
}

# Inside, root's files belong to nobody, and ssh takes an included file only
# from root or from its user.
ssh_starts() {	# ssh_starts WHO
	fresh "$1"
	is "$(outside "$1" ssh -G some.allowed.test | grep -x 'port 2222')" \
	    "port 2222" "$1: outside, ssh reads the file"
	run "$1" "ssh starts" 'ssh -G some.allowed.test >conf'
	is "$(grep -x 'port 2222' "$W/conf")" "port 2222" \
	    "$1: and has read it"
}

if [ "$IS_ROOT" = 1 ]; then
	printf 'Host some.allowed.test\n\tPort 2222\n' \
	    >/etc/ssh/ssh_config.d/fence-test.conf
	chmod 644 /etc/ssh/ssh_config.d/fence-test.conf
fi
for who in $WHOS; do
	git_new "$who"
	git_old "$who"
	git_worktree "$who"
	git_clone "$who"
	git_http "$who"
	submodules "$who"
	scaffold "$who"
	venv "$who"
	if [ "$IS_ROOT" = 1 ]; then
		ssh_starts "$who"
	else
		skip "a file of root's in /etc needs root" "$who: ssh starts"
	fi
done
exit 0
