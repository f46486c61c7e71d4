#!/usr/bin/env bash
# What is sent to fence-run's whole process group reaches the command once, as
# it would without fence-run; what is sent to fence-run alone is passed on, as
# often as it is sent.
. "$(dirname "$0")/../lib.sh"

# Each signal is a line: its number.
tell='
import os, signal
all = set(range(1, 32)) - {9, 17, 19}
signal.pthread_sigmask(signal.SIG_BLOCK, all)
print("up", flush=True)
while True:
    os.write(1, b"%d\n" % signal.sigwaitinfo(all).si_signo)
'

# Prints "SIGNAL COUNTS": how often it came, for each of 20 times it was sent.
# After the second mark nothing else comes: what fence-run heard in one turn it
# may pass on in any order, but in turn.
send='
import os, signal, subprocess, sys
target, cmd = sys.argv[1], sys.argv[2:]
p = subprocess.Popen(cmd, stdout=subprocess.PIPE, start_new_session=True,
                     bufsize=0)
line = lambda: p.stdout.readline().strip()
line()
for s in "TERM INT HUP QUIT USR1 USR2 ALRM CONT".split():
    signo = getattr(signal, "SIG" + s)
    counts = []
    for _ in range(20):
        os.kill(-p.pid if target == "group" else p.pid, signo)
        came = [line()]
        for mark in 1, 2:
            os.kill(p.pid, signal.SIGWINCH)
            while came.count(b"28") < mark:
                came.append(line())
        counts.append(came.count(b"%d" % signo))
    print(s, *counts)
p.kill()
p.wait()
'

for who in $WHOS; do
	W=$(workspace "$who")
	for way in '' '--engine native' --force-new-session; do
		for target in group fence-run; do
			# shellcheck disable=SC2086 # words
			(cd "$W" && as "$who" python3 -c "$send" $target \
			    "$FENCE_RUN" $way -- python3 -c "$tell") \
			    >"$T/sent"
			is "$(grep -c '^[A-Z1-2]*\( 1\)\{20\}$' "$T/sent")" 8 \
			    "$who: ${way:-as ever}: to $target: each once" ||
			    note "$(cat "$T/sent")"
		done
	done
done
finish
