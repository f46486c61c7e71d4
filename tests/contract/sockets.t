#!/usr/bin/env bash
# Unix sockets of the host: stand-ins for docker, gpg-agent, an ssh master,
# X11, tmux and agents' daemons answer whoever comes; nobody may.
. "$(dirname "$0")/../lib.sh"
each_world "$@"

# Reads "stream|dgram|relative PATH" lines, listens at each, and writes down
# who was spoken to.
servers='
import os, select, socket, sys
poll, by_fd = select.poll(), {}
for line in open(sys.argv[1]):
    kind, path = line.rstrip("\n").split(" ", 1)
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if kind == "dgram"
                      else socket.SOCK_STREAM)
    if not path.startswith("@"):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind == "relative":
        os.chdir(os.path.dirname(path))
        s.bind(os.path.basename(path))
    else:
        s.bind("\0" + path[1:] if path.startswith("@") else path)
    if kind != "dgram":
        s.listen(8)
    poll.register(s, select.POLLIN)
    by_fd[s.fileno()] = kind, path, s
with open(sys.argv[2] + ".ready", "w"):
    pass
log = open(sys.argv[2], "a", buffering=1)
while True:
    for fd, _ in poll.poll():
        kind, path, s = by_fd[fd]
        if kind == "dgram":
            s.recv(16)
        else:
            c, _ = s.accept()
            try:
                c.sendall(b"pwned")
            except OSError:
                pass
            c.close()
        log.write(path + "\n")
'

export HOME=$T/h
W=$T/w
O=$T/o
mkdir "$HOME" "$W" "$O" "$HOME/real"
ln -s real "$HOME/link"
cat >"$T/list" <<END
stream /tmp/.X11-unix/X0
stream /tmp/tmux-$(id -u)/default
stream /tmp/ssh-x/agent.1
dgram /tmp/log
stream $HOME/.docker/run/docker.sock
stream $HOME/.colima/default/docker.sock
stream $HOME/.gnupg/S.gpg-agent
stream $HOME/.ssh/master-git@host:22
stream $HOME/.agent/daemon.sock
stream $HOME/with a blank.sock
stream $HOME/link/linked.sock
stream $HOME/granted.sock
stream $HOME/agent.sock
dgram $HOME/dgram.sock
stream $O/elsewhere.sock
stream $W/.agent/daemon.sock
stream $W/deep/a/b/c/d/e/deep.sock
stream $W/granted-too.sock
relative $W/relative.sock
dgram $W/dgram.sock
stream @fence-test-abstract
END
[ "$who" = user ] || cat >>"$T/list" <<END
stream /run/docker.sock
stream /run/podman/podman.sock
stream /run/user/0/gnupg/S.gpg-agent
stream /run/user/0/bus
dgram /run/systemd/journal/socket
END
echo "stream $T/marker" >>"$T/list"	# the last to be looked at
: >"$T/log"
/usr/bin/python3 -c "$servers" "$T/list" "$T/log" &
server=$!
trap 'kill $server' EXIT
wait_for 10 test -e "$T/log.ready"

# Lines for the probe that speak to every socket.
table() {
	sed -n "\\|$T/marker|d; s/^dgram /unix-dgram /p
	    s/^\(stream\|relative\) /unix /p" "$T/list"
	echo "unix $HOME/real/linked.sock"
}

# ask PROBE POLICY TABLE: one jail; $out has "ANSWER OP PATH" lines.
ask() {
	echo "$2" >"$T/policy.json"
	printf '%s\n' "$3" >"$T/table"
	: >"$T/log"
	out=$(cd "$W" && "$FENCE_RUN" -s "$T/policy.json" -- "$PROBES/$1" \
	    "$T/table" 2>"$T/err" </dev/null |
	    sed -n 's/^[0-9]* \(.*\) -> \([A-Z]*\)$/\2 \1/p')
	err=$(cat "$T/err")
}

# spoken: prints who was spoken to; what was said before this is all there.
spoken() {
	/usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$T/marker"
	wait_for 10 grep -qx "$T/marker" "$T/log"
	grep -vx "$T/marker" "$T/log" | sort
}

