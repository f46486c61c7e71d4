#!/usr/bin/env bash
# Exit status, signals, descriptors: as if fence-run were not there.
# limit: 60
. "$(dirname "$0")/../lib.sh"

statuses() {	# statuses WHO
	local n
	for n in 0 1 2 42 125 126 127 255; do
		fence "$1" -- sh -c "exit $n"
		is "$status" $n "$1: exit $n"
	done
	fence "$1" -- /nonexistent/program
	is "$status" 127 "$1: a program that is not there is 127"
	like "$err" '/nonexistent/program' "$1: and is named"
	fence "$1" -- no-such-program-on-the-path
	is "$status" 127 "$1: a program that is not on the path is 127"
	as "$1" sh -c 'mkdir "$1/shut" && chmod 0 "$1/shut"' sh "$W"
	capture "$1" env PATH="$W/shut:$PATH" "$FENCE_RUN" -- no-such-program
	is "$status" 127 "$1: also where a part of the path is closed"
	as "$1" rmdir "$W/shut"
	as "$1" sh -c 'echo echo >"$1/plain"' sh "$W"
	fence "$1" -- ./plain
	is "$status" 126 "$1: a file that is no program is 126"
	capture "$1" env PATH="$W:$PATH" "$FENCE_RUN" -- plain
	is "$status" 126 "$1: also on the path"
	fence "$1" -- sh -c 'kill -TERM $$'
	is "$status" 143 "$1: death by SIGTERM is 143"
	fence "$1" -- sh -c 'kill -KILL $$'
	is "$status" 137 "$1: death by SIGKILL is 137"
	fence "$1" -- true
	is "$out$err" "" "$1: fence-run says nothing of its own"
}

sigterm() {	# sigterm WHO
	start "$1" "$FENCE_RUN" -- sh -c '
		trap "echo caught >got; exit 9" TERM
		echo up >up
		while :; do sleep 100 & wait; done'
	wait_for 20 test -s "$W/up"
	ok $? "$1: the command is up"
	kill -TERM "$pid"
	wait "$pid"
	is "$?" 9 "$1: SIGTERM to fence-run reaches a trap"
	is "$(cat "$W/got" 2>&1)" caught "$1: and the trap ran"
	start "$1" "$FENCE_RUN" -- sh -c 'echo up >up2; exec sleep 100'
	wait_for 20 test -s "$W/up2"
	kill -TERM "$pid"
	wait "$pid"
	is "$?" 143 "$1: SIGTERM to fence-run ends a command without one"
}

# Each is passed on as often as it comes; the second is no order to kill.
signals() {	# signals WHO
	local s n names=(HUP INT QUIT TERM USR1 USR2 ALRM CONT TSTP WINCH)
	start "$1" env --default-signal "$FENCE_RUN" -- python3 -c '
import signal, sys
got = open("signals", "w", 1)
def hear(n, frame):
    got.write(signal.Signals(n).name + "\n")
for name in sys.argv[1:]:
    signal.signal(getattr(signal, "SIG" + name), hear)
open("ready", "w").close()
while True:
    signal.pause()' "${names[@]}"
	wait_for 20 test -e "$W/ready"
	for s in "${names[@]}"; do
		for n in 1 2; do
			kill -s "$s" "$pid"
			wait_for 20 eval \
			    '[ "$(grep -cx "SIG$s" "$W/signals")" -eq $n ]'
			ok $? "$1: SIG$s, for the ${n}. time"
		done
	done
	is "$(wc -l <"$W/signals")" 20 "$1: and nothing else"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	is $? 137 "$1: SIGKILL is fence-run's own"
	as "$1" rm "$W/ready" "$W/signals"
}

stragglers() {	# stragglers WHO
	# The ceiling is the runner's: a wait for sleep 100 would pass 30 s.
	local begin=$SECONDS
	fence "$1" -- sh -c 'sleep 100 & exit 5'
	is "$status" 5 "$1: sleep 100 & exit 5 is 5"
	fence "$1" -- sh -c '(sleep 100 &); exit 7'
	is "$status" 7 "$1: an orphan does not hold it up"
	is "$( (cd "$W" && as "$1" "$FENCE_RUN" -- \
	    sh -c 'sleep 100 & echo hi') | cat)" hi \
	    "$1: the pipe to the caller closes"
	[ $((SECONDS - begin)) -lt 60 ]
	ok $? "$1: at once"
	# Without a terminal nobody would wake fence-run: it must not stop.
	# shellcheck disable=SC2016 # the inner shell expands
	is "$(cd "$W" && as "$1" setsid -w timeout 20 "$FENCE_RUN" -- sh -c '
	    (until grep -q "^State:.*T" /proc/$$/status; do :; done
	    kill -CONT $$) & kill -STOP $$; echo resumed')" resumed \
	    "$1: stopped and continued from inside"
}

descriptors() {	# descriptors WHO
	is "$(cd "$W" && printf 'a\nb\n' | as "$1" "$FENCE_RUN" -- cat)" \
	    "$(printf 'a\nb')" "$1: stdin passes and ends"
	(cd "$W" && as "$1" "$FENCE_RUN" -- true <&-)
	ok $? "$1: closed stdin"
	(cd "$W" && as "$1" "$FENCE_RUN" -- true >&-)
	ok $? "$1: closed stdout"
	(cd "$W" && as "$1" "$FENCE_RUN" -- true <&- >&- 2>&-)
	ok $? "$1: all three closed"
	is "$(cd "$W" && as "$1" "$FENCE_RUN" -- sh -c \
	    'ls /proc/self/fd | wc -l' 9</dev/null)" 4 \
	    "$1: no descriptor but 0, 1, 2 (and that of ls)"
}

for who in $WHOS; do
	W=$(workspace "$who")
	statuses "$who"
	sigterm "$who"
	signals "$who"
	stragglers "$who"
	descriptors "$who"
done
finish
