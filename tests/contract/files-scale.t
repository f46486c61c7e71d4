#!/usr/bin/env bash
# Many exceptions, many jails, many starts.  The figures printed are for the
# reader; what is asserted has room for a busy machine.
# limit: 180
. "$(dirname "$0")/../lib.sh"

# As most users have it; more mounts than that are held at once.
ulimit -Sn 1024
. "$TESTS/scale.sh"
each_world "$@"

# 700 to hide, 800 to lock, and 100 open folders among the locked ones.
exceptions='
import json, os, sys
work = sys.argv[1]
lists = {"allowWrite": ["."], "denyWrite": [], "denyRead": []}
rows = []
for d in range(100):
    names = [f"t{d % 10}/d{d}/s{n}" for n in range(7)]
    locks = [f"t{d % 10}/d{d}/l{n}" for n in range(7)]
    folder = f"t{d % 10}/d{d}/dir"
    os.makedirs(f"{work}/{folder}/open")
    for n in names + locks:
        with open(f"{work}/{n}", "w") as f:
            f.write("x")
    lists["denyRead"] += names
    lists["denyWrite"] += locks + [folder]
    lists["allowWrite"].append(folder + "/open")
    rows += [("EACCES", f"read {work}/{n}") for n in names]
    rows += [("EROFS", f"append {work}/{n} x") for n in locks]
    rows += [("EROFS", f"write {work}/{folder}/new x"),
             ("OK", f"write {work}/{folder}/open/new x")]
with open(sys.argv[2], "w") as f:
    json.dump({"filesystem": lists}, f)
with open(sys.argv[3], "w") as f:
    f.writelines(op + "\n" for _, op in rows)
with open(sys.argv[4], "w") as f:
    f.writelines(answer + "\n" for answer, _ in rows)
'

W=$T/many
mkdir "$W"
echo '{"filesystem":{"allowWrite":["."]}}' >"$T/empty.json"
/usr/bin/python3 -c "$exceptions" "$W" "$T/many.json" "$T/table" "$T/want"
before=$(cd "$W" && find . -type f ! -path '*/open/*' -size 1c | wc -l)
for probe in probe probe-static; do
	(cd "$W" && "$FENCE_RUN" -s "$T/many.json" -- "$PROBES/$probe" \
	    "$T/table") 2>"$T/err" | sed 's/.* -> //' >"$T/got"
	wrong=$(paste -d' ' "$T/want" "$T/got" "$T/table" |
	    awk '$1 != $2' | head -n 5)
	is "$wrong" "" "$who: $probe: each of 1,500 is refused, each of 100 open"
	is "$(wc -l <"$T/got")" 1600 "$who: $probe: all were asked"
	find "$W" -name new -delete
done
is "$(cd "$W" && find . -type f ! -path '*/open/*' -size 1c | wc -l)" \
    "$before" "$who: all of them are as they were"

# So many that bwrap is left out, unless it is asked for.
for engine in '' bwrap; do
	like "$(cd "$W" && "$FENCE_RUN" ${engine:+--engine $engine} --dry-run \
	    -s "$T/many.json" -- true)" \
	    $'\njail  '"$([ -n "$engine" ] && echo / || echo native)" \
	    "$who: ${engine:-no} engine named"
done
like "$(cd "$W" && "$FENCE_RUN" --dry-run -s "$T/empty.json" -- true)" \
    $'\njail  /.*bwrap' "$who: a few mounts are bwrap's"

compare_starts "$W" 9 "$T/empty.json" "$T/many.json" >"$T/times"
ok $? "$who: eighteen starts"
{ read -r empty many && read -r best_empty best_many; } <"$T/times" || exit
note "$who: start: $empty ms, with 1,500 exceptions $many ms" \
    "(best: $best_empty, $best_many)"
[ "$((best_many - best_empty))" -lt 300 ] ||
    [ "$best_many" -lt "$((best_empty * 12))" ]
ok $? "$who: 1,500 exceptions cost less than 300 ms (bar: 100 alone)"

# Twenty jails at once, each with a file of its own and one they share.
W=$T/crowd
mkdir "$W"
picture >"$T/before"
: >"$W/shared"
pids=()
for n in $(seq 20); do
	(cd "$W" && exec "$FENCE_RUN" -- sh -c "
	    echo $n >own.$n; echo $n >/tmp/same; echo $n >>shared
	    while [ \$(wc -l <shared) -lt 20 ]; do sleep 0.02; done
	    cat own.$n /tmp/same") >"$T/crowd.$n" 2>"$T/crowd.$n.err" &
	pids+=($!)
done
bad=
for n in $(seq 20); do
	wait "${pids[n - 1]}" || bad="$bad $n:$?:$(cat "$T/crowd.$n.err")"
	[ "$(cat "$T/crowd.$n")" = "$n"$'\n'"$n" ] ||
	    bad="$bad $n:$(head -c 200 "$T/crowd.$n")"
done
is "$bad" "" "$who: 20 jails at once, each as if alone"
is "$(sort -n "$W/shared" | tr '\n' ' ')" "$(seq -s ' ' 20) " \
    "$who: and all were there at the same time"
rm -r "$W"
mkdir "$W"
unchanged "$who: nothing is left of them"

many_starts "$who" 50
finish_inside
