#!/usr/bin/env bash
# tags: root
# Quarantine never enters a file system that the host mounted inside a planted
# folder.  Where quarantine is on another disk the folder is copied and removed,
# and a removal that went through the mount would empty what is mounted there.
. "$(dirname "$0")/../lib.sh"

# BEFORE on the host, a run that goes on in $W until $W/go is gone, SCRIPT on the
# host, and the end of the run.  All in a mount namespace of its own.
beside() {	# beside BEFORE SCRIPT
	mkdir -p "$W"
	: >"$W/go"
	capture root unshare -m --propagation private bash -c '
	    eval "$3"
	    HOME=$1 "$2" -- sh -c "echo up >up; while [ -e go ]; do
	        sleep 0.05; done" & run=$!
	    until [ -e up ]; do sleep 0.05; done
	    eval "$4"
	    rm go; wait $run; rv=$?
	    find "$1" -name own -exec cat {} +; exit $rv' - \
	    "$base/home" "$FENCE_RUN" "$1" "$2"
}

who=root
if [ "$IS_ROOT" != 1 ]; then
	skip 'mounting needs root' 'mounts in what goes to quarantine'
	finish
fi
base=$(workspace root)
mkdir "$base/home"

# ---- a bind mount inside a planted folder, quarantine on the same disk
W=$base/w
mkdir -p "$base/real/sub" "$base/prep/mnt"
for f in a b sub/c; do echo mine >"$base/real/$f"; done
beside : "mount --bind $base/real $base/prep/mnt; mv $base/prep $W/.vscode
    until [ ! -e $W/.vscode ]; do sleep 0.05; done"
is "$status" 0 'the run ends well'
is "$(cd "$base/real" && cat a b sub/c | tr '\n' ' ')" 'mine mine mine ' \
    'what is mounted in a planted folder stays whole'
[ ! -e "$W/.vscode" ]
ok $? 'the folder itself does not stay'
like "$err" 'guarded name' 'and is told'

# ---- the same where quarantine is on another file system
W=$base/w2
mkdir -p "$base/prep2/mnt"
echo kept >"$base/prep2/own"
beside "mount -t tmpfs tmpfs $base/home" "
    mount --bind $base/real $base/prep2/mnt; mv $base/prep2 $W/.idea
    until [ ! -e $W/.idea ]; do sleep 0.05; done"
is "$(cd "$base/real" && cat a b sub/c | tr '\n' ' ')" 'mine mine mine ' \
    'nor is it touched a second time'
like "$out$(find "$base" -name own -exec cat {} +)" kept \
    'what lay beside the mount is kept'
finish