write='"filesystem":{"allowWrite":["."]}'
n=$(table | wc -l)

# Outside, each of them answers.
table >"$T/table"
(cd "$W" && "$PROBES/probe-static" "$T/table") >"$T/out"
is "$(grep -c ' -> OK$' "$T/out")" "$n" "$who: outside all of $n answer"
is "$(spoken | wc -l)" "$n" "$who: and were spoken to"

for probe in probe-static probe; do
	ask $probe "{$write}" "$(table)"
	is "$(wc -l <<<"$out")" "$n" "$who: $probe: all of $n were tried"
	is "$(grep -vE '^(EACCES|ENOENT|ECONNREFUSED|EPERM) ' <<<"$out")" "" \
	    "$who: $probe: no socket of the host's can be reached"
	is "$(spoken)" "" "$who: $probe: nobody was spoken to"
done

# One of a pair of datagram sockets may name another address, too.
pair='
import errno, socket, sys
s, t = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
s.send(b"x")
print(t.recv(1).decode())
try:
    s.sendto(b"x", sys.argv[1])
    print("sent")
except OSError as e:
    print("refused")'
is "$(/usr/bin/python3 -c "$pair" "$HOME/dgram.sock")" $'x\nsent' \
    "$who: outside one of a pair reaches another"
is "$(spoken)" "$HOME/dgram.sock" "$who: who hears it"
: >"$T/log"
is "$(cd "$W" && "$FENCE_RUN" -s "$T/policy.json" -- /usr/bin/python3 -c \
    "$pair" "$HOME/dgram.sock")" $'x\nrefused' "$who: inside its own twin alone"
is "$(spoken)" "" "$who: nobody was spoken to"

# With the built-in policy, and where the workspace is not even writable and
# hence not looked through: a relative name says nothing there.
printf '%s\n' "$(table)" >"$T/table"
(cd "$W" && "$FENCE_RUN" -- "$PROBES/probe-static" "$T/table") >"$T/out" 2>&1
is "$(grep -c ' -> OK$' "$T/out")" 0 "$who: the built-in policy: none"
ask probe-static '{}' "$(table | grep -v relative.sock)"
is "$(grep '^OK ' <<<"$out")" "" "$who: the closed policy: none"
is "$(spoken)" "" "$who: nobody was spoken to"

# Bound by names that do not lead to them: relative ones with a folder, through
# a descriptor or the working directory, or renamed since; each by a process
# of its own.
strays='
import os, socket, sys
ready, kind, dir, name = sys.argv[1:]
type = socket.SOCK_DGRAM if "dgram" in kind else socket.SOCK_STREAM
s = socket.socket(socket.AF_UNIX, type)
os.makedirs(os.path.join(dir, os.path.dirname(name)), exist_ok=True)
if "renamed" in kind:
    os.chdir(dir)
    s.bind(os.path.join(dir, name + ".new"))
    os.rename(name + ".new", name)
elif "magic" in kind:
    fd = os.open(dir, os.O_PATH)
    s.bind(f"/proc/self/fd/{fd}/{name}")
elif "cwd" in kind:
    os.chdir(dir)
    s.bind("/proc/self/cwd/" + name)
else:
    os.chdir(dir)
    s.bind(name)
    if "left" in kind:
        os.chdir("/")
if type == socket.SOCK_STREAM:
    s.listen(8)
open(ready, "w").close()
while True:
    if type == socket.SOCK_DGRAM:
        s.recv(16)
    else:
        s.accept()[0].close()
    with open(sys.argv[1] + ".log", "a") as log:
        log.write(os.path.join(dir, name) + "\n")
'
stray_pids='' nstrays=0
stray() {	# stray KIND DIR NAME
	nstrays=$((nstrays + 1))
	/usr/bin/python3 -c "$strays" "$T/stray.$nstrays" "$@" &
	stray_pids="$stray_pids $!"
	case $1 in
	*dgram*)	echo "unix-dgram $2/$3" ;;
	*)		echo "unix $2/$3" ;;
	esac >>"$T/strays"
}
trap 'kill $server $stray_pids' EXIT
for dir in "$O" "$W" "$HOME"; do
	for kind in relative dgram magic magic-dgram cwd renamed; do
		stray $kind "$dir" "stray/$kind.sock"
	done
