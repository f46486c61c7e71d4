#!/usr/bin/env bash
# git works wherever a run begins: below the top of a repository, in a linked
# work tree, in a submodule, in a bare repository, beside a .git file, by way of
# a symlink.  What git executes stays closed, other work trees stay as they
# are, and a .git file opens no repository that does not name its work tree.
# Judged from outside.
# limit: 400
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}
BUSYBOX=$(command -v busybox || :)

# The template without its rules about git: what they refuse is exec.t's.
printf '%s\n' '{ "extends": "code", "command": { "allow": ["git"] } }' \
    >"$T/code.json"
chmod 644 "$T/code.json"

place() {	# place WHO: $base with a home, and a main repository with parts
	base=$(workspace "$1")
	H=$base/home
	W=$base
	as "$1" mkdir "$H"
	printf '[user]\n\tname = a\n\temail = a@b\n[protocol "file"]\n%s\n%s\n' \
	    '	allow = always' '[init]
	defaultBranch = main' >"$H/.gitconfig"
	chmod 644 "$H/.gitconfig"
	outside "$1" 'one() { git init -q "$@"; }
	    commit() { mkdir sub; echo 1 >top; echo 1 >sub/file; git add .
	        git commit -q -m 0; git remote add there "$PWD/../there.git"; }
	    git init -q --bare there.git; git init -q lib
	    git -C lib commit -q --allow-empty -m lib
	    git init -q main; cd main; commit
	    git submodule --quiet add ../lib mod; git commit -q -m mod
	    git worktree add -q ../linked; git worktree add -q ../other
	    git -C mod remote add there "$PWD/../there.git"
	    mkdir -p mod/sub; echo 1 >mod/sub/file; git -C mod add .
	    git -C mod commit -q -m sub; cd ..
	    git init -q --separate-git-dir "$PWD/apart.git" apart
	    git -C apart config core.worktree "$PWD/apart"
	    (cd apart; commit); ln -s main/sub way
	    git clone -q --bare main bare.git
	    git -C bare.git remote add there "$PWD/there.git"
	    git -C bare.git worktree add -q ../of-bare
	    git -C bare.git worktree add -q ../of-bare-too
	    for r in main/.git main/.git/modules/mod apart.git bare.git; do
	    printf "#!/bin/sh\n" >$r/hooks/post-checkout
	    chmod 755 $r/hooks/post-checkout; done'
}

outside() {	# outside WHO SHELL: in $base, on the host
	as_words "$1"
	(cd "$base" && "${PRE[@]}" env HOME="$H" sh -ec "$2")
}

inside() {	# inside WHO FOLDER WORDS…: fence-run there
	local who=$1
	W=$base/$2
	shift 2
	capture "$who" env HOME="$H" "$FENCE_RUN" "$@"
	W=$base
}

# What git executes and believes, and what is another work tree's.
closed() {	# closed WHO
	outside "$1" 'for g in main/.git main/.git/modules/mod apart.git \
	    bare.git; do
	    find $g -maxdepth 1 -name "config*" -o -path "*/hooks/*" \
	    -o -path "*/info/attributes" -o -path "*/info/alternates"
	    find $g/worktrees -name gitdir -o -name commondir \
	    -o -name "config*" 2>/dev/null | grep -v /new; done | sort |
	    xargs sha256sum
	    find main/.git/worktrees/other bare.git/worktrees/of-bare-too \
	    -type f | sort | xargs sha256sum'
}

# In every column: $N is unused so far, "there" a remote on the same disk.
work='
	did() { printf "%s " "$1"; }
	echo $N >>$F; git commit -qam $N; did commit
	git branch b-$N; did branch
	echo x >>$F; git stash -q; git stash pop -q; git checkout -q $F
	did stash
	git checkout -q b-$N; git commit -q --allow-empty -m b-$N
	git checkout -q -; git commit -q --allow-empty -m c-$N
	git rebase -q b-$N; did rebase
	git gc -q; did gc
	git push -q there HEAD:refs/heads/p-$N; did push
	git fetch -q there; did fetch
	git worktree add -q -b w-$N ./new-$N; did worktree
	git -C new-$N commit -q --allow-empty -m w-$N
	git init -q init-$N; git -C init-$N commit -q --allow-empty -m i; did init
	git clone -q "$R" clone-$N; did clone'
