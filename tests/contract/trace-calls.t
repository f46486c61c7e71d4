#!/usr/bin/env bash
# trace.calls: calls of functions are told, and nothing else is different.
. "$(dirname "$0")/../lib.sh"

src=$TESTS/probes/calls
if [ ! -e "${FENCE_RUN%/bin/*}/libexec/fence/libfence-probe.so" ]; then
	skip 'no probe library on this processor' 'trace.calls'
	finish
fi

policy() {	# policy SIGNATURE…
	local list
	list=$(printf '"%s", ' "$@")
	printf '{ "extends": "workspace-write",\n"trace": { "calls": [%s] } }\n' \
	    "${list%, }" >"$W/p.json"
}
run() {	# run ARGS…: with -m and a trace, in $W
	rm -f "$W/trace"
	fence "$who" -m --settings "$W/p.json" --trace-file "$W/trace" \
	    -- "$@"
}
told() {	# told REGEX NAME: one line of the last run
	grep -qE "^\[fence:probe\] [0-9:]{8} $1( |$)" <<<"$err"
	ok $? "$who: $2" || note "$err"
}
untold() {
	! grep -qE "^\[fence:probe\] [0-9:]{8} $1( |$)" <<<"$err"
	ok $? "$who: $2" || note "$err"
}
# calls NAME: how many of its calls the trace has, and those it says it dropped
counts() {
	/usr/bin/python3 - "$W/trace" "$1" <<-'PY'
	import json, sys
	told = dropped = 0
	for line in open(sys.argv[1]):
	    fence = json.loads(line)["unmapped"]["fence"]
	    told += fence.get("probe", {}).get("function") == sys.argv[2]
	    dropped += fence.get("dropped", 0)
	print(told, dropped)
	PY
}
by='  [^ ].*'

for who in $WHOS; do
	W=$(workspace "$who")

	# Off.
	fence "$who" -m -- sh -c 'cat /proc/self/maps; ls -A /etc/.fence /run/fence'
	is "$status" 0 "$who: without trace.calls"
	unlike "$out" 'probe' "$who: nothing of it is there"
	like "$out" 'libfence-shim' "$who: beside the shim, which is"

	# What fence-run says.
	policy 'getenv(s):s' 'strtol(s,p,i):i64'
	run sh -c 'cat /proc/self/maps'
	like "$out" 'libfence-probe' "$who: with it the library is loaded"
	run env X_HOME=/x python3 -c 'import ctypes; l = ctypes.CDLL(None)
