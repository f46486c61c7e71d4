#!/usr/bin/env bash
# -d tells everything, -m what went wrong, and --fence-log-file keeps stderr
# for the command.
. "$(dirname "$0")/../lib.sh"
each_world "$@"
cat >"$T/p.json" <<'POLICY'
{
	"network": { "allowedDomains": ["allowed.test", "self.test"],
		"allowPrivate": ["self.test"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
cat >"$W/try" <<'SH'
curl -sS -o /dev/null http://allowed.test/bytes/3
curl -sS -o /dev/null https://allowed.test/bytes/3
curl -sS -o /dev/null -x socks5h://127.0.0.1:1080 http://allowed.test/bytes/3
curl -sS -o /dev/null --noproxy '*' http://allowed.test/bytes/3
curl -sS -o /dev/null http://denied.test/some/path?secret=1
curl -sS -o /dev/null http://allowed.test:9/
exit 0
SH
try() {	# try OPTION…
	fence "$who" "$@" --settings "$T/p.json" --trace-file "$T/trace" -- \
	    sh try
}
at='[0-9]{2}:[0-9]{2}:[0-9]{2}'
ms='\([0-9]+ms\)'
by='  sh\[[0-9]+\] → curl\[[0-9]+\] \| rule network.allowedDomains'

SECRET_TOKEN=x LD_AUDIT='' try -d
all=$err
# One line each, whatever came before it.
has() {	# has REGEX NAME
	printf '%s\n' "$all" | grep -qE "$1"
	ok $? "$who: $2" || note "$all"
}
has "^\[fence\] command: sh try$" "the command"
has "^\[fence\] policy: .*p.json$" "the policy"
has "^\[fence\] workspace: $W$" "the workspace"
has "^\[fence\] features: kernel [0-9].*, bwrap, seccomp, landlock-v[0-9]" \
    "what this system has"
has "^\[fence\] jail: bwrap\(network,pid,fs\), [0-9]+ mounts, [0-9]+ writable" \
    "the jail"
has "^\[fence\] network: 2 allowed, 0 denied" "the network"
has "^\[fence\] not passed on: .*LD_AUDIT" "variables that were removed"
has "^\[fence:http\] $at ✓ GET     200 allowed.test http://allowed.test/bytes/3 $ms$by\[0\] \"allowed.test\" " "a request"
has "^\[fence:http\] $at ✓ CONNECT 200 allowed.test https://allowed.test:443 $ms$by" \
    "a tunnel"
has "^\[fence:socks\] $at ✓ CONNECT allowed.test:80 ALLOWED$by" "by SOCKS"
has "^\[fence:dns\] $at ✓ query\(allowed.test, A(AAA)?\)$by" "a name"
has "^\[fence:gate\] $at ✓ connect\(allowed.test:80\)$by" "transparently"
has "^\[fence:http\] $at ✗ GET     403 denied.test http://denied.test/some/path $ms$by .*allow: " \
    "a refusal"
has "^\[fence:http\] $at ! GET     502 allowed.test http://allowed.test:9/ $ms" \
    "a failure"
has "^\[fence\] +$at run started: " "the start"
has "^\[fence\] +$at run ended: exit status 0" "the end"
unlike "$all" 'secret=1|=x' "$who: no query, no value"
is "$(grep -c '"action_id":1' "$T/trace")" \
    "$(printf '%s\n' "$all" | grep -cE "^\[fence:[a-z]+\] $at [✓!]")" \
    "$who: what is allowed is in the record, too"
"$TESTS/validate-events" "$FENCE_PREFIX/share/fence/event.schema.json" \
    "$T/trace"
ok $? "$who: in the open schema"

try -m
unlike "$err" '✓|\[fence\] ' "$who: -m has nothing of what went well"
like "$err" "^\[fence:http\] $at ✗ GET     403 denied.test" \
    "$who: but the refusal"
like "$err" "\[fence:http\] $at ! GET     502 allowed.test" \
    "$who: and the failure"
is "$(grep -c '"action_id":1' "$T/trace")" 1 "$who: and so has the record"
try
is "$err" "" "$who: without either, silence"

# The log file.
echo old >"$W/log"
chmod 644 "$W/log"
fence "$who" -m --fence-log-file log --settings "$T/p.json" -- sh -c '
	curl -sS -o /dev/null http://denied.test/
	echo "$FENCE_LOG_FILE"; cat log >seen
	echo forged >>log; rm -f log; mv log other; echo x >&2'
is "$out" "$W/log" "$who: the command is told where it is"
like "$(cat "$W/log")" "^\[fence:http\] $at ✗ GET     403 denied.test" \
    "$who: the lines are in the file"
unlike "$(cat "$W/log")" 'old|forged' "$who: emptied at first, and nobody else's"
unlike "$err" 'fence:http' "$who: and not on stderr"
like "$err" 'x' "$who: which is the command's"
like "$(cat "$W/seen")" 'denied.test' "$who: the command may read it"
FENCE_LOG_FILE=$W/log fence "$who" -m --settings "$T/p.json" -- \
    curl -sS -o /dev/null http://name.denied.test/
is "$(grep -c 'GET     403' "$W/log")" 2 "$who: an inherited one is appended to"
rm -f "$W/new"
fence "$who" --fence-log-file new --settings "$T/p.json" -- true
is "$(stat -c %a "$W/new")" 600 "$who: a new one is its owner's"
FENCE_LOG_FILE=$T/none/log fence "$who" --settings "$T/p.json" -- echo ran
is "$out $status" "ran 0" "$who: an inherited one that cannot be opened"
like "$err" '^fence: warning: FENCE_LOG_FILE: cannot open' "$who: is told"
FENCE_LOG_FILE=' ' fence "$who" --settings "$T/p.json" -- echo ran
is "$out $status$err" "ran 0" "$who: a blank one is none"
fence "$who" --fence-log-file "$T/none/log" -- echo ran
is "$out $status" " 125" "$who: one that was asked for is an error"
like "$err" "fence: --fence-log-file: cannot open '$T/none/log'" "$who: told"
ln -s target "$W/link"
fence "$who" --fence-log-file link -- echo ran
is "$status" 125 "$who: no symlink is followed"
[ ! -e "$W/target" ]
ok $? "$who: and nothing made behind it"
mkdir "$W/elsewhere"
ln -s elsewhere "$W/way"
for option in --fence-log-file --trace-file; do
	echo precious >"$W/elsewhere/f"
	fence "$who" "$option" way/f -- echo ran
	is "$status:$out" 1: "$who: $option: nor a symlink on the way"
	is "$(cat "$W/elsewhere/f")" precious \
	    "$who: $option: what it leads to is not emptied"
	fence "$who" "$option" elsewhere/f -- echo ran
	is "$status:$out" 0:ran "$who: $option: without it"
	unlike "$(cat "$W/elsewhere/f")" precious "$who: $option: it is"
done
mkfifo "$W/fifo"
for option in --fence-log-file --trace-file; do
	capture "$who" timeout 20 "$FENCE_RUN" "$option" fifo -- echo ran
	is "$status:$out" 125: "$who: $option: a FIFO that nobody reads"
	like "$err" 'hint: .*nobody reads it' "$who: $option: is told"
done
FENCE_LOG_FILE=fifo capture "$who" timeout 20 "$FENCE_RUN" -- echo ran
is "$status:$out" 0:ran "$who: an inherited FIFO that nobody reads"
like "$err" 'warning: FENCE_LOG_FILE' "$who: is told, too"
exec 8<>"$W/fifo"
fence "$who" --trace-file fifo -- echo ran
is "$status:$out" 0:ran "$who: one that is read"
read -rt 20 line <&8
like "$line" '"class_uid":' "$who: has the records"
exit 0
