#!/usr/bin/env bash
# limits.*: bombs stop at their limit, and just below it nothing is felt.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy LIMITS
	echo "{\"filesystem\":{\"allowWrite\":[\".\"]},\"limits\":{$1}}" \
	    >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

limited() {	# limited WHO COMMAND…
	fence "$1" -s "$T/policy.json" --trace-file "$W/trace" -- "${@:2}"
}

# How many children live at one time, of 60; the refusals' errno.
forks='
import os
r, w = os.pipe()
n, why = 0, 0
try:
    while n < 60:
        if os.fork() == 0:
            os.close(w)
            os.read(r, 1)
            os._exit(0)
        n += 1
except OSError as e:
    why = e.errno
print(n, why)'
files='
import os
n, why = 0, 0
try:
    while n < 500:
        os.open("/", os.O_RDONLY)
        n += 1
except OSError as e:
    why = e.errno
print(n, why)'
memory='
import sys
data = bytearray(int(sys.argv[1]) << 20)
print(len(data) >> 20)'

# Five processes, 150 MB together, until the first one is gone.
many='
import os, time
for i in range(5):
    if os.fork() == 0:
        data = bytearray(30 << 20)
        time.sleep(1000)
os.wait()'

groups() {	# groups PID: those of a run
	find /sys/fs/cgroup -maxdepth 8 -name "fence-run-$1" 2>/dev/null
}

no_groups() {
	[ -z "$(groups "$1")" ]
}

# May a group with this controller be made here?  (Version 1: our own.)
can_group() {	# can_group WHO CONTROLLER
	[ "$1" = root ] || return 1
	grep -qE "^[0-9]+:([a-z_]+,)*$2(,|:)" /proc/self/cgroup ||
	    grep -qw "$2" /sys/fs/cgroup/cgroup.controllers 2>/dev/null
}