done
stray left "$W" stray/left.sock
for i in $(seq $nstrays); do
	wait_for 20 test -e "$T/stray.$i"
done
heard() {	# those of the strays that were spoken to
	cat "$T"/stray.*.log 2>/dev/null | sort
	rm -f "$T"/stray.*.log
}
(cd "$W" && "$PROBES/probe-static" "$T/strays") >"$T/out"
is "$(grep -c ' -> OK$' "$T/out")" "$nstrays" "$who: outside all strays answer"
for log in $(seq $nstrays); do
	wait_for 20 test -s "$T/stray.$log.log"
done
heard >"$T/null"
for probe in probe-static probe; do
	ask $probe "{$write}" "$(cat "$T/strays")"
	is "$(grep -vE '^(EACCES|ENOENT|ECONNREFUSED|EPERM) ' <<<"$out")" "" \
	    "$who: $probe: no stray can be reached"
	is "$(wc -l <<<"$out"):$(heard)" "$nstrays:" "$who: $probe: none heard"
done
(cd "$W" && FENCE_PRETEND=noshim "$FENCE_RUN" -s "$T/policy.json" -- \
    "$PROBES/probe" "$T/table") >"$T/out" 2>&1
is "$(grep -c ' -> OK$' "$T/out"):$(heard)" 0: "$who: nor without the shim"
unlike "$err" 'cannot be located' "$who: all were located"
ask probe-static "{$write,\"network\":{\"allowUnixSockets\":
    [\"$O/stray/magic.sock\",\"./stray/relative.sock\"]}}" "$(cat "$T/strays")"
is "$(sed -n "s|$T/||; s/^OK unix //p" <<<"$out" | sort)" \
    $'o/stray/magic.sock\nw/stray/relative.sock' \
    "$who: a stray that is granted by its path"
wait_for 20 eval '[ "$(cat "$T"/stray.*.log | wc -l)" -ge 2 ]'
is "$(heard | sed "s|$T/||")" $'o/stray/magic.sock\nw/stray/relative.sock' \
    "$who: and it was spoken to"
# Its owner went elsewhere, outside of all that is looked through.
stray left "$O" lost/left.sock
wait_for 20 test -e "$T/stray.$nstrays"
ask probe-static "{$write}" "unix-serve own-stray.sock stream"
like "$err" "cannot be located.*'lost/left.sock'" "$who: what is lost is told"
is "$(cut -d' ' -f1 <<<"$out")" OK "$who: one's own is served"
rm -f "$W/own-stray.sock"

# A stale socket of the command's, and a stranger's elsewhere under the same
# relative name: the command can remove its own.
away=$(mktemp -d /dev/shm/fence-sockets.XXXXXX)
/usr/bin/python3 -c 'import socket
socket.socket(socket.AF_UNIX).bind("'"$W"'/stale.sock")'
stray relative "$away" stale.sock
wait_for 20 test -e "$T/stray.$nstrays"
(cd "$W" && "$FENCE_RUN" -- rm stale.sock) 2>/dev/null
is "$?:$(ls "$W/stale.sock" 2>/dev/null)" 0: \
    "$who: a stale one of the workspace is nobody else's"
rm -r "$away"

# Granted by name; its neighbours stay closed.
ask probe-static "{$write,\"network\":{\"allowUnixSockets\":
    [\"$HOME/granted.sock\",\"./granted-too.sock\",\"/tmp/.X11-unix/X0\"]}}" \
    "$(table)"
granted=$'/tmp/.X11-unix/X0\nh/granted.sock\nw/granted-too.sock'
is "$(sed -n "s|$T/||; s/^OK unix //p" <<<"$out" | sort)" "$granted" \
    "$who: granted by path: those three"
is "$(spoken | sed "s|$T/||")" "$granted" "$who: and they were spoken to"
SSH_AUTH_SOCK=$HOME/agent.sock
export SSH_AUTH_SOCK
# shellcheck disable=SC2016 # fence's variable
ask probe-static "{$write,\"network\":{\"allowUnixSockets\":
    [\"\$SSH_AUTH_SOCK\"]}}" "$(table)"
is "$(grep '^OK ' <<<"$out")" "OK unix $HOME/agent.sock" \
    "$who: granted by a variable"
SSH_AUTH_SOCK=/tmp/ssh-x/agent.1
# shellcheck disable=SC2016 # fence's variable
ask probe-static "{$write,\"network\":{\"allowUnixSockets\":
    [\"\$SSH_AUTH_SOCK\"]}}" "$(table)"
is "$(grep '^OK ' <<<"$out")" "OK unix /tmp/ssh-x/agent.1" \
    "$who: also below the private /tmp"
ask probe-static "{$write,\"network\":{\"allowUnixSockets\":
    [\"$HOME/dgram.sock\"]}}" "$(table)"
is "$(grep '^OK ' <<<"$out")" "OK unix-dgram $HOME/dgram.sock" \
    "$who: a datagram socket by path"

# XDG_RUNTIME_DIR stays where it was, and nothing of the host's is in it.
if [ "$who" = root ]; then
	export XDG_RUNTIME_DIR=/run/user/0
	ask probe-static "{$write}" "$(table)
unix-serve /run/user/0/own.sock stream
unix-serve /run/user/0/gnupg stream"
	is "$(grep '^OK ' <<<"$out")" 'OK unix-serve /run/user/0/own.sock stream
OK unix-serve /run/user/0/gnupg stream' \
	    "root: a runtime folder of the command's own"
	ask probe-static "{$write,\"network\":{\"allowUnixSockets\":
	    [\"\$XDG_RUNTIME_DIR/bus\"]}}" "$(table)
unix-serve /run/user/0/own.sock stream"
	is "$(grep '^OK ' <<<"$out")" 'OK unix /run/user/0/bus
OK unix-serve /run/user/0/own.sock stream' \
	    "root: a socket of the host's is there where it is granted"
	is "$(spoken)" /run/user/0/bus "root: and no other"
	[ ! -e /run/user/0/own.sock ]
	ok $? "root: the host's folder is as it was"
	unset XDG_RUNTIME_DIR
fi

# All of them: those that can be seen.
ask probe-static "{$write,\"network\":{\"allowAllUnixSockets\":true}}" \
    "$(table)"
is "$(grep -v '^OK ' <<<"$out" | grep -vE ' (/tmp/|/run/|@)')" "" \
    "$who: allowAllUnixSockets opens all that is visible"
is "$(grep '^OK ' <<<"$out" | grep -E ' (/tmp/|/run/|@)')" "" \
    "$who: but not what is private: /tmp, /run, abstract names"

# The jail's own work, at any path that it may write to.
own="unix-serve $W/own.sock stream
unix-serve $W/own.dgram dgram
unix-serve own-relative.sock stream
unix-serve /tmp/own.sock stream
unix-serve /tmp/own.dgram dgram
unix-serve @own stream
unix-serve $W/.agent/own.sock stream"
for probe in probe-static probe; do
	ask $probe "{$write}" "$own"
	is "$(grep -v '^OK ' <<<"$out")" "" "$who: $probe: sockets of its own"
	rm -f "$W"/own* "$W/.agent/own.sock"
done
ask probe-static "{$write}" "unix-serve $O/own.sock stream
unix-serve $HOME/own.sock stream"
is "$(grep '^OK ' <<<"$out")" "" "$who: and nowhere else"

# One that nobody listens at any more is the command's to replace.
/usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$W/stale.sock"
ask probe-static "{$write}" "unlink $W/stale.sock
unix-serve $W/stale.sock stream"
is "$(cut -d' ' -f1 <<<"$out")" $'OK\nOK' "$who: a stale one is replaced"
[ ! -s "$COUNT.failed" ]
