#!/usr/bin/env bash
# Attacks on the tree around the workspace.  Most are rows of
# batches/attack.batch; here are those that need an accomplice outside, a
# descriptor from outside, or two jails.
. "$(dirname "$0")/../lib.sh"

if [ "${1-}" = inside ]; then
	ways=user-shim,user-noshim,user-static
	[ "$2" = user ] || ways=root-shim,root-noshim,root-static
	"$TESTS/batch" --ways "$ways" "$TESTS/batches/attack.batch" | count_tap
	exit "${PIPESTATUS[0]}"
fi

# Names, modes, owners, links, times and contents.
picture() {	# picture PATH…
	find "$@" -printf '%p %y %m %U %G %l' \
	    \( -type d -printf '\n' -o -printf ' %s %n %T@\n' \) | sort
	find "$@" -type f -exec sha256sum {} + | sort
}

policy() {	# policy JSON: outside the workspace
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

# table WHO PROBE STDIN LINES: one jail; $out has an answer a line.
table() {
	local who=$1 probe=$PROBES/$2 stdin=$3

	printf '%s\n' "$4" >"$T/table"
	chmod 644 "$T/table"
	as_words "$who"
	out=$(cd "$W" && "${PRE[@]}" "$FENCE_RUN" -s "$T/policy.json" -- \
	    "$probe" "$T/table" <"$stdin" 2>"$T/err" | sed 's/.* -> //')
	err=$(cat "$T/err")
}

# What fd 0 leads to is no more writable than its path.
stdin_attacks() {	# stdin_attacks WHO
	local who=$1 probe before

	policy '{"filesystem":{"allowWrite":["."],"denyWrite":["locked"]}}'
	before=$(picture "$base/victim" "$W/locked")
	for probe in probe probe-static; do
		table "$who" $probe "$base/victim/file" 'touchfd 0
reopen - O_RDWR
reopen - O_RDONLY'
		is "$(tail -n 1 <<<"$out")" OK \
		    "$who: $probe: stdin from outside is read again"
		table "$who" $probe "$W/locked" 'reopen - O_RDWR
reopen - O_WRONLY|O_TRUNC
reopen - O_RDONLY'
		is "$(tail -n 1 <<<"$out")" OK \
		    "$who: $probe: stdin from a denied file is read again"
		table "$who" $probe "$W/mine" "reopen - O_RDONLY
append $W/mine x
chmod $W/mine 0600"
		is "$out" $'OK\nOK\nOK' \
		    "$who: $probe: one's own, and by its name it is written"
	done
	is "$(picture "$base/victim" "$W/locked")" "$before" \
	    "$who: and those two were not"
}

# Without a writer or a reader, whoever opens a FIFO waits for ever.
fifos() {	# fifos WHO
	local who=$1

	as "$who" mkdir -p "$W/fifos/sub"
	as "$who" mkfifo "$W/fifos/".{git,env,envrc,bashrc,mcp.json} \
	    "$W/fifos/locked" "$W/fifos/sub/.git"
	as "$who" ln -s loop "$W/fifos/loop"
	policy '{"filesystem":{"allowWrite":["."],
	    "denyWrite":["locked","loop","**/sub/*"],
	    "denyRead":[".env","**/.env*"]}}'
	W=$W/fifos capture "$who" timeout 5 "$FENCE_RUN" \
	    -s "$T/policy.json" -- sh -c 'echo 1 >made'
	is "$status" 0 "$who: FIFOs where fence looks: it starts"
	is "$(cat "$W/fifos/made")" 1 "$who: and one may write beside them"
	as "$who" mkfifo "$W/fifos/fence.json"
	W=$W/fifos capture "$who" timeout 5 "$FENCE_RUN" -- true
	is "$status" 0 "$who: a FIFO is not taken for the project's policy"
	as "$who" rm -r "$W/fifos"
}

