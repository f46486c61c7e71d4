#!/usr/bin/env bash
# The gate under load: tunnels and short connections by the thousand, slow,
# half-closed and reset ones; none is lost, memory is bounded, descriptors
# come back.  A jail that overdoes it harms itself alone.  The sizes are small
# here; load-long.t has the large ones.
# limit: 240
. "$(dirname "$0")/../lib.sh"
TUNNELS=${LOAD_TUNNELS:-200} SHORT=${LOAD_SHORT:-600} SOME=${LOAD_SOME:-40}
OPEN=${LOAD_OPEN:-2000} QUERIES=${LOAD_QUERIES:-20000}
BYTES=${LOAD_BYTES:-300000}

each_world "$@"
cp "$TESTS/probes/load.py" "$W"
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test", "203.0.113.2"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
mkfifo "$W/lines"
exec 4<>"$W/lines"
start "$who" "$FENCE_RUN" --settings "$T/p.json" -- /bin/bash -c '
	n=0
	while read -r line; do
		n=$((n + 1))
		eval "$line" >answer.tmp 2>&1
		mv answer.tmp answer.$n
	done <lines
	exit 7' >"$T/out" 2>"$T/err" 4>&-
nth=0
answered() {	# the last line, its answer
	wait_for 600 test -e "$W/answer.$nth"
	out=$(cat "$W/answer.$nth")
}
tell() {	# tell LINE
	nth=$((nth + 1))
	echo "$*" >&4
}
run() {		# run LINE
	tell "$@"
	answered
}
children() {	# children PID: all of them
	local p
	for p in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		echo "$p"
		children "$p"
	done
}
ours() {	# pids of the monitor and the workers
	local p
	for p in "$pid" $(children "$pid"); do
		case $(cat "/proc/$p/comm" 2>/dev/null) in
		fence-run|fence-net|fence-names)	echo "$p" ;;
		esac
	done
}
descriptors() {
	local p
	for p in $(ours); do
		find "/proc/$p/fd" -mindepth 1 2>/dev/null
	done | wc -l
}
memory() {	# KiB of all of them
	local p
	for p in $(ours); do
		cat "/proc/$p/status" 2>/dev/null
	done | awk '/^VmRSS:/ { n += $2 } END { print n }'
}
is_quiet() {	# is_quiet N: no more descriptors than that
	[ "$(descriptors)" -le "$1" ]
}

load="/usr/bin/python3 load.py"
run "curl -sS http://allowed.test/"
is "$out" "http allowed.test" "$who: before"
begin=$(descriptors)
note "$who: $begin descriptors, $(memory) KiB without a tunnel"

tell "$load hold $TUNNELS go"
wait_for 300 grep -q up "$W/answer.tmp"
ok $? "$who: $TUNNELS tunnels"
note "$who: $(memory) KiB with $TUNNELS idle tunnels, $(descriptors) descriptors"
ok $(($(memory) > 24 * 1024)) "$who: within 24 MiB"
touch "$W/go"
answered
like "$out" "hold $TUNNELS good, 0 bad" "$who: all of them still carry"
wait_for 60 is_quiet "$begin"
ok $? "$who: their descriptors are given back"

run "$load short $SHORT 50"
like "$out" "^short $SHORT good, 0 bad" "$who: $SHORT short ones, none lost"
run "$load slow $SOME $BYTES"
like "$out" "^slow $SOME good, 0 bad" "$who: $SOME slow readers get every byte"
run "$load half $SOME"
like "$out" "^half $SOME good, 0 bad" "$who: $SOME half-closed get their answer"
run "$load resets $SOME"
like "$out" "^resets $SOME good, 0 bad" "$who: a storm of $SOME resets"
wait_for 60 is_quiet "$begin"
ok $? "$who: nothing of it stays"

# Another jail beside one that overdoes it.
beside() {
	"$FENCE_RUN" --settings "$T/p.json" -- curl -sS -m 60 \
	    http://allowed.test/
}
tell "LOAD_HOLD=60 $load open $OPEN"
wait_for 60 grep -q open "$W/answer.tmp"
ok $? "$who: $OPEN connections that say nothing"
is "$(beside)" "http allowed.test" "$who: another jail does not notice"
kill -0 "$pid"
ok $? "$who: nor does its own monitor mind"
# The one who holds them is ended, and the next is served.
for p in $(children "$pid"); do
	! grep -qz 'load.py' "/proc/$p/cmdline" 2>/dev/null || kill "$p"
done
answered
run "curl -sS -m 60 http://allowed.test/"
is "$out" "http allowed.test" "$who: and the next is served"
run "$load queries $QUERIES"
like "$out" '^queries [1-9]' "$who: $QUERIES queries nobody reads"
is "$(beside)" "http allowed.test" "$who: another jail does not notice"
run "curl -sS -m 60 http://allowed.test/"
is "$out" "http allowed.test" "$who: and names are served again"
note "$who: $(memory) KiB at the end"
ok $(($(memory) > 24 * 1024)) "$who: and memory is bounded"
wait_for 60 is_quiet "$((begin + 2))"
ok $? "$who: so are descriptors"

# Clients that are gone, and an origin that never closes (two minutes).
if [ -n "${LOAD_VANISH:-}" ]; then
	cat >"$T/origin.py" <<'PYTHON'
import socket
s = socket.create_server(('203.0.113.2', 0), backlog=512)
print(s.getsockname()[1], flush=True)
conns = []
while True:
    conns.append(s.accept())
PYTHON
	/usr/bin/python3 "$T/origin.py" >"$T/port" &
	origin=$!
	wait_for 20 test -s "$T/port"
	run "$load vanish $SOME $(cat "$T/port")"
	like "$out" "^vanish $SOME good, 0 bad" "$who: $SOME clients are gone"
	wait_for 200 is_quiet "$((begin + 2))"
	ok $? "$who: an origin that does not hang up holds none of them"
	kill "$origin"
fi
exec 4>&-
wait "$pid"
is $? 7 "$who: to the end"
exit 0