for who in $WHOS; do
	W=$(workspace "$who")

	policy '"files": 40'
	limited "$who" python3 -c "$files"
	is "$out" "37 24" "$who: files: the 41st is refused"
	limited "$who" sh -c 'ulimit -n 41 || ulimit -n 40; ulimit -n'
	is "$out" 40 "$who: files: the limit cannot be raised"
	policy '"files": 1000'
	limited "$who" python3 -c "$files"
	is "$out" "500 0" "$who: files: below it all are opened"

	policy '"processMemory": "100M"'
	limited "$who" python3 -c "$memory" 200
	is "$status" 1 "$who: processMemory: a process above it fails"
	like "$err" MemoryError "$who: processMemory: as without memory"
	limited "$who" python3 -c "$memory" 50
	is "$status:$out" 0:50 "$who: processMemory: one below it does not"
	limited "$who" node -e 'console.log(1)'
	is "$status:$out" 0:1 "$who: processMemory: address space is free"

	# A crash must not start a program of the host's with the jail's bytes.
	core='import resource; print(*resource.getrlimit(resource.RLIMIT_CORE))'
	capture "$who" sh -c 'ulimit -Sc 0; exec "$@"' sh env FENCE_PRETEND=nocore \
	    "$FENCE_RUN" -- python3 -c "$core"
	is "$out" "1 1" "$who: no cores where core_pattern names a program"
	case $(cat /proc/sys/kernel/core_pattern) in
	[\|@]*)	skip "core_pattern names a program" "$who: cores" ;;
	*)	capture "$who" sh -c 'ulimit -Sc 5; exec "$@"' sh "$FENCE_RUN" \
		    -- sh -c 'ulimit -Sc'
		is "$out" 5 "$who: elsewhere the caller's limit stays" ;;
	esac

	policy '"time": "1s"'
	limited "$who" sh -c 'echo a; cat; echo b' <<<""
	is "$status:$out" $'0:a\n\nb' "$who: time: a short run is not touched"
	limited "$who" sh -c 'echo a; while :; do :; done'
	is "$status:$out" 124:a "$who: time: a busy loop ends"
	is "$err" "fence: limits.time 1s ($T/policy.json:1:54): its time is over" \
	    "$who: time: one line names the key and its place"
	like "$(denials "$W/trace" 2>/dev/null; cat "$W/trace")" \
	    'limits.time 1s' "$who: time: it is in the record"
	limited "$who" sh -c 'trap "echo term; exit 3" TERM; while :; do :; done'
	is "$status:$out" 124:term "$who: time: SIGTERM comes first"
	limited "$who" sh -c 'trap "" TERM; sleep 1000 & while :; do :; done'
	is "$status" 124 "$who: time: who ignores it is killed"
	limited "$who" sh -c 'trap "echo cont" CONT; kill -STOP $$; wait'
	is "$status" 124 "$who: time: who is stopped, too"
	fence "$who" -s "$T/policy.json" -m -- sleep 1000
	is "$status" 124 "$who: time: with -m"
	is "$(grep -c limits.time <<<"$err")" 1 "$who: time: is told once"

	policy '"processes": 12'
	if [ "$who" = user ] || can_group "$who" pids; then
		limited "$who" python3 -c "$forks"
		is "$out" "11 11" "$who: processes: the 13th is refused"
		fence "$who" --engine native -s "$T/policy.json" -- \
		    python3 -c "$forks"
		is "$out" "11 11" "$who: processes: so it is natively"
		limited "$who" sh -c 'f() { f | f & }; f; wait'
		like "$status" '^(0|2|254)$' "$who: processes: a fork bomb ends"
		start "$who" "$FENCE_RUN" -- sleep 1000
		other=$pid
		limited "$who" python3 -c "$forks"
		is "$out" "11 11" "$who: processes: other runs do not count"
		kill "$other"
		wait "$other"
		policy '"processes": 100'
		limited "$who" python3 -c "$forks"
		is "$out" "60 0" "$who: processes: below it all are started"
	else
		limited "$who" echo started
		is "$status:$out" 125: "$who: processes: an error without a cgroup"
	fi
	if [ "$who" = user ]; then
		capture user env FENCE_PRETEND=noucounts "$FENCE_RUN" \
		    -s "$T/policy.json" -- echo started
		is "$status:$out" 125: "user: processes on an old kernel"
		like "$err" 'limits.processes: .*hint: Linux 5.14' \
		    "user: processes: and why"
	fi

	policy '"memory": "100M"'
	if can_group "$who" memory; then
		limited "$who" python3 -c "$memory" 200
		is "$status" 137 "$who: memory: the kernel ends it"
		like "$err" "fence: limits.memory 100M .*policy.json:1:56.*ended" \
		    "$who: memory: and it is told"
		limited "$who" python3 -c "$many"
		like "$err" 'limits.memory' "$who: memory: of all together"
		limited "$who" python3 -c "$memory" 50
		is "$status:$out:$err" 0:50: "$who: memory: below it, silence"
		limited "$who" sh -c 'head -c 200M /dev/zero >/dev/shm/x'
		like "$err" 'limits.memory' "$who: memory: /dev/shm counts"
	fi
	# Where there is none.
	capture "$who" env FENCE_PRETEND=nocgroup "$FENCE_RUN" \
	    -s "$T/policy.json" -- echo started
	is "$status:$out" 125: "$who: memory without a cgroup starts nothing"
	like "$err" "^fence: $T/policy.json:1:56: limits.memory: only a cgroup" \
	    "$who: memory: names key and place"
	like "$err" 'limits.processMemory' "$who: memory: and what helps"
	if [ "$who" = user ] && [ "$IS_ROOT" = 1 ]; then
		limited user echo started
		is "$status:$out" 125: "user: no cgroup is delegated here"
	fi

	# After an ordinary end, and killed at any point, no group is left.
	policy '"processes": 12, "memory": "100M"'
	if can_group "$who" pids && can_group "$who" memory; then
		start "$who" "$FENCE_RUN" -s "$T/policy.json" -- true
		wait "$pid"
		no_groups "$pid"
		ok $? "$who: no group is left"
		for point in in-cgroup before-clone after-clone started exiting; do
			FENCE_PAUSE_AT=$point start "$who" "$FENCE_RUN" \
			    -s "$T/policy.json" -- true 2>"$W/paused"
			wait_for 20 grep -q "paused at $point" "$W/paused"
			[ -n "$(groups "$pid")" ]
			ok $? "$who: at $point there is a group"
			kill -9 "$pid"
			wait "$pid" 2>/dev/null
			wait_for 20 no_groups "$pid"
			ok $? "$who: kill -9 at $point leaves none"
		done
	fi
done
finish
