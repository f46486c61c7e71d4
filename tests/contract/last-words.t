#!/usr/bin/env bash
# Nobody reads what fence-run says: it ends all the same, when the command does.
. "$(dirname "$0")/../lib.sh"
cat >"$T/unread.py" <<'PY'
"""unread.py FD CMD...: CMD with FD a pipe that is full, and that nobody
reads; prints the status, or "stuck" after a minute."""
import fcntl
import os
import subprocess
import sys

fd = int(sys.argv[1])
r, w = os.pipe()
fcntl.fcntl(w, fcntl.F_SETFL, os.O_NONBLOCK)
try:
    while True:
        os.write(w, b'x' * 4096)
except BlockingIOError:
    fcntl.fcntl(w, fcntl.F_SETFL, 0)
p = subprocess.Popen(sys.argv[2:], pass_fds=[fd] if fd > 2 else [],
                     stdin=subprocess.DEVNULL,
                     preexec_fn=lambda: os.dup2(w, fd))
try:
    print(p.wait(60))
except subprocess.TimeoutExpired:
    print('stuck')
    p.kill()
PY
cat >"$T/stopped.py" <<'PY'
"""stopped.py CMD...: the same with a terminal for stderr whose output is
stopped."""
import os
import pty
import subprocess
import sys
import termios

r, w = pty.openpty()
termios.tcflow(w, termios.TCOOFF)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=w)
try:
    print(p.wait(60))
except subprocess.TimeoutExpired:
    print('stuck')
    p.kill()
PY
chmod 755 "$T"
noise='exec 2>/dev/null; i=0; while [ $i -lt 60 ]; do cat secret; i=$((i + 1)); done; exit 3'
for who in $WHOS; do
	W=$(workspace "$who")
	as "$who" sh -c "echo key >$W/secret"
	# Not a word before the command starts: that would be waited for.
	echo '{ "extends": "workspace-write",
	    "limits": { "time": "1s" } }' >"$T/time.json"
	unread() {	# unread FD ARGS...: prints a status
		(cd "$W" && as "$who" /usr/bin/python3 "$T/unread.py" "$1" \
		    "$FENCE_RUN" "${@:2}")
	}
	is "$(unread 2 --deny-read ./secret -- sh -c "$noise" 2>&1)" 3 "$who: the closing line"
	is "$(unread 2 -m --deny-read ./secret -- sh -c "$noise" 2>&1)" 3 "$who: records as text"
	is "$(unread 2 -s "$T/time.json" -- sleep 600)" 124 \
	    "$who: an error after the command"
	is "$(unread 7 --deny-read ./secret --trace-file fd:7 -- sh -c "$noise" 2>/dev/null)" 3 \
	    "$who: a trace"
	is "$(cd "$W" && as "$who" /usr/bin/python3 "$T/stopped.py" \
	    "$FENCE_RUN" -m --deny-read ./secret -- \
	    sh -c "$noise")" 3 "$who: a stopped terminal"
	fence "$who" --deny-read ./secret -- sh -c "$noise"
	is "$status" 3 "$who: with a reader: the status"
	like "$err" '60 refusals' "$who: and the closing line"
done
finish
