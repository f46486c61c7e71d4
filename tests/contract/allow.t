#!/usr/bin/env bash
# fence allow, fence trace --suggest: the policy in force is changed as shown.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

F=$FENCE_PREFIX/bin/fence

home() {	# home WHO
	W=$(workspace "$1")
	H=$W/home P=$W/home/.config/fence/fence.json
	as "$1" mkdir -p "$H" "$W/work" "$W/out"
	as "$1" sh -c 'cd "$1" && echo one >out/one && echo two >out/two' - "$W"
}

at_home() {	# at_home WHO CMD…
	local who=$1
	shift
	capture "$who" env -u XDG_STATE_HOME -u XDG_CONFIG_HOME HOME="$H" \
	    sh -c 'cd "$1" && shift && exec "$@"' - "$W/work" "$@" </dev/null
}

allow() {	# allow WHO ARGS…
	local who=$1
	shift
	at_home "$who" "$F" allow "$@"
}

write() {	# write WHO FILE: its text is standard input
	as "$1" tee "$2" >"$T/ignored"
}

# answer ANSWER CMD…: CMD on a terminal; ANSWER is typed when it asks.
cat >"$T/answer.py" <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
seen, asked = b'', False
while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        data = b''
    if not data:
        break
    seen += data
    if not asked and b'[y/N]' in seen:
        asked = True
        os.write(fd, sys.argv[1].encode() + b'\n')
