#!/usr/bin/env bash
# The third wall in a real run: raw calls by number from a static program, and
# beside them the programs that live on what stays permitted.
# limit: 240
. "$(dirname "$0")/../lib.sh"

# name, what the jail answers; "root/user" where they differ.
answers=$T/answers
cat >"$answers" <<'TABLE'
mount EPERM
umount2 EPERM
pivot_root EPERM
chroot EPERM
open_tree EPERM
move_mount EPERM
fsopen EPERM
fsconfig EPERM
fsmount EPERM
fspick EPERM
mount_setattr EPERM
open_tree_attr ENOSYS
unshare-user EPERM
unshare-net EPERM
unshare-time EPERM
unshare-files OK
setns EPERM
clone-user EPERM
clone-mount-high EPERM
clone OK
clone-high OK
clone3 ENOSYS
keyctl EPERM
add_key EPERM
request_key EPERM
userfaultfd EPERM
bpf EPERM
perf_event_open EPERM
open_by_handle_at EPERM
io_uring_setup EPERM
io_uring_enter EPERM
io_uring_register EPERM
syslog EPERM
acct EPERM
swapon EPERM
swapoff EPERM
reboot EPERM
sethostname EPERM
setdomainname EPERM
settimeofday EPERM
clock_settime EPERM
init_module EPERM
finit_module EPERM
delete_module EPERM
kexec_load EPERM
kexec_file_load EPERM
quotactl EPERM
quotactl_fd EPERM
personality-exec EPERM
personality-zero EPERM
personality-fixed OK
personality-ask OK
ptrace-self OK
setuid-bit EPERM/OK
AF_UNIX OK
AF_INET OK
AF_INET6 OK
AF_INET-sctp EPERM
AF_INET-dccp EPERM
AF_VSOCK EPERM
AF_VSOCK-high EPERM
AF_ALG EPERM
AF_PACKET EPERM
AF_BLUETOOTH EPERM
AF_CAN EPERM
AF_RDS EPERM
AF_TIPC EPERM
AF_KEY EPERM
AF_XDP EPERM
AF_none EPERM
netlink-route OK
netlink-route-high OK
netlink-diag EPERM
netlink-xfrm EPERM
netlink-audit EPERM
netlink-netfilter EPERM
netlink-uevent EPERM
netlink-generic EPERM
netlink-crypto EPERM
pair-unix EFAULT
pair-tipc EPERM
TIOCSTI EPERM
TIOCSTI-high EPERM
TIOCLINUX EPERM
TIOCLINUX-high EPERM
TIOCSETD EPERM
TIOCGWINSZ EBADF
unheard-of ENOSYS
TABLE
if [ "$(uname -m)" = x86_64 ]; then
	cat >>"$answers" <<-'TABLE'
	iopl EPERM
	ioperm EPERM
	i386-getpid OK
	i386-mount EPERM
	i386-socketcall EPERM
	x32-getpid SYS
	TABLE
fi

answer() {	# answer NAME, of $out
	sed -n "s/^$1 //p" <<<"$out"
}

judge() {	# judge WHO: $out is what callprobe said
	local name want got
	while read -r name want; do
		case $1 in
		root)	want=${want%/*} ;;
		*)	want=${want#*/} ;;
		esac
		got=$(answer "$name")
		# A kernel without i386 entry has nothing to refuse there.
		[ "$name$got" != i386-getpidENOSYS ] || break
		is "$got" "$want" "$1: $name"
	done <"$answers"
	is "$(wc -l <<<"$out")" "$(wc -l <"$answers")" "$1: every row is judged"
}

# The same calls without a jail must not give the same refusals, or the rows
# prove nothing; an ordinary user is refused much of it anyway.
judge_bare() {
	local name want got
	while read -r name want; do
		got=$(answer "$name")
		case $name:$want:$got in
		unheard-of:* | open_tree_attr:*:ENOSYS)	;;
		*:OK:* | *:EFAULT:* | *:EBADF:*)
			is "$got" "$want" "without a jail: $name" ;;
		*)	isnt "$got" "${want%/*}" "without a jail: $name" ;;
		esac
	done <"$answers"
}

isnt() {	# isnt GOT UNWANTED NAME
	[ "$1" != "$2" ]
	ok $? "$3"
}

# works WHO NAME NEEDS WANT ARGS…: in the jail, if NEEDS is here
works() {
	local who=$1 name=$2 needs=$3 want=$4
	shift 4
	if ! command -v "$needs" >/dev/null; then
		skip "no $needs here" "$who: $name"
		return
	fi
	fence "$who" -- "$@"
	is "$status" 0 "$who: $name"
	like "$out" "$want" "$who: $name: what it said"
}

PATH=$PATH:/usr/local/go/bin
cat >"$T/pool.py" <<'PYTHON'
import multiprocessing as mp
from multiprocessing import shared_memory
def square(x):
    return x * x
if __name__ == '__main__':
    for way in ('fork', 'spawn', 'forkserver'):
        with mp.get_context(way).Pool(2) as pool:
            print(way, sum(pool.map(square, range(10))))
    m = shared_memory.SharedMemory(create=True, size=64)
    m.close()
    m.unlink()
PYTHON
cat >"$T/worker.js" <<'NODE'
const { Worker, isMainThread, parentPort } = require('worker_threads');
if (!isMainThread)
	parentPort.postMessage(6 * 7);
else
	new Worker(__filename).on('message', (m) => console.log('worker', m));
require('child_process').execFileSync('/bin/true');
NODE
printf 'package main\n\nfunc main() { println("go", 6*7) }\n' >"$T/main.go"
chmod 644 "$T"/*.py "$T"/*.js "$T"/*.go
printf 'int main(void) { return 7; }\n' >"$T/seven.c"
gcc -g -o "$T/seven" "$T/seven.c"
chmod 755 "$T/seven"

for who in $WHOS; do
	W=$(workspace "$who")
	fence "$who" -- "$PROBES/callprobe"
	judge "$who"

	works "$who" "gdb" gdb 'exited with code 07' \
	    gdb -q -nx -batch -ex run "$T/seven"
	works "$who" "a breakpoint" gdb 'Breakpoint 1, main' \
	    gdb -q -nx -batch -ex 'break main' -ex run -ex 'info registers' \
	    "$T/seven"
	works "$who" "strace" strace 'yes' \
	    sh -c 'strace -f -o s.out sh -c "true; true" &&
	    grep -q execve s.out && echo yes'
	works "$who" "python's multiprocessing" /usr/bin/python3 \
	    'fork 285.*spawn 285.*forkserver 285' \
	    sh -c '/usr/bin/python3 "$0" | xargs' "$T/pool.py"
	works "$who" "node's workers" node 'worker 42' node "$T/worker.js"
	works "$who" "go build" go '^$' env GOCACHE="$W/cache" \
	    GOTOOLCHAIN=local GO111MODULE=off go build -o built "$T/main.go"
	is "$(as "$who" "$W/built" 2>&1)" "go 42" "$who: what go built"
done

if [ "$IS_ROOT" = 1 ]; then
	capture root "$PROBES/callprobe"
	judge_bare
fi
finish
