#!/usr/bin/env bash
# What a process in the jail is, and what it sees of the host's: capabilities,
# processes, IPC, /proc and /sys.  batch-proc.t has the calls.
. "$(dirname "$0")/../lib.sh"

field() {	# field NAME: of a /proc/PID/status on stdin
	sed -n "s/^$1:[[:space:]]*//p"
}

# What ptrace rights open, of pid 1 and of itself; queues by their name.
calls='
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
class iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
def say(name, rv):
    e = ctypes.get_errno()
    print(name, "OK" if rv >= 0 else errno.errorcode.get(e, e))
    return rv
mine = ctypes.create_string_buffer(b"x" * 8)
v = iovec(ctypes.addressof(mine), 8)
for pid in 1, os.getpid():
    who = "init" if pid == 1 else "self"
    for call in "process_vm_readv", "process_vm_writev":
        say(f"{call} {who}", getattr(libc, call)(pid, ctypes.byref(v), 1,
            ctypes.byref(v), 1, 0))
    fd = libc.syscall(434, pid, 0)
    say(f"pidfd_getfd {who}", libc.syscall(438, fd, 0, 0))
rt = ctypes.CDLL("librt.so.1", use_errno=True)
say("queue of the host", rt.mq_open(sys.argv[1].encode(), os.O_RDONLY))'
queue='
import ctypes, os, sys
rt = ctypes.CDLL("librt.so.1")
q = rt.mq_open(sys.argv[1].encode(), os.O_RDWR | os.O_CREAT, 0o600, None)
sys.exit(q < 0 or len(sys.argv) > 2 and rt.mq_unlink(sys.argv[1].encode()))'

# Limits and priority: of pid 1, and of a child as a twin.
priority='
import ctypes, errno, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    signal.pause()
def say(name, call, *args):
    rv = call(*args)
    print(name, "OK" if rv >= 0 else errno.errorcode[ctypes.get_errno()])
low = (ctypes.c_ulong * 2)(8, 8)
cpu, prio = (ctypes.c_ulong * 1)(1), (ctypes.c_int * 1)(0)
attr = (ctypes.c_uint * 12)(48, 5)
for who, pid in ("init", 1), ("child", child):
    say(f"prlimit {who}", libc.prlimit, pid, resource.RLIMIT_NOFILE, low, None)
    say(f"setpriority {who}", libc.setpriority, 0, pid, 19)
    say(f"ioprio_set {who}", libc.syscall, 251, 1, pid, 3 << 13)
    say(f"affinity {who}", libc.sched_setaffinity, pid, 8, cpu)
    say(f"setattr {who}", libc.syscall, 314, pid, attr, 0)
    say(f"scheduler {who}", libc.sched_setscheduler, pid, 5, prio)
    say(f"param {who}", libc.sched_setparam, pid, prio)
os.kill(child, signal.SIGKILL)'
[ "$(uname -m)" = x86_64 ] ||	# other numbers
	priority=$(sed 's/251/30/; s/314/274/' <<<"$priority")

# What the host sees of the jail's pid 1: its limit, nice value and policy.
of_init() {	# of_init PID: of a fence-run
	local pid
	for pid in $(pgrep -P "$1"); do
		if [ "$(cat "/proc/$pid/comm")" = fence-init ]; then
			grep 'open files' "/proc/$pid/limits"
			cut -d' ' -f19,41 "/proc/$pid/stat"
		else
			of_init "$pid"
		fi
	done
}