done_all='commit branch stash rebase gc push fetch worktree init clone '

bare_work='
	did() { printf "%s " "$1"; }
	git branch b-$N; did branch
	git worktree add -q -b w-$N ./new-$N; did worktree
	cd new-$N; echo $N >>$F; git commit -qam $N; did commit
	echo x >>$F; git stash -q; git stash pop -q; git checkout -q $F; did stash
	git commit -q --allow-empty -m c-$N; git checkout -q b-$N
	git commit -q --allow-empty -m b-$N; git rebase -q w-$N; did rebase
	cd ..; git gc -q; did gc
	git push -q there w-$N:refs/heads/p-$N; did push
	git fetch -q there; did fetch
	git init -q init-$N; did init
	git clone -q . clone-$N; did clone'
bare_all='branch worktree commit stash rebase gc push fetch init clone '

# What a hostile command tries.  $D: git directory, $C: the common one, $O:
# another work tree's folder in it.  Each must fail or go; none is told apart.
attack='
	evil() { echo "#!/bin/sh" >"$1"; }
	for g in "$D" "$C"; do
	evil "$g/hooks/pre-commit"; evil "$g/hooks/post-checkout"
	mv "$g/hooks" "$g/h"; mkdir -p "$g/hooks"; rm -rf "$g/hooks"
	echo "[core] pager = x" >>"$g/config"; mv "$g/config" "$g/c"
	echo "[core] pager = x" >"$g/config.worktree"
	echo "* filter=x" >"$g/info/attributes"
	echo /x >"$g/objects/info/alternates"; echo /x >"$g/commondir"
	mv "$g/objects/info" "$g/objects/i"; done
	echo "$PWD/.git" >"$D/gitdir"; echo x >"$O/HEAD"; rm -f "$O/index"
	echo x >"$O/gitdir"; mkdir "$O/rebase-merge"; mv "$O" "$O.away"
	mv "$C/worktrees" "$C/w"; ln -sf /etc/passwd "$O/index"
	git config core.pager x; git config --worktree core.pager x
	mv "$C/i" "$C/info"; mv "$C/objects/i" "$C/objects/info"; true'

column() {	# column WHO POLICY N NAME FOLDER REPOSITORY GITDIR COMMON OTHER
	local who=$1 n=$3 what="$1: $2, $4" folder=$5 repository=$6
	local d=$base/$7 c=$base/$8 o=$base/$9 script=$work
	local policy=(-w "$base/there.git")
	local all=$done_all file=file before
	[ "$2" = built-in ] || policy+=(-s "$T/code.json")
	case $4 in
	bare*)		file=sub/file script=$bare_work all=$bare_all ;;
	top | linked | file | "linked to a bare"*)
			file=sub/file ;;
	submodule)	file=sub/file ;;
	esac
	before=$(closed "$who")
	inside "$who" "$folder" "${policy[@]}" --env "N=$n" --env "F=$file" \
	    --env "R=$base/there.git" -- sh -ec "$script"
	is "$status" 0 "$what: the command ends well"
	is "$out" "$all" "$what: all of it works"
	unlike "$err" 'quarantine|refusal|fatal' "$what: and nothing is told"
	is "$(outside "$who" "git -C there.git log --format=%s p-$n |
	    grep -cx $n; git -C $repository rev-parse -q --verify w-$n |
	    wc -l; git -C $repository fsck --no-dangling >/dev/null 2>&1
	    echo sound")" "1
