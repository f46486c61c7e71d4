#!/usr/bin/env bash
# filesystem.allowWrite: ["/"]: all of the host's files, but for what is
# guarded, hidden or denied, and what is the jail's own.
# tags: serial
. "$(dirname "$0")/../lib.sh"

policy() {	# policy JSON: writes $T/policy.json, outside the workspace
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

try() {	# try WHO ARGS…: at home in $H
	local who=$1
	shift
	capture "$who" env HOME="$H" PROGRAM="$FENCE_RUN" TOP="$TOP" \
	    "$FENCE_RUN" "$@"
}

# Each line is something that has to fail; printed if it does not.
cat >"$T/refused" <<'SH'
( : >>~/.bashrc ) 2>/dev/null && echo guarded
( : >>~/kept ) 2>/dev/null && echo denied
cat ~/.ssh/id 2>/dev/null && echo hidden
( : >>"$PROGRAM" ) 2>/dev/null && echo program
( : >>"${PROGRAM%/bin/*}/libexec/fence/fence-init" ) 2>/dev/null && echo init
mv "${PROGRAM%/bin/*}/libexec" ../libexec 2>/dev/null && echo libexec
touch ~/.local/state/fence/x 2>/dev/null && echo state
touch ~/.config/fence/fence.json 2>/dev/null && echo config
mv ~ "$TOP/home2" 2>/dev/null && echo home
mv "$TOP/w" "$TOP/w2" 2>/dev/null && echo workspace
mv "$TOP" "$TOP.2" 2>/dev/null && echo above
for place in /etc /sys /proc /run /sys/fs/cgroup /proc/sys/kernel; do
	touch $place/fence-test 2>/dev/null && echo $place
done
( echo x >/proc/sys/kernel/hostname ) 2>/dev/null && echo hostname
ls /tmp /run | grep fence-test && echo seen
SH
chmod 644 "$T/refused"

# The same by way of a second mount of "/", at $AGAIN.
cat >"$T/again" <<'SH'
( : >>"$AGAIN$HOME/.bashrc" ) 2>/dev/null && echo guarded
( : >>"$AGAIN$HOME/kept" ) 2>/dev/null && echo denied
( : >>"$AGAIN$HOME/.claude/settings.json" ) 2>/dev/null && echo agent
cat "$AGAIN$HOME/.ssh/id" 2>/dev/null && echo hidden
( : >>"$AGAIN$PROGRAM" ) 2>/dev/null && echo program
touch "$AGAIN$HOME/.local/state/fence/x" 2>/dev/null && echo state
touch "$AGAIN$HOME/.config/fence/fence.json" 2>/dev/null && echo config
mv "$AGAIN$HOME" "$AGAIN$TOP/home2" 2>/dev/null && echo home
rm -r "$AGAIN$HOME/.claude" 2>/dev/null && echo removed
for place in etc run tmp; do
	touch "$AGAIN/$place/fence-test" 2>/dev/null && echo $place
done
echo x >"$AGAIN$TOP/plain"
SH
chmod 644 "$T/again"

again() {	# again WHO HOW: mounted so
	local as_one=(unshare -m)

	[ "$1" = root ] || as_one=(unshare -Urm)
	policy '{"filesystem":{"denyRead":["~/.ssh"],"allowWrite":["/"],
	    "denyWrite":["~/kept"]}}'
	as "$1" sh -c 'cd "$0" && mkdir -p again home/.claude &&
	    echo host >home/.claude/settings.json' "$TOP"
	capture "$1" "${as_one[@]}" env HOME="$H" PROGRAM="$FENCE_RUN" \
	    TOP="$TOP" AGAIN="$TOP/again" sh -ec 'mount "$1" / "$AGAIN"
	    test -e "$AGAIN$TOP/w" && echo there
	    "$PROGRAM" -s "$2" -- sh "$3"' - "$2" "$T/policy.json" "$T/again"
	is "$out" there "$1: $2: a second mount gives no more"
	is "$(cat "$TOP/plain")" x "$1: $2: and no less"
	is "$(cat "$H/.claude/settings.json")" host "$1: $2: the host's stays"
	rm -f /etc/fence-test /run/fence-test /tmp/fence-test
	as "$1" rm -rf "$TOP/again" "$TOP/plain" "$H/.claude"
}