# A jail that runs already turns a grant of the next one into a symlink.
flip='
import ctypes, os
libc = ctypes.CDLL(None)
os.mkdir("sub")
os.symlink("../victim", "other")
print("flipping", flush=True)
def again():	# the guard of the other jail takes one of them now and then
    a, b = os.path.lexists("sub"), os.path.lexists("other")
    if not a and not (b and not os.path.islink("other")): os.mkdir("sub")
    elif not a: os.symlink("../victim", "sub")
    elif not b and os.path.islink("sub"): os.mkdir("other")
    elif not b: os.symlink("../victim", "other")
while True:
    if libc.syscall(316, -100, b"sub", -100, b"other", 2) != 0:	# renameat2
        try: again()
        except OSError: pass
'
two_jails() {	# two_jails WHO
	local who=$1 before n made=0

	[ "$(uname -m)" = x86_64 ] || {
		skip "the number of renameat2" "$who: a racing jail"
		return
	}
	before=$(picture "$base/victim")
	policy '{"filesystem":{"allowWrite":[".","./sub"],
	    "denyRead":["sub/decoy"],"denyWrite":["other/file"]}}'
	start "$who" "$FENCE_RUN" -- /usr/bin/python3 -c "$flip" >"$T/flip"
	wait_for 10 grep -q flipping "$T/flip"
	for n in $(seq 60); do
		[ "$n" != 11 ] ||
		    policy '{"filesystem":{"allowWrite":[".","./sub"]}}'
		fence "$who" -s "$T/policy.json" -- sh -c '
		    echo x >sub/planted; echo x >other/planted2
		    echo x >>sub/file; chmod 777 sub/file; echo 1 >mark'
		[ ! -e "$W/mark" ] || made=$((made + 1))
		rm -f "$W/mark"
	done
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm -rf "$W/sub" "$W/other"
	note "$who: $made of $n jails started"
	is "$(picture "$base/victim")" "$before" \
	    "$who: a racing jail leads no other out of the workspace"
	fence "$who" -s "$T/policy.json" -- sh -c 'echo x >mark'
	is "$(cat "$W/mark")" x "$who: afterwards one starts as ever"
}

# Whoever takes guarded names away from outside must not be led elsewhere.
plant='
import ctypes, os, time
libc = ctypes.CDLL(None)
end = time.monotonic() + 1.5

def flip(name, other):
    while time.monotonic() < end:
        if libc.syscall(316, -100, name, -100, other, 2) != 0:
            try:
                os.path.lexists(name) or os.mkdir(name)
                os.path.lexists(other) or os.symlink("../victim", other)
            except OSError:
                pass

def write(name):
    while time.monotonic() < end:
        for f in b"settings.json", b"config.toml", b"hooks.json":
            try:
                os.close(os.open(name + b"/" + f, os.O_CREAT | os.O_WRONLY))
            except OSError:
                pass

for n, name in enumerate((b".claude", b".codex")):
    for work, *args in (flip, name, b"other%d" % n), (write, name):
        if os.fork() == 0:
            work(*args)
            os._exit(0)
for _ in range(4):
    os.wait()
print("planted")
'
misled_guard() {	# misled_guard WHO
	local who=$1 before

	[ "$(uname -m)" = x86_64 ] || {
		skip "the number of renameat2" "$who: a guard that is misled"
		return
	}
	as "$who" sh -c "cd '$base/victim' && for f in settings.json \
	    config.toml hooks.json; do echo real >\$f; done
	    mkdir hooks && echo real >hooks/h"
	before=$(picture "$base/victim")
	capture "$who" env FENCE_PRETEND=noshim HOME="$base/home" \
	    "$FENCE_RUN" -- /usr/bin/python3 -c "$plant"
	is "$out" planted "$who: guarded names are planted, their folder flips"
	is "$(picture "$base/victim")" "$before" \
	    "$who: nobody is led to the folder outside"
	is "$(cd "$W" && ls -d .claude/settings.json .codex/config.toml \
	    .codex/hooks.json 2>/dev/null)" "" \
	    "$who: and none of the names is left"
	rm -rf "$W/.claude" "$W/.codex" "$W"/other?
}

