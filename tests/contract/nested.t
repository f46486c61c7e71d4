#!/usr/bin/env bash
# allowNestedSandbox: agents that bring a sandbox of their own, and what the
# rights they get in it are worth against the walls around it.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy JSON
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

nested=(bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all)
# unshare is on the built-in list of commands.
files='"filesystem":{"allowWrite":["."],"denyRead":["secret","hidden"],
    "denyWrite":["locked"]},
    "command":{"useDefaults":false}'

# As root of a user namespace of its own, with every capability there.
attack='
try() { "$@" 2>/dev/null && echo "OPEN: $*"; }
try umount secret
try umount -l secret
try umount hidden
try umount -l locked
try umount .git/hooks
try umount -l /run
try umount -l /etc
try umount -R -l "$PWD"
try umount /proc
try mount -o remount,bind,rw locked
try mount -o remount,bind,rw .git/hooks
try mount -o remount,bind,rw /
try mount -o remount,rw /
try mount -o remount,bind,rw /etc
try mount -o remount,bind,suid,dev /
mkdir /tmp/a /tmp/b /tmp/c /tmp/d
mount -t tmpfs tmpfs /tmp/d && touch /tmp/d/x && echo mounts
mount --bind "$PWD" /tmp/a 2>/dev/null && cat /tmp/a/secret
mount --rbind "$PWD" /tmp/b && cat /tmp/b/secret
try umount /tmp/b/secret
try mount -o remount,bind,rw /tmp/b/locked
mount -t overlay -o "lowerdir=$PWD:/tmp/c" overlay /tmp/c 2>/dev/null &&
    cat /tmp/c/secret
cat secret hidden/x
try sh -c "echo x >locked"
try sh -c "echo x >.git/hooks/h"
try sh -c "echo x >.git/config"
try mv .git g
try touch /usr/x "$HOME/planted" /etc/x
try sh -c ": >>/proc/sys/kernel/core_pattern"
try sh -c "echo 1 >/proc/sys/vm/stat_interval"
try mknod dev c 1 3
try nsenter -t 1 -m true
try nsenter -t 1 -n true
try kill -9 1
try ip route add default dev lo
try ip route del prohibit default
try ip addr add 10.0.0.1/8 dev lo
try nft flush ruleset
try ping -c 1 -W 1 127.0.0.1
try sh -c "cat /proc/1/environ | grep -q ."
echo done'

# How many processes, files and bytes there are; with all rights in there.
bomb='
import os, resource
for what in resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_DATA:
    try:
        resource.setrlimit(what, (resource.RLIM_INFINITY,) * 2)
    except (OSError, ValueError):
        pass
r, w = os.pipe()
forks = files = 0
try:
    while forks < 60:
        if os.fork() == 0:
            os.close(w)
            os.read(r, 1)
            os._exit(0)
        forks += 1
except OSError:
    pass
os.close(r)
os.close(w)
try:
    while files < 200:
        os.open("/", os.O_RDONLY)
        files += 1
except OSError:
    pass
try:
    bytearray(400 << 20)
    memory = "yes"
except MemoryError:
    memory = "no"
print(forks, files, memory)'

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W/.git/hooks" "$W/hidden"
	as "$who" sh -c "cd '$W' && echo key >secret && echo key >hidden/x &&
	    echo as-it-was >locked && echo as-it-was >.git/config"

	policy "{$files}"
	fence "$who" -s "$T/policy.json" -- "${nested[@]}" true
	is "$status" 1 "$who: without the key bwrap is refused"
	like "$err" 'fence: bwrap was refused .*allowNestedSandbox' \
	    "$who: and the key is named"
	fence "$who" -s "$T/policy.json" -m -- "${nested[@]}" true
	is "$(grep -c '^\[fence.*allowNestedSandbox' <<<"$err")" 1 \
	    "$who: one record with -m"
	fence "$who" -s "$T/policy.json" -- unshare -Ur true
	is "$status" 1 "$who: and so is unshare"
	like "$err" 'fence: unshare was refused .*allowNestedSandbox' \
	    "$who: which is told as well"
	fence "$who" -s "$T/policy.json" -- sh -c 'unshare -Ur true || :'
	unlike "$err" 'allowNestedSandbox' "$who: not to who succeeds without"

	policy "{\"allowNestedSandbox\":true,$files}"
	if [ "$who" = root ]; then
		fence root -s "$T/policy.json" -- echo started
		is "$status:$out" 1: "root: refused by name"
		like "$err" 'policy.json:1:23: allowNestedSandbox: not when root' \
		    "root: in words"
		continue
	fi
	for engine in bwrap native; do
		fence user --engine $engine -s "$T/policy.json" -- \
		    "${nested[@]}" sh -c 'echo "$$"; ls /proc | grep -c "^[0-9]"'
		is "$status" 0 "$engine: a nested bwrap works"
		like "$out" $'^[1-4]\n[1-6]$' "$engine: with processes of its own"
		like "$err" '^fence: allowNestedSandbox: ' "$engine: announced"
		fence user --engine $engine -s "$T/policy.json" -- sh -c '
		    unshare -Ur id -u; echo 1 >f; cat f
		    touch /usr/x "$HOME/planted" || echo shut'
		is "$out" $'0\n1\nshut' "$engine: unshare -Ur; mounts hold"
		fence user --engine $engine -s "$T/policy.json" -- \
		    unshare -Urm sh -c "$attack"
		is "$out" $'mounts\ndone' "$engine: its root opens nothing"
		fence user --engine $engine -s "$T/policy.json" -- \
		    unshare -Urmnpf --mount-proc sh -c "$attack"
		unlike "$out" 'key|OPEN: (mount|umount [^/]|sh|mv|touch|nsenter|mknod)' \
		    "$engine: nor with a network and processes of its own"
		is "$(cat "$W/secret" "$W/locked" "$W/.git/config"; ls \
		    "$W/.git/hooks")" $'key\nas-it-was\nas-it-was' \
		    "$engine: everything is as it was"
		fence user --engine $engine -s "$T/policy.json" -- \
		    "${nested[@]}" --share-net sh -c 'getent hosts example.com ||
		    echo shut; sh -c "exec 3<>/dev/tcp/1.1.1.1/80" || echo shut'
		is "$out" $'shut\nshut' "$engine: the network stays shut"
	done
	# Limits: a group could be mounted and raised, a process's own cannot.
	policy "{\"allowNestedSandbox\":true,\"limits\":{\"memory\":\"64M\"},$files}"
	fence user -s "$T/policy.json" -- echo started
	is "$status:$out" 1: "limits.memory beside it is refused"
	like "$err" 'policy.json:1:[0-9]+: limits.memory: cannot be held with' \
	    "in words"
	policy "{\"allowNestedSandbox\":true,\"limits\":{\"processes\":20,
	    \"files\":50,\"processMemory\":\"200M\"},$files}"
	for engine in bwrap native; do
		fence user --engine $engine -s "$T/policy.json" -- \
		    unshare -Ur /usr/bin/python3 -c "$bomb"
		is "$out" '19 47 no' "$engine: other limits hold inside"
	done
	policy "{\"allowNestedSandbox\":true,\"profile\":\"strict\",$files}"
	fence user -s "$T/policy.json" -- "${nested[@]}" true
	is "$status" 1 "profile strict is a layer that does not grant it"
	# A file of a project that nobody trusted cannot ask for it.
	as user sh -c "echo '{\"allowNestedSandbox\":true}' >'$W/fence.jsonc'"
	fence user -- "${nested[@]}" true
	is "$status" 1 "an untrusted project file does not get it"
done
finish