1
sound" "$what: the repository has it, outside, and is sound"
	is "$(closed "$who")" "$before" "$what: what was closed is as it was"
	inside "$who" "$folder" "${policy[@]}" --env "D=$d" --env "C=$c" \
	    --env "O=$o" -- sh -c "$attack"
	is "$(closed "$who")" "$before" "$what: also after an attack" ||
	    note "$(diff <(echo "$before") <(closed "$who"))"
	[ -z "$BUSYBOX" ] ||
	    inside "$who" "$folder" "${policy[@]}" --env "D=$d" \
	    --env "C=$c" --env "O=$o" -- "$BUSYBOX" sh -c "$attack"
	is "$(closed "$who")" "$before" "$what: and one without the shim" ||
	    note "$(diff <(echo "$before") <(closed "$who"))"
}

table() {	# table WHO POLICY
	local m=main/.git mo=main/.git/worktrees/other b=bare.git
	place "$1"
	column "$1" "$2" 1 top main main $m $m $mo
	column "$1" "$2" 2 below main/sub main $m $m $mo
	column "$1" "$2" 3 linked linked main $m/worktrees/linked $m $mo
	column "$1" "$2" 4 "below a linked one" linked/sub main \
	    $m/worktrees/linked $m $mo
	column "$1" "$2" 5 submodule main/mod main/mod $m/modules/mod \
	    $m/modules/mod $mo
	column "$1" "$2" 6 file apart apart apart.git apart.git $mo
	column "$1" "$2" 7 "by a symlink" way main $m $m $mo
	column "$1" "$2" 8 bare bare.git bare.git $b $b \
	    $b/worktrees/of-bare-too
	column "$1" "$2" 9 "linked to a bare one" of-bare bare.git \
	    $b/worktrees/of-bare $b $b/worktrees/of-bare-too
}


# ---- what is refused, and what helps ----

remedy() {	# the option that the closing line names
	sed -n 's/^fence: [0-9]* refusals* .*: \(-w [^ )]*\)).*/\1/p' <<<"$err"
}

says() {	# says WHO WORD PATH: `fence why write`, from below the top
	W=$base/main/sub
	capture "$1" env HOME="$H" "$FENCE" why write "$base/$3"
	W=$base
	like "$out" "^$2: write $base/$3" "$name: fence why write $3"
}

sentences() {	# sentences WHO
	local before
	name="$1: what is refused"
	place "$1"
	inside "$1" main/sub -- git config core.pager less
	like "$status $err" \
	    '^[1-9].*could not write config file .git/config: Permission denied' \
	    "$name: git config says why"
	is "$(remedy)" "-w $base/main/.git/config" "$name: and what helps"
	inside "$1" main/sub $(remedy) -- git config core.pager less
	is "$status $(outside "$1" 'git -C main config core.pager')" "0 less" \
	    "$name: which helps"
	inside "$1" main/sub -- sh -c 'cd ../.git; mv config c; rm -f config
	    ln -f HEAD config; mv hooks h; rmdir hooks; mv HEAD HEAD.1 &&
	    mv HEAD.1 HEAD && echo moved'
	is "$out" moved "$name: a name beside them may be moved"
	is "$(grep -c 'Permission denied$' <<<"$err")" 5 \
	    "$name: they themselves are refused"
	unlike "$err" 'busy' "$name: and nobody is busy"

	outside "$1" 'echo 2 >>main/top'
	inside "$1" main/sub -- git stash
	like "$status $err" '^[1-9].*Read-only file system' \
	    "$name: git stash above the workspace"
	is "$(outside "$1" 'cat main/top')" "1
2" "$name: leaves the file"
	is "$(remedy)" "-w $base/main" "$name: the work tree would help"
	inside "$1" main/sub $(remedy) -- git stash
	is "$status $(outside "$1" 'cat main/top')" "0 1" "$name: and does"

	says "$1" allowed main/.git/index
	says "$1" allowed main/.git/worktrees/new
	says "$1" denied main/.git/hooks/pre-commit
	says "$1" denied main/.git/config
	says "$1" denied main/.git/objects/info/alternates
	says "$1" denied main/.git/modules/mod/config
	says "$1" denied main/.git/worktrees/other/HEAD
	says "$1" denied main/top
	says "$1" denied apart.git/index

	name="$1: set apart"
	outside "$1" 'git -C apart config --unset core.worktree'
	inside "$1" apart -- git commit -q --allow-empty -m in
	like "$status $err" "^[1-9].*'$base/apart/.git' leads to '$base/apart.git', which does not name this work tree" \
	    "$name: a repository that names none"
	inside "$1" apart -w ../apart.git -- git commit -q --allow-empty -m w
	is "$status $(outside "$1" 'git -C apart log -1 --format=%s')" "0 w" \
	    "$name: is granted by name"
	inside "$1" apart -- true
	outside "$1" "$(sed -n 's/.*name it once: //p' <<<"$err")"
	inside "$1" apart -- git commit -q --allow-empty -m in
	is "$status$err $(outside "$1" 'git -C apart log -1 --format=%s')" \
	    "0 in" "$name: or named, once, as it is told"
}

