#!/usr/bin/env bash
# batches/peer-*.batch, in the ways that each user has; and what people expect
# of any command sandbox that no table of operations shows.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	rv=0
	for batch in "$TESTS"/batches/peer-*.batch; do
		"$TESTS/batch" "$batch" | count_tap
		[ "${PIPESTATUS[0]}" -eq 0 ] || rv=1
	done
	exit $rv
fi

policy() {	# policy JSON: outside the workspace
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

# Programs that look at more than files.
programs() {	# programs WHO
	local who=$1 mode

	policy '{"allowPty":true,"filesystem":{"allowWrite":[".","/dev/shm"]}}'
	fence "$who" -s "$T/policy.json" -- /usr/bin/python3 -c '
from multiprocessing import Lock, Process, Queue
def work(lock, q):
    with lock:
        q.put("SUCCESS")
if __name__ == "__main__":
    lock, q = Lock(), Queue()
    p = Process(target=work, args=(lock, q))
    p.start()
    print(q.get())
    p.join()'
	is "$out" SUCCESS "$who: multiprocessing of Python"
	fence "$who" -- /usr/bin/python3 -c \
	    'import os, pwd; print(pwd.getpwuid(os.getuid()).pw_name)'
	is "$out" "$(as "$who" id -un)" "$who: the user has a name"
	for mode in minimal host; do
		# Among the host's are the disks.
		[ "$who:$mode" != root:host ] || continue
		policy "{\"allowPty\":true,\"devices\":{\"mode\":\"$mode\"},
		    \"filesystem\":{\"allowWrite\":[\".\"]}}"
		fence "$who" -s "$T/policy.json" -- /usr/bin/python3 -c '
import os
m, s = os.openpty()
os.write(s, b"x")
print(os.ttyname(s)[:9])'
		is "$out" /dev/pts/ "$who: a terminal of its own, devices $mode"
	done
}

# Folders that variables name.
variables() {	# variables WHO
	local who=$1

	# shellcheck disable=SC2016 # the inner shell expands
	capture "$who" env TMPDIR=/nowhere XDG_RUNTIME_DIR=/nowhere \
	    "$FENCE_RUN" -- sh -c 'mktemp'
	like "$out" '^/tmp/' "$who: TMPDIR that is not there"
	as "$who" mkdir "$W/tmp" "$W/runtime"
	# shellcheck disable=SC2016 # the inner shell expands
	capture "$who" env TMPDIR="$W/tmp" XDG_RUNTIME_DIR="$W/runtime" \
	    "$FENCE_RUN" -- sh -c 'echo 1 >"$TMPDIR/f"
	    echo 1 >"$XDG_RUNTIME_DIR/f"; echo "$TMPDIR" "$XDG_RUNTIME_DIR"'
	is "$out" "$W/tmp $W/runtime" "$who: folders in the workspace are kept"
	is "$(cat "$W/tmp/f" "$W/runtime/f")" $'1\n1' "$who: as the host's"
}

# The way to the home or the workspace leads over symlinks and mounts.
ways_there() {	# ways_there WHO
	local who=$1 home=$W/link/user how

	as "$who" mkdir -p "$W/real/user/.nvm" "$W/real/user/ws"
	as "$who" ln -s real "$W/link"
	as "$who" sh -c "echo rc >'$W/real/user/.zshrc'
	    echo key >'$W/real/user/key'; echo x >'$W/real/user/.nvm/x'"
	policy '{"filesystem":{"defaultDenyRead":true,"allowWrite":["."],
	    "allowRead":["~/.zshrc"]}}'
	# shellcheck disable=SC2016 # the inner shell expands
	W=$home/ws capture "$who" env HOME="$home" \
	    "$FENCE_RUN" -s "$T/policy.json" -- sh -c '
	    cat "$HOME/.zshrc" "$HOME/.nvm/x"; cat "$HOME/key"
	    echo evil >>"$HOME/.zshrc"; echo 1 >here; cat here'
	is "$out" $'rc\nx\n1' "$who: a HOME and a workspace behind a symlink"
	is "$(cat "$W/real/user/.zshrc" "$W/real/user/ws/here")" $'rc\n1' \
	    "$who: on the host it is what it was"

	how=(unshare -m)
	[ "$who" = root ] || how=(unshare -Urm)
	# shellcheck disable=SC2016 # the inner shells expand
	capture "$who" "${how[@]}" sh -c 'mkdir -p home && cd home &&
	    mount -t tmpfs tmpfs . && cd "$PWD" && mkdir -p .nvm ws allowed &&
	    export HOME=$PWD && cd ws && mkdir sub &&
	    mount -t tmpfs tmpfs sub && : >sub/there &&
	    "$0" -w ../allowed -- sh -c "ls -d ~/.nvm sub/there && echo 1 >f &&
	    echo 1 >sub/f && echo 1 >../allowed/f && echo 2 >../not; ls"
	    cat f sub/f ../allowed/f' "$FENCE_RUN"
	like "$out" $'sub/there\nf\nsub\n1\n1\n1$' \
	    "$who: a home on a mount of its own, and a mount in the workspace"
}

