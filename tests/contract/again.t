#!/usr/bin/env bash
# What is hidden is hidden at every mount that shows it.
. "$(dirname "$0")/../lib.sh"

policy() {	# policy JSON: writes $T/policy.json
	echo "$1" >"$T/policy.json"
	chmod 644 "$T/policy.json"
}

# mounting WHO SCRIPT: in $W, with mounts of its own; "$0" is fence-run.
mounting() {
	local how=(unshare -m)

	[ "$1" = root ] || how=(unshare -Urm)
	capture "$1" "${how[@]}" sh -ec "$2" "$FENCE_RUN" "$T/policy.json"
}

# The key by each way to it.
reads='for k in ../home/.keys/k ../whole/home/.keys/k ../home2/.keys/k \
    ../keys/k ../deep/kk bind/.keys/k; do cat $k 2>/dev/null &&
    echo "$k is open"; done; cat ../home2/other bind/other'

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W/bind" "$base/home/.keys/d" "$base/home2" \
	    "$base/keys" "$base/deep" "$base/whole" "$base/over"
	as "$who" sh -c 'echo key >"$0/.keys/k"; echo key >"$0/.keys/d/kk"
	    echo other >"$0/other"' "$base/home"
	mounts='for m in home:home2 home:w/bind home/.keys:keys \
	    home/.keys/d:deep .:whole home:over; do
	    mount --bind "../${m%:*}" "../${m#*:}"; done
	    mount -t tmpfs tmpfs ../over;'
	policy '{"extends":"workspace-write",
	    "filesystem":{"denyRead":["'"$base"'/home/.keys"]}}'

	mounting "$who" "$mounts $reads"
	is "$(grep -c open <<<"$out")" 6 "$who: there are six ways to it"
	for engine in bwrap native; do
		mounting "$who" "$mounts \"\$0\" --engine $engine -s \"\$1\" \
		    -- sh -c '$reads'"
		is "$status:$out" "0:other
other" "$who: $engine: none is open, and what lies beside it is"
	done
	mounting "$who" "$mounts \"\${0%/*}/fence\" why -s \"\$1\" read \
	    ../home2/.keys/k ||:; \"\${0%/*}/fence\" why -s \"\$1\" \
	    read ../over/.keys ||:"
	like "$out" '^denied: read [^ ]*/home2/.keys/k' \
	    "$who: fence why says the same"
	like "$out" 'allowed: read [^ ]*/over/.keys' \
	    "$who: and of a mount that another lies over"

	# By a glob, and where the second way is writable.
	policy '{"extends":"workspace-write","filesystem":{"denyRead":
	    ["'"$base"'/home/.k*"],"allowWrite":[".","'"$base"'/home2"]}}'
	mounting "$who" "$mounts \"\$0\" -s \"\$1\" -- sh -c '$reads
	    mv ../home2/.keys ../home2/away; rm -rf ../home2/.keys
	    echo 1 >../home2/new'"
	is "$out" "other
other" "$who: nor by way of a writable one"
	is "$(cat "$base/home/.keys/k" "$base/home/new")" "key
1" "$who: which leaves it as it was"

	# A socket.
	start "$who" python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
time.sleep(1000)' "$base/home/s"
	wait_for 20 test -S "$base/home/s"
	policy '{"extends":"workspace-write"}'
	mounting "$who" "$mounts \"\$0\" -s \"\$1\" -- /usr/bin/python3 -c '
import socket
for p in \"../home/s\", \"../home2/s\", \"../whole/home/s\":
    try:
        socket.socket(socket.AF_UNIX).connect(p)
        print(\"reached\", p)
    except OSError as e:
        print(e.errno)'"
	is "$out" $'13\n13\n13' "$who: a socket is hidden likewise"
	kill "$pid"
	wait "$pid" 2>/dev/null
done
finish
