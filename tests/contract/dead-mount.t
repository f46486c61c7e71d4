#!/usr/bin/env bash
# A report names a path in a mount that answers nobody: the run goes on.
. "$(dirname "$0")/../lib.sh"
if [ "$IS_ROOT" = 0 ] || [ ! -w /dev/fuse ]; then
	skip "mounting FUSE takes root and /dev/fuse" "a dead mount"
	finish
fi
# The mount is seen by nobody else, and ends with this namespace.
if [ "${1-}" != apart ]; then
	unshare --mount --propagation private "$BASH" "$0" apart
	ok $? "the part in a mount namespace of its own ran to its end"
	finish
fi
mkdir "$T/dead"
chmod 755 "$T"
"$PROBES/deadmount" "$T/dead" >"$T/ready" &
server=$!
trap 'kill "$server"' EXIT
wait_for 20 grep -q ready "$T/ready"
ok $? "the mount is there"
# No signal ends a call that waits for it; the end of the server does.
stat "$T/dead/x" >"$T/log" 2>&1 &
asker=$!

for who in $WHOS; do
	W=$(workspace "$who")
	as "$who" sh -c "echo key >$W/secret; mkdir $W/d; ln -s $T/dead $W/way"
	echo '{ "extends": "workspace-write", "filesystem": {
	    "denyRead": ["./secret"] }, "limits": { "time": "60s" } }' \
	    >"$T/p.json"
	# 30 is EROFS, 1 is O_WRONLY.
	for path in "$T/dead/x" "$W/way/x"; do
		out=$(cd "$W" && as "$who" timeout -k 5 120 "$FENCE_RUN" \
		    -s "$T/p.json" --trace-file "$W/trace" -- sh -c "
			'$PROBES/forge' -w 40 30 1 '$path%' >d/log
			cat secret
			exit 5" 2>/dev/null)
		is $? 5 "$who: ${path##*/dead}: the run ends as its command"
		[ -n "$(denials "$W/trace" "$W/secret" \
		    'filesystem.denyRead[0]')" ]
		ok $? "$who: and goes on telling"
	done
	# A signal that fence-run hears while its reports are stuck.
	start "$who" timeout -k 5 120 "$FENCE_RUN" -s "$T/p.json" -- sh -c "
		trap 'exit 6' TERM
		'$PROBES/forge' -w 1000 30 1 '$T/dead/x%' >d/log &
		touch d/ready
		while :; do wait; done"
	wait_for 20 test -e "$W/d/ready"
	kill -TERM "$pid"
	wait "$pid"
	is $? 6 "$who: signals are passed on meanwhile"
done
kill -0 "$asker"
ok $? "the mount answered nobody meanwhile"
kill -9 "$server"
trap - EXIT
wait "$asker"
exit 0
