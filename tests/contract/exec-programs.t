#!/usr/bin/env bash
# Under supervision programs that start others run as they do without, and
# what is denied is refused to them; a monitor that stops or ends lets nothing
# pass.
. "$(dirname "$0")/../lib.sh"

cat >"$T/p.json" <<'POLICY'
{ "filesystem": { "allowWrite": ["."] },
  "command": { "deny": ["id", "uname -a"] } }
POLICY
# By a file, into which nobody looks before the run.
run() {		# run COMMAND…
	rm -f "$W/trace"
	printf 'exec %s\n' "$(printf '%q ' "$@")" >"$W/command"
	fence "$who" -s "$T/p.json" --trace-file "$W/trace" -- bash ./command
}
refusals() {	# refusals NAME: at least one of `id`, and it did not run
	ok $(($(denials "$W/trace" /usr/bin/id command.) < 1)) \
	    "$who: $1: the denied one is refused"
	unlike "$out" 'uid=' "$who: $1: and did not run"
}

# starts COMMAND…: in the background, until it has executed something
starts() {
	rm -f "$W/log"
	start "$who" "$FENCE_RUN" -s "$T/p.json" -- sh -c 'i=0
	    while [ ! -e stop ]; do /bin/echo $i >>log; i=$((i+1)); done' \
	    2>"$T/err"
	wait_for 20 test -s "$W/log"
	ok $? "$who: $1: it runs"
}
child() {	# child NAME: the pid of that process of fence-run's
	for p in $(tr ' ' '\n' <"/proc/$pid/task/$pid/children"); do
		[ "$(cat "/proc/$p/comm")" != "$1" ] || echo "$p"
	done
}
is_stopped() {	# is_stopped PID
	grep -q '^State:.T' "/proc/$1/status"
}
look_away() {	# for as long as a few programs take
	for _ in 1 2 3 4 5; do
		"$PROBES/probe-static" </dev/null >/dev/null 2>&1
	done
}
is_asleep() {	# nobody of the jail gets on: two looks, the same log
	local n
	n=$(wc -l <"$W/log")
	look_away
	[ "$n" = "$(wc -l <"$W/log")" ]
}
are_gone() {	# are_gone PID…
	local p
	for p; do
		[ ! -e "/proc/$p" ] || return 1
	done
}
has_grown() {	# has_grown LINES
	[ "$(wc -l <"$W/log")" -gt "$1" ]
}

for who in $WHOS; do
	W=$(workspace "$who")
	cat >"$W/mp.py" <<'PY'
import multiprocessing as mp, subprocess as s
def f(i): return s.run(["/bin/echo", str(i)], capture_output=True,
                       text=True).stdout == f"{i}\n"
if __name__ == "__main__":
    for m in ("fork", "spawn", "forkserver"):
        with mp.get_context(m).Pool(3) as p:
            print(m, all(p.map(f, range(12))))
    try: s.run(["id"])
    except PermissionError as e: print(e.errno)
PY
	run /usr/bin/python3 mp.py
	is "$out" $'fork True\nspawn True\nforkserver True\n13' \
	    "$who: python: subprocess and multiprocessing"
	refusals python
	cat >"$W/cp.js" <<'JS'
const cp = require('child_process')
let n = 0, bad = 0
for (let i = 0; i < 40; i++)
	cp.execFile('/bin/echo', [`${i}`], (e, out) => {
		bad += e || out !== `${i}\n` ? 1 : 0
		if (++n === 40)
			console.log(bad, cp.spawnSync('id').error.code,
			    cp.spawnSync('sh', ['-c', 'id']).stderr.toString()
			    .split('\n')[0])
	})
