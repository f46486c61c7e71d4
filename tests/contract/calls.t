#!/usr/bin/env bash
# An address that no route leads to is refused, and told with the process that
# asked, to programs that load no shim.
. "$(dirname "$0")/../lib.sh"
each_world "$@"

cat >"$T/p.json" <<POLICY
{
	"network": { "allowedDomains": ["allowed.test", "198.51.100.30:7"] },
	"filesystem": { "allowWrite": ["."] }
}
POLICY
trace=$T/trace
caller=$PROBES/caller

# run WAY...: the caller, to a refused, to a routed and to its own addresses
run() {
	rm -f "$trace"
	fence "$who" --settings "$T/p.json" --trace-file "$trace" -- "$@"
}

about() {	# about ADDRESS [FIELD]
	denials "$trace" "$1" '' "${@:2}"
}

ways='connect thread sendto unspec fastopen mapped storm wild
    sendmsg sendmsg-long sendmmsg'
[ "$(uname -m)" != x86_64 ] ||
    ways+=' i386 i386-sendto i386-sendmsg i386-sendmmsg
	socketcall socketcall-sendto socketcall-sendmsg socketcall-sendmmsg'
for way in $ways; do
	run "$caller" "$way" 203.0.113.9 443 127.0.0.1 9 198.51.100.30 7
	is "$status" 0 "$who: $way ran"
	like "$out" '203.0.113.9 EACCES' "$who: $way: the kernel says EACCES"
	like "$out" '198.51.100.30 (0|ECONNREFUSED)' \
	    "$who: $way: the policy's address is another matter"
	is "$(about 203.0.113.9)" 1 "$who: $way: one record"
	is "$(about 203.0.113.9 actor.process.name)" caller \
	    "$who: $way: it names the process"
	is "$(about 203.0.113.9 firewall_rule.uid)" network.allowedDomains \
	    "$who: $way: and the rule"
	is "$(about 203.0.113.9 unmapped.fence.witness)" notify \
	    "$who: $way: the kernel is the witness"
	is "$(about 127.0.0.1)$(about 198.51.100.30)" 00 \
	    "$who: $way: nothing else is told"
done

# Gone at once, and a child of somebody's: it waited while it was looked at.
run sh -c "$caller vanish 203.0.113.9 443; :"
is "$(about 203.0.113.9)" 1 "$who: who is gone at once is told"
is "$(about 203.0.113.9 actor.process.name)" caller "$who: with its name"
is "$(about 203.0.113.9 actor.process.parent_process.name)" sh \
    "$who: and its parent"

# Go and raw system calls.
run "$PROBES/goclient" -dial 203.0.113.9:443
like "$out$err" 'permission denied' "$who: Go is refused"
is "$(about 203.0.113.9 actor.process.name)" goclient "$who: and told"

# Who has the shim is told of by it, and waits for nobody.
run bash -c 'for i in 1 2 3; do exec 3<>/dev/tcp/203.0.113.9/443; done; :'
is "$(about 203.0.113.9 count | awk '{ n += $1 } END { print n }')" 3 \
    "$who: three calls are told, equal ones by one record"
is "$(about 203.0.113.9 unmapped.fence.witness | sort -u)" shim \
    "$who: of the shim"
run /usr/bin/python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.sendto(b"x", ("203.0.113.9", 443))
except PermissionError: pass
r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
r.bind(("127.0.0.1", 0))
s.sendto(b"x", r.getsockname())
assert r.recv(9) == b"x"'
is "$status" 0 "$who: sendto() is what it was"
is "$(about 203.0.113.9 unmapped.fence.witness)" shim "$who: and told"

# A call that is held may be interrupted, and Python then takes a connection
# for made.  Those with the shim are not held.
run /usr/bin/python3 -c 'import signal, socket
signal.signal(signal.SIGALRM, lambda *a: None)
server = socket.create_server(("127.0.0.1", 0))
signal.setitimer(signal.ITIMER_REAL, 0.0007, 0.0007)
d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(1500):
    d.sendmsg([b"x"], [], 0, server.getsockname())
    s = socket.socket()
    s.settimeout(5)
    s.connect(server.getsockname())
    s.getpeername()
    server.accept()[0].close()
