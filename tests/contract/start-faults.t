#!/usr/bin/env bash
# A moment in which the machine has no descriptor, no memory or no disk: what
# the policy names is then not "missing", and nothing is started.  strace makes
# one call on one path fail, once in each process.
. "$(dirname "$0")/../lib.sh"

# The command, where it is started: what it can reach.
look='cat "$0/hidden/key" "$0/w/.env"; echo x >>"$0/w/locked"
    echo x >>"$0/w/.git/config"; echo x >>"$0/w/sub/.git/config"; echo ran'

failing() {	# failing WHO PATH CALL ERRNO
	as "$who" cp "$W/.git/config" "$W/locked" # as they were
	as "$who" cp "$W/.git/config" "$W/sub/.git/config"
	capture "$1" strace -f -o "$base/log" -P "$2" \
	    -e inject="$3:error=$4:when=1" \
	    "$FENCE_RUN" -s "$T/policy.json" -- sh -c "$look" "$base"
}

for who in $WHOS; do
	base=$(workspace "$who")
	W=$base/w
	as "$who" mkdir -p "$W/.git/hooks" "$W/sub/.git/hooks" "$base/hidden"
	as "$who" sh -c "echo key >'$base/hidden/key'; echo env >'$W/.env'
	    echo ref >'$W/.git/HEAD'; echo ref >'$W/sub/.git/HEAD'
	    echo same >'$W/.git/config'"
	cat >"$T/policy.json" <<-JSON
	{"filesystem":{"allowWrite":["."],"denyWrite":["locked"],
	    "denyRead":["$base/hidden","**/.env"]}}
	JSON
	chmod 644 "$T/policy.json"

	failing "$who" "$base/none" openat EIO
	is "$out:$(cat "$W/locked" "$W/.git/config" "$W/sub/.git/config" |
	    uniq)" ran:same "$who: undisturbed it holds, and runs"
	tried=0
	for path in "$base/hidden" "$W" "$W/locked" "$W/sub/.git" "$W/.git"; do
		for call in openat readlink newfstatat getdents64; do
			for error in EMFILE ENOMEM EIO; do
				failing "$who" "$path" "$call" "$error"
				grep -q INJECTED "$base/log" || continue
				tried=$((tried + 1))
				name="$who: ${path#"$base"/}: $call: $error"
				unlike "$out" 'key|env' "$name: hidden"
				is "$(cat "$W/locked" "$W/.git/config" \
				    "$W/sub/.git/config" | uniq)" same \
				    "$name: unwritten"
				[ "$out" = ran ] || like "$err" \
				    "cannot .*: [A-Z]" "$name: or why not"
			done
		done
	done
	ok $((tried < 12)) "$who: $tried calls were made to fail"

	# Who takes the cores cannot be read: nobody gets any.
	for error in none EMFILE ENOMEM; do
		inject=openat:error=$error:when=1
		[ "$error" != none ] || inject=openat:delay_enter=1
		capture "$who" strace -f -o "$base/log" \
		    -P /proc/sys/kernel/core_pattern -e inject="$inject" \
		    bash -c 'ulimit -c 77; exec "$0" -- bash -c "ulimit -c"' \
		    "$FENCE_RUN"
		is "$out" "$([ "$error" = none ] &&
		    grep -q '^[^|@]' /proc/sys/kernel/core_pattern &&
		    echo 77 || echo 0)" "$who: core_pattern: $error"
	done
done
finish