# ---- what opens nothing ----

# Files that the command tries to make, in the git directories of others.
plant='for d in "$V" "$V/refs" "$V/objects" "$V/worktrees/other" "$S" "$G"; do
	touch "$d/planted"; done 2>/dev/null
    git commit -q --allow-empty -m planted; true'

planted() {	# what of it is there
	find "$base/main" "$base/home/.ssh" "$base/apart.git" -name planted \
	    2>/dev/null
	git -c safe.directory='*' -C "$base/main" log --all --format=%s |
	    grep planted
}

refused() {	# refused WHO FOLDER NAME [OPTION…]
	local who=$1 folder=$2 what=$3
	shift 3
	inside "$who" "$folder" "$@" --env "V=$base/main/.git" \
	    --env "S=$base/home/.ssh" --env "G=$base/apart.git" -- \
	    sh -c "$plant"
	is "$status$(planted)" 0 "$name: $what"
}

granted() {	# granted WHO FOLDER NAME [OPTION…]: the twin
	local who=$1 folder=$2 what=$3
	shift 3
	inside "$who" "$folder" "$@" -- git commit -q --allow-empty -m twin
	is "$status" 0 "$name: $what"
}

hostile() {	# hostile WHO
	name="$1: a hostile .git"
	place "$1"
	outside "$1" 'M=$PWD/main/.git; mkdir home/.ssh x x/y
	    for i in 1 2 3 4 5 6 7 8 9; do mkdir x$i; done
	    echo "gitdir: $M" >x1/.git
	    echo "gitdir: ../home/.ssh" >x2/.git
	    echo "gitdir: $M/worktrees/other" >x3/.git
	    ln -s ../main/.git x4/.git
	    mkdir x5/.git; cp $M/worktrees/other/HEAD x5/.git
	    echo ../../main/.git >x5/.git/commondir
	    mkdir x6/g; cp $M/worktrees/other/HEAD x6/g
	    echo ../../main/.git >x6/g/commondir
	    echo "$PWD/x6/.git" >x6/g/gitdir; echo "gitdir: g" >x6/.git
	    ln -s ../main/.git x7/c; echo "gitdir: c/worktrees/other" >x7/.git
	    echo "gitdir: ../main/.git/modules/mod" >x8/.git
	    echo "gitdir: ../apart.git" >x9/.git
	    echo "gitdir: $M" >x/.git'
	refused "$1" x1 "that leads to a repository"
	like "$err" "'$base/main/.git', which does not name this work tree" \
	    "$name: it is told"
	unlike "$err" 'git -C' "$name: without a way to open it"
	refused "$1" x/y "the same, from below"
	refused "$1" x2 "that leads to keys"
	refused "$1" x3 "that leads to another work tree's folder"
	refused "$1" x4 "that is a symlink"
	refused "$1" x5 "that is a folder with a commondir"
	refused "$1" x6 "that leads to one, which names it"
	refused "$1" x7 "that leads through a symlink"
	refused "$1" x8 "that leads to a submodule's"
	refused "$1" x9 "that leads to one of another work tree"
	granted "$1" linked "an honest one is followed"

	# A run that may write the repository lets it name another folder;
	# there another one has laid a .git ready.
	name="$1: two runs"
	inside "$1" x9 --env "M=$base/main/.git" -- sh -c \
	    'rm -f .git; mkdir new; echo "gitdir: $M/worktrees/evil" >new/.git'
	like "$err" "x9/new/.git' is what git executes or obeys" \
	    "$name: one half is taken away, as it leads to nothing"
	outside "$1" 'echo "gitdir: $PWD/main/.git/worktrees/evil" >x9/.git'
	inside "$1" main --env "X=$base/x9" -- sh -c 'cd .git/worktrees
	    echo "$X/.git" >other/gitdir; cp -r linked evil
	    rm -f evil/gitdir; echo "$X/.git" >evil/gitdir; cat evil/gitdir'
	is "$out" "$base/x9/.git" "$name: while the first one lasts it is so"
	is "$(cat "$base/main/.git/worktrees/other/gitdir")" \
	    "$base/other/.git" "$name: another's is not changed"
	like "$err" "worktrees/evil/gitdir' is what git executes or obeys" \
	    "$name: then it is told"
	back=$(sed -n "s/.*back with: \(mv .*evil.gitdir'\)/\1/p" <<<"$err")
	refused "$1" x9 "the second one is not granted the repository"
	outside "$1" "$back"
	granted "$1" x9 "unless the user brings the name back"
}