l.getenv.restype = ctypes.c_char_p
print(l.getenv(b"X_HOME"), l.getenv(b"X_\n\x1b[31m"))'
	is "$out" "b'/x' None" "$who: python's own answer"
	told 'getenv\("PYTHONHOME"\) = NULL  .*python3[.0-9]*\[[0-9]+\]' \
	    "python asks its environment"
	unlike "$err" $'\x1b' "$who: nothing raw reaches the terminal"
	fence "$who" --settings "$W/p.json" -- sh -c 'cat /proc/self/maps'
	unlike "$status:$out" 'probe' "$who: where nobody is told, it is not"
	fence "$who" --settings "$W/p.json" --trace-file "$W/t" -- false
	is "$status:$err" "1:" "$who: a call that is told is no refusal"
	policy 'execve(s,p,p):v' 'chdir(s):i' 'strtoimax(s,p,i):i64'
	run /bin/dash -c 'cd /proc/missing; echo $((X_N + 7)); exec true' \
	    X_N=5
	told 'execve\("/[a-z/]*/true", 0x[0-9a-f]+, 0x[0-9a-f]+\)' \
	    "a call that does not return is told before"
	told 'chdir\("/proc/missing"\) = -1 ENOENT' "and an errno after"

	# Whatever way a call is left.
	policy 'qsort(p,u64,u64,p):v' 'getenv(s):s' 'strtol(s,p,i):i64' \
	    'pause():i' 'open(s,i):i'
	for flags in '-O2' '-O2 -no-pie' '-O2 -Wl,-z,now' '-O0 -fno-plt' \
	    '-O1 -no-pie -fno-pic -Wl,-z,now'; do
		# shellcheck disable=SC2086 # a list of words
		as "$who" g++ $flags -o "$W/guest" "$src/guest.cc" -pthread
		capture "$who" env GUEST_NAME=x "$W/guest"
		bare="$status:$out"
		run env GUEST_NAME=x ./guest
		is "$status:$out" "$bare" "$who: guest ($flags) does the same"
		told 'getenv\("GUEST_NAME"\) = "x"' 'its first call'
		for name in CALLBACK HANDLER VFORK FORK; do
			told "getenv\(\"IN_$name\"\) = NULL" "one in a $name"
		done
		told 'getenv\("ALL_CLOSED"\) = NULL' 'all descriptors closed'
		told 'getenv\("EDG"\) = NULL' 'a text at the end of memory'
		told 'open\(0x1, 0\) = -1 EFAULT' 'a wrong pointer'
		is "$(counts qsort)" '7 0' "$who: each call once"
	done

	# More calls than anybody reads.
	run ./guest 100000
	like "$status:$out" 'sums 2100000 2100000 2100000 2100000' \
	    "$who: threads without end do the same"
	read -r n dropped < <(counts strtol)
	[ "$n" -gt 100 ] && [ "$dropped" -gt 100000 ]
	ok $? "$who: some are told, others counted ($n, $dropped)"
	is "$((n + dropped))" "$((4 * 100000 + 1))" \
	    "$who: and none is forgotten"

	# Libraries that come later.
	as "$who" gcc -shared -fPIC -o "$W/libmade.so" "$src/made.c" &&
	    as "$who" gcc -shared -fPIC -o "$W/libplug.so" "$src/plug.c" \
	    -L"$W" -lmade -Wl,-rpath,"\$ORIGIN" -Wl,--enable-new-dtags &&
	    as "$who" gcc -D_GNU_SOURCE -o "$W/loader" "$src/loader.c" \
	    -Wl,-rpath,"\$ORIGIN" -Wl,--enable-new-dtags
	ok $? "$who: a program and its plug-in"
	policy 'made_write(p,b4,i):i' 'getenv(s):s' 'plug_half(d,f,i):d'
	# RTLD_LAZY, _NOW, each with _GLOBAL, with _DEEPBIND
	for flags in 1 2 257 258 9 10 '1 new' '2 new'; do
		# shellcheck disable=SC2086 # a list of words
		capture "$who" "$W/loader" $flags
		bare="$status:$out"
		# shellcheck disable=SC2086
		run ./loader $flags
		is "$status:$out" "$bare" "$who: loader $flags does the same"
		told 'made_write\(0x1234, "hell"…, 6\) = 5' \
		    "$flags: a call from one library to another"
		told 'getenv\("IN_MADE"\) = NULL' "$flags: and on to libc"
		case $flags in
		*new)	want=4 ;;	# its dlsym() is not the program's
		*)	want=6
			told 'made_write\(NULL, "stra"…, 8\) = 7' \
			    "$flags: by dlsym()"
			told 'plug_half\(5, 0.25, 1\) = 3.75' \
			    "$flags: with floating numbers"
			told 'getenv\("IN_CONSTRUCTOR"\) = NULL' \
			    "$flags: and in the constructor" ;;
		esac
		read -r n _ < <(counts made_write)
		[ "$n" -ge "$want" ]
		ok $? "$who: $flags: again after it was unloaded ($n)"
	done

	# Functions that reporting itself could need.
	policy 'malloc(u64):p' 'memcpy(p,b0,u64):p' 'write(i,b,u64):i64' \
	    'read(i,o,u64):i64' 'sendto(i,b,u64,i,p,u):i64' 'free(p):v' \
	    'socket(i,i,i):i' 'close(i):i' 'clock_gettime(i,p):i' \
	    'memset(p,i,u64):p' 'strlen(s0):u64' 'pthread_mutex_lock(p):i'
	echo kept >"$W/in"
	run /bin/dash -c 'read -r x <in; echo "$x"'
	is "$status:$out" '0:kept' "$who: the shell reads and writes"
	told 'write\(1, "kept\\x0a", 5\) = 5' 'a buffer, escaped'
	told 'read\(0, "k[^"]*", [0-9]+\) = [0-9]+' 'a buffer that was filled'
	unlike "$err" 'memcpy\(0x[0-9a-f]+, "[^"]' "$who: of b0 no byte is told"
	run python3 -c 'import json, sys; print(json.dumps([1]), sys.argv[1])' a
	is "$status:$out" '0:[1] a' "$who: python does, too"

	# Whom the loader of libc does not start.
	policy 'getenv(s):s' 'write(i,b,u64):i64'
	run "$PROBES/probe-static" </dev/null
	untold '.*' "a static program is left alone"

	# Its record.
	run python3 -c ''
	"$TESTS/validate-events" "$FENCE_SRC/launcher/record/event.schema.json" \
	    "$W/trace"
	ok $? "$who: the trace is as the schema says"

	# Wrong signatures.
	policy 'getenv'
	run true
	like "$status:$err" "^1:fence: .*p.json:2:22: trace.calls\[0\]: 'getenv' is not a signature: .*hint: 'getenv\(s\):s'" \
	    "$who: a name alone"
	policy 'a():v' 'setjmp(p):i'
	run true
	like "$status:$err" "^1:fence: .*p.json:2:31: trace.calls\[1\]: .*setjmp\(\) cannot be told: it returns twice" \
	    "$who: a function that cannot be"
	policy 'getenv(s):s' 'getenv(p):p'
	run true
	like "$status:$err" "^1:fence: .*p.json:2:37: trace.calls: 'getenv\(p\):p': the function has another signature" \
	    "$who: one function twice"
	[ ! -e "$W/started" ]
	ok $? "$who: and nothing ran"
done
finish
