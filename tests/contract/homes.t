#!/usr/bin/env bash
# Two homes: credentials lie in that of the user database, also where $HOME
# leads elsewhere.  What a policy hides or protects is hidden in both, what it
# grants is granted in $HOME; neither becomes writable as a workspace.
# tags: serial
set -u

# The user database of this test says where the homes are.  All of /etc is a
# copy: fence lays an overlay over it, and may find no mount below.
if [ -z "${HOMES_INSIDE-}" ]; then
	cp -a /etc "$T/etc" 2>"$T/cp.err"	# the user cannot read all of it
	sed -E "s,^((root|$(id -un)|${FENCE_TEST_USER:-root}):([^:]*:){4})[^:]*,\1$T/home-\2," \
	    /etc/passwd >"$T/passwd"
	cat "$T/passwd" >"$T/etc/passwd"
	export HOMES_INSIDE=1
	how=(unshare --mount)
	[ "$(id -u)" -eq 0 ] ||
	    how=(unshare --map-current-user --keep-caps --mount)
	exec "${how[@]}" "$BASH" -c 'mount --bind "$T/etc" /etc &&
	    exec setpriv --inh-caps=-all --ambient-caps=-all "$BASH" "$0"' "$0"
fi
. "$(dirname "$0")/../lib.sh"

FENCE=${FENCE_RUN%-run}

run() {	# run HOME ARGS…
	local home=$1
	shift
	capture "$who" env HOME="$home" "$FENCE_RUN" "$@"
}

for who in $WHOS; do
	name=$(as "$who" id -un)
	R=$T/home-$name		# of the user database
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	mkdir -p "$R"
	[ "$IS_ROOT" = 0 ] || chown "$name": "$R"
	as "$who" mkdir -p "$W" "$H/.ssh" "$R/.ssh" "$R/.aws" "$R/.config"
	is "$(as "$who" getent passwd "$name" | cut -d: -f6)" "$R" \
	    "$who: the database has a home of this test's"
	as "$who" sh -c "echo real >'$R/.ssh/key'; echo mine >'$H/.ssh/key'
	    echo open >'$R/open'; echo rc >'$R/.bashrc'"

	# Hidden, wherever $HOME leads.
	for home in "$base/none" "$H" "$R" / ''; do
		run "$home" -- cat "$R/open" "$R/.ssh/key"
		is "$out" open "$who: HOME='$home': credentials are hidden"
	done
	capture "$who" env -u HOME "$FENCE_RUN" -- cat "$R/open" "$R/.ssh/key"
	is "$out" open "$who: nor without HOME"
	# A user whom the file does not have: name services are asked.
	if [ "$who" = root ]; then
		printf '#!/bin/sh\necho "root:x:$2:0::%s:/bin/sh"\n' "$R" \
		    >"$T/getent"
		chmod 755 "$T/getent"
		capture root unshare --mount sh -c 'sed -i "/^root:/d" "$1" &&
		    mount --bind "$2" /usr/bin/getent && shift 2 && exec "$@"' \
		    sh "$T/etc/passwd" "$T/getent" \
		    env HOME="$base/none" "$FENCE_RUN" -- \
		    cat "$R/open" "$R/.ssh/key"
		is "$out" open "$who: a user of the network's: hidden, too"
		cat "$T/passwd" >"$T/etc/passwd"
	fi
	run "$H" -- cat "$H/.ssh/key"
	is "$status$out" 1 "$who: and those below HOME"
	capture "$who" env HOME="$H" "$FENCE" why read "$R/.ssh/key"
	is "$status" 1 "$who: why says so"
	like "$out" '~/.ssh' "$who: and by which rule"

	# "~": a denial means both, a grant means HOME.
	echo '{"filesystem":{"allowWrite":[".","'"$R"'","'"$H"'"],
	    "denyWrite":["~/held","~/x*"],"denyRead":["~/.ssh"],
	    "allowRead":["~/.ssh/key"]}}' >"$T/policy.json"
	chmod 644 "$T/policy.json"
	as "$who" touch "$R/held" "$H/held" "$R/x1" "$H/x1"
	run "$H" -s "$T/policy.json" -- sh -c "
	    for d in '$R' '$H'; do echo 1 >>\$d/held; echo 1 >>\$d/x1
	    echo 1 >\$d/free; cat \$d/.ssh/key; done"
	is "$out" mine "$who: allowRead with ~ opens HOME's alone"
	is "$(cat "$R/held" "$H/held" "$R/x1" "$H/x1")" '' \
	    "$who: denyWrite with ~ holds in both"
	is "$(cat "$R/free" "$H/free")" $'1\n1' \
	    "$who: what is granted by its path is writable"
	run "$H" -t code -- sh -c "touch '$R/.config/x'; touch ~/.cache/y"
	[ ! -e "$R/.config/x" ] && [ -e "$H/.cache/y" ]
	ok $? "$who: a template's state is HOME's"

	# Guarded names of either.
	run "$H" -w "$R" -w "$H" -- sh -c "for d in '$R' '$H'; do
	    echo evil >>\$d/.bashrc; echo evil >\$d/.profile
	    mkdir -p \$d/.config/fence \$d/bin && echo evil >\$d/bin/ls
	    echo {} >\$d/.config/fence/fence.json; echo 2 >\$d/free; done"
	is "$(cat "$R/.bashrc")" rc "$who: a start file is guarded"
	for d in "$R" "$H"; do
		[ ! -e "$d/.profile" ] && [ ! -e "$d/bin/ls" ] &&
		    [ ! -e "$d/.config/fence/fence.json" ]
		ok $? "$who: nothing that ${d##*/} would execute is left"
		is "$(cat "$d/free")" 2 "$who: the rest is writable"
	done

	# Neither is a workspace, whichever policy says ".".
	echo '{"filesystem":{"allowWrite":["."]}}' >"$T/dot.json"
	echo '{"filesystem":{"allowWrite":["~"]}}' >"$T/tilde.json"
	chmod 644 "$T/dot.json" "$T/tilde.json"
	for dir in "$R" "$H" "${R%/*}" /; do
		for how in '' '-t workspace-write' '-t code' '-t npm-install' \
		    "-s $T/dot.json" '-w .'; do
			run "$H" --chdir "$dir" $how -- touch planted
			is "$status" 1 \
			    "$who: ${how:-no option}: no workspace in ${dir##*/}"
			like "$err" 'home writable' "$who: and why"
			[ ! -e "$dir/planted" ]
			ok $? "$who: nothing was written"
		done
	done
	run "$H" --chdir "$H" -s "$T/tilde.json" -- touch meant
	[ -e "$H/meant" ]
	ok $? "$who: a policy that names the home means it"
	run "$H" --chdir "$H" -t default-deny -w "$H" -- touch meant2
	[ -e "$H/meant2" ]
	ok $? "$who: so does -w with its path"
	run "$H" --chdir "$H" -t default-deny -- true
	is "$status" 0 "$who: a policy that grants no \".\" starts there"
	as "$who" mkdir -p "$H/project"
	run "$H" --chdir "$H/project" -t workspace-write -- touch f
	[ -e "$H/project/f" ]
	ok $? "$who: a folder in it is a workspace"
done
finish