# ---- what policies and owners refuse ----

policy() {	# policy TEXT: of "filesystem"
	printf '{"filesystem":{%s}}\n' "$1" >"$base/p.json"
	chmod 644 "$base/p.json"
}

denied() {	# denied WHO
	name="$1: denied"
	place "$1"
	policy '"allowWrite": ["."]'
	granted "$1" main/sub "a writable workspace has its repository" \
	    -s "$base/p.json"
	granted "$1" linked "also elsewhere" -s "$base/p.json"
	refused "$1" main/sub "not under git-readonly" -t git-readonly
	refused "$1" linked "nor elsewhere" -t git-readonly
	policy '"allowWrite": ["./x"]'
	refused "$1" linked "not where the workspace is only read" \
	    -s "$base/p.json"
	policy '"allowWrite": ["."], "denyWrite": ["'"$base/main"'"]'
	refused "$1" linked "not what an entry denies" -s "$base/p.json"
	policy '"allowWrite": ["."], "denyRead": ["'"$base/main/.git"'"]'
	refused "$1" linked "or hides" -s "$base/p.json"
	ln -s main "$base/to-main"
	policy '"allowWrite": ["."], "denyWrite": ["'"$base/to-main"'"]'
	refused "$1" linked "also by way of a symlink" -s "$base/p.json"
	policy '"allowWrite": ["."], "defaultDenyRead": true,
	    "allowRead": ["~/.gitconfig"]'
	refused "$1" main/sub "not where the work tree is not seen" \
	    -s "$base/p.json"
	like "$err" "-r '$base/main'" "$name: it is told"
	granted "$1" main/sub "and helps" -s "$base/p.json" -r "$base/main"
	granted "$1" linked "where it is seen nothing is missing" \
	    -s "$base/p.json"

	name="$1: below /tmp"
	tmp=$(as "$1" mktemp -d /tmp/fence-git.XXXXXX)
	base=$tmp outside "$1" 'git init -q m; cd m; mkdir sub
	    git commit -q --allow-empty -m 0; git worktree add -q ../w'
	base=$tmp granted "$1" w "a repository is bound into the private one"
	base=$tmp inside "$1" m/sub -- git commit -q --allow-empty -m in
	like "$status $err" "^[1-9].*-r '$tmp/m'" "$name: a work tree is told"
	base=$tmp granted "$1" m/sub "and shown" -r "$tmp/m"
	rm -rf "$tmp"

	name="$1: a home that is a repository"
	outside "$1" 'cd home; git init -q; mkdir proj'
	inside "$1" home/proj -- sh -c 'touch ../.git/planted
	    git commit --allow-empty -m x'
	is "$([ "$status" != 0 ] && find "$H/.git" -name planted)" "" \
	    "$name: a project in it does not write there"
	[ "$1" = root ] || return 0

	name="$1: another user's"
	chown "$TEST_USER" "$base/main/.git"
	refused "$1" linked "is not granted"
	chown root "$base/main/.git"
	granted "$1" linked "one's own is"
}

