# scale.sh: what files-scale.t and files-scale-long.t share.  Inside a world,
# where /tmp, /run and the mounts are the test's own.
# shellcheck shell=bash

export HOME=$T/home		# small, and the test's own
# Runs that overlap leave the folders of fence's state, which one of them made.
mkdir -p "$HOME/.local/state/fence/runs"

# Everything that a run might leave on the host.
picture() {
	sort /proc/self/mountinfo
	find /tmp /run "$W" "$HOME" -printf '%p %y %m %U\n' 2>/dev/null | sort
	cut -d' ' -f8- /proc/net/unix | grep / | sort
	tail -n +2 /proc/net/tcp /proc/net/tcp6 | awk '{print $2}' | sort
}

unchanged() {	# unchanged NAME: since picture >"$T/before"
	is "$(picture | diff "$T/before" - | head -n 20)" "" "$1"
}

# N starts with either policy, in turns: the medians, which are for the reader,
# and the best of each.  In milliseconds of processor time: those of a clock
# grow with whatever else the machine does.
compare_starts() {	# compare_starts DIR N POLICY POLICY
	/usr/bin/python3 - "$FENCE_RUN" "$@" <<-'END'
	import resource, statistics, subprocess, sys
	def spent():
	    u = resource.getrusage(resource.RUSAGE_CHILDREN)
	    return u.ru_utime + u.ru_stime
	fence, where, n, *policies = sys.argv[1:]
	times = {p: [] for p in policies}
	for _ in range(int(n)):
	    for p in policies:
	        begin = spent()
	        subprocess.run([fence, '-s', p, '--', '/bin/true'], cwd=where,
	                       check=True, stdin=subprocess.DEVNULL)
	        times[p].append(spent() - begin)
	for how in statistics.median, min:
	    print(*(round(how(times[p]) * 1000) for p in policies))
	END
}

# N starts, one after the other; then nothing more is there than before.
many_starts() {	# many_starts WHO N
	local who=$1 n failed=0

	W=$T/loop
	mkdir "$W"
	picture >"$T/before"
	for n in $(seq "$2"); do
		(cd "$W" && "$FENCE_RUN" -- sh -c 'echo /proc/self/fd/* >fds
		    echo x >/tmp/x; echo y >own; rm own') || failed=$((failed + 1))
		cat "$W/fds" >>"$T/fds"
	done
	rm "$W/fds"
	is "$failed" 0 "$who: $n starts"
	unchanged "$who: and nothing is left of them"
	is "$(sort -u "$T/fds" | wc -l)" 1 "$who: each with the same descriptors"
}

finish_inside() {
	[ ! -s "$COUNT.failed" ]
	exit
}