sys.stdout.write(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PY
chmod 644 "$T/answer.py"

cat >"$T/swap.py" <<'PY'
import os, sys
os.chdir(sys.argv[1])
print('ready', flush=True)
was = os.stat('fence.jsonc')
while True:
    now = os.stat('fence.jsonc')
    if (now.st_size, now.st_ino) != (was.st_size, was.st_ino):
        break
    if os.path.exists('stop'):
        sys.exit()
with open('more.json', 'w') as f:
    f.write('{ "network": { "allowedDomains": ["evil.test"] } }')
PY
chmod 644 "$T/swap.py"

for who in $WHOS; do
	home "$who"
	allow "$who" a.test
	like "$status:$err" '^1:.*nothing was changed.*hint: -y' \
	    "$who: without a terminal nothing is changed"
	like "$out" '^--- /dev/null.*\+ .*"extends": "workspace-write".*"a.test"' \
	    "$who: the change is shown"
	[ ! -e "$P" ]
	ok $? "$who: and there is no policy"
	at_home "$who" python3 "$T/answer.py" n "$F" allow a.test
	is "$status:$(ls "${P%/*}" 2>/dev/null)" 1: "$who: no is no"
	at_home "$who" python3 "$T/answer.py" y "$F" allow a.test
	is "$status" 0 "$who: yes on a terminal"
	is "$(tr -d ' \n' <"$P")" \
	    '{"extends":"workspace-write","network":{"allowedDomains":["a.test"]}}' \
	    "$who: is written"
	is "$(stat -c %a "$P")" 600 "$who: for its user"
	allow "$who" -y a.test
	like "$status:$err" '^0:.*says so already' "$who: once is enough"
	allow "$who" -y 'no host'
	like "$status:$err" '^1:.*allowedDomains\[1\].*no host' \
	    "$who: what is no policy is not written"
	allow "$who"
	is "$status" 2 "$who: nothing to allow"
	allow "$who" --read a.test
	is "$status" 2 "$who: a host is not read"

	# What is allowed is allowed; comments stay.
	write "$who" "$P" <<-'POLICY'
	{
	  // mine
	  "extends": "workspace-write", /* too */
	}
	POLICY
	at_home "$who" "$FENCE_RUN" -- sh -c "echo x >$W/out/one"
	is "$status" 2 "$who: refused before"
	allow "$who" -y "$W/out/one"
	at_home "$who" "$FENCE_RUN" -- sh -c "echo x >$W/out/one"
	is "$status:$err" 0: "$who: and not after"
	like "$(cat "$P")" '// mine.*/\* too \*/' "$who: comments stay"

	# From a run; what the jail alone says is not taken without a look.
	at_home "$who" "$FENCE_RUN" -- sh -c "echo x >$W/out/two; exit 1"
	at_home "$who" "$F" trace --suggest
	like "$status:$out" "^0:# only a process inside .*\\+\\+\\+ $P.*\\+ .*$W/out/two" \
	    "$who: --suggest: the difference"
	cp "$P" "$T/patched.$who"
	patch -s "$T/patched.$who" <<<"$out"
	ok $? "$who: is one for patch"
	at_home "$who" "$FENCE_RUN" -- sh -c "echo x >$W/out/two; exit 1"
	allow "$who" --from last -y
	like "$status:$err" '^1:.*only processes inside.*--claims.*no line would' \
	    "$who: -y takes no claims"
	# Over a file of another name the mount of a run that lasts is gone.
	inode=$(stat -c %i "$P")
	allow "$who" --from last -y --claims
	is "$status" 0 "$who: --claims takes them"
	is "$(stat -c %i "$P")" "$inode" "$who: in the same file"
	cmp -s "$P" "$T/patched.$who"
	ok $? "$who: as --suggest showed"
	at_home "$who" "$FENCE_RUN" -- sh -c "echo x >$W/out/two"
	is "$status:$err" 0: "$who: and the run is refused nothing"

	# The last run of all may have been of another workspace.
	at_home "$who" sh -c 'cd "$1" && shift && exec "$@"' - "$W/out" \
	    "$FENCE_RUN" -- sh -c "echo x >$W/work/one; exit 1"
	old=$(cat "$P")
	allow "$who" --from last -y --claims
	like "$status:$err" "^1:.*$W/out: the last run was not here" \
	    "$who: -y takes no other workspace's run"
	is "$(cat "$P")" "$old" "$who: and changes nothing"
	allow "$who" --from last
	like "$err" "the run was in $W/out: sh -c" \
	    "$who: whoever looks is told where it was"
	hint=$(sed -n 's/.*hint: --from \([0-9a-f]*\) -y takes.*/\1/p' <<<"$(
	    allow "$who" --from last -y --claims; echo "$err")")
	allow "$who" --from "$hint" -y --claims
	is "$status" 0 "$who: it can be named"

	# A project's file: trusted it stays trusted; else it is let alone.
	write "$who" "$W/work/fence.jsonc" <<<'{ "extends": "@base" }'
	old=$(cat "$W/work/fence.jsonc")
	allow "$who" -y b.test
	like "$status:$err" "^0:.*$W/work/fence.jsonc is not trusted" \
	    "$who: an untrusted project file is told of"
	is "$(cat "$W/work/fence.jsonc")" "$old" "$who: and let alone"
	grep -q b.test "$P"
	ok $? "$who: the user's own is changed"
	at_home "$who" "$F" config trust
	allow "$who" -y c.test ./sub
	like "$status:$err" '^0:.*trusted as it is now' "$who: a trusted one"
	like "$(cat "$W/work/fence.jsonc")" '"\./sub"' \
	    "$who: has paths of its folder"
	at_home "$who" "$F" why connect c.test
	like "$out" '^allow' "$who: and holds"
	write "$who" "$W/work/fence.jsonc" \
	    <<<'{ "extends": "@base", "network": { "allowedDomains": ["evil.test"] } }'
	allow "$who" -y d.test
	unlike "$(cat "$W/work/fence.jsonc")" d.test \
	    "$who: what somebody changed is let alone"
	allow "$who" -y -s fence.jsonc d.test
	unlike "$status:$err" '^0:.*trusted as it' "$who: and never trusted"
	at_home "$who" "$F" why connect evil.test
	unlike "$out" '^allow' "$who: so it allows nothing"

	# An extended file that a jail changes while the new text is put.
	write "$who" "$W/work/more.json" <<<'{ "extends": "@base" }'
	write "$who" "$W/work/fence.jsonc" <<<'{ "extends": "./more.json" }'
	at_home "$who" "$F" config trust
	is "$status" 0 "$who: a file with another is trusted"
	as "$who" python3 "$T/swap.py" "$W/work" </dev/null >"$T/swap.$who" &
	swapper=$!
	until [ -s "$T/swap.$who" ]; do :; done
	allow "$who" -y g.test
	as "$who" touch "$W/work/stop"
	wait "$swapper"
	at_home "$who" "$F" why connect evil.test
	unlike "$out" '^allow' "$who: trust goes to nothing put in meanwhile"
	rm -f "$W/work/fence.jsonc" "$W/work/more.json" "$W/work/stop"
	allow "$who" -y -u e.test
	grep -q e.test "$P"
	ok $? "$who: --user"
	write "$who" "$W/p.ini" <<<'[network]'
	allow "$who" -y -s "$W/p.ini" a.test
	like "$status:$err" '^1:.*INI' "$who: an INI file is not edited"
	is "$(ls -A "${P%/*}" "$W/work" | grep -c "\.fence-")" 0 \
	    "$who: nothing lies beside"
	at_home "$who" "$FENCE_RUN" -- "$F" allow -y f.test
	like "$status:$err" '^1:.*already inside fence' "$who: inside fence"
done
finish