own_places='
for f in none none.d s names etc etc/ld.so.preload etc/.fence/libfence-shim.so; do
	[ -e /run/fence/$f ] || continue
	chmod 777 /run/fence/$f && echo chmod $f
	rm -rf /run/fence/$f && echo rm $f
	mv /run/fence/$f /run/fence/x && echo mv $f
	(echo x >>/run/fence/$f) && echo wrote $f
done
mkdir /run/fence/d && echo mkdir
mkdir /run/d && echo mkdir run
chmod 777 /run/fence /run /etc && echo chmod dirs
echo x >/dev/new && echo dev
: >/dev/null && : >/tmp/f && echo done
'

# A neighbour has a symlink in the way to the record while it is opened, and
# a folder afterwards.  The policy comes through a pipe, so that it waits.
record_exchanged() {	# record_exchanged WHO
	local who=$1 option at=$base/record

	as "$who" mkdir -p "$at/w" "$at/out"
	W=$at/w
	as "$who" mkfifo "$at/policy"
	for option in --trace-file --fence-log-file; do
		as "$who" sh -c 'rm -rf "$1/w/logs"
		    echo precious >"$1/out/t"; ln -s ../out "$1/w/logs"' \
		    sh "$at"
		start "$who" "$FENCE_RUN" "$option" logs/t -s "$at/policy" \
		    -- true 2>"$T/err"
		wait_for 20 eval 'ls -l "/proc/$pid/fd" | grep -q "/out/t$"'
		as "$who" sh -c 'rm "$1/w/logs"; mkdir "$1/w/logs"
		    touch "$1/w/logs/t"' sh "$at"
		echo '{"extends":"workspace-write"}' >"$at/policy"
		wait "$pid"
		is "$?" 1 "$who: $option by way of an exchanged folder"
		like "$(cat "$T/err")" 'was exchanged while it was opened' \
		    "$who: is refused"
		is "$(cat "$at/out/t")" precious "$who: and empties nothing"
	done
}

for who in $WHOS; do
	inside "$who"
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir "$W" "$base/victim" "$base/home"
	as "$who" sh -c "cd '$base' && echo v >victim/file &&
	    chmod 600 victim/file && echo x >w/locked && echo x >w/mine"

	stdin_attacks "$who"
	fifos "$who"
	two_jails "$who"
	misled_guard "$who"
	record_exchanged "$who"
	W=$base/w

	capture "$who" "$FENCE_RUN" -- sh -c "$own_places" 2>/dev/null
	is "$out" "done" "$who: what fence laid into the jail stays as it is"

	# shellcheck disable=SC2016 # the inner shell expands
	capture "$who" bash -c 'exec 9<"$1" 8>>"$1/file"; exec "$2" -- sh -c \
	    "echo x >&8; ls /proc/self/fd/9/; ls -d /proc/self/fd/1"' \
	    sh "$base/victim" "$FENCE_RUN"
	is "$out" /proc/self/fd/1 "$who: descriptors from outside are gone"
	is "$(cat "$base/victim/file")" v "$who: and wrote nothing"

	fence "$who" -- sh -c 'cp /usr/bin/id own; chmod 4755 own; ./own -u'
	is "$out" "$(as "$who" id -u)" "$who: a setuid copy is nobody else"
done

if [ "$IS_ROOT" = 1 ]; then
	W=$(workspace user)
	cp /usr/bin/id "$W/id"
	chmod 4755 "$W/id"
	is "$(cd "$W" && as user ./id -u)" 0 "root's setuid copy works outside"
	fence user -- ./id -u
	is "$out" "$(as user id -u)" "and does nothing for a jailed user"
fi
finish
