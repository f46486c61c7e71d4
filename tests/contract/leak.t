#!/usr/bin/env bash
# Everything denied: of ninety ways out (probes/leak*.c), some of them sweeps
# of all protocols and families, none makes the far side count a packet or a
# query, with the shim, without, and for a static program.  Without fence the
# same program is counted, row by row.
. "$(dirname "$0")/../lib.sh"

each_world "$@"
counted() {	# what the far side has seen, packets and queries
	"$TESTS/world/world-count" packets
	"$TESTS/world/world-count" queries
}
# Sockets of the host, which write down whatever they are told.
cat >"$T/host.py" <<'PYTHON'
import selectors, socket, sys
sel = selectors.DefaultSelector()
for name in (sys.argv[1], '\0' + sys.argv[2][1:]):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen(50)
    sel.register(s, selectors.EVENT_READ)
print('ready', flush=True)
while True:
    for key, _ in sel.select():
        conn, _ = key.fileobj.accept()
        print(conn.recv(100).decode(), flush=True)
PYTHON
path=$T/host.sock abstract=@fence-leak-$$
/usr/bin/python3 "$T/host.py" "$path" "$abstract" >"$T/host.log" &
host=$!
trap 'kill "$host"' EXIT
wait_for 20 grep -q ready "$T/host.log"
ok $? "$who: sockets of the host listen"
to_host=(env FENCE_LEAK_PATH="$path" FENCE_LEAK_ABSTRACT="$abstract")

# Denied.
cat >"$T/none.json" <<'POLICY'
{ "filesystem": { "allowWrite": ["."] } }
POLICY
silent() {	# silent NAME PROGRAM [VARIABLE=VALUE]
	local before
	before=$(counted)
	env "${@:3}" "$FENCE_RUN" --settings "$T/none.json" -- \
	    "${to_host[@]}" "$2" >"$T/answers" 2>"$T/told"
	is "$(counted)" "$before" "$who: $1: no packet and no query"
	answers=$(wc -l <"$T/answers")
	like "$answers" '^(9[0-9]|8[5-9])$' "$who: $1: of $answers attempts"
	note "$(tr '\n' ';' <"$T/answers")"
}
silent dynamic "$PROBES/leak"
silent "without the shim" "$PROBES/leak" FENCE_PRETEND=noshim
silent static "$PROBES/leak-static"
is "$(grep -c leak "$T/host.log")" 0 "$who: nor a word to the host's sockets"

# The same program where one name is allowed.
cat >"$T/one.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
before=$("$TESTS/world/world-count" of denied.test)
fence "$who" --settings "$T/one.json" -- "$PROBES/leak"
like "$("$TESTS/world/world-count" of allowed.test)" '^[1-9]' \
    "$who: an allowed name is reached and counted"
like "$out" 'tcp EACCES' "$who: its address is not"
is "$("$TESTS/world/world-count" of denied.test)" "$before" \
    "$who: and no other name"
# Without fence; last, for groups that were joined and left are spoken of later.
bare=$("${to_host[@]}" FENCE_LEAK_BARE=1 "$PROBES/leak" "$FENCE_WORLD/count")
note "$who: not counted without fence: $(grep -E ' 0$' <<<"$bare" | tr '\n' ';')"
is "$(wc -l <<<"$bare")" "$answers" "$who: as many attempts without fence"
least=45
[ "$who" = user ] || least=52
ok $(($(grep -Evc ' 0$' <<<"$bare") < least)) \
    "$who: $(grep -Evc ' 0$' <<<"$bare") ways lead out without fence"
is "$(grep -c leak "$T/host.log")" 2 "$who: and two to the host"
exit 0