exposed() {	# exposed WHO
	local who=$1 file=/tmp/fence-peer.$$.$1

	as "$who" sh -c "echo host >'$file'; mkdir -p d; echo key >secret"
	fence "$who" -- cat "$file"
	is "$out" "" "$who: the host's /tmp is not there"
	fence "$who" --expose-host-path "$file" -- sh -c \
	    "cat '$file'; echo x >>'$file'"
	is "$out" host "$who: but what is exposed by name"
	fence "$who" --expose-host-path-rw "$file" -- sh -c \
	    "echo more >>'$file'"
	is "$(cat "$file")" $'host\nmore' "$who: and written where that is said"
	fence "$who" --expose-host-path /tmp/fence-nothing.$$ -- echo runs
	is "$out" runs "$who: nothing there to expose: it runs"
	like "$err" "fence-nothing" "$who: and says so"
	rm -f "$file"
	as "$who" sh -c "echo key >'$W/secret'; echo x >'$W/.bashrc'"
	policy '{"filesystem":{"allowWrite":["."],"denyRead":["secret"]}}'
	fence "$who" -s "$T/policy.json" --expose-host-path-rw "$W/secret" \
	    --expose-host-path-rw "$W/.bashrc" -- sh -c \
	    'cat secret; echo evil >>.bashrc; echo evil >>secret'
	is "$out" "" "$who: no exposing over a denial"
	is "$(cat "$W/secret" "$W/.bashrc")" $'key\nx' \
	    "$who: nor over a guarded name"
}

# Two jails that want the same missing name away: it holds until both ended.
together() {	# together WHO
	local who=$1 first

	policy '{"filesystem":{"allowWrite":["."],"denyWrite":["later"]}}'
	as "$who" mkfifo "$W/go"
	start "$who" "$FENCE_RUN" -s "$T/policy.json" -- sh -c '
	    echo up >first; read -r x <go; echo x >later; echo x >.envrc'
	first=$pid
	wait_for 10 test -e "$W/first"
	fence "$who" -s "$T/policy.json" -- sh -c 'echo x >later; echo 2 >b'
	is "$(cat "$W/b")" 2 "$who: a second jail in the same workspace"
	[ ! -e "$W/later" ]
	ok $? "$who: leaves no name that it must not make"
	echo >"$W/go"
	wait "$first"
	[ ! -e "$W/later" ] && [ ! -e "$W/.envrc" ]
	ok $? "$who: nor does the first, which ends after it"
}

for who in $WHOS; do
	inside "$who"
	W=$(workspace "$who")
	programs "$who"
	variables "$who"
	ways_there "$who"
	W=$(workspace "$who")
	exposed "$who"
	W=$(workspace "$who")
	together "$who"

	W=$(workspace "$who")
	as "$who" mkdir -p "$W/.git/hooks" "$W/sub"
	as "$who" sh -c "cd '$W' && : >.bashrc; : >empty; : >.git/config"
	before=$(find "$W" -printf '%p %y %m %s %T@\n' | sort)
	fence "$who" -- true
	is "$(find "$W" -printf '%p %y %m %s %T@\n' | sort)" "$before" \
	    "$who: no placeholder is left, and empty files are kept"
done
finish
