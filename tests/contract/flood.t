#!/usr/bin/env bash
# A process floods the record: others are told all the same, what is dropped
# is counted, and neither memory nor the trace grows without bound.
. "$(dirname "$0")/../lib.sh"
chmod 755 "$T"
cat >"$T/sums.py" <<'PY'
"""sums.py TRACE: records, refusals they stand for, dropped, least or exact,
bytes below 128 MiB."""
import json
import os
import sys

told = dropped = records = 0
least = 'exact'
for line in open(sys.argv[1]):
    e = json.loads(line)
    fence = e.get('unmapped', {}).get('fence', {})
    records += 1
    if e.get('action_id') == 2:
        told += e['count']
    dropped += fence.get('dropped', 0)
    if fence.get('dropped_is') == 'least':
        least = 'least'
print(records, told, dropped, least,
      os.path.getsize(sys.argv[1]) < 128 << 20)
PY
cat >"$T/peak.py" <<'PY'
"""peak.py CMD...: and whether it kept below 64 MiB."""
import os
import sys

pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
kib = os.wait4(pid, 0)[2].ru_maxrss
print('small' if kib < 64 << 10 else f'{kib} KiB')
PY
for who in $WHOS; do
	W=$(workspace "$who")
	as "$who" sh -c "echo key >$W/secret; mkdir $W/d"
	trace=$W/trace
	flood() {	# flood SCRIPT: sets records told dropped least small
		fence "$who" --deny-read ./secret --trace-file "$trace" -- \
		    sh -c "$1"
		read -r records told dropped least small \
		    < <(/usr/bin/python3 "$T/sums.py" "$trace")
	}

	flood "'$PROBES/forge' -w 8000 30 1 /none/%; exit 3"
	is "$out $((told + dropped))" '8000 8000' \
	    "$who: told and dropped make what was sent"
	[ "$told" -ge 1000 ] && [ "$dropped" -gt 1000 ]
	ok $? "$who: a thousand and more told ($told), the rest dropped" ||
	    note "$told $dropped"
	like "$err" "fence: (at least )?$told refusals.*; (at least )?$dropped more reports were dropped" \
	    "$who: the closing line says both"

	flood "'$PROBES/forge' -w 8000 30 1 /none/x; exit 3"
	is "$told $dropped" '8000 0' "$who: equal ones are all told"
	[ "$records" -lt 100 ]
	ok $? "$who: by few records" || note "$records"

	# A flood without end, and a program that is refused beside it.
	flood "'$PROBES/forge' 5000000 30 1 /none/% >d/log &
	    for i in 1 2 3; do '$PROBES/forge' -w 300 30 1 /all/% >d/log & done
	    '$PROBES/forge' -w 4000 30 1 /more/% >d/log
	    cat secret
	    exit 3"
	is "$(denials "$trace" "$W/secret" | head -n 1)" 1 \
	    "$who: a flood hides no refusal of another process"
	is "$small" True "$who: the trace is bounded"
	is "$("$TESTS/validate-events" \
	    "$FENCE_PREFIX/share/fence/event.schema.json" "$trace" 2>&1)" "" \
	    "$who: it fits its schema, the sequence has no holes"

	# Very many reports: they are counted, and need no memory.
	is "$(cd "$W" && as "$who" /usr/bin/python3 "$T/peak.py" \
	    "$FENCE_RUN" --trace-file "$trace" -- sh -c \
	    "exec '$PROBES/forge' -w 50000 30 1 /none/%" 2>&1)" \
	    '50000
small' "$who: many reports, and the memory of few"
	read -r _ told dropped _ < <(/usr/bin/python3 "$T/sums.py" "$trace")
	is "$((told + dropped))" 50000 "$who: very many are counted"
done
finish