for who in $WHOS; do
	W=$(workspace "$who")
	for engine in bwrap native; do
		run=(fence "$who" --engine "$engine" --)
		"${run[@]}" cat /proc/self/status
		is "$(for f in CapInh CapPrm CapEff CapBnd CapAmb; do
		    field "$f" <<<"$out"; done | sort -u)" 0000000000000000 \
		    "$who, $engine: no capability, none to come"
		is "$(field NoNewPrivs <<<"$out")$(field Seccomp <<<"$out")" 12 \
		    "$who, $engine: no new privileges, a filter"
		"${run[@]}" cat /proc/1/status
		is "$(field Name <<<"$out"):$(field CapEff <<<"$out"):$(field \
		    NoNewPrivs <<<"$out")" "fence-init:0000000000000000:1" \
		    "$who, $engine: nor has pid 1"
		"${run[@]}" sh -c 'for f in environ maps mem root/etc/passwd \
		    fd/0 cwd/etc exe; do
		    (head -c 1 /proc/1/$f) >/dev/null 2>&1 && echo "open $f"
		    done; cat /proc/self/comm'
		is "$out" cat "$who, $engine: pid 1 cannot be looked into"
		"${run[@]}" sh -c 'cat /proc/[0-9]*/comm'
		like "$(tr '\n' ' ' <<<"$out")" '^fence-init ((sh|cat) )+$' \
		    "$who, $engine: only the jail's processes are seen"
		"${run[@]}" sh -c '(: >>/proc/sys/kernel/core_pattern) ||
		    (: >>/sys/kernel/mm/ksm/run) ||
		    (: >>/sys/power/state) || echo shut; cat /proc/sys/kernel/ostype'
		is "$out" $'shut\nLinux' "$who, $engine: /proc/sys and /sys are shut"
		"${run[@]}" sh -c 'cat /proc/keys /proc/key-users; cat /proc/uptime'
		like "$out" '^[0-9.]+ [0-9.]+$' \
		    "$who, $engine: the user's keys are not listed"
		"${run[@]}" sh -c 'hostname planted; hostname'
		is "$out" "$(hostname)" "$who, $engine: the host's name stays"

		"${run[@]}" sh -c 'id -u; id -g'
		is "$out" "$(as "$who" id -u)"$'\n'"$(as "$who" id -g)" \
		    "$who, $engine: uid and gid are the caller's"
		"${run[@]}" sh -c 'ls /dev | grep -vx console | xargs'
		is "$out" 'core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero' \
		    "$who, $engine: a /dev of its own, with no other device"
		"${run[@]}" sed -E 's/^([^ ]+ ){4}([^ ]+) ([^ ]+) .*/\2 \3,/' \
		    /proc/self/mountinfo
		is "$(grep -v nosuid, <<<"$out")" '' "$who, $engine: no mount has setuid"
		is "$(grep -v nodev, <<<"$out" | grep -v '^/dev[/ ]')" '' \
		    "$who, $engine: nor devices, outside of /dev"
		like "$out" '/dev/null ro,nosuid,' "$who, $engine: as could be seen"

		# IPC of the host's, and twins of the jail's own.
		as "$who" python3 -c "$queue" "/fence-rights.$$"
		ok $? "$who, $engine: the host has a queue"
		"${run[@]}" python3 -c "$calls" "/fence-rights.$$"
		is "$out" 'process_vm_readv init EPERM
process_vm_writev init EPERM
pidfd_getfd init EPERM
process_vm_readv self OK
process_vm_writev self OK
pidfd_getfd self OK
queue of the host ENOENT' "$who, $engine: no memory nor file of pid 1, no queue"
		is "$(as "$who" python3 -c "$calls" "/fence-rights.$$" | tail -n 1)" \
		    'queue of the host OK' "$who, $engine: outside it opens"
		as "$who" python3 -c "$queue" "/fence-rights.$$" unlink
		ok $? "$who, $engine: the host's queue is still there"

		# Seen by the host before and after the command tried.
		as "$who" mkfifo "$W/try" "$W/end"
		start "$who" "$FENCE_RUN" --engine "$engine" -- sh -c \
		    'read x <try; python3 -c "$0" >got 2>&1; echo >tried; read x <end' \
		    "$priority"
		wait_for 20 eval '[ -n "$(of_init "$pid")" ]'
		before=$(of_init "$pid")
		echo >"$W/try"
		wait_for 20 test -s "$W/tried"
		is "$(of_init "$pid")" "$before" \
		    "$who, $engine: pid 1 keeps its limits and priority"
		echo >"$W/end"
		wait "$pid"
		is "$(sort "$W/got")" \
'affinity child OK
affinity init EPERM
ioprio_set child OK
ioprio_set init EPERM
param child OK
param init EPERM
prlimit child OK
prlimit init EPERM
scheduler child OK
scheduler init EPERM
setattr child OK
setattr init EPERM
setpriority child OK
setpriority init EPERM' "$who, $engine: which a child of one's own need not"
		as "$who" rm -f "$W/try" "$W/end" "$W/got" "$W/tried"

		id=$(as "$who" ipcmk -M 4096 | grep -o '[0-9]*$')
		"${run[@]}" sh -c 'ipcs -m | grep -c "^0x"; ipcmk -M 4096 \
		    >/dev/null && ipcs -m | grep -c "^0x"'
		is "$out" $'0\n1' "$who, $engine: shared memory is the jail's own"
		as "$who" ipcrm -m "$id"
		ok $? "$who, $engine: the host's is still there"
		key=/dev/shm/fence-rights.$$
		as "$who" sh -c "echo key >$key"
		"${run[@]}" sh -c "cat $key; echo x >$key; ls /dev/shm | wc -l"
		is "$out" 1 "$who, $engine: and so is /dev/shm"
		is "$(cat "$key")" key "$who, $engine: nothing was changed there"
		rm -f "$key"
	done
done
finish
