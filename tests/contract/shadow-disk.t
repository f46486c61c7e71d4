#!/usr/bin/env bash
# An agent's folder on disks that are full or read-only: a run does not begin
# with half of it, and what cannot be carried waits, while the host keeps what
# it has.  In a mount namespace of its own, for small disks.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

# Prints a line for each case, as the user of the namespace.
inside() {
	set -e
	H=$1 A=$1/.agent S=$1/state/fence
	mkdir -p "$A" "$H/state"
	mount -t tmpfs -o size=256k,mode=700 none "$A"
	mount -t tmpfs -o size=256k,mode=700 none "$H/state"
	cd "$A"
	echo old >auth.json
	echo host >settings.json
	run() {
		HOME=$H "$PROBES/shadowrun" "$S" "$A" sh -c \
		    "cd \"\$INSIDE\" && $1" 2>&1 || echo "status $?"
	}

	# The store's disk is full before the copy is made.
	mkdir -p "$S"
	head -c 300000 /dev/zero >"$H/state/fill" 2>/dev/null || :
	echo "full store: $(run 'echo ran')"
	rm "$H/state/fill"
	echo "then: $(run 'cat settings.json')"

	# The host's disk is full when the login is to be carried.
	head -c 300000 /dev/zero >fill 2>/dev/null || :
	echo "full host: $(run 'head -c 9000 /dev/zero | tr "\0" n >t && mv t auth.json')"
	echo "host has: $(cat auth.json)"
	echo "still full: $(run 'head -c 3 auth.json; echo')"
	rm fill
	echo "then: $(run true)"
	echo "host has: $(head -c 3 auth.json) $(wc -c <auth.json)"

	# The host's disk may not be written.
	cd /
	mount -o remount,bind,ro "$A"
	echo "read-only: $(run 'echo last >auth.json')"
	echo "host has: $(head -c 3 "$A/auth.json")"
	mount -o remount,bind,rw "$A"
	echo "then: $(run true)"
	echo "host has: $(cat "$A/auth.json"); $(ls -A "$A" | tr '\n' ' ')"
}

if [ "${1-}" = disks ]; then
	inside "$2"
	exit
fi
for who in $WHOS; do
	W=$(workspace "$who")
	if ! as "$who" unshare -Urm true 2>/dev/null; then
		skip "no user namespaces" "$who: disks"
		continue
	fi
	out=$(as "$who" unshare -Urm "$BASH" "$0" disks "$W/home" 2>"$T/err")
	err=$(cat "$T/err")
	like "$out" "full store: fence: cannot [^:]*: No space left on device.status 125" \
	    "$who: a full store: nothing is started"
	unlike "$out" 'full store: .*ran' "$who: indeed"
	rest=$(sed -n '/^then: host$/,$p' <<<"$out")
	is "$rest" "then: host
full host: ~/.agent/auth.json could not be carried to the host: No space left on device; the next run tries again
host has: old
still full: ~/.agent/auth.json could not be carried to the host: No space left on device; the next run tries again
nnn
~/.agent/auth.json could not be carried to the host: No space left on device; the next run tries again
then: ~/.agent/auth.json was carried to the host
host has: nnn 9000
read-only: ~/.agent/auth.json could not be carried to the host: Read-only file system; the next run tries again
host has: nnn
then: ~/.agent/auth.json was carried to the host
host has: last; auth.json settings.json " "$who: what could not be carried waits"
done
finish
