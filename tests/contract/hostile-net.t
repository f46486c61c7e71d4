#!/usr/bin/env bash
# fence-net conquered: behind its walls runs hostile code (probes/hostile*.c)
# that tries everything, then lies to the monitor, then floods it.  Whatever
# it does, it reaches what the policy allows, the monitor stays small and the
# run goes on.
. "$(dirname "$0")/../lib.sh"
FLOOD=${FENCE_FLOOD:-4000}
each_world "$@"
mkdir "$T/bare"
# An installation whose fence-net is the conquered one.
mkdir -p "$T/prefix/libexec"
cp -R "$FENCE_PREFIX/bin" "$T/prefix/bin"
cp -R "$FENCE_PREFIX/libexec/fence" "$T/prefix/libexec/fence"
cp -f "$PROBES/fence-net-hostile" "$T/prefix/libexec/fence/fence-net"
cat >"$T/p.json" <<'POLICY'
{
	"network": {
		"allowedDomains": ["allowed.test", "*.wild.test"],
		"allowLocalOutbound": true, "allowLocalOutboundPorts": [7301]
	},
	"filesystem": { "allowWrite": ["."] }
}
POLICY
# Inside, `say LINE` is said to whoever holds the proxy's listener.
cat >"$W/say" <<'SAY'
#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/3128 || exit 1
echo "$*" >&3
cat <&3
SAY
chmod +x "$W/say"

mkfifo "$W/lines"
exec 4<>"$W/lines"
# Each line is answered in $W/answer.N while the run goes on.
start "$who" "$T/prefix/bin/fence-run" -m -p 7302 --settings "$T/p.json" -- \
    /bin/bash -c '
	n=0
	while read -r line; do
		n=$((n + 1))
		case $line in
		!*)	eval "${line#!}" ;;
		*)	./say "$line" ;;
		esac >answer.tmp 2>&1
		mv answer.tmp answer.$n
	done <lines
	exit 7' >"$T/out" 2>"$T/err" 4>&-
nth=0
ask() {
	nth=$((nth + 1))
	echo "$*" >&4
	wait_for 200 test -e "$W/answer.$nth"
	out=$(cat "$W/answer.$nth")
}
children() {	# children PID NAME
	local p
	for p in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$p/comm")" != "$2" ] || echo "$p"
	done
}
rss() {		# KiB of a pid, at its highest
	awk '/^VmHWM:/ { print $2 }' "/proc/$1/status"
}
nfds() {
	find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l
}
lines_but() {	# lines_but REGEX: of $out, all others
	grep -Ev "$1" <<<"$out"
}

# Rights
ask calls
is "$(lines_but ' EPERM$')" end "$who: no row of hostile.c is granted"
is "$(grep -c EPERM <<<"$out")" \
    "$("$PROBES/hostile" </dev/null 2>&1 | grep -c .)" "$who: all were tried"
bare=$(cd "$T/bare" && "$PROBES/hostile")
is "$(grep -E '^[02] .* EPERM$' <<<"$bare")" "" \
    "$who: and none is refused where no wall is"
ask rest
is "$out" "all
end" "$who: nor is any other system call"
ask tricks
is "$(lines_but ' EPERM$')" "before works
after works
end" "$who: a connection it was given is that and nothing else"
ask listener
is "$(lines_but ' EPERM$')" end "$who: nor is a listener more than that"
like "$(cat /proc/"$(children "$pid" fence-net)"/status)" \
    'Seccomp:	0' "$who: its keeper is beside it"
server=$(children "$(children "$pid" fence-net)" fence-net)
is "$(grep -E '^(NoNewPrivs|Seccomp):' "/proc/$server/status" | cut -f2 |
    tr -d '\n')" 12 "$who: no_new_privs and a filter"
ask '!curl -sS -m 1 http://127.0.0.1:3128/'
ask i386
is "$out" "" "$who: a call by the i386 entry is its end"
ask x32
is "$out" "" "$who: so is one by the x32 entry"
wait_for 20 grep -q 'signal 31' "$T/err"
is "$(grep -c 'fence-net ended (signal 31) and was started again' "$T/err")" \
    2 "$who: which is told"

# Lies
before=$(nfds "$pid")
ask asks
# A name is dialled by whatever way it is asked for.
like "$out" '1 allowed.test OK fd.*2 allowed.test OK fd.*3 allowed.test OK fd' \
    "$who: what the policy allows is granted"
is "$(grep ' fd$' <<<"$out" | sed 's/^. //' | sort -u)" "ALLOWED.test. OK fd
allowed.test OK fd" "$who: and nothing else"
is "$(grep -E '^(in|out) ' <<<"$out")" "out 7 DENIED -
out 7301 REFUSED -
out 7302 DENIED -
in 7 DENIED -
in 7301 DENIED -
in 7302 REFUSED -" "$who: of ports those that were named, each its own way"
is "$(grep -c silence <<<"$out")" 0 "$who: the monitor goes on listening"
is "$(grep -Ec '^(cut short|a byte more|too long|nothing|descriptors|magic|port 0|NUL|kind LISTEN) NOHOST -' \
    <<<"$out")" 9 "$who: whatever it is told"
is "$(nfds "$pid")" "$before" "$who: it keeps no descriptor"

# Floods
for kind in denied allowed notes restarts; do
	ask "flood $kind $FLOOD"
	is "$out" "$kind $FLOOD
then OK fd
end" "$who: $FLOOD questions ($kind), then a right one"
done
# Names in the thousands; the resolver they drown is their own.
ask "flood dials $FLOOD"
like "$out" "^dials $FLOOD
then (OK fd|NOHOST -|FULL -)" "$who: $FLOOD connections to as many names"
size=$(rss "$pid")
note "$who: the monitor took $size KiB at most, and $(nfds "$pid") descriptors"
ok $((size > 40000)) "$who: the monitor's memory is bounded"
wait_for 20 eval '[ "$(nfds "$pid")" -le $((before + 1)) ]'
ok $? "$who: so are its descriptors"

# The run goes on, and so does the real worker.
ask serve
ask '!until curl -fsS http://allowed.test/; do :; done'
ask '!curl -sS http://allowed.test/ https://allowed.test/'
is "$out" "http allowed.test
https allowed.test" "$who: the run goes on"
ask '!curl -sS -o /dev/null -w "%{http_code}" http://denied.test/'
is "$out" 403 "$who: with the same policy"
exec 4>&-
wait "$pid"
is $? 7 "$who: to its own end"
is "$("$TESTS/world/world-count" of denied.test)" 0 \
    "$who: nothing went elsewhere"

# One that falls silent has closed its own door, and no other.
start "$who" "$T/prefix/bin/fence-run" --settings "$T/p.json" -- \
    /bin/bash -c './say hush; until [ -e told ]; do sleep 0.05; done; exit 9' \
    >"$T/out" 2>"$T/err"
wait_for 20 grep -q 'fence-net ended .*network is closed' "$T/err"
ok $? "$who: a worker that asks no more is told, and at its end"
touch "$W/told"
wait "$pid"
is $? 9 "$who: the run is not"

bare=$(timeout 20 "$PROBES/hostile" 198.51.100.10 7)
like "$bare" 'disconnect OK.connect_again OK.disconnect OK.sendto_fast OK' \
    "$who: where no wall is a connection leads elsewhere"
like "$("$TESTS/world/world-count" of denied.test)" '^[1-9]' \
    "$who: which is counted"
exit 0