signal.setitimer(signal.ITIMER_REAL, 0)'
is "$status:$err" 0: "$who: signals do not meet them"
run "$PROBES/cancelled"
is "$out" 'cancelled ended' "$who: and they are cancelled as libc's are"
run strace -f --seccomp-bpf -e trace=connect bash -c \
    'exec 3<>/dev/tcp/203.0.113.9/443'
like "$err" 'connect\(.*203.0.113.9.*EACCES' "$who: a tracer sees them"
run /usr/bin/python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.sendmsg([b"x"], [], 0, ("203.0.113.9", 443))
except PermissionError: pass'
is "$(about 203.0.113.9)" 1 "$who: sendmsg with the shim is one record"
is "$(about 203.0.113.9 unmapped.fence.witness)" shim "$who: the shim's"

# As text, and when nobody wants to know.
fence "$who" --settings "$T/p.json" -m -- "$caller" connect 203.0.113.9 443
like "$err" '\[fence:gate\].*connect\(203.0.113.9:443\) EACCES  caller\[' \
    "$who: -m tells it"
fence "$who" --settings "$T/p.json" -- sh -c \
    "$caller connect 203.0.113.9 443; grep Seccomp_filters /proc/self/status"
like "$out" 'EACCES' "$who: without -m it is refused"
is "$(sed -n 's/Seccomp_filters:\t//p' <<<"$out")" 1 \
    "$who: without -m nobody listens"

# No listener to be had: the walls stand, and the shim tells.
FENCE_PRETEND=nonotify run bash -c 'exec 3<>/dev/tcp/203.0.113.9/443; :'
is "$(about 203.0.113.9 unmapped.fence.witness)" shim \
    "$who: no listener: the shim tells"

capture "$who" "$PROBES/filtered" listener "$FENCE_RUN" -m -- \
    bash -c 'exec 3<>/dev/tcp/203.0.113.9/443; :'
is "$status" 0 "$who: a listener around us: it runs"
like "$err" 'fence: no seccomp listener .Device or resource busy.: ' \
    "$who: a listener around us: that is said"
like "$err" 'connect\(203.0.113.9:443\) EACCES  bash\[' \
    "$who: a listener around us: the shim tells"

# Known limit: there can be one listener.
run "$PROBES/filtered" listener true
like "$status $err" '^125 filtered: Device or resource busy' \
    "$who: a listener inside is refused"
# The kernel would look at the filter first: its word is not waited for.
run "$PROBES/filtered" ask
is "$out" 'Bad address
Device or resource busy' "$who: by us, and programs may ask for it"
fence "$who" --settings "$T/p.json" -- "$PROBES/filtered" listener true
is "$status" 0 "$who: but for runs that tell nothing"

# Five hundred of them at once neither stall nor go missing in silence.
run sh -c "for i in \$(seq 1 20); do
	$caller connect $(printf '203.0.113.%d 443 ' {10..34}) >/dev/null &
    done; wait; exec $caller connect 203.0.113.99 443"
is "$status" 0 "$who: five hundred calls"
is "$(about 203.0.113.99)" 1 "$who: and the one behind them"
is "$(about 203.0.113.20)" 20 "$who: none of them is lost"

# At once, and with the shim: one record each.
run /usr/bin/python3 -c 'import os, socket
r, w = os.pipe()
for i in range(300):
    if os.fork() == 0:
        os.close(w)
        os.read(r, 1)
        socket.socket().connect_ex(("203.0.113.98", 443))
        os._exit(0)
os.close(w)
for i in range(300):
    os.wait()'
is "$(about 203.0.113.98)" 300 "$who: three hundred with the shim"
exit 0