JS
	run node cp.js
	like "$out" "^0 EACCES fence: execution of '/usr/bin/id' was refused" \
	    "$who: node: child_process, whose stderr is a socket"
	refusals node
	{
		echo ".PHONY: all denied"
		echo "all: $(seq -s ' ' -f '%g.o' 60)"
		printf '%%.o:\n\t@/bin/true && touch $@\n'
		printf 'denied:\n\t@id\n'
	} >"$W/Makefile"
	run make -s -j4
	is "$status:$(find "$W" -name '*.o' | wc -l)" 0:60 "$who: make -j"
	run make -s -j4 denied
	is "$status" 2 "$who: make: what is denied fails"
	refusals make
	run sh -c 'seq 100 | xargs -P8 -n1 /bin/echo | sort -n | tail -1; echo | xargs id'
	is "$out" 100 "$who: xargs -P"
	refusals xargs
	run sh -c 'git init -q r && cd r && git config user.email a@b &&
	    git config user.name a &&
	    printf "#!/bin/sh\n/bin/echo hooked\nid\nexit 0\n" >.git/hooks/pre-commit &&
	    chmod +x .git/hooks/pre-commit && echo a >f && git add f &&
	    git commit -qm a 2>&1 && git log --format=%s'
	like "$out" 'hooked.*a$' "$who: a git hook"
	refusals git
	echo '{"name":"x","scripts":{"a":"/bin/echo scripted && id"}}' \
	    >"$W/package.json"
	if command -v npm >/dev/null; then
		run npm run -s a
		like "$out" scripted "$who: an npm script"
		refusals npm
	fi
	run "$PROBES/goclient" -h
	ok $((status > 2)) "$who: a Go program"
	run bash -c 'for i in {1..20}; do (exec /bin/true) || echo no; done
	    coproc cat; echo a >&"${COPROC[1]}"; read -r l <&"${COPROC[0]}"
	    echo "$l" <(/bin/echo) | wc -w; kill $COPROC_PID'
	is "$out" 2 "$who: bash: coprocess, process substitution"
	run zsh -c '/bin/echo z; id; command -v id'
	like "$out" 'z./.*/id' "$who: zsh"
	refusals zsh
	run busybox-static-is-not-here
	is "$status" 127 "$who: a program that is not there"
	run sh -c 'nosuchprogram; echo $?; /etc/passwd; echo $?; ./w; echo $?'
	is "$out" $'127\n126\n127' "$who: what fails anyway fails as ever"

	# The monitor, and its tracer, stop and go on.
	for name in monitor fence-trace; do
		rm -f "$W/stop"
		starts "$name"
		p=$pid
		[ "$name" = monitor ] || p=$(child fence-trace)
		kill -STOP "$p"
		wait_for 20 is_stopped "$p"
		# An execution may have been permitted just before.
		wait_for 20 is_asleep
		n=$(wc -l <"$W/log")
		look_away
		is "$(wc -l <"$W/log")" "$n" "$who: $name stopped: nothing passes"
		kill -CONT "$p"
		wait_for 20 has_grown "$((n + 20))"
		ok $? "$who: $name goes on: and so does the rest"
		touch "$W/stop"
		wait "$pid"
		is "$?" 0 "$who: $name: unharmed"
	done
	# They end.
	for name in monitor fence-trace; do
		rm -f "$W/stop"
		starts "$name"
		p=$pid
		[ "$name" = monitor ] || p=$(child fence-trace)
		inner=$(ps -o pid= --ppid "$pid")
		kill -KILL "$p"
		wait "$pid" 2>/dev/null
		is "$?" "$([ "$name" = monitor ] && echo 137 || echo 1)" \
		    "$who: $name killed: the run ends"
		# shellcheck disable=SC2086
		wait_for 20 are_gone $inner
		ok $? "$who: $name killed: and all of it"
		n=$(wc -l <"$W/log")
		look_away
		is "$(wc -l <"$W/log")" "$n" "$who: $name killed: nothing passes"
	done
	like "$(cat "$T/err")" 'fence-trace ended.*the run was ended' \
	    "$who: it says why"
done
finish
