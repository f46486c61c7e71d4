#!/usr/bin/env bash
# What is mounted is what the policy grants, at the place where a path really
# leads: guarded names, fence's own files, symlinks that came with the tree.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy JSON: writes $P
	P=$T/policy.json
	echo "$1" >"$P"
	chmod 644 "$P"
}

# Three programs: with the shim, without it, and one that never has it.
programs="sh noshim busybox"
inside() {	# inside HOW ARGS… : the last argument is a script
	local how=$1 script=${*: -1}
	set -- "${@:2:$#-2}"
	case $how in
	sh)	capture "$who" env HOME="$H" "$FENCE_RUN" "$@" -- \
		    sh -c "$script" ;;
	noshim)	capture "$who" env HOME="$H" FENCE_PRETEND=noshim \
		    "$FENCE_RUN" "$@" -- sh -c "$script" ;;
	busybox) capture "$who" env HOME="$H" "$FENCE_RUN" "$@" -- \
		    /bin/busybox sh -c "$script" ;;
	esac
}

unchanged() {	# unchanged NAME FILE…: each says what it said
	local name=$1 f rv=0
	shift
	for f; do
		[ "$(cat "$f")" = mine ] || rv=1
	done
	ok $rv "$who: $name"
}

for who in $WHOS; do
	H=$(workspace "$who")
	W=$H/ws
	as "$who" mkdir -p "$H/.ssh" "$H/.config/fence" "$H/data" "$H/dots" \
	    "$W/.vscode" "$W/a" "$W/pkg/sub/.vscode" "$W/pkg/.claude" \
	    "$W/src/.git/hooks"
	as "$who" git init -q "$W"
	for f in "$H/.ssh/id" "$H/.config/fence/x" "$W/.vscode/settings.json" \
	    "$W/pkg/sub/.vscode/tasks.json" "$W/pkg/.claude/settings.json" \
	    "$W/.git/hooks/pre-commit" "$W/real.md"; do
		echo mine | as "$who" tee "$f" >/dev/null
	done
	guarded="$W/.vscode/settings.json $W/.git/hooks/pre-commit"

	# ---- guarded names, whoever asks
	echo '{"filesystem":{"allowWrite":[".",".git/hooks/pre-commit",
	    ".vscode/settings.json"]}}' | as "$who" tee "$W/fence.json" >/dev/null
	for how in $programs; do
		inside "$how" "for f in $guarded; do echo x >\$f; done
		    echo good >fine"
		unchanged "$how: a project nobody trusts opens no guarded name" \
		    $guarded
		is "$(cat "$W/fine")" good "$who: $how: the rest is writable"
	done
	as "$who" rm "$W/fence.json" "$W/fine"
	policy '{"filesystem":{"allowWrite":[".","**/*.json"]}}'
	for how in $programs; do
		inside "$how" -s "$P" "for f in $guarded; do echo x >\$f; done
		    echo good >a/b.json"
		unchanged "$how: nor does a glob" $guarded
		is "$(cat "$W/a/b.json")" good "$who: $how: what else it matches"
	done
	inside sh -w .vscode "echo mine >.vscode/new; echo mine >.envrc"
	is "$(cat "$W/.vscode/new")" mine "$who: naming it does"
	[ ! -e "$W/.envrc" ]
	ok $? "$who: and opens nothing else"
	inside sh -w "$H/.config/fence/x" "echo x >$H/.config/fence/x"
	is "$status" 1 "$who: a file of fence's own is opened by no option"
	like "$err" "--write .* has no effect: fence's own file" "$who: and why"
	unchanged "it is as it was" "$H/.config/fence/x"
	policy "{\"filesystem\":{\"allowWrite\":[\".\",\"~/.config/fence/x\"]}}"
	inside sh -s "$P" "echo x >$H/.config/fence/x; echo on >on"
	is "$(cat "$W/on")" on "$who: a file that asks for it holds otherwise"
	like "$err" "allowWrite\[1\] .* grants nothing: .*fence's own" \
	    "$who: and is told"
	unchanged "it is still as it was" "$H/.config/fence/x"

	# ---- names that exist, as deep as the walk goes
	for how in $programs; do
		inside "$how" "echo x >pkg/sub/.vscode/tasks.json
		    echo x >pkg/.claude/settings.json; echo good >pkg/sub/f"
		unchanged "$how: guarded names in deeper folders are held" \
		    "$W/pkg/sub/.vscode/tasks.json" \
		    "$W/pkg/.claude/settings.json"
		is "$(cat "$W/pkg/sub/f")" good "$who: $how: beside them not"
	done
	inside sh 'mkdir -p new/.vscode && echo mine >new/.vscode/f'
	is "$(cat "$W/new/.vscode/f")" mine "$who: what a run makes is its own"
	policy '{"filesystem":{"allowWrite":["./a"]}}'
	for how in $programs; do
		inside "$how" -s "$P" 'mkdir a/.vscode; echo x >a/.envrc
		    echo good >a/fine'
		[ ! -e "$W/a/.vscode" ] && [ ! -e "$W/a/.envrc" ]
		ok $? "$who: $how: a grant below the workspace is a root"
		is "$(cat "$W/a/fine")" good "$who: $how: and writable"
	done

	# ---- denials that are no wall do not stand for a guard
	policy '{"extends":"workspace-write","filesystem":{
	    "denyRead":["**/.env*"],"denyWrite":["**/*.json"]}}'
	for how in $programs; do
		inside "$how" -s "$P" 'echo x >.envrc; echo x >.mcp.json
		    mkdir -p .claude; echo x >.claude/settings.json
		    echo good >fine'
		[ ! -e "$W/.envrc" ] && [ ! -e "$W/.mcp.json" ] &&
		    [ ! -e "$W/.claude/settings.json" ]
		ok $? "$who: $how: a denying glob leaves the guard in force"
		is "$(cat "$W/fine")" good "$who: $how: beside it not"
		as "$who" rm -r "$W/fine" "$W/.claude"
	done

	# ---- symlinks that came with the tree
	as "$who" ln -s ../.ssh "$W/build"
	as "$who" ln -s ../.ssh/id "$W/docs"
	as "$who" ln -s ../.ssh/id "$W/read.md"
	policy '{"extends":"workspace-write","filesystem":{
	    "allowWrite":["./build"]}}'
	inside sh -s "$P" 'echo x >build/id; echo ran'
	is "$status" 1 "$who: a grant through such a link ends the start"
	like "$err" "policy.json:2:.*symlink '$W/build' to '$H/.ssh'" \
	    "$who: with the place, the link and what it leads to"
	is "$out" '' "$who: nothing was started"
	inside sh -r ./docs 'cat docs'
	is "$status" 1 "$who: so does one of the command line"
	unlike "$out$err" mine "$who: and shows nothing"
	like "$err" "name '$H/.ssh/id' itself" "$who: the hint names the target"
	inside sh -r "$H/.ssh/id" 'cat docs'
	is "$out" mine "$who: and following it helps"
	policy '{"extends":"workspace-write","filesystem":{
	    "allowRead":["./**/*.md"]}}'
	for how in $programs; do
		inside "$how" -s "$P" 'cat read.md real.md'
		is "$out" mine "$who: $how: a glob passes by what links elsewhere"
		like "$err" "does not grant '$W/read.md': it leads to" \
		    "$who: $how: and says so"
	done
	policy '{"extends":"workspace-write","filesystem":{
	    "allowWrite":["./build/none/deep"]}}'
	inside sh -s "$P" true
	[ ! -e "$H/.ssh/none" ]
	ok $? "$who: nothing is made behind such a link"
	as "$who" rm "$W/build" "$W/docs" "$W/read.md"

	# ---- links of the user's own lead on, and around no denial
	as "$who" ln -s "$H/data" "$H/link"
	as "$who" ln -s "$H/.ssh" "$H/keys"
	for how in $programs; do
		inside "$how" -w "$H/link" "echo good >$H/link/f"
		is "$(cat "$H/data/f")" good "$who: $how: a link of the user's"
		as "$who" rm "$H/data/f"
	done
	policy '{"extends":"workspace-write","filesystem":{
	    "allowRead":["~/keys"]}}'
	inside sh -s "$P" 'cat ~/keys/id ~/.ssh/id'
	is "$out" '' "$who: one that leads to what is hidden shows nothing"
	like "$err" "allowRead.* grants nothing: .*denied by filesystem.denyRead" \
	    "$who: and is told"

	# ---- git directories, whatever they are called
	as "$who" git init -q "$H/other"
	as "$who" git init -q --bare "$H/bare"
	hooks="hooks/pre-push config"
	for how in $programs; do
		inside "$how" -w "$H/other/.git" "cd $H/other/.git
		    for f in $hooks; do echo x >>\$f; done; echo good >fine"
		is "$(as "$who" git -C "$H/other" status --short 2>&1)" '' \
		    "$who: $how: a granted .git keeps its configuration"
		[ ! -e "$H/other/.git/hooks/pre-push" ]
		ok $? "$who: $how: and its hooks"
		is "$(cat "$H/other/.git/fine")" good \
		    "$who: $how: the rest of it is writable"
		W=$H/bare
		inside "$how" "for f in $hooks; do echo x >>\$f; done
		    echo good >fine"
		is "$(as "$who" git -C "$W" config --get core.bare)" true \
		    "$who: $how: so does a bare repository"
		[ ! -e "$W/hooks/pre-push" ]
		ok $? "$who: $how: with its hooks"
		is "$(cat "$W/fine")" good "$who: $how: the rest is writable"
		W=$H/other/.git/hooks
		inside "$how" 'echo x >pre-push; true'
		[ ! -e "$W/pre-push" ]
		ok $? "$who: $how: a shell that stands in hooks"
		like "$err" 'grants nothing: .*guarded name' \
		    "$who: $how: is told"
		inside "$how" -w "$W" 'echo good >pre-push'
		is "$(cat "$W/pre-push")" good \
		    "$who: $how: and may write where the path is named"
		as "$who" rm "$W/pre-push"
		W=$H/ws
	done

	# ---- what git's configuration leads to
	as "$who" mkdir "$W/.githooks" "$W/team"
	echo mine | as "$who" tee "$W/.githooks/pre-commit" >/dev/null
	printf '[user]\n\tname = x\n[include]\n\tpath = more.inc\n' |
	    as "$who" tee "$W/team/git.inc" >/dev/null
	inc=$(cat "$W/team/git.inc")
	as "$who" git -C "$W" config core.hooksPath .githooks
	as "$who" git -C "$W" config include.path ../team/git.inc
	for how in $programs; do
		inside "$how" 'echo x >.githooks/pre-commit
		    echo x >.githooks/pre-push; echo x >>team/git.inc
		    echo x >team/more.inc; echo good >team/fine'
		unchanged "$how: a folder of hooks" "$W/.githooks/pre-commit"
		[ ! -e "$W/.githooks/pre-push" ]
		ok $? "$who: $how: nothing comes to it"
		is "$(cat "$W/team/git.inc")" "$inc" \
		    "$who: $how: an included file"
		[ ! -e "$W/team/more.inc" ]
		ok $? "$who: $how: and one that is missing"
		is "$(cat "$W/team/fine")" good "$who: $how: beside them not"
		as "$who" rm "$W/team/fine"
	done

	# ---- rights that one run takes away do not blind the next one
	W=$H/blind
	as "$who" mkdir -p "$W/sub/.claude" "$W/conf"
	as "$who" git init -q "$W/sub"
	for f in sub/.env conf/key sub/.claude/settings.json; do
		echo mine | as "$who" tee "$W/$f" >/dev/null
	done
	before=$(cat "$W/sub/.git/config")
	policy '{"extends":"workspace-write","filesystem":{
	    "denyRead":["**/.env","conf/key"]}}'
	for how in $programs; do
		inside "$how" -s "$P" 'chmod 0 sub/.claude sub conf'
		inside "$how" -s "$P" 'chmod 755 sub conf sub/.claude
		    cat sub/.env conf/key; echo x >>sub/.git/config
		    echo x >sub/.git/hooks/pre-commit
		    echo x >sub/.claude/settings.json; echo good >fine'
		unlike "$out" mine "$who: $how: what the next run cannot see is hidden"
		is "$(cat "$W/fine")" good "$who: $how: beside it not"
		as "$who" chmod 755 "$W/sub" "$W/conf" "$W/sub/.claude"
		is "$(cat "$W/sub/.git/config")" "$before" \
		    "$who: $how: nor written"
		unchanged "$how: and stays" "$W/sub/.claude/settings.json"
		[ ! -e "$W/sub/.git/hooks/pre-commit" ]
		ok $? "$who: $how: as it was"
		as "$who" rm "$W/fine"
	done
	if [ "$who" = user ]; then
		inside sh 'chmod 311 .'
		inside sh 'echo ran'
		is "$status" 1 "$who: a workspace that cannot be read ends the start"
		like "$err" "hint: chmod u\+rwx '$W'" "$who: and what helps"
		as "$who" chmod u+rwx "$W"
		inside sh 'echo ran'
		is "$out" ran "$who: does"
	fi

	# ---- a home whose files lie in the workspace
	as "$who" mkdir -p "$H/.local" "$H/dots/bin" "$H/dots/config"
	echo mine | as "$who" tee "$H/dots/bashrc" >/dev/null
	as "$who" ln -s dots/bashrc "$H/.bashrc"
	as "$who" ln -s ../dots/bin "$H/.local/bin"
	as "$who" rm -r "$H/.config"
	as "$who" ln -s dots/config "$H/.config"
	W=$H/dots
	for how in $programs; do
		inside "$how" 'echo x >bashrc; echo x >bin/git
		    mkdir config/fence; echo {} >config/fence/fence.json
		    echo good >fine'
		unchanged "$how: a start file of the home's" "$W/bashrc"
		[ ! -e "$W/bin/git" ] && [ ! -e "$W/config/fence/fence.json" ]
		ok $? "$who: $how: programs and policies neither"
		is "$(cat "$W/fine")" good "$who: $how: the rest is writable"
		as "$who" rm "$W/fine"
	done
	as "$who" rm -r "$H/.bashrc" "$H/.local/bin" "$H/.config"
	as "$who" mkdir -p "$H/.config/fence"

	# ---- links that a run planted behind a link of the user's
	as "$who" mkdir "$H/far"
	as "$who" ln -s "$H/far" "$H/near"
	inside sh -w "$H/near" "ln -s $H/data $H/far/cache"
	inside sh -w "$H/near" -w "$H/near/cache" "echo x >$H/data/f"
	is "$status" 1 "$who: a grant through such a link ends the start"
	[ ! -e "$H/data/f" ]
	ok $? "$who: and writes nothing"

	# ---- submodules of any name, and repositories without a head
	W=$H/parts
	as "$who" git init -q "$W"
	for d in r .git/modules/.vim/b .git/modules/a/b/c/d/e .git/modules/lib; do
		as "$who" git init -q --bare "$W/$d"
	done
	for how in $programs; do
		inside "$how" 'for d in r .git/modules/lib; do
		    mv $d/HEAD $d/H 2>/dev/null; done'
		inside "$how" 'for d in r .git/modules/.vim/b \
		    .git/modules/a/b/c/d/e .git/modules/lib; do
		    echo "# x" >>$d/config; echo x >$d/hooks/update; done
		    echo good >r/fine'
		is "$(grep -rlx '# x\|x' "$W")" '' \
		    "$who: $how: each is held"
		is "$(cat "$W/r/fine")" good "$who: $how: but for the rest"
		as "$who" rm "$W/r/fine"
	done
	# Links in the places of git's folders lead nobody round and round.
	inside sh 'mkdir .git/worktrees; ln -s .. .git/worktrees/a
	    ln -s .. .git/worktrees/b; mkdir a; ln -s .. a/.npmrc'
	inside sh 'echo good >fine'
	is "$(cat "$W/fine")" good "$who: planted links end no later start"
	W=$H/ws

	# ---- globs behind a link of the user's
	echo mine | as "$who" tee "$H/data/.env" >/dev/null
	policy '{"extends":"workspace-write","filesystem":{
	    "denyRead":["~/link/**/.env"]}}'
	capture "$who" env HOME="$H" "${FENCE_RUN%-run}" why -s "$P" read \
	    "$H/data/.env"
	is "$status" 1 "$who: why knows where a glob leads"
	for how in $programs; do
		inside "$how" -s "$P" "cat $H/data/.env $H/link/.env"
		is "$out" '' "$who: $how: and so does a run"
	done

	# ---- the check that follows the planner bites
	echo '{"filesystem":{"allowWrite":[".",".vscode/settings.json"]}}' |
	    as "$who" tee "$W/fence.json" >/dev/null
	capture "$who" env HOME="$H" FENCE_PRETEND=nojudge "$FENCE_RUN" true
	is "$status" 125 "$who: a plan that grants too much does not start"
	like "$err" "makes writable '$W/.vscode/settings.json', and guarded name denies it" \
	    "$who: and says what"
	as "$who" rm "$W/fence.json"
	echo '{"filesystem":{"allowWrite":["."],"allowRead":["~/.ssh/id"]}}' |
	    as "$who" tee "$W/fence.json" >/dev/null
	capture "$who" env HOME="$H" FENCE_PRETEND=nojudge "$FENCE_RUN" true
	is "$status" 125 "$who: nor one that shows too much"
	like "$err" "shows '$H/.ssh/id', and filesystem.denyRead" \
	    "$who: and says what"
done
finish