# ---- work trees inside a bare repository ----

hold='for t in . deep/other; do
	    for f in Makefile .envrc .mcp.json .vscode/tasks.json; do
	    mkdir -p "../$t/.vscode"; [ -e "../$t/$f" ] || echo x >"../$t/$f"
	    done; done
    echo x >>../deep/other/Makefile; rm -f ../deep/other/sub/file
    echo x >../deep/other/sub/new; mv ../deep ../away; mv ../deep/other ..
    rm -rf ../worktrees/other; echo x >>../worktrees/other/index; true'

beside() {	# beside WHO: what lies there but is no part of the repository
	name="$1: work trees inside a bare repository"
	place "$1"
	outside "$1" 'git clone -q --bare main in.git; cd in.git
	    git worktree add -q own; git worktree add -q deep/other'
	inside "$1" in.git/own -- sh -c "$hold"
	is "$status $(outside "$1" 'cd in.git; git -C deep/other status -s
	    find . -name Makefile -o -name .envrc -o -name .mcp.json \
	    -o -name tasks.json -o -name away; git worktree list | wc -l')" \
	    "0 ./Makefile
3" "$name: another one is not changed, nor is what all of them read"
	inside "$1" in.git/own -- sh -ec \
	    'echo 1 >mine; git add .; git commit -qm in; git branch b-in
	    git worktree add -q ./new; git gc -q'
	is "$status $(outside "$1" 'git -C in.git log -1 --format=%s own
	    git -C in.git worktree list | wc -l')" "0 in
4" "$name: git works"
	inside "$1" in.git/own -w "$base/in.git/deep/other" -- sh -c \
	    'echo 2 >../deep/other/sub/file'
	is "$status $(cat "$base/in.git/deep/other/sub/file")" "0 2" \
	    "$name: another one may be granted"

	name="$1: a home that is a bare repository"
	outside "$1" 'git clone -q --bare main b; mv b/HEAD b/objects b/refs \
	    b/packed-refs b/config home; git -C home worktree add -q ../at-home'
	inside "$1" at-home -- sh -c 'touch ../home/planted
	    git commit --allow-empty -m x'
	is "$([ "$status" = 0 ] || echo no; [ ! -e "$H/planted" ] ||
	    echo planted)" no "$name: its work tree does not write there"
}

# ---- when the run has ended ----

ended() {	# ended WHO: what a run made in a git directory elsewhere
	name="$1: at the end"
	place "$1"
	outside "$1" 'git -C main config extensions.worktreeConfig true'
	inside "$1" linked -- sh -ec 'git worktree add -q ./new
	    git -C new config --worktree core.fsmonitor ./evil
	    git -C new config --worktree user.name kept
	    mkdir ../main/.git/rebase-merge
	    echo "exec ./evil" >../main/.git/rebase-merge/git-rebase-todo'
	is "$status" 0 "$name: the command ends well"
	is "$(outside "$1" 'cd linked/new; git config core.fsmonitor || echo no
	    git config user.name; cd ../../main/.git; ls rebase-merge')" \
	    "no
kept" "$name: what would execute is gone, the rest is not"

	name="$1: meanwhile, outside"
	outside "$1" 'mkfifo linked/go'
	W=$base/linked
	start "$1" env HOME="$H" "$FENCE_RUN" -- sh -c \
	    'echo >started; read -r x <go' 2>"$base/err"
	wait_for 20 [ -e "$W/started" ]
	W=$base
	outside "$1" 'git -C main worktree add -q ../late'
	echo >"$base/linked/go"
	wait "$pid"
	is "$?$(cat "$base/err")" 0 "$name: the run says nothing of it"
	is "$(cat "$base/main/.git/worktrees/late/gitdir")" \
	    "$base/late/.git" "$name: a new work tree stays one"
}

for who in $WHOS; do
	table "$who" built-in
	table "$who" code
	sentences "$who"
	hostile "$who"
	denied "$who"
	beside "$who"
	ended "$who"
done
finish