for who in $WHOS; do
	TOP=$(workspace "$who")
	W=$TOP/w
	H=$TOP/home
	as "$who" sh -c 'cd "$0" && mkdir w home other home/.ssh &&
	    echo id >home/.ssh/id && echo kept >home/kept && : >home/.bashrc' \
	    "$TOP"

	# To a user "/" may be mounted again with all that is in it alone.
	[ "$who" = user ] || again "$who" --bind
	again "$who" --rbind
	for way in '--engine bwrap' '--engine native' apart closed; do
		hidden='"~/.ssh"' more=
		case $way in
		apart)	way= hidden+=',"/usr/lib/apt"' ;;
		closed)	way= more=',"defaultDenyRead":true' ;;
		esac
		policy "{\"filesystem\":{\"denyRead\":[$hidden],
		    \"allowWrite\":[\"/\"],\"denyWrite\":[\"~/kept\"]$more}}"
		# shellcheck disable=SC2086 # no word or two
		try "$who" $way -s "$T/policy.json" -- sh "$T/refused"
		is "$out" '' "$who: $way$hidden$more: what is not granted"
		like "$err" '"/" in filesystem.allowWrite: all of the host' \
		    "$who: and it is told"
		# shellcheck disable=SC2086
		try "$who" $way -s "$T/policy.json" -- sh -c 'echo 1 >f
		    echo 2 >~/new; echo 3 >"$TOP/other/f"; echo 4 >/tmp/x
		    cat f ~/new "$TOP/other/f" /tmp/x | tr -d "\n"'
		is "$out" 1234 "$who: what is"
		is "$(cat "$W/f" "$H/new" "$TOP/other/f" | tr -d '\n')" 123 \
		    "$who: which is the host's"
		as "$who" rm "$W/f" "$H/new" "$TOP/other/f"
	done
	[ "$who" = user ] || {
		name=/fence-test.$$
		try "$who" -s "$T/policy.json" -- sh -c 'mkdir "$0" &&
		    echo 5 >"$0/f" && cat "$0/f" && rm -r "$0"' "$name"
		is "$out" 5 "$who: a new folder in /"
		[ ! -e "$name" ]
		ok $? "$who: which is the host's, too"
	}

	for path in "$W/f" "$H/new" "$TOP/other/f" /usr/x /tmp/x; do
		capture "$who" env HOME="$H" "${FENCE_RUN%-run}" why \
		    -s "$T/policy.json" write "$path"
		is "$status" 0 "$who: why: $path is writable"
	done
	for path in "$H/.bashrc" "$H/.zshrc" "$H/kept" "$H/.ssh/id" /etc/x \
	    /sys/x /run/x "$FENCE_RUN" "$H/.local/state/fence/x"; do
		capture "$who" env HOME="$H" "${FENCE_RUN%-run}" why \
		    -s "$T/policy.json" write "$path"
		is "$status" 1 "$who: why: $path is not"
	done

	# What a run leaves for the host to execute.
	try "$who" -s "$T/policy.json" -- sh -c 'git init -q r &&
	    echo "#!/bin/sh" >r/.git/hooks/post-checkout; (: >~/.zshrc)
	    ls r/.git/hooks/post-checkout'
	is "$out" r/.git/hooks/post-checkout "$who: git works"
	is "$(ls "$W/r/.git/hooks/post-checkout" "$H/.zshrc" 2>/dev/null)" '' \
	    "$who: no hook and no start file is left"

	# By name alone.
	policy '{"filesystem":{"allowWrite":["."]}}'
	try "$who" -w / -s "$T/policy.json" -- touch "$TOP/other/g"
	is "$status" 0 "$who: -w /"
	(W=/
	fence "$who" -s "$T/policy.json" -- true
	is "$status" 1 "$who: . in / is not meant")
	policy '{"filesystem":{"allowWrite":["$ALL"]}}'
	capture "$who" env ALL=/ "$FENCE_RUN" -s "$T/policy.json" -- true
	is "$status" 1 "$who: nor is a variable"
	like "$err" "'/' as a whole" "$who: and that is said"

	# Whoever wrote a project file may ask for it in vain.
	as "$who" mkdir -p "$H/.config/fence"
	as "$who" sh -c 'echo "{\"filesystem\":{\"allowWrite\":[\".\"]}}" \
	    >"$0"' "$H/.config/fence/fence.json"
	as "$who" sh -c 'echo "{\"filesystem\":{\"allowWrite\":[\"/\"]}}" \
	    >"$0"' "$W/fence.json"
	try "$who" -- sh -c 'echo 1 >ours; (echo 1 >"$TOP/other/h") 2>/dev/null
	    cat ours'
	is "$status:$out" 0:1 "$who: a project file that nobody trusts"
	[ ! -e "$TOP/other/h" ]
	ok $? "$who: grants nothing"
	unlike "$err" 'all of the host' "$who: and nothing is told"
done
finish
