#!/usr/bin/env bash
# Where no jail can be built: one reason, its cure, 125, and nothing started.
. "$(dirname "$0")/../lib.sh"

# In namespaces of the test's own, so that the machine stays as it is.
lacking() {	# lacking WHO BEFORE: BEFORE takes something away
	capture "$1" unshare -Urm sh -c "$2"' && exec "$0" -- touch started' \
	    "$FENCE_RUN"
}

for who in $WHOS; do
	W=$(workspace "$who")
	lacking "$who" true
	is "$status" 0 "$who: with nothing taken away it runs"
	[ -e "$W/started" ]
	ok $? "$who: and the command started"
	rm -f "$W/started"

	lacking "$who" 'echo 0 >/proc/sys/user/max_user_namespaces'
	is "$status" 125 "$who: no user namespaces"
	like "$err" 'hint: sysctl user.max_user_namespaces' "$who: the cure"
	lacking "$who" 'echo 0 >/proc/sys/user/max_net_namespaces'
	is "$status" 125 "$who: no network namespaces"
	like "$err" 'hint: .*net' "$who: which limit"
	lacking "$who" 'mount --bind /etc/hostname /etc/hostname'
	is "$status" 125 "$who: a mount below /etc"
	like "$err" 'overlay over /etc.*hint: something is mounted below /etc' \
	    "$who: the reason"
	[ ! -e "$W/started" ]
	ok $? "$who: nothing was started"
done
finish
