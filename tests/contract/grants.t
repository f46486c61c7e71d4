#!/usr/bin/env bash
# Grants beyond the workspace: folders that are made for a run, single files,
# exposed paths, links on the way, devices.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy JSON: writes $T/policy.json, outside the workspace
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

fence_env() {	# fence_env WHO NAME=VALUE… -- ARGS…
	local who=$1 vars=()
	shift
	while [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	shift
	capture "$who" env "${vars[@]}" "$FENCE_RUN" "$@"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	H=$base/home
	as "$who" mkdir "$W" "$H"

	policy '{"filesystem":{"allowWrite":[".","~/.agent/deep","~/.x.json"]}}'
	fence_env "$who" HOME="$H" XDG_STATE_HOME="$H/state" -- \
	    -s "$T/policy.json" -- sh -c 'stat -c %a ~/.agent/deep; touch a'
	is "$out" 700 "$who: a granted folder that is missing is made"
	like "$err" 'x.json" .* does not exist and stays unwritable' \
	    "$who: a file is not"
	[ ! -e "$H/.agent" ]
	ok $? "$who: and what stays empty is gone afterwards"
	fence_env "$who" HOME="$H" XDG_STATE_HOME="$H/state" -- \
	    -s "$T/policy.json" -- sh -c 'echo 1 >~/.agent/deep/f'
	is "$(cat "$H/.agent/deep/f")" 1 "$who: what is not empty stays"
	is "$(cat "$H/state/fence/made")" '' "$who: the journal is empty"
	as "$who" rm -r "$H/.agent"

	# A run that still uses it keeps it.
	(fence_env "$who" HOME="$H" XDG_STATE_HOME="$H/state" -- \
	    -s "$T/policy.json" -- sh -c 'touch go; while [ -e go ]
	    do sleep 0.05; done; echo 2 >~/.agent/deep/late') &
	slow=$!
	wait_for 20 test -e "$W/go"
	fence_env "$who" HOME="$H" XDG_STATE_HOME="$H/state" -- \
	    -s "$T/policy.json" -- true
	as "$who" rm "$W/go"
	wait "$slow"
	is "$(cat "$H/.agent/deep/late")" 2 "$who: nor one that is in use"

	fence_env "$who" HOME="$H" -- -s "$T/policy.json" --dry-run -- true
	[ ! -e "$H/.local" ]
	ok $? "$who: --dry-run makes nothing"

	# A glob speaks over a denial of a folder that it matches, too.
	policy '{"filesystem":{"allowWrite":[".","./g/**/*"],
	    "denyWrite":["./g/d"]}}'
	as "$who" sh -c 'cd "$0"; mkdir -p g/d/x; echo 0 >g/d/f' "$W"
	fence_env "$who" HOME="$H" -- -s "$T/policy.json" -- sh -c \
	    'echo 1 >g/d/f; echo 2 >g/d/x/new; echo 3 >g/d/new; cat g/d/f'
	is "$out:$(cd "$W" && ls g/d g/d/x | tr '\n' ' ')" \
	    "1:g/d: f x  g/d/x: new " "$who: what a glob matches below a denial"

	# Exposed paths.
	X=$(as "$who" mktemp -d /tmp/fence-exposed.XXXXXX)
	as "$who" sh -c "echo host >'$X/f'"
	fence "$who" -- sh -c "cat $X/f; true"
	is "$out" '' "$who: the host's /tmp is not seen"
	fence "$who" --expose-host-path "$X" -- sh -c "cat $X/f; echo 1 >$X/g"
	is "$out" host "$who: an exposed path is"
	[ ! -e "$X/g" ]
	ok $? "$who: read-only"
	fence "$who" --expose-host-path-rw "$X" -- sh -c "echo 1 >$X/g"
	is "$(cat "$X/g")" 1 "$who: or writable"
	like "$err" "the host's '$X' is writable inside" "$who: and said"
	fence "$who" --expose-host-path-rw /tmp -- sh -c "echo 1 >$X/h"
	is "$(cat "$X/h")" 1 "$who: /tmp itself"
	policy "{\"filesystem\":{\"denyRead\":[\"$X\"]}}"
	fence "$who" -s "$T/policy.json" --expose-host-path "$X/f" -- true
	is "$status" 1 "$who: never over a denial"
	like "$err" 'cannot be exposed' "$who: and why"
	fence "$who" --expose-host-path-rw "$W/.vscode" -- true
	is "$status" 1 "$who: nor over a guarded name"
	as "$who" rm -r "$X"

	# Where reading has to be granted, links lead as they do outside.
	as "$who" sh -c "mkdir -p '$H/dot' '$base/real/user' &&
	    echo rc >'$H/dot/zshrc' && ln -s dot/zshrc '$H/.zshrc' &&
	    ln -s real '$base/way' && echo u >'$base/real/user/f' &&
	    echo s >'$H/secret'"
	policy "{\"filesystem\":{\"defaultDenyRead\":true,
	    \"allowRead\":[\"~/.zshrc\",\"$base/way/user/f\"]}}"
	fence_env "$who" HOME="$H" -- -s "$T/policy.json" -- sh -c "
	    cat ~/.zshrc $base/way/user/f; cat ~/secret; ls ~; ls $base
	    echo x >>~/.zshrc"
	is "$out" $'rc\nu' "$who: what is granted is read through its links"
	is "$(cat "$H/dot/zshrc")" rc "$who: and not written"

	# Devices.
	policy '{"devices":{"mode":"host"},"filesystem":{"allowWrite":["."]}}'
	fence "$who" -s "$T/policy.json" -- sh -c 'ls /dev | wc -l
	    echo x >/dev/shm/fence-shm; echo x >/dev/null && echo ok'
	if [ "$who" = root ]; then
		is "$status" 1 'root: is not given the disks'
		like "$err" 'devices.mode' 'root: and told which key'
	else
		like "$out" ok "$who: the host's devices"
		[ ! -e /dev/shm/fence-shm ]
		ok $? "$who: shared memory stays the jail's own"
	fi
	policy '{"devices":{"allow":["/dev/no-such"]}}'
	fence "$who" -s "$T/policy.json" -- sh -c 'ls /dev | grep -c such'
	is "$out:$err" 0: "$who: a device that is missing is passed over"
	if [ -e /dev/fuse ]; then
		policy '{"devices":{"allow":["/dev/fuse"]}}'
		fence "$who" -s "$T/policy.json" -- sh -c \
		    'test -c /dev/fuse && echo yes; test -e /dev/kmsg || echo no'
		is "$out" $'yes\nno' "$who: a device by name, and no other"
	fi

	# A quota for /tmp.
	policy '{"limits":{"tmp":"1M"}}'
	fence "$who" -s "$T/policy.json" -- sh -c '
	    head -c 600000 /dev/zero >/tmp/a && echo one
	    head -c 600000 /dev/zero >/tmp/b || echo full'
	is "$out" $'one\nfull' "$who: limits.tmp"
done
finish
