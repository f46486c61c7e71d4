#!/usr/bin/env bash
# A refusal is one record that names process, rule, place and remedy.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
mkdir "$T/out" "$T/home"
echo key >"$T/out/secret"
cat >"$T/p.json" <<POLICY
{
	"network": {
		"allowedDomains": ["allowed.test"]
	},
	"filesystem": {
		"allowWrite": ["."],
		"denyRead": ["/nonexistent",
			"$T/out/secret"]
	}
}
POLICY
trace=$T/trace.json

# one OBJECT KEY PLACE REMEDY NAME: exactly one record about OBJECT
one() {
	local f
	is "$(denials "$trace" "$1")" 1 "$5: one record"
	is "$(denials "$trace" "$1" "$2")" 1 "$5: of rule $2"
	like "$(denials "$trace" "$1" "$2" policy.name)" "$3" "$5: its place"
	like "$(denials "$trace" "$1" "$2" unmapped.fence.remedy.key)" "$4" \
	    "$5: its remedy"
	like "$(denials "$trace" "$1" "$2" actor.process.pid)" '^[1-9]' \
	    "$5: the process"
	for f in actor.process.name message metadata.uid; do
		[ -n "$(denials "$trace" "$1" "$2" "$f")" ]
		ok $? "$5: has $f"
	done
}

fence "$who" --settings "$T/p.json" --trace-file "$trace" -- sh -c "
	echo x >$T/out/new
	cat $T/out/secret
	curl -sS --noproxy '*' http://denied.test/
	exit 4"
is "$status" 4 "$who: the command ran"
like "$err" 'Permission denied|Read-only' "$who: the program saw an errno"
one "$T/out/new" filesystem.allowWrite 'p\.json:6:[0-9]+$' \
    '^filesystem.allowWrite$' "$who: write"
one "$T/out/secret" 'filesystem.denyRead[1]' 'p\.json:8:4$' \
    '^filesystem\.(denyRead|allowRead)$' "$who: read"
one denied.test network.allowedDomains 'p\.json:3:[0-9]+$' \
    '^network.allowedDomains$' "$who: name"
like "$(denials "$trace" "$T/out/secret" '' actor.process.name)" '^cat$' \
    "$who: read: by cat"
is "$(denials "$trace" "$T/out/secret" '' status_code)" EACCES "$who: read: EACCES"
[ ! -e "$T/out/new" ]
ok $? "$who: and nothing was written"
is "$("$TESTS/validate-events" \
    "$FENCE_PREFIX/share/fence/event.schema.json" "$trace" 2>&1)" "" \
    "$who: the trace fits its schema, the sequence has no holes"
like "$err" 'fence: 3 refusals.*: fence trace$' "$who: the closing hint"

fence "$who" --settings "$T/p.json" -- sh -c "echo x >$T/out/new; exit 0"
unlike "$err" 'refusal' "$who: no hint after a command that succeeded"

fence "$who" -m --settings "$T/p.json" -- sh -c "
	echo x >$T/out/new
	cat $T/out/secret
	curl -sS --noproxy '*' http://denied.test/
	exit 4"
like "$err" "\[fence:fs\][^|]*open\(\"[^\"]*/out/new\", [a-z]*\) E[A-Z]+[^|]*sh\[[0-9]+\][^|]*\| *rule filesystem.allowWrite" \
    "$who: -m: the write's line"
like "$err" "\[fence:fs\][^|]*open\(\"[^\"]*/out/secret\", read\) EACCES[^|]*cat\[[0-9]+\][^|]*\| *rule filesystem.denyRead\[1\]" \
    "$who: -m: the read's line"
like "$err" "\[fence:dns\][^|]*denied\.test[^|]*\| *rule network.allowedDomains[^|]*allow: network.allowedDomains \+= \"denied\.test\"" \
    "$who: -m: the name's line"
is "$(grep -o '\[fence:[a-z]*\]' <<<"$err" | wc -l)" 3 "$who: -m: three lines, no more"

fence "$who" --trace-file "$trace.builtin" -- sh -c "echo x >$T/out/new"
trace=$trace.builtin
one "$T/out/new" filesystem.allowWrite \
    '^<built-in workspace-write>:[1-9][0-9]*:[1-9][0-9]*$' \
    '^filesystem.allowWrite$' "$who: built-in"

# Proxy-aware clients are refused by the gate: one record, too.
trace=$T/trace.proxy
fence "$who" --settings "$T/p.json" --trace-file "$trace" -- \
    curl -sS http://denied.test/
is "$(denials "$trace" denied.test)" 1 "$who: HTTP proxy: one record"

# Without the shim the wall holds, and a refused name is told all the same.
trace=$T/trace.noshim
FENCE_PRETEND=noshim fence "$who" --settings "$T/p.json" \
    --trace-file "$trace" -- sh -c "
	echo x >$T/out/new
	cat $T/out/secret
	curl -sS --noproxy '*' http://denied.test/"
is "$(denials "$trace" denied.test network.allowedDomains)" 1 \
    "$who: no shim: the name is one record"
[ ! -e "$T/out/new" ]
ok $? "$who: no shim: nothing written"
unlike "$out" key "$who: no shim: nothing read"
exit 0
